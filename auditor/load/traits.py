"""What the manifest binds beside ids and references, where the cases say it: prompt, split, locale, jurisdiction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from auditor.load.manifest import ColumnDigest
from auditor.load.parts import RoleTable
from auditor.spec.models import AuditSpec

if TYPE_CHECKING:
    import duckdb

_BATCH: Final = 10_000

#: The name in the manifest of each column that is bound.
BOUND: Final = {"input": "prompts", "split": "splits", "locale": "locales", "jurisdiction": "jurisdictions"}

#: Types of fields that a locale or a jurisdiction says something of.
PLACED_TYPES: Final = ("date", "datetime")


def bound_traits(spec: AuditSpec, predictions: RoleTable, references: RoleTable) -> tuple[str, ...]:
    """Give those of the columns in `BOUND` that the cases have and that the audit uses."""
    names = predictions.names | references.names
    named = [name for name in ("input", "split") if getattr(spec.cases, name) is not None]
    has_dates = any(field.type in PLACED_TYPES for field in spec.fields.values())
    places = [name for name in ("locale", "jurisdiction") if has_dates and name in names]
    return (*named, *places)


def traits_sql(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection, names: Sequence[str]
) -> str:
    """Give a subquery of the id and some columns, a row per expected id: what its reference has, else its prediction.

    Where only predictions have a column, a case without a prediction has none.
    """
    asserted, sent = (
        f"SELECT id, {', '.join(f'min({name}) AS {name}' for name in names)} "
        f"FROM {table.scan(connection, ('id', *names), numbered=False)} GROUP BY id"
        for table in (references, predictions)
    )
    given = ", ".join(f"coalesce(r.{name}, p.{name}) AS {name}" for name in names)
    return f"(SELECT id, {given} FROM ({asserted}) AS r LEFT JOIN ({sent}) AS p USING (id))"


def traits_sha256(
    spec: AuditSpec, predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> dict[str, str]:
    """Give the digest of each column that is bound, by its name in the manifest, in shortlex order of the ids.

    A column without a value is left out; prompts are there wherever the spec names them.
    """
    names = bound_traits(spec, predictions, references)
    if not names:
        return {}
    columns = {name: ColumnDigest() for name in names}
    given = {"input"} & set(names)
    traits = traits_sql(predictions, references, connection, names)
    try:
        found = connection.execute(f"SELECT {', '.join(names)} FROM {traits} ORDER BY strlen(id), id")
        while rows := found.fetchmany(_BATCH):
            for name, values in zip(names, zip(*rows, strict=True), strict=True):
                columns[name].add(values, tokens=False)
                given |= {name} if any(value is not None for value in values) else set()
    finally:
        predictions.release()
        references.release()
    return {BOUND[name]: column.digest().hex() for name, column in columns.items() if name in given}
