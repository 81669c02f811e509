"""The phases of an audit, in order: load, start, decode, judge, score, find, store."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Literal

import duckdb

from auditor.audit.alone import ask_alone
from auditor.audit.batches import Batches, read_batches
from auditor.audit.broken import broken_references as list_broken
from auditor.audit.consumers import Answers, Starting, ask_all, state_notes, wants_payload
from auditor.audit.currency import check_currencies
from auditor.audit.environments import Answered, Probes, probe_all
from auditor.audit.events import CasesLoaded, ConsumerReady, Event, Phase, Progress, RunFinished, Tell, nobody
from auditor.audit.gate import INCIDENT, gate_note, gate_of, incident_text, with_gate
from auditor.audit.neighbours import ask_neighbours
from auditor.audit.outcomes import add_field, create_faults, create_outcomes
from auditor.audit.probing import ask_probes
from auditor.audit.replies import reply_reader
from auditor.audit.small_outcomes import SMALL, create_small_outcomes
from auditor.audit.summary import (
    all_columns,
    column_notes,
    make_run,
    manifest_sha256,
    mark_untrusted,
    split_columns,
    summarise_consumers,
    summarise_fields,
    summarise_probes,
)
from auditor.audit.units import FieldUnits, count_units, create_units, field_units, payload_keys
from auditor.database import connect, first_line, no_room
from auditor.decode.folders import SPILL, open_folder
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session
from auditor.decode.sql_hints import field_hints
from auditor.errors import AuditorError
from auditor.findings import find, untrusted_by
from auditor.findings.context import Context
from auditor.findings.probes import ProbeOutcome
from auditor.load import Loaded, load
from auditor.model.neighbours import NeighbourProbe
from auditor.model.run import Run
from auditor.probe import Level
from auditor.score.columns import count_patterns
from auditor.score.environments import add_environments
from auditor.score.verdict_table import create_judged
from auditor.spec.find import runs_folder
from auditor.spec.models import AuditSpec
from auditor.store.writing import write_run

BrokenReferences = Literal["stop", "report"]


@dataclass(frozen=True)
class _Input:
    """What the decoding phase is given: the cases, the keys of their payloads if they are kept, batches and units."""

    loaded: Loaded
    keys: PayloadKeys | None
    batches: Batches
    units: Mapping[str, FieldUnits]
    probe: Level
    tell: Tell


@dataclass(frozen=True)
class _Decoded:
    """What the decoding phase gives: readers by field, consumers' numbers, and the probes' outcomes."""

    readers: dict[str, tuple[str, ...]]
    index: dict[str, int]
    sessions: Mapping[str, Session]
    probes: tuple[ProbeOutcome, ...]
    notes: tuple[str, ...]
    environments: Probes
    neighbours: tuple[NeighbourProbe, ...]


def audit(
    spec: AuditSpec,
    *,
    broken_references: BrokenReferences = "stop",
    store: bool = True,
    probe: Level = "full",
    starting: Starting | None = None,
    tell: Tell = nobody,
) -> Generator[Event, None, None]:
    """Audit the spec's cases with its consumers; yields events, the last is `RunFinished`, and tells of launches.

    Workers start while the cases are read, or have been started before (`starting`); they are ended here.

    With `broken_references="stop"` a run with broken references carries no rates. `probe` says how much is
    decoded again in other environments. Raises AuditorError when there is no faithful score: a consumer cannot be
    started, an input cannot be read whole, the run cannot be written.
    """
    try:
        with (
            starting or Starting(spec, list(spec.consumers.values())) as workers,
            ExitStack() as folders,
            closing(connect(_open_spill(folders))) as connection,
        ):
            yield from _audit(connection, spec, workers, broken_references, probe, store, tell)
    except (duckdb.Error, MemoryError, OSError) as error:
        lack = no_room(error)
        if lack is None:
            raise
        raise AuditorError(
            f"the audit could not be done: {lack.cause}\n  seen:  {first_line(error)}\n  next:  {lack.step}"
        ) from error


def _open_spill(folders: ExitStack) -> str:
    """Open the folder for what does not fit into memory."""
    try:
        return open_folder(folders, SPILL)
    except OSError as error:
        raise AuditorError(
            f"no folder for temporary files can be made\n  seen:  {error}\n"
            "  next:  free space or permissions there, or set TMPDIR to another folder"
        ) from error


def _audit(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    workers: Starting,
    broken_references: BrokenReferences,
    probe: Level,
    store: bool,
    tell: Tell,
) -> Generator[Event, None, None]:
    payloads = any(wants_payload(consumer) for consumer in spec.consumers.values())
    with reply_reader(spec) as reader:
        loaded = load(spec, connection, payloads=payloads, reader=None if reader is None else reader.read)
        texts = {} if reader is None else reader.kept()
    yield CasesLoaded(loaded.cases)
    decoded = yield from _start_and_decode(connection, spec, workers, loaded, probe, tell, payloads=payloads)
    workers.close()
    yield Phase("comparing, and looking for bugs")
    create_judged(connection, spec, decoded.readers, decoded.index, payloads=payloads)
    run = _score(connection, spec, loaded, decoded, broken_references, store=store)
    folder = None
    if store:
        if run.gate is not None and not run.gate.open:
            texts[INCIDENT] = incident_text(loaded.incidents(connection))
        folder = write_run(connection, run, runs_folder(spec), spec, loaded.files, texts)
    yield RunFinished(run, folder)


def _start_and_decode(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    workers: Starting,
    loaded: Loaded,
    probe: Level,
    tell: Tell,
    *,
    payloads: bool,
) -> Generator[Event, None, _Decoded]:
    """Number the raw values while the last workers start, then decode all of them."""
    keys = payload_keys(connection, loaded.carried) if payloads else None
    workers.tell(loaded.carried, keys)
    batches = read_batches(spec, lambda field, role: loaded.rows_of(connection, field, role))
    given = _Input(loaded, keys, batches, _units(connection, spec, batches, payloads=payloads), probe, tell)
    sessions = workers.ready()
    yield from (ConsumerReady(session.readiness) for session in sessions.values())
    return (yield from _decode(connection, spec, sessions, given))


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
) -> Generator[Progress | Phase, None, _Decoded]:
    readers, batches, units = _readers(spec, sessions), given.batches, given.units
    answers: dict[tuple[str, str], Answers] = {}
    for event in ask_all(spec, sessions, units, batches):
        if isinstance(event, Progress):
            yield event
        else:
            answers = event
    index = {name: number for number, name in enumerate(spec.consumers)}
    notes = state_notes(answers)
    asked = Answered(sessions, units, batches, answers, index)
    if given.probe != "off":
        yield Phase("reading again in other environments")
    environments = probe_all(
        connection, spec, asked, given.probe, carried=given.loaded.carried, keys=given.keys, tell=given.tell
    )
    _fill_outcomes(connection, spec, units, answers, index)
    notes += check_currencies(connection, spec, readers, index)
    yield Phase("reading single values and known junk")
    ask_alone(connection, spec, sessions, readers, index)
    probes, unasked = ask_probes(connection, spec, sessions, readers, index)
    in_batches = batches if given.probe != "off" else {}
    if in_batches:
        yield Phase("reading batches in other company")
    neighbours, tried = ask_neighbours(connection, spec, sessions, index, in_batches)
    return _Decoded(readers, index, sessions, probes, notes + unasked + tried, environments, neighbours)


def _fill_outcomes(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    units: Mapping[str, FieldUnits],
    answers: dict[tuple[str, str], Answers],
    index: Mapping[str, int],
) -> None:
    create_faults(connection)
    if sum(map(len, units.values())) <= SMALL:
        create_small_outcomes(connection, spec, units, answers, index)
        return
    for name, one in units.items():
        add_field(connection, spec, one, answers, index)
        for consumer in spec.consumers:
            answers.pop((name, consumer), None)
    create_outcomes(connection, spec, index)


def _score(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    loaded: Loaded,
    decoded: _Decoded,
    on_broken: BrokenReferences,
    *,
    store: bool,
) -> Run:
    patterns = count_patterns(connection, decoded.readers)
    broken = list_broken(
        connection, spec, decoded.readers, decoded.index, lambda field, raw: loaded.cases_of(connection, field, raw)
    )
    withhold = bool(broken) and on_broken == "stop"
    readiness = {name: session.finish() for name, session in decoded.sessions.items()}
    hints = {name: field_hints(session.plan, readiness[name]) for name, session in decoded.sessions.items()}
    columns = with_gate(all_columns(spec, patterns, readiness, hints, withhold_rates=withhold), spec.cases)
    gate = gate_of(loaded.cases, columns, spec)
    splits = with_gate(split_columns(connection, spec, columns, withhold_rates=withhold), spec.cases)
    probes = decoded.environments
    probed = {one.consumer: one for one in probes.of_consumers}
    columns = add_environments(connection, spec, columns, decoded.readers, decoded.index, probes.singles, probed)
    context = Context(
        connection=connection,
        spec=spec,
        readers=decoded.readers,
        index=decoded.index,
        columns={(column.field, column.consumer): column for column in columns},
        probes=decoded.probes,
        case_ids=lambda rows: loaded.case_at(connection, rows),
        probed=decoded.environments.of_consumers,
        units_of_movers=decoded.environments.units,
        neighbours=decoded.neighbours,
    )
    findings = find(context)
    return make_run(
        spec,
        manifest=manifest_sha256(spec, loaded.manifest_rows_sha256),
        cases=loaded.cases,
        finish_reasons=loaded.finish_reasons,
        sources=loaded.sources,
        consumers=summarise_consumers(spec, readiness, decoded.environments.of_consumers),
        fields=summarise_fields(connection, spec, patterns, decoded.index, withhold_rates=withhold),
        columns=mark_untrusted((*columns, *splits), untrusted_by(findings)),
        findings=findings,
        broken=broken,
        withhold_rates=withhold,
        gate=gate,
        gold_in_input=loaded.gold_in_input,
        notes=loaded.notes
        + gate_note(gate, loaded.cases, stored=store)
        + tuple(one.text for one in loaded.blocked)
        + (() if withhold else column_notes(columns))
        + decoded.notes,
        probe=summarise_probes(spec, decoded.environments.level, decoded.environments.of_consumers),
    )
