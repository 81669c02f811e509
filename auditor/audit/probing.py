"""Feeds every parser the fixed junk and sound strings of its field's type, in the worker that read the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from duckdb import DuckDBPyConnection

from auditor.audit.starting import wants_payload
from auditor.decode.payload_rows import items_of, members_of, value_at
from auditor.decode.session import Session
from auditor.findings.probes import ProbeOutcome, ProbeString, probe_tokens
from auditor.judge.answers import answers
from auditor.model.decoding import Decodings
from auditor.model.payload_path import Steps
from auditor.spec.models import AuditSpec, FieldSpec


def ask_probes(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    sessions: Mapping[str, Session],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> tuple[tuple[ProbeOutcome, ...], tuple[str, ...]]:
    """Give what each parser makes of the probes of its field's type, and notes on those that could not be asked."""
    outcomes: list[ProbeOutcome] = []
    notes: list[str] = []
    for name, consumers in readers.items():
        for consumer in consumers:
            probes = probe_tokens(spec.fields[name], spec.consumers[consumer].receives)
            decodings = _decode(connection, spec, sessions[consumer], spec.fields[name], probes, index[consumer])
            if decodings is None:
                notes.append(f"{name}, {consumer}: not probed with junk, because it accepts no payload of the data")
            else:
                outcomes += _outcomes(spec.fields[name], consumer, probes, decodings)
    return tuple(outcomes), tuple(notes)


def _decode(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    session: Session,
    field: FieldSpec,
    probes: Sequence[ProbeString],
    number: int,
) -> Decodings | None:
    tokens = [probe.token for probe in probes]
    consumer = spec.consumers[session.readiness.consumer]
    if not (wants_payload(consumer) and session.readiness.scope_of(field.name) == "payload"):
        return session.decode(field.name, tokens, alone=True)
    payload = _sound_payload(connection, field, number)
    if payload is None:
        return None
    return session.decode(field.name, tokens, payloads=[_with_value(payload, field, token) for token in tokens])


def _sound_payload(connection: DuckDBPyConnection, field: FieldSpec, number: int) -> str | None:
    """Give the first prediction's payload that the consumer accepts; without one no probe can tell its field apart."""
    rows = connection.execute(
        f"SELECT payload FROM outcomes WHERE field = $field AND s{number} = 'v' AND role_prediction "
        "AND payload IS NOT NULL ORDER BY unit LIMIT 1",
        {"field": field.name},
    ).fetchall()
    return rows[0][0] if rows else None


def _with_value(payload: str, field: FieldSpec, token: str) -> str:
    """Write the payload again with another raw value in the field's place; every other value keeps its text."""
    members, choices = members_of(payload), field.prediction_path.choices
    flat = ((field.name,),) if field.name in members else ()
    place = next((place for place in (*choices, *flat) if value_at(members, place) is not None), choices[0])
    return _replace(payload.encode(), place, token).decode()


def _replace(text: bytes, place: Steps, token: str) -> bytes:
    """Write an object, or array, again with another value at a place; what is not there is put there as objects."""
    if not place:
        return token.encode()
    head, rest = place[0], place[1:]
    if isinstance(head, int):
        items = [bytes(item) for item in items_of(text)] if text.startswith(b"[") else []
        if not -len(items) <= head < len(items):
            head, items = 0, [b"null"]
        items[head] = _replace(items[head], rest, token)
        return b"[" + b",".join(items) + b"]"
    members = members_of(text) if text.startswith(b"{") else {}
    value = _replace(bytes(members.get(head, b"")), rest, token)
    parts = [msgspec.json.encode(key) + b":" + bytes(member) for key, member in members.items() if key != head]
    return b"{" + b",".join([*parts, msgspec.json.encode(head) + b":" + value]) + b"}"


def _outcomes(
    field: FieldSpec, consumer: str, probes: Sequence[ProbeString], decodings: Decodings
) -> list[ProbeOutcome]:
    return [
        ProbeOutcome(
            field.name,
            consumer,
            probe,
            one.letter,
            one.text,
            one.key,
            one.error,
            decodings.engine_warnings.get(position),
        )
        for position, (probe, one) in enumerate(zip(probes, answers(field, decodings), strict=True))
    ]
