"""Puts the finished run together: columns, field summaries, findings and what binds the run to its inputs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from auditor.audit.labels import label_note, label_of
from auditor.audit.spec_place import spec_place
from auditor.errors import AuditorError
from auditor.load import Loaded
from auditor.model.decoding import Readiness
from auditor.model.dependence import Probed, ProbedEnvironment, ProbeSummary
from auditor.model.environment import Environment
from auditor.model.figures import no_right_answer
from auditor.model.gate import Gate
from auditor.model.run import (
    ArmSummary,
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
from auditor.spec.contract import field_contract
from auditor.spec.models import AuditSpec
from auditor.version import VERSION


def manifest_sha256(spec: AuditSpec, loaded: Loaded) -> str:
    """Bind a run to its cases: sha256 over canonical JSON of ids, references and the fields' contract.

    Where the cases give prompts, splits, locales or jurisdictions, it is over those, too.
    """
    contract = {name: field_contract(field) for name, field in spec.fields.items()}
    rows = loaded.manifest_rows_sha256
    return canonical_sha256({"manifest": 1, "rows": rows, "fields": contract, **loaded.traits_sha256})


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


def run_id(
    created: str, manifest: str, consumers: Iterable[ConsumerSummary], sources: object, redecoded_of: str = ""
) -> str:
    """Name a run by its time and by what went into it."""
    again = [redecoded_of] if redecoded_of else []
    content = canonical_sha256([manifest, [[one.name, one.version] for one in consumers], sources, *again])
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
    readiness: Mapping[str, Readiness],
    fields: tuple[FieldSummary, ...],
    columns: tuple[Column, ...],
    findings: tuple[Finding, ...],
    broken: tuple[BrokenReference, ...],
    withhold_rates: bool,
    notes: tuple[str, ...],
    probe: ProbeSummary,
    gate: Gate,
    gold_in_input: dict[str, int],
    arms: tuple[ArmSummary, ...],
    redecoded_of: str = "",
) -> Run:
    """Give the finished run; `redecoded_of` is the run whose raw outputs it has decoded again, if it has."""
    created = created_at()
    not_fixed = tuple(f"{one.name}: {part}" for one in consumers for part in one.not_fixed)
    base = spec.environment
    return Run(
        run_id=run_id(created, manifest, consumers, [source.get("sha256") for source in sources], redecoded_of),
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
        notes=(*(f"{one.why}, so nothing here is about it" for one in spec.left_out), *_not_judged(spec), *notes),
        left_out=spec.left_out,
        probe=probe,
        gate=gate,
        gold_in_input=gold_in_input,
        spec_place=spec_place(spec, findings, readiness),
        arms=arms,
        redecoded_of=redecoded_of,
    )


def _not_judged(spec: AuditSpec) -> tuple[str, ...]:
    """Say which fields of the model that defines them are in no column."""
    said = []
    if spec.not_judged and spec.fields_from is not None:
        names, what = ", ".join(spec.not_judged), "is a text" if len(spec.not_judged) == 1 else "are texts"
        hint = 'type = "identifier" in [fields.NAME] judges one'
        said.append(f"not judged: {names} of {spec.fields_from.model} {what}, which nothing compares; {hint}")
    if spec.fields_from is not None and spec.fields_from.leave_out:
        said.append(f"left out of {spec.fields_from.model}: {', '.join(spec.fields_from.leave_out)}")
    return tuple(said)
