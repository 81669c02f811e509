"""Dates and datetimes at their grain, as the consumer states them: no zone is converted behind its back."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from auditor.spec.models import FieldSpec

#: Regular expression of ISO dates that exist without looking at a calendar: all but 29 February.
SOUND_DATE = (
    "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-"
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)

#: What a moment has beyond its microseconds, without trailing zeros; Python's own datetime drops it.
_BEYOND = re.compile(r"\.[0-9]{6}([0-9]*[1-9])")

_DATE_LENGTH = {"year": 4, "month": 7, "day": 10}
_TIME_LENGTH = {"hour": 13, "minute": 16, "second": 19}


def date_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a date field; an aware datetime counts as the day that it states."""
    if tag not in ("date", "datetime"):
        return None
    try:
        day = date.fromisoformat(text) if tag == "date" else datetime.fromisoformat(text).date()
    except ValueError:
        return None
    return day.isoformat()[: _DATE_LENGTH[field.grain or "day"]]


def datetime_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a datetime field: an aware one by its instant, a naive one as it stands; the two are never equal.

    At a grain of a day or coarser the stated day counts, and a plain date is taken too.
    """
    grain = field.grain or "microsecond"
    if grain in _DATE_LENGTH:
        return date_key(field, tag, text)
    if tag != "datetime":
        return None
    try:
        moment = datetime.fromisoformat(text)
        utc = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
    except (ValueError, OverflowError):
        return None
    written = utc.isoformat(timespec="microseconds")[: _TIME_LENGTH.get(grain, 26)]
    if field.grain is None and (beyond := _BEYOND.search(text)):
        written += beyond.group(1)
    return f"{written}Z" if moment.tzinfo is not None else written
