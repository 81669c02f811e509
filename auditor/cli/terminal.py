"""The report on the terminal."""

from __future__ import annotations

import os
import sys
from typing import Final, NoReturn

from rich.console import Console

from auditor.model.run import Finding, Run
from auditor.report import write_terminal
from auditor.report.terminal.findings import write_finding
from auditor.report.terminal.paper import Paper

#: Columns of a report that goes into a file or a pipe.
PAGE: Final = 100


class Terminal(Console):
    """A console that leaves a closed pipe to us: rich itself would exit with 1, which says that there are findings."""

    def on_broken_pipe(self) -> NoReturn:
        """Say that the reader is gone."""
        raise BrokenPipeError


def terminal() -> Terminal:
    """Give the console: as wide as the terminal is; elsewhere, unless COLUMNS says otherwise, as wide as a page."""
    is_page = not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit()
    return Terminal(width=PAGE if is_page else None)


def show(run: Run) -> None:
    """Print a run."""
    write_terminal(run, terminal())


def show_finding(run: Run, finding: Finding) -> None:
    """Print one bug of a run."""
    write_finding(run, finding, Paper(terminal()))
