"""One or a few strings through every consumer of a field and environment, without any data set."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

from auditor.audit.reading_probes import Elsewhere, probe_company, probe_strings, sent_strings, with_company
from auditor.audit.starting import Starting
from auditor.decode.sql_hints import field_hints
from auditor.errors import AuditorError
from auditor.judge.answers import answer_at
from auditor.load.tokens import string_token
from auditor.model.decoding import Decodings
from auditor.model.environment import BASE
from auditor.model.reading import Reading
from auditor.probe import Level
from auditor.probe.sent import decode_sent
from auditor.spec.mistakes import nearest
from auditor.spec.models import AuditSpec, FieldSpec


def read_strings(
    spec: AuditSpec, field_name: str, tokens: Sequence[str], *, probe: Level = "full"
) -> tuple[Reading, ...]:
    """Decode raw values (JSON texts, see `as_token`) of a field with every consumer that reads it.

    With `probe` they are decoded again in other environments, and what moves is traced to its cause.
    """
    if field_name not in spec.fields:
        near = nearest(field_name, spec.fields)
        raise AuditorError(
            f"{spec.file}: no field {field_name!r}; there are: {', '.join(spec.fields)}"
            + (f"\n  next:  did you mean {near!r}?" if near else "")
        )
    asked = [one for one in spec.consumers.values() if not one.reads or field_name in one.reads]
    with Starting(spec, asked) as starting:
        starting.tell(frozenset(), None)
        sessions = starting.ready()
        sent = {name: sent_strings(spec.consumers[name], tokens) for name in sessions}
        decoded = {
            name: decode_sent(session, spec.fields[field_name], sent[name])
            for name, session in sessions.items()
            if field_name in session.readiness.reads
        }
        company = {
            name: probe_company(sessions[name], spec.consumers[name], spec.fields[field_name], tokens, some)
            for name, some in decoded.items()
            if spec.consumers[name].batch and probe != "off"
        }
        ready = {name: session.readiness for name, session in sessions.items()}
        hints = {name: field_hints(session.plan, session.readiness) for name, session in sessions.items()}
    hinted = {name: hints[name][field_name] for name in decoded if field_name in hints[name]}
    emulated = [name for name in decoded if spec.consumers[name].emulate]
    elsewhere = probe_strings(spec, spec.fields[field_name], sent, decoded, ready, probe)
    for name, found in company.items():
        elsewhere[name] = with_company(elsewhere[name], spec.fields[field_name], tokens, found)
    return tuple(
        _without(emulated, _reading(spec.fields[field_name], token, i, decoded, elsewhere, hinted))
        for i, token in enumerate(tokens)
    )


def as_token(text: str, *, is_json: bool = False) -> str:
    """Write a string as the JSON text of a raw value; with `is_json` it already is one."""
    if not is_json:
        return string_token(text)
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AuditorError(f"{text!r} is no JSON value: {error}") from error
    return text.strip()


def _without(emulated: Sequence[str], reading: Reading) -> Reading:
    """Leave those that are emulated out of who agrees with whom, and say what they are."""
    keys = {name: key for name, key in reading.keys.items() if name not in emulated}
    hints = dict.fromkeys(emulated, ("it is emulated: the warehouse itself may read another value",))
    return dataclasses.replace(reading, keys=keys, hints=reading.hints | hints)


def _reading(
    field_spec: FieldSpec,
    token: str,
    position: int,
    decoded: Mapping[str, Decodings],
    elsewhere: Mapping[str, Elsewhere],
    hints: dict[str, tuple[str, ...]],
) -> Reading:
    found = {name: answer_at(field_spec, some, position) for name, some in decoded.items()}
    return Reading(
        field_spec.name,
        token,
        {
            name: dataclasses.replace(answer.decoding(BASE), warning=decoded[name].engine_warnings.get(position))
            for name, answer in found.items()
        },
        {name: answer.key for name, answer in found.items()},
        {name: one.dependences[position] for name, one in elsewhere.items() if position in one.dependences},
        {name: one.environments for name, one in elsewhere.items()},
        {name: one.not_varied for name, one in elsewhere.items() if one.not_varied},
        hints,
    )
