"""`auditor findings`: the bugs of a run, and what the team says of them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import readable_until_closed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from auditor.model.baseline import Baseline
    from auditor.model.run import Finding, Run

RunOption = Annotated[
    str,
    typer.Option("--run", metavar="RUN", help="A run: its folder, its id or the start of it. Default: the latest."),
]
Names = Annotated[
    list[str],
    typer.Argument(metavar="FINDING…", help="The anchor of a finding, or the start of its fingerprint; or `all`."),
]


def list_findings(
    run: RunOption = "latest",
    state: Annotated[
        str,
        typer.Option(
            help="Only those that are new, known, accepted, expired, returned, fixed or gone.", show_default=False
        ),
    ] = "",
) -> None:
    """List the bugs of a run with what the team has said of them; gone: those of which an entry is left alone."""
    from auditor.report.text import PROSE_LIMIT, visible
    from auditor.report.view import worst_first

    states = ("new", "known", "accepted", "expired", "returned", "fixed", "gone")
    if state and state not in states:
        raise typer.BadParameter(f"there is no state {state!r}; there are: {', '.join(states)}")
    found, baseline = _found(run)
    here = {finding.fingerprint for finding in found.findings}
    lines: list[tuple[str, str, str, str]] = []
    for finding in worst_first(found.findings):
        lines.append((baseline.state_of(finding, _today()), finding.severity, finding.anchor, finding.title))
    for entry in baseline.entries.values():
        if entry.fingerprint not in here:
            told = "fixed" if entry.said == "fixed" else "gone"
            lines.append((told, "", f"{entry.code or 'finding'}-{entry.fingerprint[:8]}", entry.title or entry.reason))
    with readable_until_closed():
        for told, severity, anchor, title in lines:
            if not state or told == state:
                typer.echo(f"{told:<9} {severity:<7} {visible(anchor)}  {visible(title, PROSE_LIMIT)}")


def show(
    finding: Annotated[str, typer.Argument(help="The anchor of a finding, or the start of its fingerprint.")],
    run: RunOption = "latest",
) -> None:
    """Show a bug: every witness, the choices for a fix, its state, and the runs that it was first and last seen in."""
    from auditor.cli.terminal import show_finding
    from auditor.cli.workspace import runs_here
    from auditor.report.text import PROSE_LIMIT, visible
    from auditor.store.series import kept_records, series

    found, baseline = _found(run)
    [chosen] = _chosen([finding], found)
    runs = [one.record for one in series(kept_records(runs_here())[0])]
    seen = [one for one in runs if any(other.fingerprint == chosen.fingerprint for other in one.findings)]
    with readable_until_closed():
        show_finding(found, chosen)
        typer.echo(f"fingerprint {chosen.fingerprint}")
        if seen:
            typer.echo(
                f"first seen in {seen[-1].run_id}, last in {seen[0].run_id}; {len(seen):,} of {len(runs):,} runs"
            )
        entry = baseline.entries.get(chosen.fingerprint)
        until = f" until {entry.until}" if entry and entry.until else ""
        reason = f"{until}: {visible(entry.reason, PROSE_LIMIT)}" if entry else ""
        typer.echo(f"{baseline.state_of(chosen, _today())}{reason}")


def accept(
    findings: Names,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it later.")],
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The last day on which it holds: 2030-12-31.", show_default=False)
    ] = None,
    state: Annotated[str, typer.Option(metavar="<accepted|known|fixed>", help="What is said.")] = "accepted",
    run: RunOption = "latest",
) -> None:
    """Say of bugs that they are accepted, known, or fixed: the first two fail no run until the day that is named."""
    from auditor.cli.workspace import baseline_here
    from auditor.model.baseline import SAID, Entry
    from auditor.store.baseline import change_baseline

    said = next((one for one in SAID if one == state), None)
    if said is None:
        raise typer.BadParameter(f"there is no state {state!r}; choose {', '.join(SAID)}")
    if not reason.strip():
        raise typer.BadParameter("--reason is empty: say why, for whoever reads it later")
    last = _day(until)
    named = _chosen(findings, _found(run)[0])
    today = _today()
    path, entry = baseline_here(), Entry("", said, reason, last, today)
    chosen: list[Finding] = []

    def saying(baseline: Baseline) -> Baseline:
        # "all" are those that fail: what somebody has said of others, with a reason of its own, stands.
        failing = baseline.failing(named, today)
        chosen.extend(failing if list(findings) == ["all"] else named)
        return baseline.saying(entry, chosen)

    change_baseline(path, saying)
    typer.echo(f"{len(chosen):,} {said}{f' until {last}' if last else ''}; written: {path}")


def reopen(findings: Names) -> None:
    """Take back what was said of bugs: they are new again."""
    from auditor.cli.workspace import baseline_here
    from auditor.store.baseline import change_baseline

    path, chosen = baseline_here(), set[str]()

    def taken_back(baseline: Baseline) -> Baseline:
        known = {entry.fingerprint: f"{entry.code}-{entry.fingerprint[:8]}" for entry in baseline.entries.values()}
        chosen.update(_matching(findings, known, str(path)))
        return baseline.without(chosen)

    change_baseline(path, taken_back)
    typer.echo(f"{len(chosen):,} reopened; written: {path}")


def _found(run: str) -> tuple[Run, Baseline]:
    from auditor.cli.workspace import baseline_here, runs_here
    from auditor.store.baseline import read_baseline
    from auditor.store.reading import load_run

    return load_run(run, runs_here()).run, read_baseline(baseline_here())


def _chosen(names: Sequence[str], run: Run) -> list[Finding]:
    """Give the findings of a run that are named."""
    known = {finding.fingerprint: finding.anchor for finding in run.findings}
    chosen = _matching(names, known, f"run {run.run_id}")
    return [finding for finding in run.findings if finding.fingerprint in chosen]


def _matching(names: Sequence[str], known: dict[str, str], where: str) -> set[str]:
    """Give the fingerprints that are named by their start or by an anchor; AuditorError for what is not one of them."""
    from auditor.errors import AuditorError
    from auditor.spec.mistakes import nearest

    if list(names) == ["all"]:
        return set(known)
    chosen = set()
    for name in names:
        start = name.lstrip("#")
        fits = [one for one, anchor in known.items() if anchor == start or (start and one.startswith(start))]
        if len(fits) != 1:
            near = nearest(start, known.values())
            seen = f"{len(fits)} findings start so; write more of it" if fits else "there is no such finding"
            hint = f"did you mean {near!r}? " if near and not fits else ""
            raise AuditorError(f"{where}: {name!r}: {seen}\n  next:  {hint}`auditor findings list` shows them")
        chosen.add(fits[0])
    return chosen


def _today() -> date:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    from auditor.model.baseline import last_day

    try:
        return last_day(text, _today())
    except ValueError as error:
        raise typer.BadParameter(f"--until {text}: {error}") from error
