"""`auditor report`: a stored run, rendered again; needs no consumer."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.cli.exits import readable_until_closed
from auditor.cli.outputs import Outputs, check_outputs, write_outputs


def report(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run: its folder, its id or the start of it, or `latest`.")
    ],
    output: Outputs = None,
) -> None:
    """Render a stored run to files, or to the terminal where no file is named."""
    outputs = output or []
    check_outputs(outputs)
    from auditor.cli.workspace import baseline_here, runs_here
    from auditor.store.baseline import read_baseline
    from auditor.store.reading import load_run

    stored = load_run(run, runs_here())
    write_outputs(stored.run, outputs, read_baseline(baseline_here()))
    if not outputs:
        from auditor.cli.terminal import show

        with readable_until_closed():
            show(stored.run)
