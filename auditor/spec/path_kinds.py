"""The kind of a key of the spec that says where a value stands in a payload."""

from __future__ import annotations

from typing import Any

from auditor.model.payload_path import WrittenPath
from auditor.spec.kinds import TEXT, Kind
from auditor.spec.mistakes import Complain, shown


def _path(value: object, complain: Complain) -> WrittenPath | None:
    if isinstance(value, list | tuple) and value and all(map(_is_place, value)):
        return tuple(place if isinstance(place, str) else tuple(place) for place in value)
    if isinstance(value, list | tuple):
        hint = 'such as path = ["total", "sum.total", ["lines", 0, "total"]]: of a list of steps the first is a key'
        complain(f"must be a dotted path, or a list of places, not {shown(value)}", hint)
        return None
    path: str | None = TEXT.read(value, complain)
    return path


def _is_place(value: object) -> bool:
    """Say whether it is a dotted path, or a list of keys and positions that begins with a key."""
    if isinstance(value, str):
        return bool(value.strip()) and "\0" not in value
    is_list = isinstance(value, list | tuple) and bool(value) and isinstance(value[0], str)
    return is_list and all(type(step) in (str, int) for step in value)  # type: ignore[attr-defined]


_STEPS: dict[str, Any] = {
    "type": "array",
    "prefixItems": [{"type": "string"}],
    "items": {"type": ["string", "integer"]},
    "minItems": 1,
}

PATH = Kind(
    _path,
    {
        "anyOf": [
            TEXT.schema,
            {"type": "array", "items": {"anyOf": [TEXT.schema, _STEPS]}, "minItems": 1},
        ],
        "examples": ["sum.total", ["total", ["lines", 0, "total"]]],
    },
)
