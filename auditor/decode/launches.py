"""The ways to launch a plan: each is verified by the worker's canary, and where it does not serve the next is tried."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from auditor.decode.clock import CLOCKS, PRELOAD, TIME_MACHINE, VDSO, at_clock, can_fix_clock, nanoseconds_of
from auditor.decode.plan import Plan
from auditor.decode.preload import NoLibrary, preloaded
from auditor.model.dependence import Watch
from auditor.worker_start import WORKER

OFFLINE = WORKER.with_name("without_network.py")

#: SQL engines that are left at the real clock. ClickHouse does not bear one that stands in the past: it waits until
#: instants of it, and so never waits; its start takes a hundred times as long. Spark is a Java machine of its own.
UNFIXED_ENGINES = ("clickhouse", "spark")

#: The way that served last, by what runs: what does not serve it need not be tried on every launch.
_served: dict[tuple[str, ...], str] = {}


def remember(plan: Plan) -> None:
    """Note that of all ways, this is the one that fixed the clock of what a plan runs."""
    _served[_what_runs(plan)] = plan.clock_by


def _what_runs(plan: Plan) -> tuple[str, ...]:
    """Name what a clock is fixed for: the interpreter, and the program or engine that it starts for the consumer."""
    return (plan.program, str(plan.config["engine"]), *plan.config["command"])


def launches(plan: Plan, watch: Watch | None = None, clocks: Sequence[str] = CLOCKS) -> Iterator[Plan]:
    """Give a plan once for each way to fix its clock that this machine may have; at last as it is, if no way is left.

    With a watch the preloaded clock comes first: it alone sees every read and can answer one line differently. The
    other ways see only calls.
    """
    if plan.config["service"] is not None or plan.config["adapter"] == "recorded":
        # A service's clock is its own, and certificates are checked at the real one; records have none.
        yield plan
        return
    if plan.config["engine"] in UNFIXED_ENGINES:
        clocks = ()
    elif watch is None and clocks == CLOCKS:
        clocks = CLOCKS[CLOCKS.index(_served.get(_what_runs(plan), VDSO)) :]
    for launch in _at_clocks(plan, watch, clocks):
        # The launcher that fixes a clock by itself leaves the network by itself, too.
        is_online = plan.network or launch.clock_by == VDSO
        yield launch if is_online else replace(launch, command=without_network(launch.command))


def without_network(command: Sequence[str]) -> tuple[str, ...]:
    """Wrap a command so that it has no network, where the system allows that."""
    return (sys.executable, "-I", "-S", str(OFFLINE), "--", *command)


def _at_clocks(plan: Plan, watch: Watch | None, clocks: Sequence[str]) -> Iterator[Plan]:
    if watch is not None and PRELOAD in clocks:
        yield from _preload(replace(plan, config=plan.config | {"watch": watch_config(plan, watch, "reads")}))
    if watch is not None:
        plan = replace(plan, config=plan.config | {"watch": watch_config(plan, watch, "calls")})
    if VDSO in clocks and can_fix_clock():
        config = plan.config | {"launcher": at_clock((), plan.clock_iso), "children": _for_children(plan)}
        command = at_clock(plan.command, plan.clock_iso, offline=not plan.network)
        yield replace(plan, command=tuple(command), config=config, clock_by=VDSO)
    if PRELOAD in clocks and watch is None:
        yield from _preload(plan)
    travel = TIME_MACHINE in clocks
    yield replace(plan, config=plan.config | {"travel": travel}, clock_by=TIME_MACHINE if travel else "")


def _preload(plan: Plan) -> Iterator[Plan]:
    """Give the plan with the preloaded clock, where there is one."""
    try:
        yield replace(plan, variables=preloaded(plan.variables, nanoseconds_of(plan.clock_iso)), clock_by=PRELOAD)
    except NoLibrary:
        return


def _for_children(plan: Plan) -> dict[str, str]:
    """Give the variables by which what a parser starts sees its clock too: a new program has a fresh vDSO."""
    with suppress(NoLibrary):
        variables = preloaded(plan.variables, nanoseconds_of(plan.clock_iso))
        return {name: value for name, value in variables.items() if plan.variables.get(name) != value}
    return {}


def watch_config(plan: Plan, watch: Watch, by: str) -> dict[str, Any]:
    """Give the worker's configuration of a watch."""
    base, site = nanoseconds_of(plan.clock_iso), watch.site
    return {
        "by": by,
        "site": None if site is None else [site.file, site.line, site.function, site.at_import],
        "base": base,
        "other": base if watch.clock is None else nanoseconds_of(watch.clock),
    }
