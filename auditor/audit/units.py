"""The distinct raw values of a run: what is decoded, once per consumer, however many rows it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from duckdb import DuckDBPyConnection

#: Raw values handed to a session at once: bounds the memory of texts in flight.
CHUNK = 262_144


@dataclass(frozen=True)
class FieldUnits:
    """The distinct raw values of one field in order of first appearance."""

    field: str
    table: pa.Table  # unit, token, payload, role_prediction, role_reference

    @property
    def units(self) -> pa.ChunkedArray:
        """Their numbers in the table ``units``."""
        return self.table["unit"]

    @property
    def tokens(self) -> pa.ChunkedArray:
        """The raw values."""
        return self.table["token"]

    @property
    def payloads(self) -> pa.ChunkedArray | None:
        """The whole payloads that they came in, if some consumer validates those."""
        return self.table["payload"] if self.table["payload"].null_count < len(self.table) else None

    def __len__(self) -> int:
        """Count the raw values."""
        return len(self.units)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Give (start, length) of consecutive chunks."""
        for start in range(0, len(self), CHUNK):
            yield start, min(CHUNK, len(self) - start)


def create_units(connection: DuckDBPyConnection, *, payloads: bool) -> None:
    """Create the table ``units`` from ``pairs``: one row per distinct (field, raw value), or (field, raw value, payload).

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


def field_units(connection: DuckDBPyConnection, field: str) -> FieldUnits:
    """Read the units of one field."""
    columns = "unit, token, payload, role_prediction, role_reference"
    query = f"SELECT {columns} FROM units WHERE field = $field ORDER BY unit"
    return FieldUnits(field, connection.sql(query, params={"field": field}).to_arrow_table())
