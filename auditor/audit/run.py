"""The phases of an audit, in order: load, start, decode, judge, score, find, store."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Literal

import duckdb

from auditor.audit.broken import broken_references as list_broken
from auditor.audit.columns import all_columns, split_columns, summarise_fields, with_thresholds
from auditor.audit.decoding import Decoded, start_and_decode
from auditor.audit.emulated import columns_apart, labelled
from auditor.audit.events import CasesLoaded, Event, Phase, RunFinished, Tell, nobody
from auditor.audit.gate import INCIDENT, gate_note, gates_of, incident_text, joint_gate, with_gate
from auditor.audit.guard import Guard, locked_notes
from auditor.audit.kept import Kept
from auditor.audit.origin import Origin
from auditor.audit.repeats import INPUTS, Repeats
from auditor.audit.replies import reply_reader
from auditor.audit.starting import Starting, wants_payload
from auditor.audit.summary import (
    column_notes,
    make_run,
    manifest_sha256,
    mark_untrusted,
    summarise_consumers,
    summarise_probes,
)
from auditor.database import connect, first_line, no_room
from auditor.decode.folders import open_spill
from auditor.decode.session import Session
from auditor.decode.sql_hints import field_hints
from auditor.errors import AuditorError
from auditor.findings import find, untrusted_by
from auditor.findings.context import Context
from auditor.load import Loaded, load
from auditor.model.run import ArmSummary, Run
from auditor.probe import Level
from auditor.score.agreement import require_agreement, with_agreement
from auditor.score.environments import add_environments
from auditor.score.verdict_table import create_judged
from auditor.spec.find import runs_folder
from auditor.spec.models import AuditSpec
from auditor.store.writing import write_run

BrokenReferences = Literal["stop", "report"]


def audit(
    spec: AuditSpec,
    *,
    broken_references: BrokenReferences = "stop",
    store: bool = True,
    probe: Level = "full",
    guard: Guard | None = None,
    starting: Starting | None = None,
    tell: Tell = nobody,
    origin: Origin | None = None,
    runs: Path | None = None,
    repeats: Repeats | None = None,
) -> Generator[Event, None, None]:
    """Audit the spec's cases with its consumers; yields events, the last is `RunFinished`, and tells of launches.

    Workers start while the cases are read, or have been started before (`starting`); they are ended here.

    With `broken_references="stop"` a run with broken references carries no rates. `probe` says how much is
    decoded again in other environments; `guard` holds the audit against a lock; `origin` is the stored run whose files
    are read, where it is one; `runs` is another folder to store in than that of the spec; `repeats` ends the audit by
    Repeated where its run is there. Raises AuditorError when there is no faithful score: a consumer cannot be started,
    an input cannot be read whole, the run cannot be written; Refused where it is not what was frozen.
    """
    try:
        with (
            starting or Starting(spec, list(spec.consumers.values())) as workers,
            ExitStack() as folders,
            closing(connect(open_spill(folders))) as connection,
        ):
            folder = runs or (None if origin is None else origin.runs) or runs_folder(spec)
            yield from _audit(
                connection, spec, workers, broken_references, probe, store, guard, tell, origin, folder, repeats
            )
    except (duckdb.Error, MemoryError, OSError) as error:
        lack = no_room(error)
        if lack is None:
            raise
        raise AuditorError(
            f"the audit could not be done: {lack.cause}\n  seen:  {first_line(error)}\n  next:  {lack.step}"
        ) from error


def _audit(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    workers: Starting,
    broken_references: BrokenReferences,
    probe: Level,
    store: bool,
    guard: Guard | None,
    tell: Tell,
    origin: Origin | None,
    runs: Path,
    repeats: Repeats | None,
) -> Generator[Event, None, None]:
    require_agreement(spec)
    payloads = any(wants_payload(consumer) for consumer in spec.consumers.values())
    reader = None
    if origin is not None:
        loaded, texts = load(spec, connection, payloads=payloads, reader=origin.reader), dict(origin.texts)
    else:
        with reply_reader(spec) as reader:
            loaded = load(spec, connection, payloads=payloads, reader=None if reader is None else reader.read)
            texts = {} if reader is None else reader.kept()
    yield CasesLoaded(loaded.cases)
    manifest = manifest_sha256(spec, loaded)
    kept = Kept(runs if store else None, spec, manifest)

    def check(sessions: Mapping[str, Session]) -> None:
        if guard is not None:
            guard.check(connection, spec, loaded, sessions, reader)
        if repeats is not None:
            repeats.check(connection, spec, loaded, sessions, reader)

    try:
        decoded = yield from start_and_decode(
            connection, spec, workers, loaded, kept, probe, tell, payloads=payloads, check=check
        )
        locked = None if guard is None else guard.locked(decoded.sessions, reader)
        if repeats is not None:
            texts[INPUTS] = repeats.text(decoded.sessions, reader)
    except (AuditorError, duckdb.Error, MemoryError, OSError):
        if names := kept.save():
            yield Phase(f"this audit fails; what {', '.join(names)} decoded is kept for the next one of these cases")
        raise
    workers.close()
    yield Phase("comparing, and looking for bugs")
    spec = decoded.emulated.ordered(spec)
    create_judged(connection, spec, decoded.deciding, decoded.index, payloads=payloads)
    run = _score(connection, spec, loaded, decoded, broken_references, origin, payloads=payloads, store=store)
    run = replace(run, locked=locked, notes=run.notes + locked_notes(locked))
    folder = None
    if store:
        if decoded.emulated.undecided:
            create_judged(connection, spec, decoded.readers, decoded.index, payloads=payloads)
        if run.gate is not None and not run.gate.open:
            texts[INCIDENT] = incident_text(loaded.incidents(connection))
        named = spec if origin is None else spec.model_copy(update={"cases": origin.cases})
        folder = write_run(connection, run, runs, named, loaded.files, texts)
    kept.clear()
    yield RunFinished(run, folder)


def _score(
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    loaded: Loaded,
    decoded: Decoded,
    on_broken: BrokenReferences,
    origin: Origin | None,
    *,
    payloads: bool,
    store: bool,
) -> Run:
    arms = [arm.name for arm in loaded.arms]
    broken = list_broken(
        connection, spec, decoded.deciding, decoded.index, lambda field, raw: loaded.cases_of(connection, field, raw)
    )
    withhold = bool(broken) and on_broken == "stop"
    readiness = {name: session.finish() for name, session in decoded.sessions.items()}
    hints = {name: field_hints(session.plan, readiness[name]) for name, session in decoded.sessions.items()}
    columns = all_columns(connection, spec, decoded.deciding, arms, readiness, hints, withhold_rates=withhold)
    columns = with_gate(labelled(columns, decoded.emulated), spec.cases)
    gates = gates_of({arm.name: arm.cases for arm in loaded.arms}, columns, spec)
    gate = joint_gate(gates)
    splits = with_gate(split_columns(connection, spec, columns, arms, withhold_rates=withhold), spec.cases)
    probes = decoded.environments
    probed = {one.consumer: one for one in probes.of_consumers}
    columns = add_environments(connection, spec, columns, decoded.deciding, decoded.index, probes.singles, probed)
    context = Context(
        connection=connection,
        spec=spec,
        readers=decoded.deciding,
        index={name: i for name, i in decoded.index.items() if name not in decoded.emulated.undecided},
        columns=columns,
        pooled=columns
        if arms == [None]
        else all_columns(connection, spec, decoded.deciding, [None], readiness, hints, withhold_rates=withhold),
        probes=decoded.probes,
        case_ids=lambda rows: loaded.case_at(connection, rows),
        probed=decoded.environments.of_consumers,
        units_of_movers=decoded.environments.units,
        neighbours=decoded.neighbours,
        made_of={name: one.parts for name, one in readiness.items()},
    )
    findings = find(context)
    fields = summarise_fields(connection, spec, decoded.deciding, decoded.index, arms, withhold_rates=withhold)
    notes = column_notes(columns)
    columns = with_agreement(connection, spec, (*columns, *splits), decoded.deciding, decoded.index)
    columns = mark_untrusted(columns, untrusted_by(findings))
    apart = columns_apart(
        connection,
        spec,
        decoded.emulated,
        decoded.readers,
        decoded.index,
        arms,
        readiness,
        payloads=payloads,
        withhold_rates=withhold,
    )
    columns = with_thresholds((*columns, *with_gate(apart, spec.cases)), spec)
    return make_run(
        spec,
        manifest=manifest_sha256(spec, loaded),
        cases=loaded.cases,
        finish_reasons=loaded.finish_reasons,
        sources=loaded.sources if origin is None else origin.sources,
        redecoded_of="" if origin is None else origin.run_id,
        consumers=summarise_consumers(spec, readiness, decoded.environments.of_consumers),
        readiness=readiness,
        fields=fields,
        columns=columns,
        findings=findings,
        broken=broken,
        withhold_rates=withhold,
        gate=gate,
        gold_in_input=loaded.gold_in_input,
        arms=tuple(
            ArmSummary(arm.name, arm.cases, arm.finish_reasons, gates[arm.name])
            for arm in loaded.arms
            if arm.name is not None
        ),
        notes=(() if origin is None else (f"the raw outputs of the run {origin.run_id}, decoded again",))
        + loaded.notes
        + gate_note(gate, loaded.cases, stored=store)
        + tuple(note for arm in loaded.arms for note in arm.blocked_notes)
        + (() if withhold else notes)
        + decoded.notes,
        probe=summarise_probes(spec, decoded.environments.level, decoded.environments.of_consumers),
    )
