"""Puts the finished run together: columns, field summaries, findings and what binds the run to its inputs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from duckdb import DuckDBPyConnection

from auditor.audit.batches import batch_fields
from auditor.audit.labels import label_note, label_of
from auditor.errors import AuditorError
from auditor.model.decoding import Readiness
from auditor.model.dependence import Probed, ProbedEnvironment, ProbeSummary
from auditor.model.environment import Environment
from auditor.model.figures import no_right_answer
from auditor.model.gate import Gate
from auditor.model.run import (
    BrokenReference,
    CaseCounts,
    Column,
    ConsumerSummary,
    FieldSummary,
    Finding,
    Run,
    RunEnvironment,
)
from auditor.probe import Level
from auditor.score.columns import (
    ColumnTraits,
    PatternCounts,
    count_patterns,
    make_columns,
    string_equality,
    usable_everywhere,
)
from auditor.score.fields import disagreements, distinct_strings, json_type_census, shape_rows
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec
from auditor.version import VERSION


def manifest_sha256(spec: AuditSpec, rows_sha256: str, prompts_sha256: str) -> str:
    """Bind a run to its cases: sha256 over canonical JSON of ids and references (`rows_sha256`) and the contract.

    Where the cases give prompts, it is over those, too.
    """
    contract = {name: field_contract(field) for name, field in spec.fields.items()}
    prompts = {"prompts": prompts_sha256} if prompts_sha256 else {}
    return canonical_sha256({"manifest": 1, "rows": rows_sha256, "fields": contract, **prompts})


def field_contract(field: FieldSpec) -> dict[str, Any]:
    """Give what decides whether two values of the field are equal, and who reads its reference."""
    names = ("type", "grain", "rounding", "unit", "currency", "minimum", "maximum", "reference")
    return {name: value for name in names if (value := getattr(field, name)) is not None}


def canonical_sha256(document: object) -> str:
    """Give the sha256 of a document as JSON with sorted keys and no blanks."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def created_at() -> str:
    """Give the time of the run in UTC; SOURCE_DATE_EPOCH sets it, so that a report can be made again to the byte."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise AuditorError(
            f"SOURCE_DATE_EPOCH: {epoch!r} is no number of seconds since 1970: {error}; unset it or correct it"
        ) from error
    return moment.isoformat(timespec="seconds")


def run_id(created: str, manifest: str, consumers: Iterable[ConsumerSummary], sources: object) -> str:
    """Name a run by its time and by what went into it."""
    content = canonical_sha256([manifest, [[one.name, one.version] for one in consumers], sources])
    stamp = datetime.fromisoformat(created).strftime("%Y%m%dT%H%M%SZ")
    return f"{stamp}-{content[:8]}"


def summarise_consumers(
    spec: AuditSpec, readiness: Mapping[str, Readiness], probed: Iterable[Probed]
) -> tuple[ConsumerSummary, ...]:
    """Give every consumer as it ran, and what the probes could not vary."""
    not_varied = {one.consumer: one.not_varied for one in probed}
    return tuple(
        ConsumerSummary(
            name=name,
            owner=consumer.owner or name,
            adapter=consumer.adapter,
            label=label_of(consumer, readiness[name]),
            label_note=label_note(consumer, readiness[name]),
            version=readiness[name].version,
            settings=readiness[name].settings,
            not_varied=(*readiness[name].not_varied, *not_varied.get(name, ())),
            not_fixed=readiness[name].not_fixed,
        )
        for name, consumer in spec.consumers.items()
    )


def summarise_probes(spec: AuditSpec, level: Level, probed: Iterable[Probed]) -> ProbeSummary:
    """Give the environments in which consumers were started, as they were in force there, each with its consumers."""
    base = spec.environment.environment()
    in_force: dict[Environment, list[str]] = {}
    for one in probed:
        for environment in one.in_force:
            if environment.differs_in(base):
                in_force.setdefault(environment, []).append(one.consumer)
    return ProbeSummary(
        level,
        tuple(
            ProbedEnvironment(
                **asdict(environment),
                varied=environment.differs_in(base),
                consumers=tuple(dict.fromkeys(consumers)),
            )
            for environment, consumers in in_force.items()
        ),
    )


def all_columns(
    spec: AuditSpec,
    patterns: Mapping[str, PatternCounts],
    readiness: Mapping[str, Readiness],
    hints: Mapping[str, Mapping[str, tuple[str, ...]]],
    *,
    withhold_rates: bool,
) -> tuple[Column, ...]:
    """Give the columns of all fields, in the order of the spec; `hints` are by consumer and field."""
    columns: list[Column] = []
    for field, counts in patterns.items():
        traits = {
            name: _traits(spec.consumers[name], readiness[name], field, hints.get(name, {}).get(field, ()))
            for name in counts.readers
        }
        columns += make_columns(counts, traits, withhold_rates=withhold_rates)
    return tuple(columns)


def split_columns(
    connection: DuckDBPyConnection, spec: AuditSpec, columns: Iterable[Column], *, withhold_rates: bool
) -> tuple[Column, ...]:
    """Give every column again for each split of the cases, with what the whole column says of its consumer."""
    if spec.cases.split is None:
        return ()
    whole = tuple(columns)
    readers = {field: tuple(one.consumer for one in whole if one.field == field) for field in spec.fields}
    found = connection.execute("SELECT DISTINCT split FROM judged WHERE split IS NOT NULL ORDER BY 1").fetchall()
    parts: list[Column] = []
    for (name,) in found:
        patterns = count_patterns(connection, readers, split=name)
        for field, counts in patterns.items():
            of_field = {one.consumer: one for one in whole if one.field == field}
            traits = {
                consumer: ColumnTraits(
                    one.label,
                    one.scope,
                    one.scope_note,
                    one.hints,
                    one.label_note,
                    spec.consumers[consumer].version_of,
                )
                for consumer, one in of_field.items()
            }
            made = make_columns(counts, traits, withhold_rates=withhold_rates)
            parts += [replace(one, split=name) for one in made]
    return tuple(parts)


def _traits(consumer: ConsumerSpec, ready: Readiness, field: str, hints: tuple[str, ...]) -> ColumnTraits:
    scope = ready.scope_of(field)
    note = ready.scope_note if scope == ready.scope else ""
    label, said = label_of(consumer, ready), label_note(consumer, ready)
    return ColumnTraits(label, scope, note, hints, said, consumer.version_of)


def summarise_fields(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    patterns: Mapping[str, PatternCounts],
    index: Mapping[str, int],
    *,
    withhold_rates: bool,
) -> tuple[FieldSummary, ...]:
    """Give what holds for each field whichever consumer reads it."""
    readers = {name: counts.readers for name, counts in patterns.items()}
    by_role = batch_fields(spec)
    distinct = distinct_strings(connection, by_role=by_role)
    json_types = json_type_census(connection)
    shapes = shape_rows(connection, readers, index, by_role=by_role)
    matrices = disagreements(connection, readers, index, by_role=by_role)
    return tuple(
        FieldSummary(
            field=name,
            type=spec.fields[name].type,
            grain=spec.fields[name].grain or "",
            reference=spec.fields[name].reference,
            usable_everywhere=usable_everywhere(counts, withhold_rates=withhold_rates),
            string_equality=string_equality(counts, withhold_rates=withhold_rates),
            json_types=json_types.get(name, {}),
            shapes=shapes[name],
            disagreements=matrices[name],
            distinct=distinct.get(name, 0),
        )
        for name, counts in patterns.items()
    )


def column_notes(columns: Iterable[Column]) -> tuple[str, ...]:
    """Say of every column without a right answer what it shows; where rates are withheld the broken references do."""
    return tuple(dict.fromkeys(note for column in columns if (note := no_right_answer(column))))


def mark_untrusted(
    columns: Iterable[Column], untrusted: Mapping[tuple[str, str], tuple[str, ...]]
) -> tuple[Column, ...]:
    """Mark the columns whose rate means nothing."""
    return tuple(replace(one, untrusted=untrusted.get((one.field, one.consumer), ())) for one in columns)


def make_run(
    spec: AuditSpec,
    *,
    manifest: str,
    cases: CaseCounts,
    finish_reasons: dict[str, int],
    sources: tuple[dict[str, Any], ...],
    consumers: tuple[ConsumerSummary, ...],
    fields: tuple[FieldSummary, ...],
    columns: tuple[Column, ...],
    findings: tuple[Finding, ...],
    broken: tuple[BrokenReference, ...],
    withhold_rates: bool,
    notes: tuple[str, ...],
    probe: ProbeSummary,
    gate: Gate,
    gold_in_input: dict[str, int],
) -> Run:
    """Give the finished run."""
    created = created_at()
    not_fixed = tuple(f"{one.name}: {part}" for one in consumers for part in one.not_fixed)
    base = spec.environment
    return Run(
        run_id=run_id(created, manifest, consumers, [source.get("sha256") for source in sources]),
        name=spec.name,
        manifest_sha256=manifest,
        created_at=created,
        auditor_version=VERSION,
        environment=RunEnvironment(base.clock, base.zone, base.locale, base.hash_seed, not_fixed),
        cases=cases,
        finish_reasons=finish_reasons,
        consumers=consumers,
        fields=fields,
        columns=columns,
        findings=findings,
        broken_references=broken,
        rates_withheld=withhold_rates,
        spec=spec.file.name,
        sources=sources,
        notes=tuple(f"{one.why}, so nothing here is about it" for one in spec.left_out) + notes,
        left_out=spec.left_out,
        probe=probe,
        gate=gate,
        gold_in_input=gold_in_input,
    )
