"""Both sides of an audit, opened: each file by its own layout, and a file of both sides once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.arms import Arms, one_reference_each, predictions_of_arms
from auditor.load.attempts import graded_attempts, referenced_epochs
from auditor.load.columnar import ColumnarFile, open_columnar
from auditor.load.completions import open_columnar_completions
from auditor.load.contract import Contract, Reader, contract_of
from auditor.load.files import FORMAT_OF_SUFFIX, Identity, SourceFile, find_files, mistake
from auditor.load.json_lines import first_keys
from auditor.load.layout import Layout, Role, layout_of
from auditor.load.logs.part import log_layout, open_log
from auditor.load.logs.recognise import Log, recognise
from auditor.load.parts import Part, RoleTable, references_of, role_table
from auditor.load.unfold import open_json_lines
from auditor.model.payload_path import steps_text
from auditor.spec.models import AuditSpec, CasesSpec

Heads = Mapping[Identity, "Headed"]


@dataclass(frozen=True)
class Headed:
    """A file with its layout; `columnar` is None for JSON lines, and `log` for what is no log."""

    file: SourceFile
    layout: Layout
    columnar: ColumnarFile | None
    log: Log | None = None


@dataclass(frozen=True)
class Roles:
    """Both sides, opened, and how they may be brought together: `one source`, `row by row` or `joined`.

    `arms` has the predictions of each arm by its name; without arms, all of them under None. `given` has every row of
    the predictions, those of attempts that are not graded too.
    """

    predictions: RoleTable
    references: RoleTable
    way: str
    arms: Arms
    given: RoleTable


def open_roles(
    spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool, reader: Reader | None = None
) -> Roles:
    """Open the files of both roles; LoadError where one is not what the spec says.

    `reader` calls the spec's own function that takes the payload out of a reply.
    """
    contract = contract_of(spec, reader)
    predicted = find_files(spec.folder, spec.cases.predictions, "predictions")
    referred = find_files(spec.folder, spec.cases.references, "references", predicted)
    both = {file.identity for file in predicted} & {file.identity for file in referred}
    left = _headed(spec, connection, "prediction", predicted, both, {}, contract)
    right = _headed(spec, connection, "reference", referred, both, left, contract)
    plain = (
        not payloads
        and spec.cases.split is None
        and not spec.cases.arm
        and all(
            head.layout.form == "long" and not head.layout.outcome_names for head in (*left.values(), *right.values())
        )
    )
    if plain and list(left) == list(right):
        heads = [replace(head, layout=replace(head.layout, other="reference")) for head in left.values()]
        predictions = role_table([_open(head, connection, False, None, spec.cases) for head in heads])
        return Roles(
            _with_rows(predictions), references_of(predictions), "one source", {None: predictions}, predictions
        )
    predictions = role_table(
        [_open(head, connection, payloads, right.get(identity), spec.cases) for identity, head in left.items()]
    )
    references = role_table(
        [_open(head, connection, payloads, left.get(identity), spec.cases) for identity, head in right.items()]
    )
    _refuse_shared_columns(predictions, references)
    given, arms = predictions_of_arms(_with_rows(predictions), spec.cases.arm, connection)
    if spec.cases.attempts is not None:
        arms = {arm: graded_attempts(table, spec.cases.attempts, connection) for arm, table in arms.items()}
    predictions = arms.get(None, given)
    of_attempts = spec.cases.attempts is not None and all(part.file.identity in both for part in references.parts)
    references = one_reference_each(_with_rows(references), tuple(spec.fields), connection, of_attempts=of_attempts)
    references = referenced_epochs(references, predictions, connection)
    aligned = plain and predictions.count == references.count
    return Roles(predictions, references, "row by row" if aligned else "joined", arms, given)


def _headed(
    spec: AuditSpec,
    connection: duckdb.DuckDBPyConnection,
    role: Role,
    files: Sequence[SourceFile],
    both: set[Identity],
    opened: Heads,
    contract: Contract,
) -> dict[Identity, Headed]:
    """Open the files of a role far enough to know how each is read; `opened` are those of the other role."""
    heads: dict[Identity, Headed] = {}
    for file in files:
        named = spec.cases.format if role == "prediction" else None
        if (log := recognise(file, spec.cases, named=named)) is not None:
            heads[file.identity] = Headed(file, log_layout(spec, role, contract), None, log)
            continue
        if file.format == "jsonl":
            columnar, names = None, first_keys(file)
        else:
            known = opened.get(file.identity)
            columnar = (known and known.columnar) or ColumnarFile(file, connection)
            names = columnar.names
        layout = layout_of(spec, role, file, names, both=file.identity in both, contract=contract)
        heads[file.identity] = Headed(file, layout, columnar)
    first = next(iter(heads.values()))
    for head in heads.values():
        if head.layout.form != first.layout.form:
            raise mistake(
                head.file.name,
                f"is of the form {head.layout.form!r}, but {first.file.name} is of the form {first.layout.form!r}",
                f"the {role}s of a spec have one form",
            )
    return heads


def _open(
    head: Headed, connection: duckdb.DuckDBPyConnection, payloads: bool, other: Headed | None, cases: CasesSpec
) -> Part:
    """Open a file; `other` is the same file in the other role, whose columns are no part of this one's payloads."""
    layout = head.layout
    if head.log is not None:
        return open_log(head.file, head.log, layout, cases, payloads)
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
    return frozenset(head for paths in layout.fields.values() for head in paths[0].heads)


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
            if left.file.identity == right.file.identity and left.file.format in FORMAT_OF_SUFFIX.values():
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
    if layout.form == "long":
        return {}
    return {steps_text(place): name for name, paths in layout.fields.items() for place in paths[0].choices}
