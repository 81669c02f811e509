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

from auditor.model.dependence import Probed
from auditor.model.environment import FACTORS, Environment
from auditor.model.run import Column
from auditor.model.verdicts import FIELD_VERDICTS, LETTER_OF, NOT_RECORDED
from auditor.score.verdict_table import TYPED, nothing_sql, number_of, verdict_sql
from auditor.spec.models import AuditSpec

_FIELD_LETTERS = frozenset(LETTER_OF[name] for name in FIELD_VERDICTS)


def add_environments(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    columns: Sequence[Column],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    singles: Mapping[str, Sequence[Environment]],
    probed: Mapping[str, Probed],
) -> tuple[Column, ...]:
    """Give the columns with their `by_environment` and `flips`.

    The base comes first, then, for each factor that moves a value of the column or of its references, every
    environment of that factor alone (`singles`, by consumer), those that change nothing included. `probed` says what
    was varied for those whose values do not move, and who are not asked again.
    """
    moved = _environments_of(connection, spec, index, singles, probed)
    return tuple(
        _moved_column(connection, spec, column, readers, index, environments)
        if (environments := moved.get((column.field, column.consumer)))
        else column
        for column in columns
    )


def _environments_of(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    index: Mapping[str, int],
    singles: Mapping[str, Sequence[Environment]],
    probed: Mapping[str, Probed],
) -> dict[tuple[str, str], list[Environment]]:
    """Give the environments that concern each column: of factors that move its own reads, or those of references.

    Only what is known of both: a reference is never read elsewhere than a prediction. A reader that moves with a factor
    was asked there; one that does not was asked with that factor changed.
    """
    base = spec.environment.environment()
    factor_of = {one.name: factor for some in singles.values() for one in some for factor in one.differs_in(base)}
    name_of = {number: name for name, number in index.items()}
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    asserted: dict[tuple[str, str], set[str]] = defaultdict(set)
    for field_name, consumer, environment, is_given, is_asserted in connection.execute(
        "SELECT field, consumer, environment, bool_or(role_prediction), bool_or(role_reference)"
        " FROM moves JOIN outcomes USING (unit) GROUP BY ALL ORDER BY ALL"
    ).fetchall():
        for factors, counts in ((given, is_given), (asserted, is_asserted)):
            if counts:
                factors[field_name, name_of[consumer]].add(factor_of[environment])
    found = {}
    for field in spec.fields.values():
        for consumer in spec.consumers:
            truth = field.decoder_for(consumer)
            asked = [
                (consumer, given.get((field.name, consumer), set())),
                (truth, asserted.get((field.name, truth), set())),
            ]
            moving = set().union(*(moving for _, moving in asked))
            found[field.name, consumer] = [
                environment
                for environment in dict.fromkeys(one for reader, _ in asked for one in singles.get(reader, ()))
                if (factor := factor_of[environment.name]) in moving
                and all(
                    environment in singles[reader]
                    or (factor not in some and probed[reader].varied(factor, getattr(environment, factor), base))
                    for reader, some in asked
                    if reader in singles
                )
            ]
    return found


def _moved_column(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    column: Column,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    environments: Sequence[Environment],
) -> Column:
    base = spec.environment.environment()
    withheld = column.content_rate is None
    ordered = sorted(environments, key=lambda one: (FACTORS.index(one.differs_in(base)[0]), one.clock, one.name))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE flipped (environment VARCHAR, factor VARCHAR, case_row BIGINT, n BIGINT,"
        " before VARCHAR, after VARCHAR)"
    )
    for environment in ordered:
        _add_flips(connection, spec, column, readers, index, environment)
    entries = [_entry(base, base, column.verdicts["ok"], column.judged, 0, withheld=withheld)]
    for environment in ordered:
        ok, judged, flips = column.verdicts["ok"], column.judged, 0
        for before, after, n in connection.execute(
            "SELECT before, after, sum(n)::BIGINT FROM flipped WHERE environment = ? GROUP BY ALL", [environment.name]
        ).fetchall():
            ok += n * ((after == "o") - (before == "o"))
            judged += n * ((after in _FIELD_LETTERS) - (before in _FIELD_LETTERS))
            flips += n
        entries.append(_entry(environment, base, ok, judged, flips, withheld=withheld))
    flips_by_factor = connection.execute(
        "SELECT factor, sum(n)::BIGINT FROM (SELECT DISTINCT factor, case_row, n FROM flipped) GROUP BY factor"
    ).fetchall()
    counts = {factor: 0 for one in ordered for factor in one.differs_in(base)} | dict(flips_by_factor)
    connection.execute("DROP TABLE flipped")
    return replace(column, by_environment=tuple(entries), flips=counts)


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


def _add_flips(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    column: Column,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    environment: Environment,
) -> None:
    """Add the rows of ``judged`` to ``flipped`` whose verdict letter in the environment is not that of the base."""
    field = spec.fields[column.field]
    i, position = index[column.consumer], list(readers[column.field]).index(column.consumer) + 1
    decoder = number_of(field.decoder_for(column.consumer), index)
    (factor,) = environment.differs_in(spec.environment.environment())
    moved = "SELECT unit, s, k FROM moves WHERE environment = $environment AND consumer = "
    none = "SELECT NULL::BIGINT AS unit, '' AS s, '' AS k WHERE false"
    references = none if decoder == TYPED else f"{moved}{decoder}"
    letter = verdict_sql(
        "WHEN before IN ('-', 'x') THEN before",
        outcome="j.outcome",
        truth=f"CASE WHEN tm.unit IS NOT NULL THEN tm.k ELSE t.k{decoder} END",
        unread="false" if decoder == TYPED else f"coalesce(t.s{decoder} = '{LETTER_OF[NOT_RECORDED]}', false)",
        abstained=f"WHEN before = '{LETTER_OF['abstained']}' THEN before",
        nothing=nothing_sql(spec.consumers[column.consumer], "u.token"),
        status=f"CASE WHEN um.unit IS NOT NULL THEN um.s ELSE u.s{i} END",
        key=f"CASE WHEN um.unit IS NOT NULL THEN um.k ELSE u.k{i} END",
    )
    query = f"""
        INSERT INTO flipped
        WITH um AS ({moved}{i}), tm AS ({references})
        SELECT $environment, $factor, case_row, n, before, after FROM (
            SELECT substr(j.pattern, {position}, 1) AS before, j.n, j.case_row, {letter} AS after
            FROM (SELECT *, rowid AS case_row FROM judged WHERE field = $field AND arm IS NOT DISTINCT FROM $arm) j
            LEFT JOIN um ON um.unit = j.p_unit
            LEFT JOIN tm ON tm.unit = j.r_unit
            LEFT JOIN outcomes u ON u.unit = j.p_unit
            LEFT JOIN outcomes t ON t.unit = j.r_unit
            WHERE um.unit IS NOT NULL OR tm.unit IS NOT NULL
        ) WHERE before <> after
    """
    values = {"field": column.field, "arm": column.arm, "environment": environment.name, "factor": factor}
    connection.execute(query, values)
