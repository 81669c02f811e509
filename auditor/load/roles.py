"""Both sides of an audit, opened: each file by its own layout, and a file of both sides once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.columnar import ColumnarFile, open_columnar
from auditor.load.completions import open_columnar_completions
from auditor.load.files import Identity, SourceFile, find_files, mistake
from auditor.load.json_lines import first_keys
from auditor.load.layout import Layout, Role, layout_of
from auditor.load.parts import Part, RoleTable, references_of, role_table
from auditor.load.unfold import open_json_lines
from auditor.spec.models import AuditSpec

Heads = Mapping[Identity, "Headed"]


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


def open_roles(spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool) -> Roles:
    """Open the files of both roles; LoadError where one is not what the spec says."""
    predicted = find_files(spec.folder, spec.cases.predictions, "predictions")
    referred = find_files(spec.folder, spec.cases.references, "references", predicted)
    both = {file.identity for file in predicted} & {file.identity for file in referred}
    left = _headed(spec, connection, "prediction", predicted, both, {})
    right = _headed(spec, connection, "reference", referred, both, left)
    plain = not payloads and all(
        head.layout.form == "long" and not head.layout.finish and not head.layout.error
        for head in (*left.values(), *right.values())
    )
    if plain and list(left) == list(right):
        heads = [replace(head, layout=replace(head.layout, other="reference")) for head in left.values()]
        predictions = role_table([_open(head, connection, False, None) for head in heads])
        return Roles(_with_rows(predictions), references_of(predictions), "one source")
    predictions = role_table(
        [_open(head, connection, payloads, right.get(identity)) for identity, head in left.items()]
    )
    references = role_table([_open(head, connection, payloads, left.get(identity)) for identity, head in right.items()])
    _refuse_shared_columns(predictions, references)
    aligned = plain and predictions.count == references.count
    return Roles(_with_rows(predictions), _with_rows(references), "row by row" if aligned else "joined")


def _headed(
    spec: AuditSpec,
    connection: duckdb.DuckDBPyConnection,
    role: Role,
    files: Sequence[SourceFile],
    both: set[Identity],
    opened: Heads,
) -> dict[Identity, Headed]:
    """Open the files of a role far enough to know how each is read; `opened` are those of the other role."""
    heads: dict[Identity, Headed] = {}
    for file in files:
        if file.format == "jsonl":
            columnar, names = None, first_keys(file)
        else:
            known = opened.get(file.identity)
            columnar = (known and known.columnar) or ColumnarFile(file, connection)
            names = columnar.names
        heads[file.identity] = Headed(file, layout_of(spec, role, file, names, both=file.identity in both), columnar)
    first = next(iter(heads.values()))
    for head in heads.values():
        if head.layout.form != first.layout.form:
            raise mistake(
                head.file.name,
                f"is of the form {head.layout.form!r}, but {first.file.name} is of the form {first.layout.form!r}",
                f"the {role}s of a spec have one form",
            )
    return heads


def _open(head: Headed, connection: duckdb.DuckDBPyConnection, payloads: bool, other: Headed | None) -> Part:
    """Open a file; `other` is the same file in the other role, whose columns are no part of this one's payloads."""
    layout = head.layout
    excluded = _names(other.layout) | other.layout.reserved if other else frozenset()
    if layout.form == "columns":
        excluded -= _names(layout)
    if head.columnar is None:
        return open_json_lines(head.file, layout, connection, payloads, excluded)
    if layout.form == "completions":
        return open_columnar_completions(head.columnar, layout, payloads)
    return open_columnar(head.columnar, layout, payloads, excluded)


def _names(layout: Layout) -> frozenset[str]:
    """Give the names of the columns that the fields are read from."""
    return frozenset(paths[0].partition(".")[0] for paths in layout.fields.values())


def _with_rows(table: RoleTable) -> RoleTable:
    if table.count == 0:
        names = ", ".join(part.file.name for part in table.parts)
        what = "has a header and no rows" if len(table.parts) == 1 else "have headers and no rows"
        raise mistake(names, what, f"the {table.layout.role}s of a spec need at least one row")
    return table


def _refuse_shared_columns(predictions: RoleTable, references: RoleTable) -> None:
    """Refuse a column that would be a prediction and a reference: it would agree with itself."""
    mistakes = []
    for left in predictions.parts:
        for right in references.parts:
            if left.file.identity == right.file.identity:
                mistakes += _shared(left.file.name, _read_columns(left.layout), _read_columns(right.layout))
    if mistakes:
        raise LoadError(mistakes)


def _shared(name: str, predicted: Mapping[str, str], referred: Mapping[str, str]) -> list[Mistake]:
    return [
        Mistake(
            name,
            f"is named as predictions and as references, and its column {path!r} would be the prediction of "
            f"{predicted[path]!r} and the reference of {field!r}",
            f"say where the reference is: [fields.{field}] reference_path = …",
        )
        for path, field in referred.items()
        if path in predicted
    ]


def _read_columns(layout: Layout) -> dict[str, str]:
    """Give the column of each value, with the field that takes it."""
    if layout.form == "completions":
        return {layout.completion: layout.completion}
    return {} if layout.form == "long" else {paths[0]: name for name, paths in layout.fields.items()}
