"""The zones of the probes: two far ones, and those in which the strings at hand mean something of their own.

A string that bears an abbreviation is read by it only where the process's zone has it, and a local time that a zone
skips or has twice is another one only there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

#: The first two never have the same calendar day; of the others one has summer time, and one no whole hours.
ZONES = ("Etc/GMT+12", "Pacific/Kiritimati", "America/New_York", "Asia/Kathmandu")

#: A zone in which an abbreviation is known.
ZONE_OF_ABBREVIATION: Final[Mapping[str, str]] = {
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "MST": "America/Denver",
    "MDT": "America/Denver",
    "CST": "America/Chicago",
    "CDT": "America/Chicago",
    "EST": "America/New_York",
    "EDT": "America/New_York",
    "AST": "America/Halifax",
    "ADT": "America/Halifax",
    "NST": "America/St_Johns",
    "NDT": "America/St_Johns",
    "AKST": "America/Anchorage",
    "AKDT": "America/Anchorage",
    "HST": "Pacific/Honolulu",
    "WET": "Europe/Lisbon",
    "WEST": "Europe/Lisbon",
    "CET": "Europe/Berlin",
    "CEST": "Europe/Berlin",
    "BST": "Europe/London",
    "EET": "Europe/Athens",
    "EEST": "Europe/Athens",
    "MSK": "Europe/Moscow",
    "SAST": "Africa/Johannesburg",
    "CAT": "Africa/Maputo",
    "EAT": "Africa/Nairobi",
    "WAT": "Africa/Lagos",
    "IST": "Asia/Kolkata",
    "PKT": "Asia/Karachi",
    "WIB": "Asia/Jakarta",
    "HKT": "Asia/Hong_Kong",
    "KST": "Asia/Seoul",
    "JST": "Asia/Tokyo",
    "AWST": "Australia/Perth",
    "ACST": "Australia/Adelaide",
    "ACDT": "Australia/Adelaide",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
    "NZST": "Pacific/Auckland",
    "NZDT": "Pacific/Auckland",
}

#: Zones whose changes of the clock are looked for among the strings: each stands for others that change with it. The
#: second row changes at midnight, and the last but one by half an hour.
CHANGING: Final = (
    *("America/New_York", "Europe/Berlin", "Europe/London", "America/Los_Angeles", "America/Chicago", "America/Denver"),
    *("America/Sao_Paulo", "America/Santiago", "America/Havana", "America/Asuncion", "Africa/Cairo", "Asia/Beirut"),
    *("Australia/Sydney", "Pacific/Auckland", "Asia/Jerusalem", "Australia/Lord_Howe", "Pacific/Chatham"),
)

_MOMENT = re.compile(
    r"(?<![0-9])([0-9]{4})[-/.]?([0-9]{1,2})[-/.]?([0-9]{1,2})"
    r"[T ]+([0-9]{1,2}):?([0-9]{2})(?::?[0-9]{2}(?:[.,][0-9]+)?)? ?(Z|UTC|GMT|[+-]00:?00)?(?![0-9])"
)

#: A time of day, beside which letters are the name of a zone.
_TIME = re.compile(r"[0-9][:.][0-9]{2}|[0-9] ?[AaPp]\.?[Mm]")

#: Years for which machines have rules of zones.
_FIRST, _LAST = 1970, 2037

_DAY = timedelta(days=1)


def zones_for(strings: Iterable[str]) -> tuple[str, ...]:
    """Choose the zones: the two near ones are those that the strings ask for most often.

    >>> zones_for(["2024-03-01 10:00 JST", "2024-03-31T02:30:00"])
    ('Etc/GMT+12', 'Pacific/Kiritimati', 'Asia/Tokyo', 'Europe/Berlin')
    """
    asked = Counter(zone for text in strings for zone in _asked_by(text))
    wanted = [zone for zone, _ in asked.most_common(2)]
    if wanted and not any(map(_has_summer_time, wanted)):
        wanted = [wanted[0], ZONES[2]]
    # Beside one with summer time what stays is the one without whole hours.
    return (*ZONES[:2], *[*wanted, *(zone for zone in ZONES[:1:-1] if zone not in wanted)][:2]) if wanted else ZONES


def _has_summer_time(name: str) -> bool:
    try:
        zone = ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return False
    return len({datetime(2024, month, 1, tzinfo=zone).utcoffset() for month in (1, 7)}) > 1


def _asked_by(text: str) -> Iterator[str]:
    if _TIME.search(text):  # without a time of day, CAT and EST are words or codes
        for word in text.replace('"', " ").split():
            if word in ZONE_OF_ABBREVIATION:
                yield ZONE_OF_ABBREVIATION[word]
    for year, month, day, hour, minute, utc in _MOMENT.findall(text):
        yield from changing_at(int(year), int(month), int(day), int(hour), int(minute), is_utc=bool(utc))


def changing_at(year: int, month: int, day: int, hour: int, minute: int, *, is_utc: bool = False) -> list[str]:
    """Name the zones that skip a local time or have it twice; `is_utc`: those in which an instant's local time is so.

    What is no time has no zone.
    """
    known = _changes_of(year) if _FIRST <= year <= _LAST else {}
    zones = known.get((month, day), ())
    if not zones or hour > 23 or minute > 59:
        return []
    naive = datetime(year, month, day, hour, minute, tzinfo=UTC)
    return [
        zone.key for zone in zones if _is_changing(naive.astimezone(zone) if is_utc else naive.replace(tzinfo=zone))
    ]


def _is_changing(moment: datetime) -> bool:
    return moment.utcoffset() != moment.replace(fold=1 - moment.fold).utcoffset()


@cache
def _changes_of(year: int) -> Mapping[tuple[int, int], Sequence[ZoneInfo]]:
    """Give the days of a year on which the clock changes somewhere, with the zones."""
    found: dict[tuple[int, int], list[ZoneInfo]] = {}
    for name in CHANGING:
        try:
            zone = ZoneInfo(name)
        except ZoneInfoNotFoundError:  # this machine does not know it
            continue
        day = datetime(year, 1, 1, tzinfo=zone)
        while day.year == year:
            after = day + _DAY  # by the wall clock
            if day.utcoffset() != after.utcoffset():
                found.setdefault((day.month, day.day), []).append(zone)
            day = after
    return found
