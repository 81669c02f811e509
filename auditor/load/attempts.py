"""One completion of each case where files hold several, and a reference of each epoch of an eval."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from auditor.load.files import mistake
from auditor.load.parts import Part, RoleTable, Value

if TYPE_CHECKING:
    import duckdb

_serial = itertools.count(1)


def graded_attempts(
    table: RoleTable, which: Literal["first", "last"], connection: duckdb.DuckDBPyConnection
) -> RoleTable:
    """Keep the first or the last completion of each id, in the order of the files; the rest are counted."""
    if table.layout.form == "long":
        names = ", ".join(part.file.name for part in table.parts)
        raise mistake(names, "has a row per field, so that [cases] attempts cannot choose", "keep one attempt of each")
    kept = f"auditor_attempts_{next(_serial)}"
    chosen = "max" if which == "last" else "min"
    connection.execute(
        f"CREATE TEMP TABLE {kept} AS SELECT {chosen}(ordinal) AS kept FROM {table.scan(connection, ('id',))} "
        "GROUP BY id"
    )
    table.release()
    return only(table, kept, connection)


def only(table: RoleTable, kept: str, connection: duckdb.DuckDBPyConnection) -> RoleTable:
    """Keep the rows whose numbers stand in the column `kept` of the table of that name; the others are left out."""
    parts, offset = [], 0
    for part in table.parts:
        parts.append(_only(part, kept, offset, connection))
        offset += part.count
    return replace(table, parts=tuple(parts))


def _only(part: Part, kept: str, offset: int, connection: duckdb.DuckDBPyConnection) -> Part:
    def relation(other: duckdb.DuckDBPyConnection) -> str:
        return f"(SELECT * FROM {part.relation(other)} WHERE ({part.ordinal}) + {offset} IN (SELECT kept FROM {kept}))"

    within = f"kept > {offset} AND kept <= {offset + part.count}"
    count = connection.execute(f"SELECT count(*) FROM {kept} WHERE {within}").fetchall()[0][0]
    columns = {name: value for name, value in part.columns.items() if name != "position"}
    return replace(part, relation=relation, columns=columns, left_out=part.count - part.other_arms - count)


def referenced_epochs(
    references: RoleTable, predictions: RoleTable, connection: duckdb.DuckDBPyConnection
) -> RoleTable:
    """Give each reference to every epoch of its sample, where predictions are of an eval and references name samples.

    References that name an epoch themselves (`id#epoch`) stay as they are.
    """
    epochs = max(part.epochs_of_log for part in predictions.parts)
    if not epochs:
        return references
    left, right = (table.scan(connection, ("id",), numbered=False) for table in (references, predictions))
    found = connection.execute(f"SELECT 1 FROM {left} SEMI JOIN {right} USING (id) LIMIT 1").fetchall()
    references.release()
    predictions.release()
    if found:
        return references
    return replace(references, parts=tuple(_of_epochs(part, epochs) for part in references.parts))


def _of_epochs(part: Part, epochs: int) -> Part:
    def relation(connection: duckdb.DuckDBPyConnection) -> str:
        numbers = f"(SELECT unnest(range(1, {epochs + 1})) AS epoch_number)"
        return f"(SELECT * FROM {part.relation(connection)} CROSS JOIN {numbers})"

    columns = {name: value for name, value in part.columns.items() if name != "position"}
    columns["id"] = Value(f"({part.columns['id'].sql}) || '#' || epoch_number")
    return replace(
        part,
        relation=relation,
        columns=columns,
        count=part.count * epochs,
        ordinal=f"(({part.ordinal}) - 1) * {epochs} + epoch_number",
        epochs=epochs,
    )
