"""Work that takes a while, a bounded number of it at once; who waits too long is told so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from auditor.service.problems import Refusal


class Turns:
    """So many at once, and for the others a wait of some seconds."""

    def __init__(self, at_once: int, patience: float) -> None:
        self._free, self._patience = threading.BoundedSemaphore(at_once), patience
        self.at_once = at_once

    @contextmanager
    def one(self, what: str) -> Iterator[None]:
        """Take a turn; a refusal where the others do not end."""
        if not self._free.acquire(timeout=self._patience):
            said = f"{self.at_once} other requests {what} at this moment, the most at once; send this again in a while"
            raise Refusal(503, said, {"Retry-After": "10"})
        try:
            yield
        finally:
            self._free.release()


#: Comparisons of stored runs: each reads both runs' tables.
COMPARING = Turns(2, 20.0)
