"""Values that people and programs try: through the consumers of a spec, in a process of its own that ends in time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from starlette.requests import Request

from auditor.errors import AuditorError, InternalError
from auditor.model.reading import Reading
from auditor.service.logs import LOGGER
from auditor.service.turns import Turns

if TYPE_CHECKING:
    from auditor.probe import Level

#: Questions at once, seconds that one may wait for its turn, and seconds that it may take.
AT_ONCE: Final = 2
PATIENCE: Final = 20.0
SECONDS: Final = 120.0

#: Seconds that a process has to end its workers.
_LAST_BREATH: Final = 10.0


class TooSlow(AuditorError):
    """The consumers had not answered in time."""


@dataclass(frozen=True)
class Tried:
    """What every consumer makes of each value, and why some were not asked."""

    readings: tuple[Reading, ...]
    left_out: tuple[str, ...]


class Readers:
    """The processes that read at this moment."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """Open for business; `seconds` is what a question may take."""
        self._turns, self._seconds = Turns(AT_ONCE, PATIENCE), seconds
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def read(self, audit: str, spec: Path, field: str, values: Sequence[tuple[str, bool]], probe: Level) -> Tried:
        """Decode values: strings, or (with True) what JSON text says.

        TooSlow where that takes too long; AuditorError says what is wrong with the spec, a value or a consumer.
        """
        question = {"audit": audit, "spec": str(spec), "field": field, "values": list(values), "probe": probe}
        with self._turns.one("let consumers read values"):
            answer = self._answer(json.dumps(question))
        if "error" in answer:
            raise AuditorError(answer["error"])
        if "bug" in answer:
            LOGGER.error("a value could not be read", extra={"facts": {"at": answer["bug"].splitlines()[:-1]}})
            raise InternalError("the value could not be read: this is a bug of the auditor; the log has its place")
        return Tried(msgspec.convert(answer["readings"], tuple[Reading, ...]), tuple(answer["left_out"]))

    def _answer(self, question: str) -> dict[str, Any]:
        with self._started() as process:
            try:
                out, _ = process.communicate(question, self._seconds)
            except subprocess.TimeoutExpired:
                raise TooSlow(
                    f"the consumers have not answered within {self._seconds:g} seconds, and were ended\n"
                    "  cause: one waits, or starts slowly, in one of the environments\n"
                    "  next:  ask for fewer values, or in the base environment only, or run `auditor read` in the "
                    "workspace"
                ) from None
        try:
            found: dict[str, Any] = json.loads(out)
        except ValueError:
            raise AuditorError("the values were not read to the end: its process was ended; try again") from None
        return found

    @contextmanager
    def _started(self) -> Iterator[subprocess.Popen[str]]:
        """Start a process, and end it with all that it has started."""
        command = [sys.executable, "-P", "-m", "auditor.service.reader_process"]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        with self._lock:
            if self._is_closed:
                raise AuditorError("the service is being stopped")
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)
            self._running.add(process)
        try:
            yield process
        finally:
            _end(process)
            with self._lock:
                self._running.discard(process)

    def close(self) -> None:
        """End what is running, and start nothing more."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for process in running:
            process.terminate()


def readers(request: Request) -> Readers:
    """Give what lets consumers read values."""
    found: Readers = request.app.state.readers
    return found


def _end(process: subprocess.Popen[str]) -> None:
    """End a process: by itself, so that it ends its workers, else by force, which they notice."""
    process.terminate()  # nothing, where it has ended
    try:
        process.wait(_LAST_BREATH)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
