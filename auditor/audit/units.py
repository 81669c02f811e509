"""The distinct raw values of a run: what is decoded, once per consumer, however many rows it stands in."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auditor.audit.transfer import Cells, fetched, read_columns
from auditor.decode.payload_rows import PayloadKeys, members_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_KINDS: dict[str, type[str] | type[int] | type[bool]] = {
    "unit": int,
    "token": str,
    "payload": str,
    "role_prediction": bool,
    "role_reference": bool,
}


@dataclass(frozen=True)
class FieldUnits:
    """The distinct raw values of one field in order of first appearance, chunk by chunk.

    One that came in several payloads (`by_payload`) is there for each; one that is a prediction and a reference is
    there twice where a consumer reads the two apart (`by_role`).
    """

    field: str
    count: int
    by_payload: bool
    columns: dict[str, Cells]
    by_role: bool = False

    def __len__(self) -> int:
        """Count the raw values."""
        return self.count

    def chunks(self, *names: str) -> Iterator[tuple[list[str], ...]]:
        """Give the columns named, in chunks that fit in memory as Python lists."""
        yield from zip(*(self.columns[name].chunks() for name in names), strict=True)


def create_units(connection: DuckDBPyConnection, *, payloads: bool, by_role: Collection[str] = ()) -> None:
    """Create the table ``units`` from ``pairs``: one row per distinct (field, raw value), or (…, payload).

    Of the fields `by_role` a raw value that is both a prediction and a reference has a row as each: a consumer that
    reads whole columns may read it otherwise among the predictions than among the references.
    Numbered by first appearance, so that every consumer is asked in the order of the data set, run after run.
    """
    separate = ", CASE WHEN list_contains($by_role::VARCHAR[], field) THEN given END" if by_role else ""
    given, asserted = ("payload", "reference_payload") if payloads else ("NULL::VARCHAR", "NULL::VARCHAR")
    connection.execute(
        f"""
        CREATE OR REPLACE TABLE units AS
        SELECT row_number() OVER () - 1 AS unit, *
        FROM (
            SELECT field, token, payload, bool_or(given) AS role_prediction, bool_or(NOT given) AS role_reference,
                min(abs(first_row)) AS first_row
            FROM (
                SELECT field, prediction AS token, {given} AS payload, true AS given, first_row
                FROM pairs WHERE prediction IS NOT NULL
                UNION ALL
                SELECT field, reference, {asserted}, false, first_row FROM pairs WHERE reference IS NOT NULL
            ) GROUP BY field, token, payload{separate}
            ORDER BY first_row, field, token, payload, role_reference
        )
    """,
        {"by_role": list(by_role)} if by_role else {},
    )


def payload_keys(connection: DuckDBPyConnection, carried: frozenset[str] | None) -> PayloadKeys:
    """Give the keys that the payloads of ``pairs`` hold; `carried` are those that predictions can hold, if known."""
    rows = connection.execute("SELECT count(*) FROM pairs").fetchall()[0][0]
    found: dict[str, set[str]] = {"payload": set(carried or ()), "reference_payload": set()}
    for column, keys in found.items():
        query = f"SELECT DISTINCT {column} FROM pairs WHERE {column} IS NOT NULL"
        for (payloads,) in fetched(connection, query, {}, rows):
            for payload in payloads:
                keys.update(members_of(payload))
    return PayloadKeys(frozenset(found["payload"]), frozenset(found["reference_payload"]))


def count_units(connection: DuckDBPyConnection) -> dict[str, int]:
    """Count the distinct raw values of each field."""
    return dict(connection.execute("SELECT field, count(*) FROM units GROUP BY field").fetchall())


def field_units(
    connection: DuckDBPyConnection, field: str, count: int, *, payloads: bool, by_role: bool = False
) -> FieldUnits:
    """Read the units of one field."""
    query = f"SELECT {', '.join(_KINDS)} FROM units WHERE field = $field ORDER BY unit"
    columns = read_columns(connection, query, {"field": field}, count, _KINDS)
    return FieldUnits(field, count, payloads, columns, by_role)
