"""Decodes the raw outputs of a stored run again, with the consumers of a spec: a run of its own, and a comparison."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

from auditor.audit.events import Event, RunFinished, Tell, nobody
from auditor.audit.origin import Origin
from auditor.audit.run import BrokenReferences, audit
from auditor.decode.reply_reader import READINGS
from auditor.drift.instrument import text_of
from auditor.drift.redecoding import compare_readings
from auditor.drift.stored import stored_reader, stored_spec
from auditor.errors import AuditorError
from auditor.findings.junk import is_junk
from auditor.model.redecoding import Redecoding
from auditor.model.run import RunEnvironment
from auditor.probe import Level
from auditor.spec.contract import CONTRACT, field_contract
from auditor.spec.models import AuditSpec, ConsumerSpec, EnvironmentSpec, FieldSpec
from auditor.store.reading import StoredRun


def redecode(
    spec: AuditSpec,
    stored: StoredRun,
    *,
    probe: Level = "full",
    tell: Tell = nobody,
    environment: RunEnvironment | None = None,
    runs: Path | None = None,
) -> Generator[Event, None, None]:
    """Audit the files that a run has kept with the consumers of `spec`; the last event is `RunFinished`.

    Cases, references and the contract of the fields are those of the stored run, and so is the base environment: only
    the parsers are others; `environment` is another base to decode in, `runs` another folder to store in.
    AuditorError where none of them reads a field of the run.
    """
    kept = stored_spec(stored.run, stored.folder)
    again, _ = spec_again(spec, stored, kept, environment)
    readings = stored.folder / READINGS
    origin = Origin(
        run_id=stored.run.run_id,
        cases=kept.cases.model_copy(
            update={
                role: tuple(str(one["path"]) for one in stored.run.sources if one["role"] == role)
                for role in ("predictions", "references")
            }
        ),
        sources=stored.run.sources,
        reader=stored_reader(kept, stored.folder),
        runs=runs,
        texts={READINGS: readings.read_text(encoding="utf-8")} if readings.exists() else {},
    )
    # As the run had it: rates with broken references beside them only where it had such.
    broken: BrokenReferences = "report" if stored.run.broken_references and not stored.run.rates_withheld else "stop"
    yield from audit(again, broken_references=broken, probe=probe, tell=tell, origin=origin)


def redecoding(spec: AuditSpec, stored: StoredRun, done: RunFinished) -> Redecoding:
    """Compare a stored run with what `redecode` made of it."""
    assert done.folder is not None
    _, notes = spec_again(spec, stored, stored_spec(stored.run, stored.folder))
    return compare_readings(stored, StoredRun(done.run, done.folder), is_junk, notes)


def spec_again(
    spec: AuditSpec, stored: StoredRun, kept: AuditSpec, environment: RunEnvironment | None = None
) -> tuple[AuditSpec, tuple[str, ...]]:
    """Give the spec to decode with: today's consumers, all else as the run had it; and what is not as today."""
    fields = {name: field for name, field in kept.fields.items() if _is_read(name, spec)}
    if not fields:
        raise AuditorError(
            f"{spec.file}: no consumer reads a field of the run {stored.run.run_id}\n"
            f"  seen:  fields of the run: {', '.join(kept.fields)}\n"
            "  next:  name the spec of the run's own workspace"
        )
    consumers = {name: one for name, consumer in spec.consumers.items() if (one := _reading_only(consumer, fields))}
    for name, field in fields.items():
        if field.reference not in ("typed", "each", *consumers):
            raise AuditorError(
                f"{spec.file}: the references of {name} were read by the consumer {field.reference!r} in the run "
                f"{stored.run.run_id}, which the spec does not have\n  next:  add that consumer to the spec"
            )
    base = environment or stored.run.environment
    folder = stored.folder.absolute()
    return AuditSpec(
        name=stored.run.name,
        file=spec.file,
        folder=spec.folder,
        cases=kept.cases.model_copy(
            update={
                "predictions": tuple(str(folder / path) for path in kept.cases.predictions),
                "references": tuple(str(folder / path) for path in kept.cases.references),
            }
        ),
        fields=fields,
        not_judged=kept.not_judged,
        consumers=consumers,
        environment=EnvironmentSpec(clock=base.clock, zone=base.zone, locale=base.locale, hash_seed=base.hash_seed),
        left_out=spec.left_out,
    ), tuple(_not_as_today(spec, kept, fields, stored))


def _is_read(field: str, spec: AuditSpec) -> bool:
    """Say whether a consumer may read a field; what a model reads, only it knows."""
    return any(field in one.reads or (one.model is not None and not one.reads) for one in spec.consumers.values())


def _reading_only(consumer: ConsumerSpec, fields: Mapping[str, FieldSpec]) -> ConsumerSpec | None:
    """Give a consumer that reads the fields of the run alone; None where it reads none of them."""
    reads = {name: parser for name, parser in consumer.reads.items() if name in fields}
    if consumer.reads and not reads:
        return None
    return consumer.model_copy(update={"reads": reads})


def _not_as_today(
    spec: AuditSpec, kept: AuditSpec, fields: Mapping[str, FieldSpec], stored: StoredRun
) -> Generator[str, None, None]:
    """Say where the spec of today would judge otherwise than the run did, which is kept."""
    for name, field in kept.fields.items():
        if name not in fields:
            yield f"{name}: no consumer of {spec.file.name} reads it any more, so it is left out"
        elif name in spec.fields:
            before, after = field_contract(field), field_contract(spec.fields[name])
            differs = [f"{what} {before.get(what, 'none')}" for what in CONTRACT if before.get(what) != after.get(what)]
            if differs:
                yield f"{name}: judged as the run was, {', '.join(differs)}, and not as {spec.file.name} has it now"
    base, today = stored.run.environment, spec.environment
    for what in ("clock", "zone", "locale", "hash_seed"):
        if getattr(base, what) != getattr(today, what):
            yield f"decoded with the {what.replace('_', ' ')} of the run, {text_of(getattr(base, what))}"
    if stored.run.name != spec.name:
        yield f"the run is of {stored.run.name!r}, the spec of {spec.name!r}"
