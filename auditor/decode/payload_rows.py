"""Payloads as rows of a warehouse's source: which key goes into which column, and each payload's row of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.decoder import scanstring
from typing import Any, Literal

import msgspec

from auditor.decode.frames import as_text
from auditor.spec.models import FieldSpec

Role = Literal["prediction", "reference"]
Path = list[str]

_BLANKS = " \t\n\r"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


@dataclass(frozen=True)
class PayloadKeys:
    """The top-level keys that the payloads of predictions, and those of references, carry."""

    predictions: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()


def field_paths(field: FieldSpec, keys: PayloadKeys) -> dict[Role, Path | None]:
    """Give where the payloads of each role hold a field; None where they do not.

    A flat table names by the field what a payload holds under a dotted path, and references have a path of their own.
    """
    given = (field.prediction_path, field.name)
    asserted = (field.reference_path,) if field.reference_path else (field.name, field.prediction_path)
    return {"prediction": _first(given, keys.predictions), "reference": _first(asserted, keys.references)}


def column_paths(column: str, fields: Mapping[str, FieldSpec], keys: PayloadKeys) -> dict[Role, Path | None]:
    """Give where payloads hold a column that no field of the consumer comes from: a field's value, or a key."""
    for name, field in fields.items():
        if name.lower() == column.lower():
            return field_paths(field, keys)
    return {"prediction": _named(column, keys.predictions), "reference": _named(column, keys.references)}


def _first(paths: Sequence[str], keys: Collection[str]) -> Path | None:
    for path in paths:
        if path in keys:
            return [path]
        if path.partition(".")[0] in keys:
            return path.split(".")
    return None


def _named(column: str, keys: Collection[str]) -> Path | None:
    """Find the key of a column: as it is written, else the only one that differs in case alone."""
    alike = [key for key in keys if key.lower() == column.lower()]
    return [column] if column in keys else alike if len(alike) == 1 else None


def members_of(payload: str) -> dict[str, str]:
    """Give the members of a JSON object as the JSON text of each; of a key that is there twice the last one."""
    try:
        return {key: bytes(value).decode() for key, value in _members.decode(payload).items()}
    except (msgspec.MsgspecError, UnicodeError):  # NaN, or a lone surrogate in a key: Python's reader takes them
        return dict(_scanned(payload))


def _scanned(payload: str) -> Iterator[tuple[str, str]]:
    at = _after_blanks(payload, payload.index("{") + 1)
    while payload[at] != "}":
        key, at = scanstring(payload, at + 1)
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
    content and anything else its source text; with ``json`` each value is its JSON text.
    """

    columns: Sequence[Mapping[Role, Path | None]]
    fields: Mapping[str, int]  # the place of each field's own column
    receives: str

    def rows(self, field: str, tokens: Sequence[str], payloads: Sequence[str], role: Role) -> list[str]:
        """Give the rows of payloads, with the raw value of the field in its own column."""
        own = self.fields[field]
        return [self._row(payload, role, own, token) for token, payload in zip(tokens, payloads, strict=True)]

    def _row(self, payload: str, role: Role, own: int, token: str) -> str:
        members = members_of(payload)
        cells = [self._cell(members, column[role]) for column in self.columns]
        cells[own] = self._text(token)
        return "[" + ",".join(cells) + "]"

    def _cell(self, members: Mapping[str, str], path: Path | None) -> str:
        if path is None:
            return "null"
        token = members.get(path[0])
        for key in path[1:]:
            if token is None or not token.startswith("{"):
                return "null"
            token = members_of(token).get(key)
        return "null" if token is None else self._text(token)

    def _text(self, token: str) -> str:
        if self.receives != "text":
            return json.dumps(token, ensure_ascii=False)
        return token if token == "null" else as_text(token)


def row_writer(config: Mapping[str, Any]) -> RowWriter | None:
    """Give what writes the rows of a worker's configuration; None where it is sent no rows."""
    rows = (config["plan"] or {}).get("rows")
    return RowWriter(rows["columns"], rows["fields"], config["receives"]) if rows else None
