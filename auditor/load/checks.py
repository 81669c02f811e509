"""What both sides together must hold: columns that the spec names, rows of every field, ids that meet."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.files import mistake, near_hint
from auditor.load.layout import among, has_path
from auditor.load.parts import RoleTable
from auditor.spec.models import AuditSpec


def require_places(spec: AuditSpec, predictions: RoleTable, references: RoleTable) -> None:
    """Refuse a column of the locale, jurisdiction, split or input that neither side has."""
    names = predictions.names | references.names
    for key in ("locale", "jurisdiction", "split", "input"):
        given = getattr(spec.cases, key)
        if given and key not in names:
            known = list(dict.fromkeys((*predictions.all_names(), *references.all_names())))
            raise mistake(f"[cases] {key}", f"no file has the column {given!r}", among(given, known))


def require_sent(predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a path that no completion holds and no reference either: a model may leave a field out, a typo does."""
    held = [part.completions for part in predictions.parts if part.completions is not None]
    if not any(found.read for found in held):
        return
    unsent = frozenset.intersection(*(found.unsent for found in held))
    paths = {name: paths[0] for name, paths in predictions.layout.fields.items() if name in unsent}
    if not paths:
        return
    referred = fields_of(references, connection) if references.layout.form == "long" else references.all_names()
    keys = list(dict.fromkeys(key for found in held for key in found.keys))
    mistakes = [
        Mistake(
            ", ".join(part.file.name for part in predictions.parts),
            f"no completion has the key {path.text!r} of the field {name!r}, and no reference",
            among(path.heads[0], keys),
        )
        for name, path in paths.items()
        if not has_path(referred, path)
    ]
    if mistakes:
        raise LoadError(mistakes)


def require_fields(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> None:
    """Refuse a long table that has no row for a field of the spec: its name is misspelt on one side."""
    if table.layout.form != "long":
        return
    known = fields_of(table, connection)
    absent = [name for name in fields if name not in known]
    if absent:
        where = ", ".join(part.file.name for part in table.parts)
        raise LoadError(
            [
                Mistake(
                    where,
                    f"no {table.layout.role} row for the field {name!r}",
                    "; ".join(filter(None, (near_hint(name, known), f"fields: {', '.join(map(repr, known[:30]))}"))),
                )
                for name in absent
            ]
        )


def fields_of(table: RoleTable, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Give the fields that a long table has rows of."""
    scan = table.scan(connection, ("field",))
    found = connection.execute(f"SELECT DISTINCT field FROM {scan} WHERE field IS NOT NULL ORDER BY 1")
    return [row[0] for row in found.fetchall()]


def no_match(predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection) -> LoadError:
    """Make the error for ids that never meet."""
    predicted, expected = (_first_id(table, connection) for table in (predictions, references))
    names = ", ".join(dict.fromkeys(part.file.name for table in (predictions, references) for part in table.parts))
    return mistake(
        names,
        f"no prediction has the id of a reference: the first ids are {predicted!r} and {expected!r}",
        _likely_cause(predicted, expected, predictions.layout.id),
    )


def _first_id(table: RoleTable, connection: duckdb.DuckDBPyConnection) -> str:
    found = connection.execute(f"SELECT id FROM {table.scan(connection, ('id',))} ORDER BY ordinal LIMIT 1").fetchall()
    return str(found[0][0])


def _likely_cause(predicted: str, expected: str, column: str) -> str:
    alike = (
        ("ids are texts: leading zeros count", lambda text: text.lstrip("0")),
        ("ids are texts: 1.0 is not 1", lambda text: text.removesuffix(".0")),
        ("spaces count", str.strip),
        ("capital letters count", str.lower),
        ("one side has a suffix", lambda text: text.rpartition(".")[0] or text),
        ("one side has a folder before the name", lambda text: text.rpartition("/")[2]),
    )
    for cause, plain in alike:
        if plain(predicted) == plain(expected):
            return f"{cause}; write the ids of both sides alike"
    return f"is {column!r} the id in both, and are they of the same cases?"
