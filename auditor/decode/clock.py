"""Commands and processes that see a fixed wall clock."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from auditor.decode.preload import NoLibrary, library
from auditor.spec.models import ConsumerSpec

LAUNCHER = Path(__file__).resolve().parent.parent / "worker" / "at_clock.py"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: In the order in which they are tried: code of the kernel led to constants, a preloaded library, a Python library.
VDSO, PRELOAD, TIME_MACHINE = CLOCKS = ("vdso", "preload", "time-machine")

#: The adapters whose consumers run inside our Python worker.
PYTHON_ADAPTERS = ("python", "pydantic", "sql")

#: SQL engines that read the clock through the C library of our worker.
LINKED_ENGINES = ("duckdb", "sqlite", "datafusion")


def can_fix_clock() -> bool:
    """Say whether the launcher knows this platform; whether it is let is what the worker's canary finds out."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def nanoseconds_of(clock_iso: str) -> int:
    """Give an ISO instant in nanoseconds since 1970; one without offset is UTC."""
    instant = datetime.fromisoformat(clock_iso)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return (instant - EPOCH) // timedelta(microseconds=1) * 1000


def at_clock(command: Sequence[str], clock_iso: str, *, offline: bool = False) -> list[str]:
    """Wrap a command so that its wall clock stands at an ISO instant; unchanged where no clock can be fixed.

    With `offline` it has no network either, where the system allows that.

    The command's first word is a program itself, not a shim that starts it: what a shim starts sees the real clock.
    """
    if not can_fix_clock():
        return [*command]
    options = ["offline"] if offline else []
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(nanoseconds_of(clock_iso)), *options, "--", *command]


def reads_clock_elsewhere(consumer: ConsumerSpec) -> bool:
    """Say whether the clock is read where no line of the consumer's process can be told to read it."""
    return consumer.engine not in (None, *LINKED_ENGINES)


def can_attribute(consumer: ConsumerSpec) -> str:
    """Say why the clock of one line alone cannot be changed for a consumer; nothing where it can."""
    if consumer.adapter not in PYTHON_ADAPTERS:
        return "the consumer is no Python process"
    if reads_clock_elsewhere(consumer):
        return f"{consumer.engine} reads the clock outside of our process's own libraries"
    try:
        library()
    except NoLibrary as error:
        return str(error)
    return ""
