"""The way to end decodings at once, from another thread: a signal handler's, or the one that saw another fail."""

from __future__ import annotations

import os
from contextlib import suppress

from auditor.errors import AuditorError


class Stopped(Exception):
    """The decoding was ended by `Stop.set`: nobody wants its result."""


class Stop:
    """What every exchange looks at while it waits; set once, it stays set. Several sessions may share one."""

    def __init__(self) -> None:
        try:
            self.waiting, self._wake = os.pipe()
        except OSError as error:
            raise AuditorError(
                f"open a pipe: {error.strerror}\n  next:  raise the limit of open files: ulimit -n"
            ) from error
        self._closed = False

    def set(self) -> None:
        """End what is being decoded or started, and whatever is asked later."""
        if not self._closed:
            with suppress(OSError):
                os.write(self._wake, b"!")

    def close(self) -> None:
        """Give back the descriptors; no exchange may be left."""
        if not self._closed:
            self._closed = True
            os.close(self.waiting)
            os.close(self._wake)
