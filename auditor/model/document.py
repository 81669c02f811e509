"""A run as the public JSON document (``run.json``, schema 1) and back, exactly; pure, no I/O.

Keys are the names of the dataclasses, so a field added to a noun appears here by itself. Three shapes differ: a
column's verdicts lie flat beside its other counts, an interval is ``[low, high]``, and a decoding has a `warning` only
where there is one.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from auditor.errors import StoreError
from auditor.model.decoding import Decoding
from auditor.model.run import SCHEMA, Column, Finding, Interval, Run
from auditor.model.verdicts import FIELD_VERDICTS

#: Types of values that are JSON as they are.
_AS_IT_IS = frozenset({str, int, bool, NoneType})

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_document(run: Run) -> dict[str, Any]:
    """Give the run as plain JSON values; `schema` comes first, undefined rates are None."""
    document: dict[str, Any] = {"schema": run.schema}
    document.update(plain(run))
    return document


def from_document(document: Any) -> Run:
    """Give the run that `to_document` wrote; keys of later versions are ignored, missing ones are a StoreError."""
    if not isinstance(document, dict):
        raise StoreError(f"not a run: the document is {_kind(document)}, not an object")
    schema = document.get("schema")
    if schema != SCHEMA:
        raise StoreError(f"not a run this auditor can read: schema is {schema!r}, this auditor reads {SCHEMA}")
    return cast(Run, _build(Run, document, "run"))


def to_json_text(run: Run) -> str:
    """Give the document as JSON text: the same bytes for the same run, and valid UTF-8 whatever the data holds."""
    return json_text_of(to_document(run))


def json_text_of(document: dict[str, Any]) -> str:
    """Give a document of plain values as JSON text, valid UTF-8 whatever the data holds."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def plain(value: Any) -> Any:
    """Give a noun, or what it holds, as plain JSON values."""
    kind: Any = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is Interval:
        return [value.low, value.high] if math.isfinite(value.low) and math.isfinite(value.high) else None
    if names := _names(kind):
        values = {name: plain(getattr(value, name)) for name in names}
        if kind is Decoding and value.warning is None:
            del values["warning"]
        return {**values, **_derived(value)} if kind is not Column else _flat(value, values)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Give the names of a dataclass's fields, none for any other type."""
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()


def _derived(value: Any) -> dict[str, Any]:
    return {"anchor": value.anchor} if isinstance(value, Finding) else {}


def _flat(column: Column, values: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if key == "verdicts":
            flat.update((name, column.verdicts[name]) for name in FIELD_VERDICTS)
        else:
            flat[key] = value
    return {
        **flat,
        "accepted": column.accepted,
        "lost_to_shape": column.lost_to_shape,
        "lost_to_value": column.lost_to_value,
    }


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _build(cls: type, document: Any, where: str) -> Any:
    """Build a dataclass from an object; `where` is the path to it, for messages."""
    if not isinstance(document, dict):
        raise StoreError(f"{where}: expected an object, found {_kind(document)}")
    values: dict[str, Any] = {}
    for item in fields(cls):
        if cls is Column and item.name == "verdicts":
            values["verdicts"] = {
                name: _read(int, _need(document, name, where), f"{where}.{name}") for name in FIELD_VERDICTS
            }
        elif item.name in document:
            values[item.name] = _read(_hints(cls)[item.name], document[item.name], f"{where}.{item.name}")
        elif item.default is MISSING and item.default_factory is MISSING:
            _need(document, item.name, where)
    return cls(**values)


def _need(document: dict[str, Any], key: str, where: str) -> Any:
    if key not in document:
        raise StoreError(
            f"{where}: the key {key!r} is missing; the file is cut short or was not written by the auditor"
        )
    return document[key]


def _read(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        return None if value is None else _read(next(a for a in get_args(hint) if a is not NoneType), value, where)
    if origin is tuple:
        return tuple(_read(get_args(hint)[0], item, f"{where}[{i}]") for i, item in enumerate(_as(list, value, where)))
    if origin is dict:
        return {key: _read(get_args(hint)[1], item, f"{where}.{key}") for key, item in _as(dict, value, where).items()}
    if origin is Literal:
        if value not in get_args(hint):
            raise StoreError(f"{where}: expected one of {', '.join(get_args(hint))}, found {value!r}")
        return value
    if hint is Interval:
        if len(_as(list, value, where)) != 2:
            raise StoreError(f"{where}: expected [low, high], found {len(value)} values")
        return Interval(_read(float, value[0], where), _read(float, value[1], where))
    if is_dataclass(hint):
        return _build(cast(type, hint), value, where)
    return _scalar(hint, value, where)


def _scalar(hint: type, value: Any, where: str) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise StoreError(f"{where}: expected {hint.__name__}, found {_kind(value)}")
    return value


def _as(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise StoreError(f"{where}: expected {'a list' if kind is list else 'an object'}, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
