"""The decoding phase of an audit: starts every consumer, asks it for all raw values, and probes it.

What comes of it are the outcome tables of the connection, and `Decoded`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace

import duckdb

from auditor.audit.absent_values import check_absent
from auditor.audit.alone import ask_alone
from auditor.audit.answers import Answers
from auditor.audit.batches import Batches, read_batches
from auditor.audit.consumers import ask_all, state_notes
from auditor.audit.currency import check_currencies
from auditor.audit.emulated import Emulated, calibrate
from auditor.audit.engine_warnings import create_warnings
from auditor.audit.events import ConsumerReady, Event, Phase, Progress, Reused, Tell
from auditor.audit.kept import Kept
from auditor.audit.moves import Probes, create_tables
from auditor.audit.outcomes import add_field, create_faults, create_outcomes
from auditor.audit.probing import ask_probes
from auditor.audit.small_outcomes import SMALL, create_small_outcomes
from auditor.audit.starting import Starting
from auditor.audit.units import FieldUnits, count_units, create_units, field_units, payload_keys
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session
from auditor.errors import AuditorError
from auditor.findings.probes import ProbeOutcome
from auditor.load import Loaded
from auditor.model.neighbours import NeighbourProbe
from auditor.probe import Level
from auditor.spec.models import AuditSpec

#: Called with all consumers before any of them is asked for a value.
Check = Callable[[Mapping[str, Session]], None]


@dataclass(frozen=True)
class _Input:
    """What the decoding phase is given: the cases, the keys of their payloads if they are kept, batches and units."""

    loaded: Loaded
    keys: PayloadKeys | None
    batches: Batches
    units: Mapping[str, FieldUnits]
    kept: Kept
    probe: Level
    tell: Tell


@dataclass(frozen=True)
class Decoded:
    """What the decoding phase gives: readers by field, consumers' numbers, and the probes' outcomes."""

    readers: dict[str, tuple[str, ...]]
    deciding: dict[str, tuple[str, ...]]  # the same without those that take part in nothing
    emulated: Emulated
    index: dict[str, int]
    sessions: Mapping[str, Session]
    probes: tuple[ProbeOutcome, ...]
    notes: tuple[str, ...]
    environments: Probes
    neighbours: tuple[NeighbourProbe, ...]


def start_and_decode(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    workers: Starting,
    loaded: Loaded,
    kept: Kept,
    probe: Level,
    tell: Tell,
    *,
    payloads: bool,
    check: Check,
) -> Generator[Event, None, Decoded]:
    """Number the raw values while the last workers start, then decode all of them, unless `check` raises."""
    keys = payload_keys(connection, loaded.carried) if payloads else None
    workers.tell(loaded.carried, keys)
    batches = read_batches(spec, lambda field, role: loaded.rows_of(connection, field, role))
    units = _units(connection, spec, batches, payloads=payloads)
    given = _Input(loaded, keys, batches, units, kept, probe, tell)
    sessions = workers.ready()
    yield from (ConsumerReady(session.readiness) for session in sessions.values())
    check(sessions)
    notes = check_absent(connection, spec, loaded, sessions)
    decoded = yield from _decode(connection, spec, sessions, given)
    return replace(decoded, notes=decoded.notes + notes)


def _units(
    connection: duckdb.DuckDBPyConnection, spec: AuditSpec, batches: Batches, *, payloads: bool
) -> dict[str, FieldUnits]:
    create_units(connection, payloads=payloads, by_role=tuple(batches))
    counts = count_units(connection)
    return {
        name: field_units(connection, name, counts.get(name, 0), payloads=payloads, by_role=name in batches)
        for name in spec.fields
    }


def _readers(spec: AuditSpec, sessions: Mapping[str, Session]) -> dict[str, tuple[str, ...]]:
    readers = {
        field: tuple(name for name, session in sessions.items() if field in session.readiness.reads)
        for field in spec.fields
    }
    unread = [field for field, consumers in readers.items() if not consumers]
    if unread:
        left_out = "".join(f"; {one.why}" for one in spec.left_out)
        raise AuditorError(
            f"{spec.file}: no consumer reads {', '.join(unread)}\n"
            f"  cause: no `reads` names it, and no model has a field or an output column of that name{left_out}\n"
            "  next:  add it to the `reads` of a consumer, or remove it from [fields]"
        )
    for field, one in spec.fields.items():
        if one.reference not in ("typed", "each", *readers[field]):
            raise AuditorError(
                f"{spec.file}: fields.{field}.reference = {one.reference!r}, but that consumer does not read it\n"
                f'  next:  name one of {", ".join(readers[field])}, or "typed", or "each"'
            )
    return readers


def _decode(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    sessions: Mapping[str, Session],
    given: _Input,
) -> Generator[Progress | Reused | Phase, None, Decoded]:
    emulated = calibrate(spec, sessions)
    spec = emulated.ordered(spec)
    sessions = {name: sessions[name] for name in spec.consumers}
    readers, batches, units = _readers(spec, sessions), given.batches, given.units
    deciding = emulated.deciding(readers)
    answers: dict[tuple[str, str], Answers] = {}
    for event in ask_all(spec, sessions, units, batches, given.kept):
        if isinstance(event, Progress | Reused):
            yield event
        else:
            answers = event
    index = {name: number for number, name in enumerate(spec.consumers)}
    notes = state_notes(answers) + emulated.notes() + given.kept.notes()
    create_tables(connection)
    environments = Probes(given.probe)
    if given.probe != "off":
        yield Phase("reading again in other environments")
        # An audit without probes pays no import of theirs.
        from auditor.audit.environments import Answered, probe_all

        asked = Answered(sessions, units, batches, answers, index)
        environments = probe_all(
            connection, spec, asked, given.probe, carried=given.loaded.carried, keys=given.keys, tell=given.tell
        )
    _fill_outcomes(connection, spec, units, answers, index, given.kept)
    notes += check_currencies(connection, spec, deciding, index)
    yield Phase("reading single values and known junk")
    ask_alone(connection, spec, sessions, deciding, index)
    probes, unasked = ask_probes(connection, spec, sessions, deciding, index)
    notes += unasked
    neighbours: tuple[NeighbourProbe, ...] = ()
    if batches and given.probe != "off":
        yield Phase("reading batches in other company")
        from auditor.audit.neighbours import ask_neighbours

        neighbours, tried = ask_neighbours(connection, spec, sessions, index, batches)
        notes += tried
    return Decoded(readers, deciding, emulated, index, sessions, probes, notes, environments, neighbours)


def _fill_outcomes(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    units: Mapping[str, FieldUnits],
    answers: dict[tuple[str, str], Answers],
    index: Mapping[str, int],
    kept: Kept,
) -> None:
    create_faults(connection)
    create_warnings(connection, units, answers, index)
    if sum(map(len, units.values())) <= SMALL:
        create_small_outcomes(connection, spec, units, answers, index)
        return
    kept.forget()
    for name, one in units.items():
        add_field(connection, spec, one, answers, index)
        for consumer in spec.consumers:
            answers.pop((name, consumer), None)
    create_outcomes(connection, spec, index)
