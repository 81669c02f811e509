"""Load the cases of a spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.columnar import ColumnarFile, open_columnar
from auditor.load.completions import open_columnar_completions
from auditor.load.files import SourceFile, find_files, mistake, nearest
from auditor.load.identity import identify_predictions, identify_references
from auditor.load.json_lines import first_keys
from auditor.load.layout import Layout, Role, layout_of
from auditor.load.loaded import Loaded
from auditor.load.pairs import (
    add_absent_units,
    check_conservation,
    counts_by_field,
    create_pairs,
    create_pairs_of_aligned_sources,
    create_pairs_of_one_source,
    finish_tokens,
)
from auditor.load.parts import Part, RoleTable, references_of, role_table
from auditor.load.unfold import open_json_lines
from auditor.model.run import CaseCounts
from auditor.model.verdicts import BLOCKED_VERDICTS
from auditor.spec.models import AuditSpec

#: What DuckDB raises for a damaged page, a byte that is no text, or where memory or disk end; others are bugs of ours.
_READ_ERRORS = (
    duckdb.InvalidInputException,
    duckdb.IOException,
    duckdb.ConversionException,
    duckdb.OutOfMemoryException,
    duckdb.SerializationException,
)


@dataclass(frozen=True)
class Headed:
    """A file with its layout; `columnar` is None for JSON lines."""

    file: SourceFile
    layout: Layout
    columnar: ColumnarFile | None


@dataclass(frozen=True)
class Roles:
    """Both sides, opened, and how they may be brought together: `one source`, `row by row` or `joined`."""

    predictions: RoleTable
    references: RoleTable
    way: str


def load(spec: AuditSpec, connection: duckdb.DuckDBPyConnection, *, payloads: bool = False) -> Loaded:
    """Read predictions and references into the table `pairs` of `connection`; LoadError says what cannot be read.

    With `payloads`, each pair also holds the whole object that its prediction came in, and its reference's.
    """
    order = connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall()[0][0]
    connection.execute("SET preserve_insertion_order = true")  # the proofs of order read rows as they stand
    try:
        return _load(spec, connection, payloads)
    except _READ_ERRORS as error:
        names = ", ".join((*spec.cases.predictions, *spec.cases.references))
        what = f"could not be read: {str(error).splitlines()[0]}"
        raise mistake(names, what, "is a file damaged, or memory or disk full?") from error
    finally:
        connection.execute(f"SET preserve_insertion_order = {order}")


def _load(spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool) -> Loaded:
    roles = _open_roles(spec, connection, payloads)
    predictions, references = roles.predictions, roles.references
    try:
        _require_places(spec, predictions, references)
        manifest = identify_references(references, connection, tuple(spec.fields))
        expected = manifest.ids.count
        ids = _create_pairs(roles, connection, spec, expected, payloads)
        finish_tokens(connection)
        check_conservation(connection, spec.fields, expected)
        return Loaded(
            cases=_case_counts(connection, expected, ids),
            finish_reasons=_finish_reasons(predictions, references, connection),
            sources=(*_sources(predictions), *_sources(references)),
            manifest_rows_sha256=manifest.sha256(),
            carried=_carried(roles, connection, tuple(spec.fields)),
            rows_read={"predictions": predictions.count, "references": references.count},
            predictions=predictions,
            references=references,
        )
    finally:
        predictions.release()
        references.release()


def _open_roles(spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool) -> Roles:
    predicted = find_files(spec.folder, spec.cases.predictions, "predictions")
    same = spec.cases.predictions == spec.cases.references
    referred = predicted if same else find_files(spec.folder, spec.cases.references, "references")
    left = _headed(spec, connection, "prediction", predicted)
    right = _headed(spec, connection, "reference", referred, left if same else None)
    plain = not payloads and all(
        head.layout.form == "long" and not head.layout.finish and not head.layout.error for head in (*left, *right)
    )
    if same and plain:
        both = [replace(head, layout=replace(head.layout, other="reference")) for head in left]
        predictions = role_table([_open(head, connection, False) for head in both])
        return Roles(predictions, references_of(predictions), "one source")
    if same:
        _refuse_same_columns(left, right)
    excluded = (_own_names(right), _own_names(left)) if same else (frozenset(), frozenset())
    predictions = role_table([_open(head, connection, payloads, excluded[0]) for head in left])
    references = role_table([_open(head, connection, payloads, excluded[1]) for head in right])
    return Roles(predictions, references, "row by row" if plain and predictions.count == references.count else "joined")


def _create_pairs(
    roles: Roles, connection: duckdb.DuckDBPyConnection, spec: AuditSpec, expected: int, payloads: bool
) -> int:
    """Create the table in the cheapest way that the sources allow; give the number of ids with a prediction row."""
    predictions, references, fields = roles.predictions, roles.references, tuple(spec.fields)
    if roles.way == "one source":
        create_pairs_of_one_source(predictions, connection, spec.fields)
        if len(counts_by_field(connection)) < len(fields):
            _require_fields(predictions, connection, fields)
        add_absent_units(predictions, connection, spec.fields, expected)
        return expected
    dense = references.count == expected * len(fields)
    if (
        roles.way == "row by row"
        and dense
        and create_pairs_of_aligned_sources(predictions, references, connection, spec.fields, expected)
    ):
        return expected
    ids = identify_predictions(predictions, connection, fields)
    _require_fields(predictions, connection, fields)
    _require_fields(references, connection, fields)
    create_pairs(predictions, references, connection, spec.fields, payloads)
    return ids


def _headed(
    spec: AuditSpec,
    connection: duckdb.DuckDBPyConnection,
    role: Role,
    files: Sequence[SourceFile],
    opened: Sequence[Headed] | None = None,
) -> list[Headed]:
    """Open the files of a role far enough to know how each is read; `opened` are the same files in the other role."""
    heads: list[Headed] = []
    for index, file in enumerate(files):
        if file.format == "jsonl":
            columnar, names = None, first_keys(file)
        else:
            columnar = (opened[index].columnar if opened else None) or ColumnarFile(file, connection)
            names = columnar.names
        heads.append(Headed(file, layout_of(spec, role, file, names), columnar))
    first = heads[0]
    for head in heads:
        if head.layout.form != first.layout.form:
            raise mistake(
                head.file.name,
                f"is of the form {head.layout.form!r}, but {first.file.name} is of the form {first.layout.form!r}",
                f"the {role}s of a spec have one form",
            )
    return heads


def _own_names(heads: Sequence[Headed]) -> frozenset[str]:
    """Names that only the other role of a file reads."""
    paths = (path for head in heads for paths in head.layout.fields.values() for path in paths[:1])
    return frozenset(path.partition(".")[0] for path in paths) | frozenset().union(*(h.layout.reserved for h in heads))


def _refuse_same_columns(predicted: Sequence[Headed], referred: Sequence[Headed]) -> None:
    for left, right in zip(predicted, referred, strict=True):
        if left.layout.form != "columns" or right.layout.form != "columns":
            continue
        same = [name for name, paths in left.layout.fields.items() if paths[0] == right.layout.fields[name][0]]
        if same:
            raise LoadError(
                [
                    Mistake(
                        left.file.name,
                        f"is named as predictions and as references, and both would take the field {name!r} from the "
                        f"column {left.layout.fields[name][0]!r}",
                        f"say where the reference is: [fields.{name}] reference_path = …",
                    )
                    for name in same
                ]
            )


def _open(
    head: Headed, connection: duckdb.DuckDBPyConnection, payloads: bool, excluded: frozenset[str] = frozenset()
) -> Part:
    layout = head.layout
    if layout.form == "columns":
        excluded -= {path.partition(".")[0] for paths in layout.fields.values() for path in paths[:1]}
    if head.columnar is None:
        return open_json_lines(head.file, layout, connection, payloads, excluded)
    if layout.form == "completions":
        return open_columnar_completions(head.columnar, layout)
    return open_columnar(head.columnar, layout, payloads, excluded)


def _require_places(spec: AuditSpec, predictions: RoleTable, references: RoleTable) -> None:
    names = predictions.names | references.names
    for key, given in (("locale", spec.cases.locale), ("jurisdiction", spec.cases.jurisdiction)):
        if given and key not in names:
            raise mistake(f"[cases] {key}", f"no file has the column {given!r}", "name the column, or remove the key")


def _require_fields(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> None:
    """Refuse a long table that has no row for a field of the spec: its name is misspelt on one side."""
    if table.layout.form != "long":
        return
    known = _fields_of(table, connection)
    absent = [name for name in fields if name not in known]
    if absent:
        where = ", ".join(part.file.name for part in table.parts)
        raise LoadError(
            [
                Mistake(
                    where,
                    f"no {table.layout.role} row for the field {name!r}",
                    "; ".join(filter(None, (nearest(name, known), f"fields: {', '.join(map(repr, known[:30]))}"))),
                )
                for name in absent
            ]
        )


def _fields_of(table: RoleTable, connection: duckdb.DuckDBPyConnection) -> list[str]:
    scan = table.scan(connection, ("field",))
    found = connection.execute(f"SELECT DISTINCT field FROM {scan} WHERE field IS NOT NULL ORDER BY 1")
    return [row[0] for row in found.fetchall()]


def _case_counts(connection: duckdb.DuckDBPyConnection, expected: int, ids: int) -> CaseCounts:
    # Every case has one unit of every field, so that any field tells.
    found = connection.execute(
        "SELECT outcome, sum(n)::BIGINT FROM pairs WHERE field = (SELECT min(field) FROM pairs) GROUP BY outcome"
    ).fetchall()
    counts = dict(found)
    blocked = {name: counts.get(name, 0) for name in BLOCKED_VERDICTS}
    unrelated = ids - (expected - blocked["missing"])
    return CaseCounts(expected=expected, judged=counts.get("judged", 0), unrelated=unrelated, **blocked)


def _finish_reasons(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> dict[str, int]:
    if not predictions.layout.finish:
        return {}
    completions = predictions.scan(connection, ("id", "finish"))
    expected = references.scan(connection, ("id",))
    found = connection.execute(
        f"SELECT finish, count(*) FROM (SELECT id, coalesce(min(finish), '') AS finish FROM {completions} GROUP BY id) "
        f"SEMI JOIN (SELECT id FROM {expected}) USING (id) GROUP BY finish ORDER BY finish"
    )
    return dict(found.fetchall())


def _carried(roles: Roles, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> frozenset[str] | None:
    form = roles.predictions.layout.form
    if form == "completions":
        return None
    if form == "long":
        known = fields if roles.way == "one source" else _fields_of(roles.predictions, connection)
        return frozenset(known)
    return frozenset().union(*(part.carried or frozenset() for part in roles.predictions.parts))


def _sources(table: RoleTable) -> list[dict[str, Any]]:
    role = f"{table.layout.role}s"
    return [
        {"path": part.file.name, "role": role, "sha256": part.file.sha256, "rows": part.count} for part in table.parts
    ]
