"""Listens to an audit: a progress bar on a terminal, one line per consumer elsewhere, both on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import typer

from auditor.audit.events import Event, RunFinished
from auditor.audit.events import Progress as Decoded
from auditor.errors import InternalError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Listener(Protocol):
    """Hears how far a consumer is."""

    def __call__(self, event: Decoded) -> None:
        """Take note."""


def finished(events: Iterable[Event], *, quiet: bool) -> RunFinished:
    """Follow an audit to its end."""
    last: Event | None = None
    with _listening(quiet=quiet) as listen:
        for last in events:
            if isinstance(last, Decoded):
                listen(last)
    if not isinstance(last, RunFinished):
        raise InternalError("the audit ended without a run")
    return last


@contextmanager
def _listening(*, quiet: bool) -> Iterator[Listener]:
    if quiet:
        yield lambda event: None
    elif sys.stderr.isatty():
        with _progress() as progress:
            yield _Bars(progress)
    else:
        yield _Lines()


def _progress() -> Progress:
    from rich import progress  # nobody else waits for it
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Bars:
    """One bar per consumer."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, event: Decoded) -> None:
        if event.consumer not in self._tasks:
            self._tasks[event.consumer] = self._progress.add_task(f"{event.consumer} reads", total=event.total)
        self._progress.update(self._tasks[event.consumer], completed=event.done, total=event.total)


class _Lines:
    """One line per consumer, when it is done."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, event: Decoded) -> None:
        if event.done == event.total and event.consumer not in self._said:
            self._said.add(event.consumer)
            typer.echo(f"{event.consumer}: {event.total:,} distinct values decoded", err=True)
