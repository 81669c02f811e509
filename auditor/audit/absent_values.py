"""Holds what the audit takes for absent against where Pydantic models look: no case is `absent` that a model reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from auditor.decode.payload_rows import members_of, value_at
from auditor.decode.session import Session
from auditor.errors import ConsumerError, ConsumerErrors
from auditor.load import Loaded
from auditor.model.decoding import Readiness
from auditor.model.payload_path import PayloadPath, Steps, steps_text
from auditor.spec.models import AuditSpec, FieldSpec


@dataclass(frozen=True)
class _Unread:
    """Cases in which a field has no value where the spec looks: how many, and their payloads with a row of each."""

    cases: int
    payloads: tuple[tuple[str | None, int], ...]


def check_absent(
    connection: DuckDBPyConnection, spec: AuditSpec, loaded: Loaded, sessions: Mapping[str, Session]
) -> tuple[str, ...]:
    """Give notes on what cannot be followed; ConsumerErrors where a payload has what a model reads and we do not."""
    notes: list[str] = []
    errors: list[ConsumerError] = []
    for session in sessions.values():
        ready = session.readiness
        for field, places in ready.looks_at.items():
            unread = _unread(connection, field)
            if not unread.cases:
                continue
            notes += _notes(ready, spec.fields[field], places, unread)
            found = None if places is None else _found_elsewhere(unread, places)
            if places is not None and found is not None:
                place, row = found
                case = loaded.case_at(connection, [row]).get(row, "")
                errors.append(_error(ready, spec.fields[field], places, place, case))
    if errors:
        raise errors[0] if len(errors) == 1 else ConsumerErrors(errors)
    return tuple(notes)


def _unread(connection: DuckDBPyConnection, field: str) -> _Unread:
    rows = connection.execute(
        "SELECT payload, first_row, n FROM pairs WHERE field = $field AND outcome = 'judged' "
        "AND (prediction IS NULL OR prediction = 'null') ORDER BY abs(first_row)",
        {"field": field},
    ).fetchall()
    return _Unread(sum(n for *_, n in rows), tuple((payload, row) for payload, row, _ in rows))


def _found_elsewhere(unread: _Unread, places: PayloadPath) -> tuple[Steps, int] | None:
    """Give where a payload has a value that the model reads, with the row of the case."""
    for payload, row in unread.payloads:
        if payload is None:
            continue
        members = members_of(payload)
        values = ((place, value_at(members, place)) for place in places.choices)
        place, value = next(((place, value) for place, value in values if value is not None), ((), None))
        if value is not None and bytes(value) != b"null":
            return place, row
    return None


def _notes(ready: Readiness, field: FieldSpec, places: PayloadPath | None, unread: _Unread) -> Iterator[str]:
    start = f"{ready.consumer}, {field.name}: {_cases(unread.cases)} no value at {field.prediction_path.text}"
    if places is None:
        yield f"{start}; where the model looks cannot be told: a value elsewhere counts as absent"
        return
    elsewhere = [place for place in places.choices if place not in field.prediction_path.choices]
    if elsewhere and any(payload is None for payload, _ in unread.payloads):
        shown = " or ".join(map(steps_text, elsewhere))
        yield f"{start}; the model also looks at {shown}, which was not kept here: a value there counts as absent"
    if ready.looks_after and ready.scope == "payload":
        names = ", ".join(ready.looks_after)
        yield (
            f"{start}; {names} of the model gets the payload before its fields are looked for, and may find one "
            "elsewhere: it counts as absent"
        )


def _cases(number: int) -> str:
    return "1 case has" if number == 1 else f"{number:,} cases have"


def _error(ready: Readiness, field: FieldSpec, places: PayloadPath, place: Steps, case: str) -> ConsumerError:
    return ConsumerError(
        ready.consumer,
        f"read {field.name} with {ready.reads[field.name]}",
        f"in case {case} the payload has no value at {field.prediction_path.text}, where [fields.{field.name}] looks, "
        f"and one at {steps_text(place)}, where the model looks: it would count as absent, and the consumer reads it",
        f"write path = {_written(places)} in [fields.{field.name}]; "
        'or scope = "field" for the consumer, which then reads what the audit finds, alone',
    )


def _written(places: PayloadPath) -> str:
    """Write places as a spec has them."""
    plain = [place[0] if len(place) == 1 and "." not in str(place[0]) else list(place) for place in places.choices]
    return json.dumps(plain[0] if len(plain) == 1 and isinstance(plain[0], str) else plain, ensure_ascii=False)
