"""Listens to an audit: a progress bar on a terminal, one line per consumer elsewhere, both on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from auditor.audit.events import Event, RunFinished
from auditor.audit.events import Progress as Decoded
from auditor.errors import InternalError


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
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bars:
            yield _Bars(bars)
    else:
        yield _Lines()


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
