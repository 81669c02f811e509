"""Processes that a parser started and that left the worker's group: known by the variable that they inherited."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

#: Names the worker's folder; every process that the consumer starts inherits it.
MARK = "AUDITOR_WORKER"

#: Looks at the process table: a stray may fork while it is looked for.
MOST_LOOKS = 10


def end_strays(folder: str) -> None:
    """Kill whatever carries the mark of a worker, until nothing does.

    A process that emptied its environment and left the group and session is not found; there is nothing to look for
    where the platform has no /proc.
    """
    mark = f"{MARK}={folder}".encode()
    for _ in range(MOST_LOOKS):
        found = [process for process in _processes() if mark in _environment(process)]
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(process: int) -> list[bytes]:
    """Give the variables of a process; none where it has ended or is another user's."""
    try:
        with open(f"/proc/{process}/environ", "rb", 0) as block:
            return block.read().split(b"\0")
    except OSError:
        return []
