"""The environments of the probes: fixed instants, zones, locales, seeds and orders, so that a report reproduces.

The instants were chosen by measurement: the base, a leap day at the low end and the 31st at the high end find every
dependence that two dozen instants find; the two around a year's end tell which part of a value came from the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from auditor.model.environment import FACTORS, Environment

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

#: The first two never have the same calendar day; the others have abbreviations, gaps and repeated hours.
ZONES = ("Etc/GMT+12", "Pacific/Kiritimati", "America/New_York", "Europe/Berlin")

LOCALES = ("de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "en_GB.UTF-8")
SEEDS = (1, 2, 3, 4)
ORDERS = ("reversed", "shuffled-1", "shuffled-2", "shuffled-3")

#: Identical launches of the strings that moved, before anything is blamed: two alike prove little.
REPEATS = 5

#: A zone in which an abbreviation is known, for strings that bear one.
ZONE_OF_ABBREVIATION: Final[Mapping[str, str]] = {
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "MST": "America/Denver",
    "MDT": "America/Denver",
    "CST": "America/Chicago",
    "CDT": "America/Chicago",
    "EST": "America/New_York",
    "EDT": "America/New_York",
    "CET": "Europe/Berlin",
    "CEST": "Europe/Berlin",
    "BST": "Europe/London",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
}

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
    everything = [_pinned(one, base, pinned) for one in _everything(base, zones, orders)]
    if level == "quick":
        everything = everything[:2]
    calendar = CALENDAR if level == "full" else ()
    singles = {
        "clock": [(f"clock {at[:10]} {at[11:16]}", at) for at in (*CLOCKS, *calendar)],
        "zone": [(f"zone {zone}", zone) for zone in zones],
        "locale": [(f"locale {name}", name) for name in LOCALES],
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


def pinned_by(env: Mapping[str, str]) -> tuple[str, ...]:
    """Name the factors that a consumer's own environment variables fix."""
    fixed = (
        ("zone", "TZ" in env),
        ("locale", any(name in _LANGUAGE or name.startswith("LC_") for name in env)),
        ("hash_seed", "PYTHONHASHSEED" in env),
    )
    return tuple(factor for factor, is_fixed in fixed if is_fixed)


def zones_for(strings: Iterable[str]) -> tuple[str, ...]:
    """Choose the zones: the two that have abbreviations are those that the strings write most often."""
    named = Counter(
        ZONE_OF_ABBREVIATION[word]
        for text in strings
        for word in text.replace('"', " ").split()
        if word in ZONE_OF_ABBREVIATION
    )
    wanted = [zone for zone, _ in named.most_common(2)]
    return (*ZONES[:2], *[*wanted, *(zone for zone in ZONES[2:] if zone not in wanted)][:2])


def _everything(base: Environment, zones: tuple[str, ...], orders: tuple[str, ...]) -> tuple[Environment, ...]:
    return tuple(
        replace(
            base,
            name=f"everything {number + 1}",
            clock=CLOCKS[number],
            zone=zones[number],
            locale=LOCALES[number],
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
