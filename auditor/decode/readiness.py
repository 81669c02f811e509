"""What workers found out about their consumer: a Readiness, or a ConsumerError with the next step."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from auditor.decode.clock import TIME_MACHINE
from auditor.decode.exchange import Lost
from auditor.decode.made_of import made_of
from auditor.decode.plan import ELSEWHERE, Plan
from auditor.decode.provenance import Provenance, readable
from auditor.errors import ConsumerError
from auditor.model.decoding import Readiness
from auditor.model.payload_path import PayloadPath

VERSION_DIGITS = 16

#: The parts of an environment, as they are named in `not_fixed`.
VARIED = ("clock", "zone", "locale", "hash seed", "network", "elsewhere")

#: Parts that a program of its own may tell or not, and the name of each in the canary.
TOLD = {"zone": "offsets", "locale": "locale"}

#: What time-machine does not reach, measured; everything else that reads the clock through Python is reached.
UNREACHED = ("the clock as numpy, sqlite, duckdb, time.ctime and other processes read it (time-machine)",)


class Report:
    """What the processes of one session told of their consumer; the first is what the others are held against."""

    def __init__(self, plan: Plan, ready: dict[str, Any]) -> None:
        self.plan, self.ready = plan, ready
        canary, modules = ready["canary"], ready.get("modules")
        self.watched_by = str(ready.get("watch", {}).get("by", ""))
        self.not_fixed = not_fixed(plan, canary)
        self.unconfirmed = tuple(part for part, name in TOLD.items() if canary[name] is None)
        self.inapplicable = ("hash_seed",) if canary["hash_seed"] is None else ()
        self.imported = {(name, file) for name, file in modules or ()}
        self.provenance = None
        if modules is not None:
            self.provenance = Provenance(plan.config["root"], canary["standard"], canary["python"])
        self.at_start = self.readiness()

    def readiness(self) -> Readiness:
        """Give what is known by now; the version covers every module that any of the processes has imported."""
        ready, parts = self.ready, self.ready.get("version_parts")
        settings: dict[str, str] = {}
        if self.provenance is not None:
            self.provenance.add(self.imported)
            parts = self.provenance.parts()
            settings |= readable(parts)
        settings |= {str(name): str(value) for name, value in ready.get("settings", {}).items()}
        settings |= {f"env.{name}": value for name, value in sorted(own_variables(self.plan).items())}
        reads = {str(name): str(target) for name, target in ready["reads"].items()}
        scope = str(ready.get("scope", ""))
        told_places: dict[str, Any] = ready.get("places", {})
        clock_by = "" if "clock" in self.not_fixed else self.plan.clock_by
        return Readiness(
            consumer=self.plan.consumer,
            reads=reads,
            version=version_of(parts, reads, settings, scope, self.plan.config["receives"]),
            parts=made_of(parts, reads, settings, scope, self.plan.config["receives"]),
            settings=settings,
            not_fixed=self.not_fixed,
            clock_by=clock_by,
            not_varied=UNREACHED if clock_by == TIME_MACHINE else (),
            unconfirmed=self.unconfirmed,
            inapplicable=self.inapplicable,
            scope=scope,
            scope_note=str(ready.get("scope_note", "")),
            alone=frozenset(ready.get("alone", ())),
            looks_at={str(name): places_of(places) for name, places in ready.get("looks_at", {}).items()},
            looks_after=tuple(map(str, ready.get("looks_after", ()))),
            recorded={str(name): tuple(strings) for name, strings in ready.get("recorded", {}).items()},
            places={str(name): (str(place[0]), int(place[1])) for name, place in told_places.items() if place},
            functions={str(name): str(word) for name, word in ready.get("functions", {}).items()},
        )

    def add(self, ready: dict[str, Any]) -> None:
        """Take up what a later process told; ConsumerError where it is not the same consumer any more."""
        later = Report(self.plan, ready)
        if later.at_start.version != self.at_start.version:
            raise ConsumerError(
                self.plan.consumer,
                "go on in a fresh process, after a string that ended the last one",
                f"its version is {later.at_start.version} and was {self.at_start.version}",
                "its sources or packages changed while they were audited: run the audit again",
            )
        missing = {*self.not_fixed, *later.not_fixed}
        self.not_fixed = tuple(part for part in VARIED if part in missing)
        self.unconfirmed = tuple(part for part in TOLD if part in {*self.unconfirmed, *later.unconfirmed})
        self.imported |= later.imported


def places_of(told: list[list[str | int]] | None) -> PayloadPath | None:
    """Give the places where a model looks for a field."""
    return None if told is None else PayloadPath(tuple(map(tuple, told)))


def is_as_planned(plan: Plan, ready: dict[str, Any]) -> bool:
    """Say whether a process has the clock that was planned, and is watched in the way that was planned."""
    watch = plan.config["watch"]
    is_watched = watch is None or ready["watch"]["by"] == watch["by"]
    return is_watched and "clock" not in not_fixed(plan, ready["canary"])


def lost_its_clock(plan: Plan, report: Report, ready: dict[str, Any]) -> bool:
    """Say whether a process has no fixed clock although the first had: the machine was too busy for the tracer."""
    return "clock" not in report.at_start.not_fixed and "clock" in not_fixed(plan, ready["canary"])


def own_variables(plan: Plan) -> dict[str, str]:
    """Give the consumer's own environment variables: they are part of what it does."""
    return {name: value for name, value in plan.variables.items() if name in plan.config["env"]}


def version_of(parts: Any, *others: Any) -> str:
    """Derive a version from everything that a consumer is made of."""
    text = json.dumps([parts, *others], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]


def not_fixed(plan: Plan, seen: dict[str, Any]) -> tuple[str, ...]:
    """Compare what the worker saw before it imported the consumer with what was to be in force.

    What a program that we start does not tell is not known to be otherwise; what is None of another consumer, such as
    a warehouse that runs elsewhere, was not set.
    """
    parts = set()
    untold = (None,) if plan.config["adapter"] == "process" else ()
    if seen["clock"] is None or abs(seen["clock"] - plan.clock) > 0.001:
        parts.add("clock")
    expected = expected_offsets(plan)
    if expected is None or seen["offsets"] not in (expected, *untold):
        parts.add("zone")
    if seen["locale"] is None:
        parts |= set() if untold else {"locale"}
    elif plan.locale is not None and plain(seen["locale"]) != plain(str(plan.locale)):
        parts.add("locale")
    if seen["hash_seed"] is not None and not seed_is_fixed(plan.hash_seed, seen):
        parts.add("hash seed")
    if not plan.network and seen["has_network"]:
        parts.add("network")
    if plan.elsewhere and (seen["folder"] != seen["home"] or not seen["folder"].endswith(ELSEWHERE)):
        parts.add("elsewhere")
    return tuple(part for part in VARIED if part in parts)


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


def start_error(plan: Plan, error: dict[str, str], printed: str) -> ConsumerError:
    """Give the error that a worker reported, with what a program of the consumer's own said on its way."""
    said = f"; it printed: {printed[-1500:]}" if printed and plan.config["command"] else ""
    return ConsumerError(plan.consumer, error["tried"], error["seen"] + said, error["hint"])


def _is_python(program: str) -> bool:
    """Ask a program that would not start a worker for a sum, as only a Python interpreter can give it."""
    if program == sys.executable:
        return True
    command = [program, "-c", "print(6 * 7)"]
    try:
        asked = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.stdout.strip() == b"42"


def death_error(plan: Plan, lost: Lost, printed: str) -> ConsumerError:
    """Give the error of a worker that died or fell silent before it was ready, with the end of what it printed."""
    said = f"; it printed: {printed[-1500:]}" if printed else ""
    hint = "run the import by hand with this interpreter: it must end without closing the process"
    if not _is_python(plan.program):
        return ConsumerError(
            plan.consumer,
            f"start {plan.program}",
            f"it is no Python interpreter: {lost.error}",
            "`interpreter` must name a Python, such as .venv/bin/python of the consumer; remove the key to use ours",
        )
    if "SyntaxError" in printed or "Python 3.8 or newer" in printed:
        hint = "`interpreter` must be Python 3.8 or newer"
    elif lost.status == "timed_out":
        hint = "what the consumer imports takes too long or waits for something"
    return ConsumerError(plan.consumer, f"start {plan.program}", lost.error + said, hint)
