"""Listens to an audit: progress bars on a terminal, a line per phase and consumer elsewhere, both on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import typer

from auditor.audit.events import CasesLoaded, Event, Launches, Phase, Reused, RunFinished
from auditor.audit.events import Progress as Decoded
from auditor.errors import InternalError
from auditor.model.figures import plural

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: What is told: what a consumer has decoded, how far its launches are, and which phase begins.
Heard = Decoded | Reused | Launches | Phase | CasesLoaded

#: Seconds between two lines about the launches of one consumer.
BEAT: Final = 10.0

#: What the number of raw values counts: it is mostly far beyond the number of cases.
COUNTED: Final = "of predictions and references; equal ones of a field are one, but for those in different payloads"


class Listener(Protocol):
    """Hears how far the audit is, from any thread."""

    def __call__(self, event: Heard) -> None:
        """Take note."""


def finished(events: Iterable[Event], listen: Listener) -> RunFinished:
    """Follow an audit to its end."""
    last: Event | None = None
    for last in events:
        if isinstance(last, Heard):
            listen(last)
    if not isinstance(last, RunFinished):
        raise InternalError("the audit ended without a run")
    return last


@contextmanager
def listening(*, quiet: bool) -> Iterator[Listener]:
    """Give what listens: nobody, bars on a terminal, or lines."""
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
    """One bar per consumer and kind of work, and a line for a phase that has none."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._lock = Lock()

    def __call__(self, event: Heard) -> None:
        with self._lock:
            if isinstance(event, Decoded):
                self._show(f"{event.consumer} reads", event.done, event.total)
            elif isinstance(event, Launches):
                self._show(f"{event.consumer} in other environments", event.done, event.known)
            elif isinstance(event, Phase):
                self._begin(event.text)

    def _begin(self, text: str) -> None:
        for task in self._tasks.values():
            self._progress.remove_task(task)
        self._tasks = {text: self._progress.add_task(text, total=None)}

    def _show(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total)
        self._progress.update(self._tasks[name], completed=done, total=total)


class _Lines:
    """A line for each phase and for each consumer that is done; now and then one, where a phase takes long."""

    def __init__(self) -> None:
        self._decoded: set[str] = set()
        self._said_at: dict[str, float] = {}
        self._lock = Lock()

    def __call__(self, event: Heard) -> None:
        with self._lock:
            if line := self._line(event):
                typer.echo(line, err=True)

    def _line(self, event: Heard) -> str:
        if isinstance(event, CasesLoaded):
            return f"{plural(event.cases.expected, 'case')} loaded, {event.cases.judged:,} of them to be judged"
        if isinstance(event, Phase):
            return event.text
        if isinstance(event, Launches):
            return self._launches(event)
        if isinstance(event, Reused):
            self._decoded.add(event.consumer)
            return (
                f"{event.consumer}: {plural(event.total, 'raw value')} as the audit that failed before had decoded them"
            )
        if event.done < event.total or event.consumer in self._decoded:
            return ""
        self._decoded.add(event.consumer)
        values = plural(event.total, "raw value")
        # Where whole payloads are read, the same text in two payloads may be two values.
        return f"{event.consumer}: {values} decoded ({COUNTED})"

    def _launches(self, event: Launches) -> str:
        now = time.monotonic()
        said_at = self._said_at.setdefault(event.consumer, now)
        if now - said_at < BEAT:
            return ""
        self._said_at[event.consumer] = now
        return f"{event.consumer}: {event.done} of {event.known} environments so far"
