"""Which shapes a model may be asked for: no consumer may read them by anything but the string.

Advice is followed. A shape that is read alike here and today, and otherwise on another day, in another zone or in other
company, is no advice; nor is a date whose day and month cannot be told apart, though all strings seen were read alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from auditor.findings import sql
from auditor.findings.census import Census

#: What shapes are counted under that are too many to list.
OTHER_SHAPES = "other shapes"

#: Refusals of a shape, for each case that is accepted, that do not speak against it.
FEW = 0.1

_MOMENTS = ("date", "datetime")

#: A year of four digits, then month and day; or a month that is named, with a day and a year of four digits.
_YEAR_FIRST = re.compile(r"d{4}[^dA-Za-z]d{1,2}[^dA-Za-z]d{1,2}(?!d)")
_YEAR = re.compile(r"(?<!d)d{4}(?!d)")
_DAY = re.compile(r"(?<!d)d{1,2}(?!d)")


def moving_shapes(census: Census, consumers: Iterable[str] | None = None) -> dict[tuple[str, str], str]:
    """Give each (field, shape) of which some prediction moves for some of the consumers (None: any), with a code."""
    numbers = census.context.index.values() if consumers is None else [census.context.index[one] for one in consumers]
    rows = census.query(
        "SELECT field, coalesce(shape, ''), min(code) FROM own_outcomes JOIN (SELECT unit, consumer, code FROM movers"
        f" UNION ALL SELECT unit, consumer, code FROM neighbour_moves) USING (unit)"
        f" WHERE role_prediction AND consumer IN {sql.numbers(numbers)} GROUP BY ALL ORDER BY ALL"
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


def best_shape(
    census: Census, field: str, consumer: str, accepted: Mapping[str, int], refused: Mapping[str, int]
) -> str | None:
    """Give the most frequent shape that a consumer hardly ever refuses, does not move and is unmistakable, or None.

    A few refusals are no reason against a shape: there is no 30th of February in any.
    """
    moving, field_type = moving_shapes(census, (consumer,)), census.context.spec.fields[field].type
    good = (
        shape
        for shape, cases in accepted.items()
        if refused.get(shape, 0) <= cases * FEW and (field, shape) not in moving
    )
    return next((shape for shape in good if is_unmistakable(field_type, shape)), None)


def cases_read_apart(census: Census, field: str) -> Counter[str]:
    """Count the predictions by shape that two consumers read differently, neither of them by accident."""
    counts = Counter[str]()
    for shape, differences, sound, cases in census.query(
        "SELECT shape, differences, sound, sum(n) FROM f_cells c JOIN f_groups ON grp = p_grp"
        f" WHERE c.field = {sql.text(field)} AND differences <> '' GROUP BY ALL"
    ):
        pairs = (difference.partition(":")[0].split("-") for difference in differences.rstrip(";").split(";"))
        if any(sound[int(left)] == sound[int(right)] == "v" for left, right in pairs):
            counts[shape] += int(cases)
    return counts


def example_of(census: Census, field: str, consumer: str, shape: str) -> str:
    """Give the prediction of a shape that most cases have, of those that a consumer takes a value from."""
    number = census.context.index[consumer]
    ((token,),) = census.query(
        "SELECT min_by(token, (-cases, token)) FROM (SELECT o.token, sum(n) AS cases FROM judged JOIN own_outcomes o"
        f" ON unit = p_unit WHERE o.field = {sql.text(field)} AND coalesce(o.shape, '') = {sql.text(shape)}"
        f" AND o.s{number} = 'v' GROUP BY o.token)"
    )
    return str(token)[:80]
