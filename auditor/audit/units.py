"""The distinct raw values of a run: what is decoded, once per consumer, however many rows it stands in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyConnection

from auditor.audit.transfer import Cells, fetched

_KINDS: dict[str, type[str] | type[int] | type[bool]] = {
    "unit": int,
    "token": str,
    "payload": str,
    "role_prediction": bool,
    "role_reference": bool,
}


#: Payloads that are asked for each of their fields before the next, and about how many characters.
MOST_PAYLOADS, MOST_CHARACTERS = 4096, 16 << 20


@dataclass(frozen=True)
class FieldUnits:
    """The distinct raw values of one field in order of first appearance, chunk by chunk."""

    field: str
    count: int
    by_payload: bool
    columns: dict[str, Cells]

    def __len__(self) -> int:
        """Count the raw values."""
        return self.count

    def chunks(self, *names: str) -> Iterator[tuple[list[str], ...]]:
        """Give the columns named, in chunks that fit in memory as Python lists."""
        yield from zip(*(self.columns[name].chunks() for name in names), strict=True)


def create_units(connection: DuckDBPyConnection, *, payloads: bool) -> None:
    """Create the table ``units`` from ``pairs``: one row per distinct (field, raw value), or (…, payload).

    Numbered by first appearance, so that every consumer is asked in the order of the data set, run after run.
    """
    given, asserted = ("payload", "reference_payload") if payloads else ("NULL::VARCHAR", "NULL::VARCHAR")
    connection.execute(f"""
        CREATE OR REPLACE TABLE units AS
        SELECT row_number() OVER (ORDER BY first_row, field, token, payload) - 1 AS unit, *
        FROM (
            SELECT field, token, payload, bool_or(given) AS role_prediction, bool_or(NOT given) AS role_reference,
                min(abs(first_row)) AS first_row
            FROM (
                SELECT field, prediction AS token, {given} AS payload, true AS given, first_row
                FROM pairs WHERE prediction IS NOT NULL
                UNION ALL
                SELECT field, reference, {asserted}, false, first_row FROM pairs WHERE reference IS NOT NULL
            ) GROUP BY field, token, payload
        )
    """)


def count_units(connection: DuckDBPyConnection) -> dict[str, int]:
    """Count the distinct raw values of each field."""
    return dict(connection.execute("SELECT field, count(*) FROM units GROUP BY field").fetchall())


def field_units(connection: DuckDBPyConnection, field: str, count: int, *, payloads: bool) -> FieldUnits:
    """Read the units of one field."""
    query = f"SELECT {', '.join(_KINDS)} FROM units WHERE field = $field ORDER BY unit"
    columns = {name: Cells(kind) for name, kind in _KINDS.items()}
    for chunk in fetched(connection, query, {"field": field}, count):
        for column, values in zip(columns.values(), chunk, strict=True):
            column.extend(values)
    return FieldUnits(field, count, payloads, columns)


def portions(fields: Sequence[FieldUnits], *, by_payload: bool) -> Iterator[tuple[FieldUnits, list[str]]]:
    """Give what a consumer is asked, portion by portion: field after field, or all fields of some payloads.

    A payload stands in the units of each of its fields, near the same number. A worker that is asked for all of them
    in turn validates it once.
    """
    if not (by_payload and all(one.by_payload for one in fields)):
        for one in fields:
            for (tokens,) in one.chunks("token"):
                yield one, tokens
        return
    waiting = [_Waiting(one.chunks("unit", "payload")) for one in fields]
    bound = 0
    while any(not one.is_empty for one in waiting):
        bound += max(1, min(MOST_PAYLOADS, MOST_CHARACTERS // max(1, *(one.length for one in waiting)))) * len(fields)
        for one, queue in zip(fields, waiting, strict=True):
            if payloads := queue.take(bound):
                yield one, payloads


class _Waiting:
    """The payloads of a field that have not been asked for, in the order of their units."""

    def __init__(self, chunks: Iterator[tuple[list[Any], ...]]) -> None:
        self._chunks = chunks
        self._units: list[int] = []
        self._payloads: list[str] = []
        self._next()

    def _next(self) -> None:
        self._at = 0
        self._units, self._payloads = next(self._chunks, ([], []))

    @property
    def is_empty(self) -> bool:
        """Whether all have been asked for."""
        return not self._units

    @property
    def length(self) -> int:
        """Characters of the next payload."""
        return len(self._payloads[self._at]) if self._units else 0

    def take(self, bound: int) -> list[str]:
        """Take those of the units up to a number."""
        taken: list[str] = []
        while self._units:
            end = bisect_left(self._units, bound, self._at)
            taken += self._payloads[self._at : end]
            self._at = end
            if end < len(self._units):
                break
            self._next()
        return taken
