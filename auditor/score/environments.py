"""Columns over environments: what their verdicts are where the clock, the zone, … is another.

Reads ``judged``, ``outcomes`` and ``moves`` (unit, consumer, environment, s, v, k, error: only what is not as in the
base). The reference is decoded in the same environment as the prediction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from duckdb import DuckDBPyConnection

from auditor.model.environment import Environment
from auditor.model.run import Column
from auditor.model.verdicts import BLOCKED_VERDICTS, FIELD_VERDICTS, LETTER_OF
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec, FieldSpec

_FIELD_LETTERS = frozenset(LETTER_OF[name] for name in FIELD_VERDICTS)


def add_environments(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    columns: Sequence[Column],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    environments: Mapping[str, Environment],
) -> tuple[Column, ...]:
    """Give the columns with their `by_environment`: the base first, then each environment in which a value moved."""
    moved = _environments_of(connection, spec, index)
    return tuple(
        replace(
            column,
            by_environment=_entries(connection, spec, column, readers, index, [environments[name] for name in names]),
        )
        if (names := moved.get((column.field, column.consumer)))
        else column
        for column in columns
    )


def _environments_of(
    connection: DuckDBPyConnection, spec: AuditSpec, index: Mapping[str, int]
) -> dict[tuple[str, str], list[str]]:
    """Give the environments that concern each column: its own moves, and those of the reader of its references."""
    name_of = {number: name for name, number in index.items()}
    by_reader: dict[tuple[str, str], list[str]] = defaultdict(list)
    for field, consumer, environment in connection.execute(
        "SELECT DISTINCT field, consumer, environment FROM moves JOIN outcomes USING (unit) ORDER BY ALL"
    ).fetchall():
        by_reader[field, name_of[consumer]].append(environment)
    found = {}
    for field in spec.fields.values():
        for consumer in spec.consumers:
            own = by_reader.get((field.name, consumer), [])
            of_reference = by_reader.get((field.name, field.reference), [])
            if own or of_reference:
                found[field.name, consumer] = sorted({*own, *of_reference})
    return found


def _entries(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    column: Column,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    environments: Sequence[Environment],
) -> tuple[dict[str, Any], ...]:
    base = spec.environment.environment()
    withheld = column.content_rate is None
    entries = [_entry(base, base, column.verdicts["ok"], column.judged, 0, withheld=withheld)]
    for environment in sorted(environments, key=lambda one: (one.differs_in(base), one.clock, one.name)):
        changes = _changes(connection, spec, column, readers, index, environment.name)
        ok, judged, flips = column.verdicts["ok"], column.judged, 0
        for before, after, n in changes:
            ok += n * ((after == "o") - (before == "o"))
            judged += n * ((after in _FIELD_LETTERS) - (before in _FIELD_LETTERS))
            flips += n * (before != after)
        entries.append(_entry(environment, base, ok, judged, flips, withheld=withheld))
    return tuple(entries)


def _entry(
    environment: Environment, base: Environment, ok: int, judged: int, flips: int, *, withheld: bool
) -> dict[str, Any]:
    return {
        "environment": environment.name,
        "varied": list(environment.differs_in(base)),
        "clock": environment.clock,
        "zone": environment.zone,
        "locale": environment.locale,
        "hash_seed": environment.hash_seed,
        "order": environment.order,
        "ok": ok,
        "judged": judged,
        "content_rate": None if withheld or not judged else ok / judged,
        "flips": flips,
    }


def _changes(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    column: Column,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    environment: str,
) -> list[tuple[str, str, int]]:
    """Count the cases of a column by verdict letter in the base and in the environment, where its strings move."""
    field = spec.fields[column.field]
    i, position = index[column.consumer], list(readers[column.field]).index(column.consumer) + 1
    decoder, truth_moves = _decoder(field, column.consumer, index)
    moved = "SELECT unit, s, k FROM moves WHERE environment = $environment AND consumer = "
    references = f"{moved}{decoder}" if truth_moves else "SELECT NULL::BIGINT AS unit, '' AS s, '' AS k WHERE false"
    truth = f"CASE WHEN tm.unit IS NOT NULL THEN tm.k ELSE t.k{decoder} END"
    status = f"CASE WHEN um.unit IS NOT NULL THEN um.s ELSE u.s{i} END"
    key = f"CASE WHEN um.unit IS NOT NULL THEN um.k ELSE u.k{i} END"
    blocked = " ".join(f"WHEN '{name}' THEN '{LETTER_OF[name]}'" for name in BLOCKED_VERDICTS)
    nothing = "u.unit IS NULL"
    if spec.consumers[column.consumer].receives == "text":
        nothing += " OR u.token = 'null'"
    query = f"""
        WITH um AS ({moved}{i}), tm AS ({references})
        SELECT before, after, sum(n)::BIGINT FROM (
            SELECT substr(j.pattern, {position}, 1) AS before, j.n, CASE
                WHEN before IN ('-', 'x') THEN before
                WHEN {truth} IS NULL THEN '!'
                WHEN j.outcome <> 'judged' THEN CASE j.outcome {blocked} END
                WHEN {nothing} THEN 'a'
                WHEN {status} = 'v' THEN CASE WHEN {key} = {truth} THEN 'o' ELSE 'w' END
                ELSE {status} END AS after
            FROM (SELECT * FROM judged WHERE field = $field) j
            LEFT JOIN um ON um.unit = j.p_unit
            LEFT JOIN tm ON tm.unit = j.r_unit
            LEFT JOIN outcomes u ON u.unit = j.p_unit
            LEFT JOIN outcomes t ON t.unit = j.r_unit
            WHERE um.unit IS NOT NULL OR tm.unit IS NOT NULL
        ) GROUP BY before, after
    """
    parameters = {"field": column.field, "environment": environment}
    return [(before, after, n) for before, after, n in connection.execute(query, parameters).fetchall()]


def _decoder(field: FieldSpec, consumer: str, index: Mapping[str, int]) -> tuple[str, bool]:
    """Give the number of the reader of references, and whether it is a consumer, whose decoding may move."""
    if field.reference == "typed":
        return TYPED, False
    return str(index[consumer if field.reference == "each" else field.reference]), True
