"""Payloads as rows of a warehouse's source: which key goes into which column, and each payload's row of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json import decoder
from typing import Any, Literal

import msgspec

from auditor.model.payload_path import PayloadPath, Steps, payload_path
from auditor.spec.models import FieldSpec

Role = Literal["prediction", "reference"]

#: Payloads whose cells are kept, since the same payload is asked for each of its fields.
KEPT_PAYLOADS = 50_000

_BLANKS = " \t\n\r"
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_quoted = msgspec.json.Encoder().encode
_scan_string: Callable[[str, int], tuple[str, int]] = getattr(decoder, "scanstring")  # noqa: B009 - not in the stubs
_raw_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


@dataclass(frozen=True)
class PayloadKeys:
    """The top-level keys that the payloads of predictions, and those of references, carry."""

    predictions: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()


def field_paths(spec: FieldSpec, keys: PayloadKeys) -> dict[Role, list[Steps]]:
    """Give where the payloads of each role may hold a field, the first that one of them has counts; empty for nowhere.

    A flat table names by the field what a payload holds under a dotted path, and references have a path of their own.
    """
    own = payload_path(spec.name)
    given = (spec.prediction_path, own)
    asserted = (own, spec.prediction_path) if spec.reference_places is None else (spec.reference_places,)
    return {"prediction": _known(given, keys.predictions), "reference": _known(asserted, keys.references)}


def column_paths(column: str, fields: Mapping[str, FieldSpec], keys: PayloadKeys) -> dict[Role, list[Steps]]:
    """Give where payloads hold a column that no field of the consumer comes from: a field's value, or a key."""
    for name, spec in fields.items():
        if name.lower() == column.lower():
            return field_paths(spec, keys)
    return {"prediction": _named(column, keys.predictions), "reference": _named(column, keys.references)}


def _known(paths: Sequence[PayloadPath], keys: Collection[str]) -> list[Steps]:
    """Keep the places of the first path that some payload has, and the field's name too where one of them is nested."""
    found = [[place for place in path.choices if place[0] in keys] for path in paths]
    first = next((places for places in found if places), [])
    is_nested = any(len(place) > 1 for place in first)
    return list(dict.fromkeys(place for places in found for place in places)) if is_nested else first


def _named(column: str, keys: Collection[str]) -> list[Steps]:
    """Find the key of a column: as it is written, else the only one that differs in case alone."""
    alike = [key for key in keys if key.lower() == column.lower()]
    return [(column,)] if column in keys else [(alike[0],)] if len(alike) == 1 else []


def members_of(payload: str | bytes) -> Mapping[str, bytes | msgspec.Raw]:
    """Give the members of a JSON object as the JSON text of each; of a key that is there twice the last one."""
    try:
        return _decode(payload)
    except (msgspec.MsgspecError, UnicodeError):  # NaN, or a lone surrogate in a key: Python's reader takes them
        text = payload if isinstance(payload, str) else payload.decode()
        return {key: value.encode() for key, value in _scanned(text)}


def _scanned(payload: str) -> Iterator[tuple[str, str]]:
    at = _after_blanks(payload, payload.index("{") + 1)
    while payload[at] != "}":
        key, at = _scan_string(payload, at + 1)
        start = _after_blanks(payload, payload.index(":", at) + 1)
        _, end = _raw_decode(payload, start)
        yield key, payload[start:end]
        at = _after_blanks(payload, end)
        if payload[at] == ",":
            at = _after_blanks(payload, at + 1)


def _after_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at


@dataclass(frozen=True)
class RowWriter:
    """Writes payloads as rows: the JSON text of a list with a text, or null, for each column of the source.

    `columns` has for each column its path by role. With `receives` ``text`` a JSON null is no value, a string is its
    content and anything else its source text, as a driver writes a Python value; with ``json`` each is its JSON text.
    """

    columns: Sequence[Mapping[Role, Sequence[Steps]]]
    fields: Mapping[str, int]  # the place of each field's own column
    receives: str

    _kept: dict[tuple[Role, str], list[bytes]] = field(default_factory=dict, compare=False)

    def rows(self, name: str, tokens: Sequence[str], payloads: Sequence[str], role: Role) -> list[str]:
        """Give the rows of payloads, with the raw value of the field of a name in its own column."""
        own = self.fields[name]
        return [self._row(payload, role, own, token) for token, payload in zip(tokens, payloads, strict=True)]

    def _row(self, payload: str, role: Role, own: int, token: str) -> str:
        cells = self._kept.get((role, payload))
        if cells is None:
            members = members_of(payload)
            cells = [self._cell(members, column[role]) for column in self.columns]
            if len(self._kept) >= KEPT_PAYLOADS:
                self._kept.clear()
            self._kept[role, payload] = cells
        value = self._text(token.encode())
        if value != cells[own]:
            cells = [*cells[:own], value, *cells[own + 1 :]]
        return (b"[" + b",".join(cells) + b"]").decode()

    def _cell(self, members: Mapping[str, bytes | msgspec.Raw], paths: Sequence[Steps]) -> bytes:
        for path in paths:
            value = members.get(str(path[0])) if len(path) == 1 else value_at(members, path)
            if value is not None:
                return self._text(bytes(value))
        return b"null"

    def _text(self, token: bytes) -> bytes:
        if self.receives == "json":
            return _quoted(token.decode())
        return token if token[:1] == b'"' or token == b"null" else _quoted(token.decode())


def value_at(members: Mapping[str, bytes | msgspec.Raw], place: Steps) -> bytes | msgspec.Raw | None:
    """Give the JSON text of what stands at a place of an object with some members; None where there is nothing."""
    value = members.get(str(place[0]))
    for step in place[1:]:
        text = b"" if value is None else bytes(value)
        if isinstance(step, int):
            items = items_of(text) if text.startswith(b"[") else []
            value = items[step] if -len(items) <= step < len(items) else None
        else:
            value = members_of(text).get(step) if text.startswith(b"{") else None
    return value


def items_of(array: bytes) -> Sequence[bytes | msgspec.Raw]:
    """Give the items of a JSON array as the JSON text of each."""
    try:
        return _decode_items(array)
    except (msgspec.MsgspecError, UnicodeError):
        return [item.encode() for item in _scanned_items(array.decode())]


def _scanned_items(array: str) -> Iterator[str]:
    at = _after_blanks(array, array.index("[") + 1)
    while array[at] != "]":
        _, end = _raw_decode(array, at)
        yield array[at:end]
        at = _after_blanks(array, end)
        if array[at] == ",":
            at = _after_blanks(array, at + 1)


def row_writer(config: Mapping[str, Any]) -> RowWriter | None:
    """Give what writes the rows of a worker's configuration; None where it is sent no rows."""
    rows = (config["plan"] or {}).get("rows")
    return RowWriter(rows["columns"], rows["fields"], config["receives"]) if rows else None
