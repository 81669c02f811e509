"""Which shapes a model may be asked for: no consumer may read them by anything but the string.

Advice is followed. A shape that is read alike here and today, and otherwise on another day, in another zone or in other
company, is no advice; nor is a date whose day and month cannot be told apart, though all strings seen were read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditor.findings.census import Census

#: What shapes are counted under that are too many to list.
OTHER_SHAPES = "other shapes"

_MOMENTS = ("date", "datetime")

#: A year of four digits, then month and day; or a month that is named, with a day and a year of four digits.
_YEAR_FIRST = re.compile(r"d{4}[^dA-Za-z]d{1,2}[^dA-Za-z]d{1,2}(?!d)")
_YEAR = re.compile(r"(?<!d)d{4}(?!d)")
_DAY = re.compile(r"(?<!d)d{1,2}(?!d)")


def moving_shapes(census: Census) -> dict[tuple[str, str], str]:
    """Give each (field, shape) of which some prediction moves with the environment or its neighbours, with a code."""
    rows = census.query(
        "SELECT field, coalesce(shape, ''), min(code) FROM own_outcomes JOIN"
        " (SELECT unit, code FROM movers UNION ALL SELECT unit, code FROM neighbour_moves) USING (unit)"
        " WHERE role_prediction GROUP BY ALL ORDER BY ALL"
    )
    return {(field, shape): code for field, shape, code in rows}


def is_unmistakable(field_type: str, shape: str) -> bool:
    """Say whether a shape by itself leaves no doubt what is meant.

    >>> [is_unmistakable("date", shape) for shape in ("dddd-dd-dd", "Mmmmm d, dddd", "d Mmm dddd", "dddd-dd-ddTdd:dd")]
    [True, True, True, True]
    >>> [is_unmistakable("date", shape) for shape in ("dd/dd/dddd", "dd/dd/dd", "Wwwww", "Mmmmm dddd", "dddddddddd")]
    [False, False, False, False, False]
    """
    if field_type not in _MOMENTS:
        return shape != OTHER_SHAPES
    if "Mmm" in shape:
        return bool(_YEAR.search(shape) and _DAY.search(shape))
    return _YEAR_FIRST.match(shape) is not None


def best_shape(census: Census, field: str, accepted: Iterable[str], refused: Iterable[str]) -> str | None:
    """Give the first shape that is never refused, does not move and is unmistakable; None where there is none."""
    moving, field_type = moving_shapes(census), census.context.spec.fields[field].type
    bad = set(refused)
    good = (shape for shape in accepted if shape not in bad and (field, shape) not in moving)
    return next((shape for shape in good if is_unmistakable(field_type, shape)), None)
