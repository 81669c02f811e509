"""What a team knows of the bugs of a run, as lines under the report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from auditor.cli.exits import FailOn, failing, short_columns

if TYPE_CHECKING:
    from auditor.model.baseline import Baseline
    from auditor.model.run import Run

#: Findings that are listed.
MOST_LISTED = 10


def say_what_fails(run: Run, baseline: Baseline, fail_on: FailOn) -> None:
    """Say which columns fall short, and which bugs are new where anybody has said anything of any bug."""
    from auditor.model.baseline import day_of
    from auditor.report.text import PROSE_LIMIT, visible

    for short in short_columns(run, fail_on):
        typer.echo(f"falls short: {visible(short, PROSE_LIMIT)}")
    if not baseline.entries:
        return
    day = day_of(run)
    counts = Counter(baseline.state_of(finding, day) for finding in run.findings)
    gone = len(baseline.gone(run.findings))
    told = [f"{count:,} {state}" for state, count in sorted(counts.items())] + ([f"{gone:,} gone"] if gone else [])
    typer.echo(f"known bugs: {', '.join(told)}; `auditor findings list` shows them")
    fails = failing(run, fail_on, baseline)
    for finding in fails[:MOST_LISTED]:
        state = baseline.state_of(finding, day)
        typer.echo(f"  {state}, {finding.severity}: {finding.anchor}: {visible(finding.title, PROSE_LIMIT)}")
    if len(fails) > MOST_LISTED:
        typer.echo(f"  and {len(fails) - MOST_LISTED:,} more")
