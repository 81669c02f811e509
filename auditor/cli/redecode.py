"""`auditor redecode`: the raw outputs of a stored run, decoded again with today's consumers."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import BROKEN_REFERENCES, FINDINGS, interrupts_later
from auditor.cli.outputs import ComparisonOutputs, check_comparison_outputs, write_rendered
from auditor.cli.probe import Probe, ProbeOption

if TYPE_CHECKING:
    from auditor.audit.events import RunFinished
    from auditor.spec.models import AuditSpec
    from auditor.store.reading import StoredRun


def redecode(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run: its folder, its id or the start of it, or `latest`.")
    ],
    spec: Annotated[
        Path | None, typer.Argument(help="The spec whose consumers decode. Default: as for run.", show_default=False)
    ] = None,
    output: ComparisonOutputs = None,
    probe: ProbeOption = Probe.full.value,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> int:
    """Decode a stored run's raw outputs again with today's consumers, store that, and say what is read otherwise.

    Exit code 1 where a string that was accepted is no longer accepted with the same value, or its column is gone.
    """
    outputs = output or []
    check_comparison_outputs(outputs)
    from auditor.spec.find import runs_folder
    from auditor.spec.read import read_spec
    from auditor.store.reading import load_run

    today = read_spec(spec)
    stored = load_run(run, runs_folder(today))
    done = decode_again(today, stored, Probe(probe), quiet=quiet)
    from auditor.audit.redecode import redecoding
    from auditor.cli.drift import say_written, show_comparison
    from auditor.report.comparison import render_comparison

    found = redecoding(today, stored, done)
    show_comparison(found, quiet=quiet)
    write_rendered(partial(render_comparison, found), outputs)
    say_written(outputs, quiet=quiet)
    if found.regressions or found.only_old:  # of a column that is gone nothing says that it still reads them
        return FINDINGS
    return BROKEN_REFERENCES if done.run.rates_withheld else 0


def decode_again(spec: AuditSpec, stored: StoredRun, level: Probe, *, quiet: bool) -> RunFinished:
    """Audit the files of a stored run with the consumers of a spec."""
    with interrupts_later():
        from auditor.audit.redecode import redecode as events_of
        from auditor.cli.progress import finished, listening
    with (
        listening(quiet=quiet) as listen,
        closing(events_of(spec, stored, probe=level.value, tell=listen)) as events,
    ):
        return finished(events, listen)
