"""Commands that see a fixed wall clock."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

LAUNCHER = Path(__file__).resolve().parent.parent / "worker" / "at_clock.py"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def can_fix_clock() -> bool:
    """Say whether the launcher knows this platform; whether it is let is what the worker's canary finds out."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def at_clock(command: list[str], clock_iso: str) -> list[str]:
    """Wrap a command so that its wall clock stands at an ISO instant; unchanged where no clock can be fixed.

    The command's first word is a program itself, not a shim that starts it: what a shim starts sees the real clock.
    """
    if not can_fix_clock():
        return command
    instant = datetime.fromisoformat(clock_iso)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    nanoseconds = (instant - EPOCH) // timedelta(microseconds=1) * 1000
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(nanoseconds), "--", *command]
