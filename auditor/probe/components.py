"""Which part of a value came from the clock: the part that moves when only the clock does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditor.model.dependence import Answer

_MOMENT = re.compile(
    r"(?:date|datetime):(?P<year>-?\d{4,})-(?P<month>\d\d)-(?P<day>\d\d)(?:[T ](?P<time>[0-9:.]+)(?P<offset>.*))?$"
)


def moving_components(answers: Iterable[Answer]) -> tuple[str, ...]:
    """Name what differs among answers: century, year, month, day, time, offset; acceptance; else the value.

    >>> moving_components([Answer("v", "date:2024-03-08", "2024-03-08"), Answer("v", "date:2024-03-29", "2024-03-29")])
    ('day',)
    >>> moving_components([Answer("v", "date:1975-01-02", "1975-01-02"), Answer("v", "date:2075-01-02", "2075-01-02")])
    ('century',)
    """
    seen = [answer for answer in answers if answer.letter != "t"]
    found = ("acceptance",) if len({answer.letter for answer in seen}) > 1 else ()
    texts = {answer.text for answer in seen if answer.text is not None}
    if len(texts) < 2:
        return found
    moments = [_MOMENT.match(text) for text in texts]
    parts = [moment.groupdict() for moment in moments if moment]
    if len(parts) < len(texts):
        return (*found, "value")
    moving = tuple(name for name in ("year", "month", "day", "time", "offset") if len({one[name] for one in parts}) > 1)
    if "year" in moving and len({int(one["year"]) % 100 for one in parts}) == 1:
        moving = ("century", *(name for name in moving if name != "year"))
    return (*found, *moving)
