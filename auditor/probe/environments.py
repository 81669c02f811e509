"""The environments of the probes: fixed instants, zones, locales, seeds and orders, so that a report reproduces.

The instants were chosen by measurement: the base, a leap day at the low end and the 31st at the high end find every
dependence that two dozen instants find; the two around a year's end tell which part of a value came from the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import permutations
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from auditor.model.environment import FACTORS, Environment
from auditor.probe.languages import LOCALES
from auditor.probe.zones import ZONES

Level = Literal["full", "quick", "off"]
LEVELS: Final[tuple[Level, ...]] = ("full", "quick", "off")

CLOCKS = (
    "2000-02-29T06:06:07+00:00",
    "2031-08-31T18:45:07+00:00",
    "2021-12-31T23:59:07+00:00",
    "2022-01-01T00:00:37+00:00",
)

#: The calendar of one month, at the hour of the base: what passes on the 1st and fails on the 8th.
CALENDAR = ("2024-03-01T09:05:07+00:00", "2024-03-31T09:05:07+00:00")

#: Of the seeds up to 160 those under which most pairs of common formats, currencies, units and words come in another
#: order than under seed 0.
SEEDS = (9, 19, 121, 159)
#: The hour from which offices are closed, and the day is another one further east.
EVENING = 18

ORDERS = ("reversed", "shuffled-1", "shuffled-2", "shuffled-3")

#: Identical launches of the strings that moved, before anything is blamed: two alike prove little.
REPEATS = 5

#: Why a factor stays as it is.
PINNED = "the consumer's env sets it"
BATCHES = "batches: see neighbours"
OF_A_SERVICE = "the audit does not start the service"
OF_EMULATION = "it is emulated: what DuckDB does elsewhere says nothing of the warehouse"
OF_RECORDS = "the answers are records of a day on which it ran elsewhere"

_LANGUAGE = ("LANG", "LC_ALL")

#: The factors that belong to a process, which only whoever starts it can change.
OF_A_PROCESS = tuple(factor for factor in FACTORS if factor != "order")


@dataclass(frozen=True)
class Course:
    """The environments of one consumer's probes.

    `everything` changes all factors together and `rest` all but clock and zone, over all strings; `repeats` are the
    base, and `singles` change one factor, by factor. `pinned` are the factors that stay as they are, and why; empty
    where the consumer has no such thing. `doubtful` are factors that are changed, and may not be what they are called
    until something moves with them, and why.
    """

    base: Environment
    everything: tuple[Environment, ...]
    repeats: tuple[Environment, ...]
    rest: tuple[Environment, ...]
    singles: Mapping[str, tuple[Environment, ...]]
    pinned: Mapping[str, str]
    doubtful: Mapping[str, str]
    attributes: bool  # whether the line that reads the clock is looked for


def course_of(
    base: Environment,
    env: Mapping[str, str],
    level: Level,
    zones: tuple[str, ...] = ZONES,
    locales: tuple[str, ...] = LOCALES,
    *,
    without: Iterable[str] = (),
    batches_of: int = 0,
    is_service: bool = False,
    fixed_by: str = "",
) -> Course:
    """Lay out the environments; what the consumer's `env` pins is part of the consumer and stays as it is.

    `without` are factors that the consumer has none of. `batches_of` is how many fields a consumer of batches reads:
    no order of the strings means anything to it, and that of its fields can only be reversed. Of a service, which we
    do not start, nothing can be changed but the order of the strings; with `fixed_by`, which says why, nothing at all.
    """
    pinned = dict.fromkeys(without, "") | dict.fromkeys(pinned_by(env), PINNED)
    if is_service:
        pinned = dict.fromkeys(OF_A_PROCESS, OF_A_SERVICE)
    if fixed_by:
        pinned = dict.fromkeys(FACTORS, fixed_by)
    if batches_of == 1:
        pinned["order"] = BATCHES
    orders = ("reversed", *[base.order] * 3) if batches_of else ORDERS
    zones = matched(zones)
    everything = [_pinned(one, base, pinned) for one in _everything(base, zones, locales, orders)]
    if level == "quick":
        everything = everything[:2]
    calendar = CALENDAR if level == "full" else ()
    singles = {
        "clock": [(f"clock {at[:10]} {at[11:16]}", at) for at in (*CLOCKS, *calendar)],
        "zone": [(f"zone {zone}", zone) for zone in zones],
        "locale": [(f"locale {name}", name) for name in locales],
        "hash_seed": [(f"hash seed {seed}", seed) for seed in SEEDS],
        "order": [(f"order {order}", order) for order in orders[:2]],
        "network": [("no network", False)],
        "elsewhere": [("another folder and HOME", True)],
    }
    return Course(
        base=base,
        everything=tuple(everything),
        repeats=tuple(replace(base, name=f"base, {ordinal} time") for ordinal in _ordinals(REPEATS)),
        rest=tuple(
            replace(one, name=f"rest {number}", clock=base.clock, zone=base.zone)
            for number, one in enumerate(everything, 1)
        ),
        singles={
            factor: tuple(
                _with(base, name, factor, value)
                for name, value in values
                if value != getattr(base, factor) and factor not in pinned
            )
            for factor, values in singles.items()
        },
        pinned=pinned,
        doubtful={"order": BATCHES} if batches_of > 1 else {},
        attributes=level == "full" and not is_service and not fixed_by,
    )


def matched(zones: tuple[str, ...]) -> tuple[str, ...]:
    """Put the zones in the order of the clocks that they are set with, so that the clocks stay what they are for.

    A parser that reads the local time must see the leap day, a 31st, both ends of a year, and an evening: on
    2000-02-29 at six in the morning it is the 28th in Etc/GMT+12.
    """
    moments = [datetime.fromisoformat(clock) for clock in CLOCKS]
    try:
        places = {zone: ZoneInfo(zone) for zone in zones}
    except ZoneInfoNotFoundError:  # a machine that does not know one cannot set it either, which its canary sees
        return zones

    def worth(order: tuple[str, ...]) -> int:
        local = [moment.astimezone(places[zone]) for moment, zone in zip(moments, order, strict=True)]
        kept = [there.date() == moment.date() for there, moment in zip(local, moments, strict=True)]
        weights = zip((4, 2, 1, 1), kept, strict=True)
        return sum(weight for weight, is_kept in weights if is_kept) + 2 * any(there.hour >= EVENING for there in local)

    return max(permutations(zones), key=worth)


def pinned_by(env: Mapping[str, str]) -> tuple[str, ...]:
    """Name the factors that a consumer's own environment variables fix."""
    fixed = (
        ("zone", "TZ" in env),
        ("locale", any(name in _LANGUAGE or name.startswith("LC_") for name in env)),
        ("hash_seed", "PYTHONHASHSEED" in env),
    )
    return tuple(factor for factor, is_fixed in fixed if is_fixed)


def _everything(
    base: Environment, zones: tuple[str, ...], locales: tuple[str, ...], orders: tuple[str, ...]
) -> tuple[Environment, ...]:
    return tuple(
        replace(
            base,
            name=f"everything {number + 1}",
            clock=CLOCKS[number],
            zone=zones[number],
            locale=locales[number],
            hash_seed=SEEDS[number],
            order=orders[number],
            network=number != 0,
            elsewhere=number == 1,
        )
        for number in range(4)
    )


def _with(base: Environment, name: str, factor: str, value: object) -> Environment:
    """Give the base with one factor changed."""
    return replace(base, name=name, **{factor: value})  # type: ignore[arg-type]


def _pinned(environment: Environment, base: Environment, pinned: Iterable[str]) -> Environment:
    for factor in pinned:
        environment = _with(environment, environment.name, factor, getattr(base, factor))
    return environment


def _ordinals(count: int) -> list[str]:
    return ["2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th"][:count]
