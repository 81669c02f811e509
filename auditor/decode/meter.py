"""How many values of a job are done."""

from __future__ import annotations

from collections.abc import Callable

from auditor.decode.frames import Frame


class Meter:
    """Reports how many values are done so far, also inside a slow frame, and never goes back."""

    def __init__(self, report: Callable[[int], None] | None) -> None:
        self._report, self._done, self._shown = report, 0, 0

    def done(self, count: int) -> None:
        """Count values that are decoded."""
        self._done += count
        self._show(self._done)

    def look(self, frame: Frame, position: int) -> None:
        """Count what a worker has passed in the frame that it is at."""
        if frame.base <= position < frame.end:
            self._show(self._done + position - frame.base)

    def _show(self, count: int) -> None:
        if self._report is not None and count > self._shown:
            self._shown = count
            self._report(count)
