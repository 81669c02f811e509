"""What a worker found out before the first string: a Readiness, or a ConsumerError with the next step."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from auditor.decode.exchange import Lost
from auditor.decode.plan import Plan
from auditor.errors import ConsumerError
from auditor.model.decoding import Readiness

VERSION_DIGITS = 16


def readiness_of(plan: Plan, ready: dict[str, Any]) -> Readiness:
    """Read a worker's report."""
    settings = {str(name): str(value) for name, value in ready.get("settings", {}).items()}
    settings |= {f"env.{name}": value for name, value in sorted(own_variables(plan).items())}
    reads = {str(name): str(target) for name, target in ready["reads"].items()}
    scope = str(ready.get("scope", ""))
    return Readiness(
        consumer=plan.consumer,
        reads=reads,
        version=version_of(ready.get("version_parts"), reads, settings, scope, plan.config["receives"]),
        settings=settings,
        not_fixed=not_fixed(plan, ready["canary"]),
        scope=scope,
        scope_note=str(ready.get("scope_note", "")),
    )


def own_variables(plan: Plan) -> dict[str, str]:
    """Give the consumer's own environment variables: they are part of what it does."""
    return {name: value for name, value in plan.variables.items() if name in plan.config["env"]}


def version_of(parts: Any, *others: Any) -> str:
    """Derive a version from everything that a consumer is made of."""
    text = json.dumps([parts, *others], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]


def not_fixed(plan: Plan, seen: dict[str, Any]) -> tuple[str, ...]:
    """Compare what the worker saw before it imported the consumer with what was to be in force."""
    parts = []
    if abs(seen["clock"] - plan.clock) > 0.001:
        parts.append("clock")
    if seen["offsets"] != expected_offsets(plan):
        parts.append("zone")
    if plan.locale is not None and plain(seen["locale"]) != plain(plan.locale):
        parts.append("locale")
    if not seed_is_fixed(plan.hash_seed, seen):
        parts.append("hash seed")
    return tuple(parts)


def seed_is_fixed(seed: str, seen: dict[str, Any]) -> bool:
    """Say whether hashing follows one number: `random` and nothing are none."""
    if not (seed.isascii() and seed.isdecimal()) or seen["hash_seed"] != seed:
        return False
    return bool(seen["randomized"]) is (int(seed) != 0)


def expected_offsets(plan: Plan) -> list[int] | None:
    """Give the zone's offsets at the instants where the worker looked; None for a zone that nobody knows."""
    try:
        zone = ZoneInfo(plan.zone)
    except (LookupError, ValueError, OSError):
        return None
    shifts = [datetime.fromtimestamp(instant, UTC).astimezone(zone).utcoffset() for instant in plan.config["instants"]]
    return [int(shift.total_seconds()) for shift in shifts if shift is not None]


def plain(locale: str) -> str:
    """Write a locale's name one way: C.UTF-8 and C.utf8 are one."""
    name, _, codeset = locale.partition(".")
    return f"{name}.{codeset.replace('-', '').lower()}" if codeset else name


def start_error(plan: Plan, error: dict[str, str]) -> ConsumerError:
    """Give the error that a worker reported."""
    return ConsumerError(plan.consumer, error["tried"], error["seen"], error["hint"])


def death_error(plan: Plan, lost: Lost, printed: str) -> ConsumerError:
    """Give the error of a worker that died or fell silent before it was ready, with the end of what it printed."""
    said = f"; it printed: {printed[-1500:]}" if printed else ""
    hint = "run the import by hand with this interpreter: it must end without closing the process"
    if "SyntaxError" in printed or "Python 3.8 or newer" in printed:
        hint = "`interpreter` must be Python 3.8 or newer"
    elif lost.status == "timed_out":
        hint = "what the consumer imports takes too long or waits for something"
    elif not printed:
        hint = f"is {plan.program} a Python interpreter?"
    return ConsumerError(plan.consumer, f"start {plan.program}", lost.error + said, hint)
