"""Fields that a Pydantic model defines: `fields_from`, with what [fields.NAME] says over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auditor.model.payload_path import WrittenPath
from auditor.spec.entry import Entry
from auditor.spec.mistakes import Mistakes, shown, suggest
from auditor.spec.model_fields import ModelError, ModelField, model_fields

_KEY = ("fields_from",)


@dataclass(frozen=True)
class Defined:
    """The tables of the fields as they are with those of the model, and the texts in it that nothing judges."""

    tables: Any
    not_judged: dict[str, WrittenPath] = field(default_factory=dict)  # name: path in a payload
    unsupported: bool = False
    known: bool = True  # False where the model could not be read, so that nobody knows which fields there are


def as_table(value: object) -> object:
    """Write `fields_from` as the table that its short form stands for."""
    return {"model": value} if isinstance(value, str) else value


def defined_fields(entry: Entry, written: object, folder: Path, mistakes: Mistakes) -> Defined:
    """Ask for the model's fields and put those that are `written` over them; each mistake is noted.

    A field that is written with a type of its own is what the spec says, whatever the model says.
    """
    model = entry.get("model")
    if model is None or not (written is None or isinstance(written, Mapping)):
        return Defined(written, known=False)
    name, colon, attribute = model.partition(":")
    if not (name and colon and attribute):
        mistakes.add(_KEY, f"must be module:Model, not {shown(model)}", 'such as fields_from = "models:Verdict"')
        return Defined(written, known=False)
    try:
        found = model_fields(model, folder / (entry.get("root") or "."), _interpreter(entry, folder))
    except ModelError as error:
        mistakes.add(_KEY, f"the model {model} cannot be read: {error.seen}", error.hint)
        return Defined(written, known=False)
    for left in entry.get("leave_out", ()):
        if left not in [one.name for one in found]:
            hint = suggest(left, [one.name for one in found])
            mistakes.add((*_KEY, "leave_out"), f'{model} has no field "{left}"', hint)
    kept = [one for one in found if one.name not in entry.get("leave_out", ())]
    return _merged(model, kept, written or {}, mistakes)


def _interpreter(entry: Entry, folder: Path) -> str | None:
    given = entry.get("interpreter")
    # Not resolved: a virtual environment is known by the path it is called by.
    return None if given is None else os.path.abspath(folder / Path(given).expanduser())


def _merged(model: str, found: list[ModelField], written: Mapping[str, Any], mistakes: Mistakes) -> Defined:
    tables: dict[str, Any] = {}
    not_judged: dict[str, WrittenPath] = {}
    is_unsupported = False
    for one in found:
        own = written.get(one.name)
        has_type = isinstance(own, Mapping) and "type" in own
        if own is not None and not isinstance(own, Mapping):
            tables[one.name] = own  # a mistake, which its reader notes
        elif has_type or one.kind not in ("", "text"):
            tables[one.name] = _over(one, own or {})
        elif one.kind == "text" and own is None:
            not_judged[one.name] = one.path
        elif one.kind == "text":
            hint = f'it is a text of {model}: write type = "identifier" there to judge it, or remove the table'
            mistakes.add(("fields", one.name, "type"), "is missing", hint)
        else:
            is_unsupported = True
            hint = f"give it a type in [fields.{one.name}], or leave it out: "
            hint += f'fields_from = {{ model = "{model}", leave_out = ["{one.name}"] }}'
            what = f"UnsupportedField: {one.name} of {model} is {one.shown}, which is no field's type"
            mistakes.add(_KEY, what, hint)
    tables |= {name: table for name, table in written.items() if name not in {one.name for one in found}}
    return Defined(tables, not_judged, is_unsupported)


def _over(one: ModelField, own: Mapping[str, Any]) -> dict[str, Any]:
    """Put what is written over what the model says; another type, or `bounds`, take the place of the model's bounds."""
    given = one.table
    is_bounded_anew = "bounds" in own or own.get("type", one.kind) != one.kind
    replaced = {"minimum", "maximum"} if is_bounded_anew else set()
    if own.get("type", one.kind) != one.kind:
        replaced.add("members")
    return {key: value for key, value in given.items() if key not in replaced} | dict(own)
