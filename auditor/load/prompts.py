"""What the model was given, where the cases say it: a part of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from auditor.load.manifest import ColumnDigest
from auditor.load.parts import RoleTable
from auditor.spec.models import AuditSpec

if TYPE_CHECKING:
    import duckdb

_BATCH: Final = 10_000


def prompts_sql(predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection) -> str:
    """Give a subquery of (id, input), a row per expected id: the input that its reference has, else its prediction's.

    Where only predictions have inputs, a case without a prediction has none.
    """
    asserted = references.scan(connection, ("id", "input"), numbered=False)
    sent = predictions.scan(connection, ("id", "input"), numbered=False)
    expected = f"SELECT id, min(input) AS asserted FROM {asserted} GROUP BY id"
    given = f"SELECT id, min(input) AS sent FROM {sent} GROUP BY id"
    return f"(SELECT id, coalesce(asserted, sent) AS input FROM ({expected}) LEFT JOIN ({given}) USING (id))"


def prompts_sha256(
    spec: AuditSpec, predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> str:
    """Give the digest of the prompts in shortlex order of the ids, in hexadecimal; empty where the spec names none."""
    if spec.cases.input is None:
        return ""
    prompts = prompts_sql(predictions, references, connection)
    column = ColumnDigest()
    try:
        found = connection.execute(f"SELECT input FROM {prompts} ORDER BY strlen(id), id")
        while rows := found.fetchmany(_BATCH):
            column.add([row[0] for row in rows], tokens=False)
    finally:
        predictions.release()
        references.release()
    return column.digest().hex()
