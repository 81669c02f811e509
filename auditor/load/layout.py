"""What a file's header says: which form the file has, and which of its columns mean what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from auditor.errors import LoadError, Mistake
from auditor.load.contract import STRICT, Contract
from auditor.load.files import SourceFile, mistake, near_hint
from auditor.load.json_lines import all_keys
from auditor.model.payload_path import PayloadPath, payload_path
from auditor.spec.models import AuditSpec, FieldSpec

Role = Literal["prediction", "reference"]
Form = Literal["columns", "long", "completions"]

FINISH_NAMES = ("finish", "finish_reason", "stop_reason", "finishReason", "stopReason")

#: What a case may have beside its values: keys of the spec that name a column.
TRAITS = ("split", "input")

#: The column of logs that says that the completion is the input of a tool that the reply calls.
TOOL = "\0tool"


@dataclass(frozen=True)
class Layout:
    """The names by which one file is read; names that may be absent are tuples of candidates, the first one counts.

    `fields` maps each field of the spec to the candidate paths of its value; `reserved` are the names that are no part
    of a payload.
    """

    role: Role
    form: Form
    id: str
    fields: dict[str, tuple[PayloadPath, ...]]
    locale: tuple[str, ...]
    jurisdiction: tuple[str, ...]
    finish: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ()
    traits: tuple[tuple[str, str], ...] = ()  # what the spec names beside: split, input, arm0 arm1 …, and its column
    completion: str = ""
    assume_finish: str | None = None
    named: tuple[str, ...] = ()  # those of finish, error and refusal that the spec names: they must occur
    contract: Contract = STRICT
    other: str = ""  # long form: the column of the other role, when one file is both
    unread: tuple[str, ...] = ()  # columns of finish reasons beside values, which the spec does not name

    @property
    def trait_names(self) -> tuple[str, ...]:
        """Names of the columns with traits of a case."""
        return tuple(column for _, column in self.traits)

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """Names of what says whether a case is judged."""
        return (*self.finish, *self.error, *self.refusal)

    @property
    def reserved(self) -> frozenset[str]:
        """Names that are no part of a payload."""
        return frozenset(
            (self.id, *self.locale, *self.jurisdiction, *self.outcome_names, *self.trait_names, self.completion)
        )


def layout_of(
    spec: AuditSpec,
    role: Role,
    file: SourceFile,
    names: Sequence[str],
    *,
    both: bool = False,
    contract: Contract = STRICT,
) -> Layout:
    """Decide how a file with the columns `names` (for JSON lines: the keys of its first lines) is read.

    `both` says that the file holds predictions and references: then no reference is where a prediction is.
    """
    cases = spec.cases
    if cases.id not in names:
        raise mistake(file.name, f"no column {cases.id!r} for the id of the case", among(cases.id, names))
    fields = {name: _paths(field, role, both) for name, field in spec.fields.items()}
    form = _form(spec, role, fields, names)
    completions = form == "completions"
    layout = Layout(
        role=role,
        form=form,
        id=cases.id,
        fields=fields,
        locale=(cases.locale,) if cases.locale else ("locale",),
        jurisdiction=(cases.jurisdiction,) if cases.jurisdiction else ("jurisdiction",),
        finish=_outcome_names(cases.finish, FINISH_NAMES if completions else (), role),
        error=_outcome_names(cases.error, ("error",) if completions else (), role),
        completion=(cases.completion or "completion") if completions else "",
        assume_finish=cases.assume_finish,
        refusal=_outcome_names(cases.refusal, ("refusal",) if completions else (), role),
        contract=contract,
        traits=(
            *((name, column) for name in TRAITS if (column := getattr(cases, name)) is not None),
            *((f"arm{number}", column) for number, column in enumerate(cases.arm)),
        ),
        named=tuple(name for name in (cases.finish, cases.error, cases.refusal) if name and role == "prediction"),
        unread=() if completions or cases.finish or role == "reference" else _reasons(spec, names),
    )
    if file.format != "jsonl":  # a JSON line may carry a key that the first lines lack: all lines will tell
        require_named(file, layout, names)
    return layout


def _reasons(spec: AuditSpec, names: Sequence[str]) -> tuple[str, ...]:
    """Give the columns that are named like a finish reason and like nothing that the spec reads."""
    read = {head for field in spec.fields.values() for head in (field.name, *field.prediction_path.heads)}
    return tuple(name for name in FINISH_NAMES if name in names and name not in read)


def _paths(field: FieldSpec, role: Role, both: bool) -> tuple[PayloadPath, ...]:
    """Give the paths where a value may be: a flat table names by the field what a payload holds under a dotted path."""
    path, own = field.prediction_path, payload_path(field.name)
    if role == "prediction":
        return (path, own) if path.is_nested and path != own else (path,)
    if field.reference_places is not None:
        return (field.reference_places,)
    return (own,) if both else tuple(dict.fromkeys((own, path)))


def reference_paths(fields: Mapping[str, FieldSpec]) -> dict[str, tuple[PayloadPath, ...]]:
    """Give the paths where the references of a log may be."""
    return {name: _paths(field, "reference", False) for name, field in fields.items()}


def _outcome_names(given: str | None, usual: tuple[str, ...], role: Role) -> tuple[str, ...]:
    if role == "reference":
        return ()
    return (given,) if given else usual


def _form(spec: AuditSpec, role: Role, fields: dict[str, tuple[PayloadPath, ...]], names: Sequence[str]) -> Form:
    if role == "prediction" and spec.cases.completion:
        return "completions"
    found = [any(has_path(names, path) for path in paths) for paths in fields.values()]
    if all(found):
        return "columns"
    if "field" in names and role in names:
        return "long"
    if role == "prediction" and "completion" in names and not any(found):
        return "completions"
    return "columns"


def has_path(names: Sequence[str], path: PayloadPath) -> bool:
    """Whether a header can hold the path: a key that it begins with is a column."""
    return any(head in names for head in path.heads)


def require_named(file: SourceFile, layout: Layout, names: Collection[str]) -> None:
    """Refuse a file whose columns, or the keys of all its lines, lack what the spec names."""
    if layout.completion and layout.completion not in names:
        what, wanted = f"no column {layout.completion!r} for the completion", layout.completion
    elif absent := [name for name in layout.named if name not in names]:
        what, wanted = f"no column {absent[0]!r}, which [cases] names", absent[0]
    else:
        return
    raise mistake(file.name, what, among(wanted, all_keys(file) if file.format == "jsonl" else list(names)))


def absent_fields(file: SourceFile, layout: Layout, absent: Sequence[str], names: Sequence[str]) -> LoadError:
    """Make the error for fields of the spec that a file does not carry."""
    return LoadError(
        [
            Mistake(
                file.name,
                f"no column {layout.fields[name][0].text!r} for the {layout.role} of the field {name!r}",
                among(layout.fields[name][0].heads[0], names),
            )
            for name in absent
        ]
    )


def among(name: str, names: Sequence[str]) -> str:
    """Give a hint with the nearest of `names`, and what there is."""
    shown = ", ".join(map(shortened, names[:30])) + (f" and {len(names) - 30} more" if len(names) > 30 else "")
    return "; ".join(filter(None, (near_hint(name, names), f"columns: {shown}")))


def shortened(name: str) -> str:
    """Show a column's name, or the beginning of what is no name."""
    return repr(name if len(name) <= 80 else name[:80] + "…")
