"""The columns of a run and what holds for its fields: of each arm by itself, and of each split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from duckdb import DuckDBPyConnection

from auditor.audit.batches import batch_fields
from auditor.audit.labels import label_note, label_of
from auditor.errors import Mistake, SpecError
from auditor.model.decoding import Readiness
from auditor.model.run import Column, FieldSummary
from auditor.score.columns import (
    ColumnTraits,
    PatternCounts,
    count_patterns,
    make_columns,
    string_equality,
    usable_everywhere,
)
from auditor.score.fields import disagreements, distinct_strings, json_type_census, shape_rows
from auditor.spec.models import AuditSpec, ConsumerSpec

#: Names of the arms; None alone where the spec names none.
Arms = Sequence[str | None]


def all_columns(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, Sequence[str]],
    arms: Arms,
    readiness: Mapping[str, Readiness],
    hints: Mapping[str, Mapping[str, tuple[str, ...]]],
    *,
    withhold_rates: bool,
) -> tuple[Column, ...]:
    """Give the columns of all fields, in the order of the spec, and of each field those of one arm after the other.

    `hints` are by consumer and field. `arms` that are None alone give columns over all there is.
    """
    patterns = [count_patterns(connection, readers, arm=arm) for arm in arms]
    columns: list[Column] = []
    for field in readers:
        traits = {
            name: _traits(spec.consumers[name], readiness[name], field, hints.get(name, {}).get(field, ()))
            for name in readers[field]
        }
        for arm, counts in zip(arms, patterns, strict=True):
            made = make_columns(counts[field], traits, withhold_rates=withhold_rates)
            columns += [replace(one, arm=arm) for one in made]
    return tuple(columns)


def split_columns(
    connection: DuckDBPyConnection, spec: AuditSpec, columns: Iterable[Column], arms: Arms, *, withhold_rates: bool
) -> tuple[Column, ...]:
    """Give every column again for each split of the cases, with what the whole column says of its consumer."""
    if spec.cases.split is None:
        return ()
    traits: dict[str, dict[str, ColumnTraits]] = {field: {} for field in spec.fields}
    for one in columns:
        version_of = spec.consumers[one.consumer].version_of
        own = ColumnTraits(one.label, one.scope, one.scope_note, one.hints, one.label_note, version_of)
        traits[one.field].setdefault(one.consumer, own)
    readers = {field: tuple(consumers) for field, consumers in traits.items()}
    found = connection.execute("SELECT DISTINCT split FROM judged WHERE split IS NOT NULL ORDER BY 1").fetchall()
    parts: list[Column] = []
    for (name,) in found:
        for arm in arms:
            for field, counts in count_patterns(connection, readers, split=name, arm=arm).items():
                made = make_columns(counts, traits[field], withhold_rates=withhold_rates)
                parts += [replace(one, split=name, arm=arm) for one in made]
    return tuple(parts)


def with_thresholds(columns: Iterable[Column], spec: AuditSpec) -> tuple[Column, ...]:
    """Say of each column what its team asks for; a split is a part of what that is of."""
    asked = {name: consumer.at_least for name, consumer in spec.consumers.items()}
    columns = tuple(columns)
    there = {(column.consumer, column.field) for column in columns}
    if gone := [(name, field) for name, fields in asked.items() for field in fields if (name, field) not in there]:
        hint = "remove it, or let the consumer read the field"
        raise SpecError(
            [
                Mistake(f"{spec.file}: consumers.{name}.at_least.{field}", "there is no such column", hint)
                for name, field in gone
            ]
        )
    return tuple(
        replace(one, at_least=asked[one.consumer].get(one.field)) if one.split == "all" else one for one in columns
    )


def _traits(consumer: ConsumerSpec, ready: Readiness, field: str, hints: tuple[str, ...]) -> ColumnTraits:
    scope = ready.scope_of(field)
    note = ready.scope_note if scope == ready.scope else ""
    label, said = label_of(consumer, ready), label_note(consumer, ready)
    return ColumnTraits(label, scope, note, hints, said, consumer.version_of)


def summarise_fields(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, tuple[str, ...]],
    index: Mapping[str, int],
    arms: Arms,
    *,
    withhold_rates: bool,
) -> tuple[FieldSummary, ...]:
    """Give what holds for each field, and of each arm, whichever consumer reads it."""
    by_role = batch_fields(spec)
    distinct = distinct_strings(connection, by_role=by_role)
    matrices = disagreements(connection, readers, index, by_role=by_role)
    found: dict[tuple[str, str | None], FieldSummary] = {}
    for arm in arms:
        patterns: Mapping[str, PatternCounts] = count_patterns(connection, readers, arm=arm)
        json_types = json_type_census(connection, arm)
        shapes = shape_rows(connection, readers, index, by_role=by_role, arm=arm)
        for name, counts in patterns.items():
            found[name, arm] = FieldSummary(
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
                arm=arm,
            )
    return tuple(found[name, arm] for name in readers for arm in arms)
