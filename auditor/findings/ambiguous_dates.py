"""Dates such as 01/03/2024: one text, two readings, and nothing in the text says which.

Where nothing in the case settles it, a reference with two readings is reported: both sides then decode by the same
parser, agree with each other, and may both be wrong about the document. Where the case's locale or jurisdiction
settles it, a consumer that reads it otherwise misreads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from auditor.findings import sql
from auditor.findings.census import Census
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.witnesses import WITNESSES, units_of
from auditor.findings.words import listed
from auditor.model.verdicts import OUTSIDE_SUPPORT

if TYPE_CHECKING:
    from auditor.findings.places import Order

AMBIGUOUS_CODE = "ambiguous-reference"
MISREADING_CODE = "misreading"

#: Two numbers up to 12, a year of two or four digits, perhaps a time; a year in front or a weekday leaves no doubt.
_WRITTEN = (
    r'^"\s*([0-9]{1,2})\s*[/. -]\s*([0-9]{1,2})\s*[/. -]\s*([0-9]{4}|[0-9]{2})'
    r'([ ,T]+[0-9]{1,2}:[0-9]{2}[^"]*)?\s*"$'
)

#: The letter of the reading that a place does not write.
_OTHER: dict[Order, str] = {"day": "m", "month": "d"}

_READINGS = {"d": "day first", "m": "month first", "o": "something else", "-": "does not read it"}
_ORDERS: tuple[Order, ...] = ("day", "month")
_DEFAULT = datetime(2000, 1, 1)  # noqa: DTZ001 - stated to dateutil as what a text leaves open, never a moment


@dataclass(frozen=True)
class _Cell:
    """Cases of one field and place whose prediction or reference has two readings; a letter per consumer for each."""

    field: str
    place: str
    order: Order | None
    pattern: str
    of_prediction: str
    of_reference: str
    n: int

    @property
    def is_in_doubt(self) -> bool:
        """Tell whether the reference has two readings, was read at all, and nothing settles it."""
        return self.order is None and bool(self.of_reference) and set(self.pattern) != {"!"}

    @property
    def is_outside(self) -> bool:
        """Tell whether the cases are outside support."""
        return not set(self.pattern) - set(OUTSIDE_SUPPORT)

    def is_misread(self, number: int) -> bool:
        """Tell whether a consumer reads one of the strings in the order that the place does not write."""
        letters = {readings[number] for readings in (self.of_prediction, self.of_reference) if readings}
        return self.order is not None and _OTHER[self.order] in letters


def find_ambiguous_dates(census: Census) -> Iterator[Draft]:
    """Give, per field, the references in doubt; and per column and order, what is misread."""
    fields = [
        name
        for name, spec in census.context.spec.fields.items()
        if spec.type in ("date", "datetime") and spec.grain != "year" and census.context.readers.get(name)
    ]
    cells = _cells(census, fields) if fields and _write_dates(census, fields) else []
    for name in sorted({cell.field for cell in cells}):
        of_field = [cell for cell in cells if cell.field == name]
        yield from _ambiguous(census, name, [cell for cell in of_field if cell.is_in_doubt])
        for consumer in census.readers(name):
            misread = [cell for cell in of_field if cell.is_misread(census.context.index[consumer])]
            for order in _ORDERS:
                yield from _misreading(
                    census, (name, consumer), order, [cell for cell in misread if cell.order == order]
                )


def _write_dates(census: Census, fields: list[str]) -> bool:
    """Write the strings with two readings, with a letter per consumer for the one that it takes."""
    numbers = range(max(census.context.index.values()) + 1)
    letters = " || ".join(_letter(number) for number in numbers)
    parts = f"SELECT *, regexp_extract(token, {sql.text(_WRITTEN)}, ['a', 'b', 'y']) AS part FROM own_outcomes"
    census.query(
        "CREATE OR REPLACE TEMP TABLE f_dates AS"
        f" SELECT unit, field, token, {letters} AS readings FROM ("
        " SELECT *, part['a']::INTEGER AS a, part['b']::INTEGER AS b, part['y'] AS y"
        f" FROM ({parts} WHERE field IN {sql.texts(fields)}"
        f" AND regexp_matches(token, {sql.text(_WRITTEN)}))) WHERE a <> b AND a BETWEEN 1 AND 12 AND b BETWEEN 1 AND 12"
    )
    return bool(census.query("SELECT 1 FROM f_dates LIMIT 1"))


def _letter(number: int) -> str:
    """Write the letter of `_READINGS` for the reading of a consumer; `6/1/06` as the year 6 is neither of the two."""
    written = f"substr(v{number}, strpos(v{number}, ':') + 1, 4)"
    year = f"(y = {written} OR length(y) = 2 AND y = substr({written}, 3) AND {written} >= '1000')"
    day = f"substr(v{number}, strpos(v{number}, ':') + 9, 2)"
    month = f"substr(v{number}, strpos(v{number}, ':') + 6, 2)"
    first, second = "lpad(a::VARCHAR, 2, '0')", "lpad(b::VARCHAR, 2, '0')"
    return (
        f"CASE WHEN v{number} IS NULL THEN '-' WHEN NOT {year} THEN 'o'"
        f" WHEN {day} = {first} AND {month} = {second} THEN 'd'"
        f" WHEN {day} = {second} AND {month} = {first} THEN 'm' ELSE 'o' END"
    )


def _cells(census: Census, fields: Sequence[str]) -> list[_Cell]:
    rows = census.query(
        "SELECT j.field, coalesce(place, ''), pattern, coalesce(p.readings, ''), coalesce(r.readings, ''), sum(n)"
        " FROM judged j LEFT JOIN f_dates p ON p.unit = j.p_unit LEFT JOIN f_dates r ON r.unit = j.r_unit"
        f" WHERE j.field IN {sql.texts(fields)} AND (p.unit IS NOT NULL OR r.unit IS NOT NULL) GROUP BY ALL"
    )
    return [
        _Cell(name, place, _settled(place), pattern, of_prediction, of_reference, int(n))
        for name, place, pattern, of_prediction, of_reference, n in rows
    ]


def _settled(place: str) -> Order | None:
    if not place:
        return None
    from auditor.findings.places import settled_order  # the tables of babel are large, and few audits need them

    return settled_order(place)


def _ambiguous(census: Census, name: str, cells: Sequence[_Cell]) -> Iterator[Draft]:
    affected = sum(cell.n for cell in cells)
    if not affected:
        return
    readers = census.readers(name)
    shapes = {consumer: _counted(cells, census.context.index[consumer]) for consumer in readers}
    takes = "; ".join(f"{consumer}: {_readings(counts)}" for consumer, counts in shapes.items())
    cases = _affected_in(cells)
    units, notes = _witnesses(census, name, ("r_unit",), cases, "true")
    yield Draft(
        code=AMBIGUOUS_CODE,
        severity="medium",
        field=name,
        consumers=readers,
        title=f"references of {name} can be read day first or month first, and nothing in the case says which",
        detail=f"Agreement on these cases proves nothing about the documents. What each consumer takes: {takes}.",
        cause="The references were copied as the documents print them, without saying where the documents come from.",
        fixes=(
            f"Write the references of {name} as YYYY-MM-DD.",
            "Give each case a locale (en-GB) or a jurisdiction (New York), in a column of its own.",
        ),
        fingerprint=fingerprint(AMBIGUOUS_CODE, name, ()),
        units=units,
        cases=cases,
        affected=affected,
        affected_outside=sum(cell.n for cell in cells if cell.is_outside),
        role="reference",
        shapes=shapes,
        notes=notes,
    )


def _counted(cells: Sequence[_Cell], number: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for cell in cells:
        counts[_READINGS[cell.of_reference[number]]] += cell.n
    return dict(sorted(counts.items()))


def _readings(counts: dict[str, int]) -> str:
    return ", ".join(f"{reading} {count:,}" for reading, count in counts.items())


def _misreading(census: Census, column: tuple[str, str], order: Order, cells: Sequence[_Cell]) -> Iterator[Draft]:
    affected = sum(cell.n for cell in cells)
    if not affected:
        return
    name, consumer = column
    places = {cell.place for cell in cells}
    other = "month" if order == "day" else "day"
    reads = f"substr(readings, {census.context.index[consumer] + 1}, 1) = '{_OTHER[order]}'"
    cases = _affected_in(cells)
    units, notes = _witnesses(census, name, ("p_unit", "r_unit"), cases, reads)
    written = listed(sorted(place.strip("|").replace("|", ", ") for place in places)[:5])
    yield Draft(
        code=MISREADING_CODE,
        severity="high",
        field=name,
        consumers=(consumer,),
        title=f"{consumer} reads {name} {other} first in cases from where the {order} is written first",
        detail=f"The cases are from {written}, where short dates are written {order} first.",
        cause=f"The parser of {consumer} has one order for all documents, wherever they come from.",
        fixes=(
            f"Ask the model for {name} as YYYY-MM-DD, which has one reading.",
            f"Tell {consumer} the locale of the document, and parse by it.",
        ),
        fingerprint=fingerprint(MISREADING_CODE, name, (consumer,), f"{order}-first"),
        units=units,
        cases=cases,
        affected=affected,
        affected_outside=sum(cell.n for cell in cells if cell.is_outside),
        notes=notes,
    )


def _affected_in(cells: Sequence[_Cell]) -> str:
    """Write the condition that a use of a string is one of these cells, by their places and patterns."""
    places = sql.texts(sorted({cell.place for cell in cells}))
    return f"coalesce(place, '') IN {places} AND pattern IN {sql.texts(sorted({cell.pattern for cell in cells}))}"


def _witnesses(
    census: Census, name: str, sides: Sequence[str], cases: str, condition: str
) -> tuple[tuple[int, ...], dict[int, str]]:
    """Give the shortest strings in doubt of some cases, with both readings of each."""
    used = " UNION ".join(
        f"SELECT {side} AS unit FROM judged WHERE field = {sql.text(name)} AND {cases}" for side in sides
    )
    ((strings,),) = census.query(
        f"SELECT min((length(token), token, unit), {WITNESSES}) FROM (SELECT token, min(unit) AS unit FROM f_dates"
        f" JOIN ({used}) USING (unit) WHERE {condition} GROUP BY token)"
    )
    units = units_of(strings)
    tokens = dict(census.query(f"SELECT unit, token FROM f_dates WHERE unit IN {sql.numbers(units)}"))
    return units, {unit: _both_readings(tokens[unit]) for unit in units}


def _both_readings(token: str) -> str:
    """Say what dateutil makes of a text with the day first and with the month first."""
    from dateutil.parser import ParserError, parse  # few audits need it

    readings = []
    for order in _ORDERS:
        try:
            moment = parse(json.loads(token), dayfirst=order == "day", default=_DEFAULT)
        except (ParserError, OverflowError):
            return ""
        readings.append(f"{order} first it is {moment:%Y-%m-%d}")
    return ", ".join(readings)
