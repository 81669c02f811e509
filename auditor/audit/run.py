"""The phases of an audit, in order: load, start, decode, judge, score, find, store."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

import duckdb

from auditor.audit.broken import broken_references as list_broken
from auditor.audit.consumers import Answers, Starting, ask_all, state_notes, wants_payload
from auditor.audit.currency import check_currencies
from auditor.audit.events import ConsumerReady, Event, Loaded, Progress, RunFinished
from auditor.audit.outcomes import add_field, create_faults, create_outcomes
from auditor.audit.probing import ask_probes
from auditor.audit.small_outcomes import SMALL, create_small_outcomes
from auditor.audit.summary import (
    all_columns,
    make_run,
    manifest_sha256,
    mark_untrusted,
    summarise_consumers,
    summarise_fields,
)
from auditor.audit.units import FieldUnits, count_units, create_units, field_units
from auditor.decode.session import Session
from auditor.errors import AuditorError
from auditor.findings import find, untrusted_by
from auditor.findings.context import Context
from auditor.findings.probes import ProbeOutcome
from auditor.load import Loaded as LoadedCases
from auditor.load import load
from auditor.model.run import Run
from auditor.score.columns import count_patterns
from auditor.score.verdict_table import create_judged
from auditor.spec.find import runs_folder
from auditor.spec.models import AuditSpec
from auditor.store.writing import write_run

BrokenReferences = Literal["stop", "report"]

#: DuckDB's share of the parent's memory; larger work spills to the temporary folder.
MEMORY_LIMIT = "700MB"


@dataclass(frozen=True)
class _Decoded:
    """What the decoding phase gives: readers by field, consumers' numbers, and the probes' outcomes."""

    readers: dict[str, tuple[str, ...]]
    index: dict[str, int]
    sessions: Mapping[str, Session]
    probes: tuple[ProbeOutcome, ...]
    notes: tuple[str, ...]


def audit(
    spec: AuditSpec,
    *,
    broken_references: BrokenReferences = "stop",
    store: bool = True,
    starting: Starting | None = None,
) -> Generator[Event, None, None]:
    """Audit the spec's cases with its consumers; yields events, the last is `RunFinished`.

    Workers start while the cases are read, or have been started before (`starting`); they are ended here.

    With `broken_references="stop"` a run with broken references carries no rates. Raises AuditorError when there is
    no faithful score: a consumer cannot be started, an input cannot be read whole, the run cannot be written.
    """
    with (
        starting or Starting(spec, list(spec.consumers.values())) as workers,
        tempfile.TemporaryDirectory(prefix="auditor-") as spill,
        closing(_connect(spill)) as connection,
    ):
        payloads = any(wants_payload(consumer) for consumer in spec.consumers.values())
        loaded = load(spec, connection, payloads=payloads)
        yield Loaded(loaded.cases)
        sessions = workers.ready(loaded.carried)
        yield from (ConsumerReady(session.readiness) for session in sessions.values())
        decoded = yield from _decode(connection, spec, sessions, payloads=payloads)
        workers.close()
        create_judged(connection, spec, decoded.readers, decoded.index, payloads=payloads)
        run = _score(connection, spec, loaded, decoded, broken_references)
        folder = None
        if store:
            folder = write_run(connection, run, runs_folder(spec), spec.file, loaded.files)
        yield RunFinished(run, folder)


def _connect(spill: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    connection.execute("SET temp_directory = $folder", {"folder": spill})
    connection.execute("SET preserve_insertion_order = true")
    connection.execute("SET enable_progress_bar = false")
    return connection


def _readers(spec: AuditSpec, sessions: Mapping[str, Session]) -> dict[str, tuple[str, ...]]:
    readers = {
        field: tuple(name for name, session in sessions.items() if field in session.readiness.reads)
        for field in spec.fields
    }
    unread = [field for field, consumers in readers.items() if not consumers]
    if unread:
        raise AuditorError(
            f"{spec.file}: no consumer reads {', '.join(unread)}\n"
            "  cause: no `reads` names it, and no model has a field or an output column of that name\n"
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
    connection: duckdb.DuckDBPyConnection, spec: AuditSpec, sessions: Mapping[str, Session], *, payloads: bool
) -> Generator[Progress, None, _Decoded]:
    readers = _readers(spec, sessions)
    create_units(connection, payloads=payloads)
    counts = count_units(connection)
    units = {name: field_units(connection, name, counts.get(name, 0), payloads=payloads) for name in spec.fields}
    answers: dict[tuple[str, str], Answers] = {}
    for event in ask_all(spec, sessions, units):
        if isinstance(event, Progress):
            yield event
        else:
            answers = event
    index = {name: number for number, name in enumerate(spec.consumers)}
    notes = state_notes(answers)
    _fill_outcomes(connection, spec, units, answers, index)
    check_currencies(connection, spec, readers, index)
    probes, unasked = ask_probes(connection, spec, sessions, readers, index)
    return _Decoded(readers, index, sessions, probes, notes + unasked)


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
    loaded: LoadedCases,
    decoded: _Decoded,
    on_broken: BrokenReferences,
) -> Run:
    patterns = count_patterns(connection, decoded.readers)
    broken = list_broken(
        connection, spec, decoded.readers, decoded.index, lambda field, raw: loaded.cases_of(connection, field, raw)
    )
    withhold = bool(broken) and on_broken == "stop"
    readiness = {name: session.finish() for name, session in decoded.sessions.items()}
    columns = all_columns(spec, patterns, readiness, withhold_rates=withhold)
    context = Context(
        connection=connection,
        spec=spec,
        readers=decoded.readers,
        index=decoded.index,
        columns={(column.field, column.consumer): column for column in columns},
        probes=decoded.probes,
        case_ids=lambda rows: loaded.case_at(connection, rows),
    )
    findings = find(context)
    return make_run(
        spec,
        manifest=manifest_sha256(spec, loaded.manifest_rows_sha256),
        cases=loaded.cases,
        finish_reasons=loaded.finish_reasons,
        sources=loaded.sources,
        consumers=summarise_consumers(spec, readiness),
        fields=summarise_fields(connection, spec, patterns, decoded.index, withhold_rates=withhold),
        columns=mark_untrusted(columns, untrusted_by(findings)),
        findings=findings,
        broken=broken,
        withhold_rates=withhold,
        notes=decoded.notes,
    )
