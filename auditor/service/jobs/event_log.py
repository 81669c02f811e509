"""What happened to a job: a line of JSON for each event, numbered from 1, added by whoever holds its lock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from auditor.service.jobs.job import EVENTS, Result


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    id: int
    name: str
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """Give what is told of it, in ASCII."""
        return json.dumps(self.data)


class EventLog:
    """Adds events; what a killed process has left of a line is cut off. Safe for many threads."""

    def __init__(self, folder: Path) -> None:
        path = folder / EVENTS
        whole, count = _whole_lines(path)
        self._file = path.open("ab")
        self._file.truncate(whole)
        self._next = count + 1
        self._lock = Lock()

    def add(self, name: str, **data: Any) -> None:
        """Add an event, for everybody to see at once."""
        with self._lock:
            line = json.dumps([self._next, name, data], ensure_ascii=False)
            self._file.write(line.encode("utf-8", "surrogatepass") + b"\n")
            self._file.flush()
            self._next += 1

    def close(self) -> None:
        """Add nothing more."""
        self._file.close()


@dataclass
class Follower:
    """Reads the events of a job as they come, those after a number; remembers how far it has come."""

    folder: Path
    after: int = 0
    last: int = 0
    _place: int = 0

    def new(self) -> Iterator[Event]:
        """Give what has come since the last time."""
        try:
            with (self.folder / EVENTS).open("rb") as file:
                file.seek(self._place)
                text = file.read()
        except FileNotFoundError:
            return
        for line in text[: text.rfind(b"\n") + 1].splitlines():
            number, name, data = json.loads(line.decode("utf-8", "surrogatepass"))
            self.last = number
            if number > self.after:
                yield Event(number, name, data)
        self._place += text.rfind(b"\n") + 1

    def end(self, result: Result) -> Event | None:
        """Give the last event of all, which the result is; None where it is not after the number, either."""
        data = {"run_id": result.run_id, "reused": result.reused, "error": result.error}
        event = Event(self.last + 1, result.state, data)
        return event if event.id > self.after else None


def _whole_lines(path: Path) -> tuple[int, int]:
    """Give the bytes of the lines that are whole, and their number."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return 0, 0
    whole = text.rfind(b"\n") + 1
    return whole, text.count(b"\n")
