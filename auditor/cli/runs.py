"""`auditor runs`: the stored runs."""

from __future__ import annotations

import typer

from auditor.cli.exits import readable_until_closed


def runs() -> None:
    """List the stored runs, newest first."""
    from auditor.cli.workspace import runs_here
    from auditor.report.text import visible
    from auditor.report.view import bugs_line
    from auditor.store.series import list_runs

    folder = runs_here()
    stored, damaged = list_runs(folder)
    for error in damaged:
        typer.echo(f"left out: {error}", err=True)
    if not stored:
        typer.echo(f"no runs in {folder}; `auditor run` makes one")
    with readable_until_closed():
        for one in stored:
            run = one.run
            typer.echo(
                f"{run.run_id}  {run.created_at}  {visible(run.name)}  {run.cases.expected:,} expected, "
                f"{run.cases.judged:,} judged  {bugs_line(run)}"
                + (f"  redecoded from {run.redecoded_of}" if run.redecoded_of else "")
            )
