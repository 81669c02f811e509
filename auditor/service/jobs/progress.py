"""Events of an audit as a job tells them: the same that the progress bars of `auditor run` show."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any, Final

from auditor.audit.events import CasesLoaded, Event, Launches, Phase, Progress, Reused
from auditor.service.jobs.event_log import EventLog

#: Seconds between two events about one consumer.
BEAT: Final = 0.5


class Telling:
    """Listens to an audit, from any thread; of many events about one consumer it tells some, and the last."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._told: dict[tuple[str, str], tuple[float, int, int]] = {}
        self._lock = Lock()

    def __call__(self, event: Event | Launches) -> None:
        """Tell an event, if it is one that is told."""
        if isinstance(event, CasesLoaded):
            self._log.add("cases", expected=event.cases.expected, judged=event.cases.judged)
        elif isinstance(event, Phase):
            self._log.add("phase", text=event.text)
        elif isinstance(event, Reused):
            self._log.add("progress", consumer=event.consumer, done=event.total, total=event.total)
        elif isinstance(event, Progress):
            self._counted("progress", event.consumer, event.done, event.total)
        elif isinstance(event, Launches):
            self._counted("environments", event.consumer, event.done, event.known)

    def _counted(self, name: str, consumer: str, done: int, total: int) -> None:
        with self._lock:
            now = time.monotonic()
            before, *counts = self._told.get((name, consumer), (now - BEAT, -1, -1))
            if counts == [done, total] or (done < total and now - before < BEAT):
                return
            self._told[name, consumer] = (now, done, total)
        data: dict[str, Any] = {"consumer": consumer, "done": done, "total": total}
        self._log.add(name, **data)
