"""The ways to give a process a fixed wall clock; each is verified by the worker's canary, and the next is tried."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from auditor.decode.plan import Plan
from auditor.decode.preload import NoLibrary, library, preloaded
from auditor.model.dependence import Watch
from auditor.spec.models import ConsumerSpec

LAUNCHER = Path(__file__).resolve().parent.parent / "worker" / "at_clock.py"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: In the order in which they are tried: code of the kernel led to constants, a preloaded library, a Python library.
VDSO, PRELOAD, TIME_MACHINE = CLOCKS = ("vdso", "preload", "time-machine")

#: The adapters whose consumers run inside our Python worker.
PYTHON_ADAPTERS = ("python", "pydantic", "sql")


def can_fix_clock() -> bool:
    """Say whether the launcher knows this platform; whether it is let is what the worker's canary finds out."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def nanoseconds_of(clock_iso: str) -> int:
    """Give an ISO instant in nanoseconds since 1970; one without offset is UTC."""
    instant = datetime.fromisoformat(clock_iso)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return (instant - EPOCH) // timedelta(microseconds=1) * 1000


def at_clock(command: Sequence[str], clock_iso: str) -> list[str]:
    """Wrap a command so that its wall clock stands at an ISO instant; unchanged where no clock can be fixed.

    The command's first word is a program itself, not a shim that starts it: what a shim starts sees the real clock.
    """
    if not can_fix_clock():
        return [*command]
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(nanoseconds_of(clock_iso)), "--", *command]


def can_attribute(consumer: ConsumerSpec) -> str:
    """Say why the clock of one line alone cannot be changed for a consumer; nothing where it can."""
    if consumer.adapter not in PYTHON_ADAPTERS:
        return "the consumer is no Python process"
    try:
        library()
    except NoLibrary as error:
        return str(error)
    return ""


def launches(plan: Plan, watch: Watch | None = None, clocks: Sequence[str] = CLOCKS) -> Iterator[Plan]:
    """Give a plan once for each way to fix its clock that this machine may have; at last as it is, if no way is left.

    With a watch the preloaded clock comes first: it alone sees every read and can answer one line differently. The
    other ways see only calls.
    """
    if watch is not None and PRELOAD in clocks:
        yield from preload(replace(plan, config=plan.config | {"watch": watch_config(plan, watch, "reads")}))
    if watch is not None:
        plan = replace(plan, config=plan.config | {"watch": watch_config(plan, watch, "calls")})
    if VDSO in clocks and can_fix_clock():
        yield replace(plan, command=tuple(at_clock(plan.command, plan.clock_iso)), clock_by=VDSO)
    if PRELOAD in clocks and watch is None:
        yield from preload(plan)
    travel = TIME_MACHINE in clocks
    yield replace(plan, config=plan.config | {"travel": travel}, clock_by=TIME_MACHINE if travel else "")


def preload(plan: Plan) -> Iterator[Plan]:
    """Give the plan with the preloaded clock, where there is one."""
    try:
        yield replace(plan, variables=preloaded(plan.variables, nanoseconds_of(plan.clock_iso)), clock_by=PRELOAD)
    except NoLibrary:
        return


def watch_config(plan: Plan, watch: Watch, by: str) -> dict[str, Any]:
    """Give the worker's configuration of a watch."""
    base, site = nanoseconds_of(plan.clock_iso), watch.site
    return {
        "by": by,
        "site": None if site is None else [site.file, site.line, site.function, site.at_import],
        "base": base,
        "other": base if watch.clock is None else nanoseconds_of(watch.clock),
    }
