"""`auditor drift`: two runs, case by case."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import FINDINGS, interrupts_later, one_of, readable_until_closed
from auditor.cli.outputs import ComparisonOutputs, check_comparison_outputs, write_rendered

if TYPE_CHECKING:
    from auditor.model.drift import Drift
    from auditor.model.redecoding import Redecoding
    from auditor.store.reading import StoredRun


class FailOnDrift(StrEnum):
    """What makes a comparison fail."""

    drop = "drop"
    any = "any"
    never = "never"


RUN_HELP = "A run: its folder, its id or the start of it, or `latest`."


def drift(
    old: Annotated[str, typer.Argument(metavar="OLD", help=RUN_HELP)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The run that is held against it.")],
    common: Annotated[
        bool, typer.Option("--common", help="Compare the shared cases of runs that are not of the same cases.")
    ] = False,
    split: Annotated[
        bool,
        typer.Option("--split", help="Tell parsers and predictions apart: decode each run with the other's parsers."),
    ] = False,
    spec: Annotated[
        Path | None,
        typer.Option(
            "--spec", help="With --split: the spec that the new run had. Default: as for run.", show_default=False
        ),
    ] = None,
    old_spec: Annotated[
        Path | None,
        typer.Option(
            "--old-spec",
            help="With --split: the spec that the old run had, such as that of an older checkout.",
            show_default=False,
        ),
    ] = None,
    output: ComparisonOutputs = None,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar=f"<{'|'.join(FailOnDrift)}>",
            callback=one_of(FailOnDrift),
            help="Exit with 1 where a column fell, is gone or cannot be compared (drop), or where any verdict flipped.",
        ),
    ] = FailOnDrift.never.value,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> int:
    """Compare two stored runs of the same cases: what flipped, and whether it is more than chance.

    Exit code 4 where the runs are not of the same cases; nothing is written then.
    """
    outputs = output or []
    check_comparison_outputs(outputs)
    if not split and (spec or old_spec):
        raise typer.BadParameter("goes with --split", param_hint="--spec" if spec else "--old-spec")
    from auditor.cli.workspace import runs_here
    from auditor.drift.compare import compare
    from auditor.store.reading import load_run

    runs = runs_here()
    before, after = load_run(old, runs), load_run(new, runs)
    if split:
        found = _told_apart(before, after, runs, spec, old_spec, common=common, quiet=quiet)
    else:
        found = compare(before, after, common=common)
    show_comparison(found, quiet=quiet)
    from auditor.report.comparison import render_comparison

    write_rendered(partial(render_comparison, found), outputs)
    say_written(outputs, quiet=quiet)
    return FINDINGS if _fails(found, FailOnDrift(fail_on)) else 0


def _told_apart(
    old: StoredRun,
    new: StoredRun,
    runs: Path,
    spec: Path | None,
    old_spec: Path | None,
    *,
    common: bool,
    quiet: bool,
) -> Drift:
    """Decode what is lacking; without a spec, only what the runs have decoded is known."""
    with interrupts_later():
        from auditor.audit.split import decode_crossings
        from auditor.cli.progress import Heard, listening
        from auditor.errors import NoSpecError
        from auditor.model.drift import Drift
        from auditor.spec.read import read_spec
    try:
        new_spec = read_spec(spec)
    except NoSpecError:
        if spec is not None:
            raise
        new_spec = None
    before = read_spec(old_spec) if old_spec is not None else None
    with (
        listening(quiet=quiet) as listen,
        closing(decode_crossings(old, new, runs, new_spec, before, common=common, tell=listen)) as events,
    ):
        for event in events:
            if isinstance(event, Drift):
                return event
            if isinstance(event, Heard):
                listen(event)
    raise AssertionError("the comparison comes last")


def show_comparison(found: Drift | Redecoding, *, quiet: bool) -> None:
    """Print a comparison."""
    if quiet:
        return
    from auditor.cli.terminal import terminal
    from auditor.report.comparison import write_comparison

    with readable_until_closed():
        write_comparison(found, terminal())


def say_written(outputs: list[Path], *, quiet: bool) -> None:
    """Name the reports that were written."""
    for output in [] if quiet else outputs:
        typer.echo(f"written: {output}")


def _fails(found: Drift, fail_on: FailOnDrift) -> bool:
    """Say whether to fail: what could not be compared, or is gone, is not known to be as good as before."""
    if fail_on is FailOnDrift.never:
        return False
    gone = bool(found.only_old or found.not_compared)
    return (
        gone
        or any(column.is_drop or column.suppressed for column in found.columns)
        or (fail_on is FailOnDrift.any and any(column.flips for column in found.columns))
    )
