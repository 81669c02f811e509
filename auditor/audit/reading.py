"""One or a few strings through every consumer of a field, without any data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from auditor.audit.consumers import Starting
from auditor.decode.session import Session
from auditor.errors import AuditorError
from auditor.judge.keys import grain_key, unexpected_type
from auditor.load.tokens import string_token
from auditor.model.decoding import Decoding
from auditor.spec.models import AuditSpec, FieldSpec


@dataclass(frozen=True)
class Reading:
    """What the consumers of a field make of one raw value; `keys` are equal where the consumers agree.

    >>> Reading("total", '"1.0"', {}, {"billing": "1", "warehouse": "1"}).agree
    True
    """

    field: str
    raw: str  # JSON text of the value
    decodings: dict[str, Decoding]
    keys: dict[str, str | None]

    @property
    def agree(self) -> bool:
        """Every consumer takes a value, and it is the same one."""
        return len(set(self.keys.values())) == 1 and None not in self.keys.values()


def read_strings(spec: AuditSpec, field: str, tokens: Sequence[str]) -> tuple[Reading, ...]:
    """Decode raw values (JSON texts, see `as_token`) of a field with every consumer that reads it."""
    if field not in spec.fields:
        near = get_close_matches(field, spec.fields, 1)
        raise AuditorError(
            f"{spec.file}: no field {field!r}; there are: {', '.join(spec.fields)}"
            + (f"\n  next:  did you mean {near[0]!r}?" if near else "")
        )
    asked = [one for one in spec.consumers.values() if not one.reads or field in one.reads]
    with Starting(spec, asked) as starting:
        sessions = starting.ready(frozenset())
        columns = {
            name: _decode(spec.fields[field], session, tokens)
            for name, session in sessions.items()
            if field in session.readiness.reads
        }
    return tuple(
        _reading(spec.fields[field], token, {c: column[i] for c, column in columns.items()})
        for i, token in enumerate(tokens)
    )


def as_token(text: str, *, is_json: bool = False) -> str:
    """Write a string as the JSON text of a raw value; with `is_json` it already is one."""
    if not is_json:
        return string_token(text)
    try:
        json.loads(text)
    except ValueError as error:
        raise AuditorError(f"{text!r} is no JSON value: {error}") from error
    return text.strip()


def _decode(field: FieldSpec, session: Session, tokens: Sequence[str]) -> list[Decoding]:
    decodings = session.decode(field.name, tokens)
    found = []
    for position, text in enumerate(decodings.texts):
        fault = decodings.faults.get(position)
        if fault is not None:
            found.append(Decoding(fault.status, None, fault.error))
        elif text is not None and grain_key(field, text) is None:
            found.append(Decoding("rejected", None, unexpected_type(field, text)))
        else:
            found.append(Decoding("value", text, None))
    return found


def _reading(field: FieldSpec, token: str, decodings: dict[str, Decoding]) -> Reading:
    keys = {name: grain_key(field, one.value) if one.value is not None else None for name, one in decodings.items()}
    return Reading(field.name, token, decodings, keys)
