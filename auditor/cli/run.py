"""`auditor run`: the whole audit."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import FailOn, code_of, interrupts_later, one_of, readable_until_closed
from auditor.cli.known import say_what_fails
from auditor.cli.outputs import Outputs, check_inputs_stay, check_outputs, from_here, write_outputs
from auditor.cli.probe import Probe, ProbeOption

if TYPE_CHECKING:
    from auditor.audit.events import RunFinished
    from auditor.audit.guard import Guard
    from auditor.spec.models import AuditSpec


class BrokenReferences(StrEnum):
    """What a reference that its decoder cannot read does to a run."""

    stop = "stop"
    report = "report"


BrokenReferencesOption = Annotated[
    str,
    typer.Option(
        metavar=f"<{'|'.join(BrokenReferences)}>",
        callback=one_of(BrokenReferences),
        help="stop: withhold all rates and exit with 3. report: count them and show the rates.",
    ),
]


def run(
    spec: Annotated[
        Path | None,
        typer.Argument(
            help="The spec, or its folder. Default: ./audit.toml, else [tool.auditor] spec in pyproject.toml.",
            show_default=False,
        ),
    ] = None,
    output: Outputs = None,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar=f"<{'|'.join(FailOn)}>",
            callback=one_of(FailOn),
            help="Exit with 1 from this severity of a finding on.",
        ),
    ] = FailOn.high.value,
    broken_references: BrokenReferencesOption = BrokenReferences.stop.value,
    probe: ProbeOption = Probe.full.value,
    locked: Annotated[
        bool,
        typer.Option("--locked", help="Refuse (exit code 4) where cases, consumers or spec are not as in audit.lock."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> int:
    """Audit a pipeline: score every field once per consumer and report the bugs of the parsers."""
    outputs = output or []
    check_outputs(outputs)
    from auditor.spec.find import runs_folder
    from auditor.spec.read import read_spec
    from auditor.store.baseline import baseline_file, read_baseline

    audited = read_spec(spec)
    check_inputs_stay(outputs, audited)
    baseline = read_baseline(baseline_file(runs_folder(audited)))
    done = _audited(audited, BrokenReferences(broken_references), Probe(probe), locked=locked, quiet=quiet)
    write_outputs(done.run, outputs, baseline)
    if not quiet:
        from auditor.cli.terminal import show

        with readable_until_closed():
            show(done.run)
            _say_where(done.folder, outputs)
            say_what_fails(done.run, baseline, FailOn(fail_on))
    return code_of(done.run, FailOn(fail_on), baseline)


def _audited(spec: AuditSpec, on_broken: BrokenReferences, level: Probe, *, locked: bool, quiet: bool) -> RunFinished:
    from auditor.audit.starting import Starting

    guard = _guard(spec) if locked else None
    with Starting(spec, list(spec.consumers.values())) as starting:
        # The workers import what their consumers need while we import the database and the rest of us.
        with interrupts_later():
            from auditor.audit.run import audit
            from auditor.cli.progress import finished, listening

        with (
            listening(quiet=quiet) as listen,
            closing(
                audit(
                    spec,
                    broken_references=on_broken.value,
                    probe=level.value,
                    guard=guard,
                    starting=starting,
                    tell=listen,
                )
            ) as events,
        ):
            return finished(events, listen)


def _guard(spec: AuditSpec) -> Guard:
    from auditor.audit.guard import Guard
    from auditor.store.lock_file import lock_path, read_lock

    return Guard(read_lock(lock_path(spec)))


def _say_where(folder: Path | None, outputs: list[Path]) -> None:
    for place in [*([folder] if folder else []), *outputs]:
        typer.echo(f"written: {from_here(place)}")
