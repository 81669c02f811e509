"""The report on the terminal."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console

from auditor.model.run import Run
from auditor.report import write_terminal


class Terminal(Console):
    """A console that leaves a closed pipe to us: rich itself would exit with 1, which says that there are findings."""

    def on_broken_pipe(self) -> NoReturn:
        """Say that the reader is gone."""
        raise BrokenPipeError


def show(run: Run) -> None:
    """Print a run."""
    write_terminal(run, Terminal())
