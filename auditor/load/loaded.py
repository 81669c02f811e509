"""What was loaded, beside the table of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from auditor.load.parts import RoleTable
from auditor.model.run import CaseCounts

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Loaded:
    """Counts and identities of the cases in the table `pairs`.

    `carried` are the keys that a prediction's payload can carry, None for completions (a payload of its own);
    `finish_reasons` counts the completions of expected cases by raw reason (no reason: ""); `rows_read` counts rows by
    role (`predictions`, `references`).
    """

    cases: CaseCounts
    finish_reasons: dict[str, int]
    sources: tuple[dict[str, Any], ...]  # path (relative to the spec's folder), role, sha256, rows
    manifest_rows_sha256: str
    carried: frozenset[str] | None
    rows_read: dict[str, int]
    predictions: RoleTable = field(repr=False, compare=False)
    references: RoleTable = field(repr=False, compare=False)

    def case_at(self, connection: duckdb.DuckDBPyConnection, rows: Sequence[int]) -> dict[int, str]:
        """Give the case id of each `first_row`; a negative one is a row of the references."""
        found = _ids_at(self.predictions, connection, [row for row in rows if row > 0])
        negative = _ids_at(self.references, connection, [-row for row in rows if row < 0])
        return found | {-row: case for row, case in negative.items()}


def _ids_at(table: RoleTable, connection: duckdb.DuckDBPyConnection, ordinals: Sequence[int]) -> dict[int, str]:
    if not ordinals:
        return {}
    rows = table.scan(connection, ("id",))
    query = f"SELECT ordinal, id FROM {rows} SEMI JOIN (SELECT unnest($1::BIGINT[]) AS ordinal) USING (ordinal)"
    return dict(connection.execute(query, [sorted(set(ordinals))]).fetchall())
