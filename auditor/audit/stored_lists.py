"""Every verdict of a case, and every value that moves: what a run counts, one by one, from what it has stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from auditor.drift.stored import create_run_cases, show
from auditor.errors import StoreError
from auditor.model.run import Column, Run
from auditor.model.verdicts import STATUS_OF, VERDICT_OF
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec
from auditor.sql import literal


def case_verdicts(run: Run, folder: Path) -> duckdb.DuckDBPyRelation:
    """Give a row per case, field and consumer: the raw values, what the consumer made of them, and the verdict.

    In a run of arms it is a row for each arm. The relation is computed as it is read; the cases behind it are read
    again from the files that the run has kept.
    StoreError where the run holds no such files.
    """
    connection = duckdb.connect()
    spec = create_run_cases(connection, run, folder)
    if (folder / "warnings.parquet").exists():  # which an older version did not write
        show(connection, folder, "warnings")
    else:
        connection.execute("CREATE TABLE warnings (unit BIGINT, consumer INTEGER, warning VARCHAR)")
    columns = [
        f"({literal(one.field)}, {literal(one.consumer)}, {position},"
        f" {_number(run, one.consumer)}, {_decoder(run, spec, one.field, one.consumer)})"
        for name in spec.fields
        for position, one in enumerate(_whole_columns(run, name), 1)
    ]
    names = [consumer.name for consumer in run.consumers]
    return connection.sql(f"""
        SELECT {"j.arm, " if run.arms else ""}j.case_id, j.field, c.consumer,
            {_named("substr(j.pattern, c.position, 1)", VERDICT_OF)} AS verdict, j.prediction, j.reference,
            {_chosen("u", "c.number", names)} AS value, {_chosen("t", "c.decoder", names)} AS reference_value,
            f.error, w.warning
        FROM judged_cases j
        JOIN (VALUES {", ".join(columns)}) c(field, consumer, position, number, decoder) USING (field)
        LEFT JOIN outcomes u ON u.unit = j.p_unit LEFT JOIN outcomes t ON t.unit = j.r_unit
        LEFT JOIN faults f ON f.unit = j.p_unit AND f.consumer = c.number
        LEFT JOIN warnings w ON w.unit = j.p_unit AND w.consumer = c.number""")


def _whole_columns(run: Run, field: str) -> list[Column]:
    """Give the columns of a field that are of no split alone, of one arm for all: the others have the same readers."""
    arm = run.arms[0].arm if run.arms else None
    return [column for column in run.columns if (column.field, column.split, column.arm) == (field, "all", arm)]


def stored_moves(run: Run, folder: Path) -> duckdb.DuckDBPyRelation:
    """Give a row per raw value, consumer and environment in which it is not what it is in the base.

    StoreError where the run holds no such table.
    """
    if not (folder / "moves.parquet").exists():
        raise StoreError(
            f"{folder / 'moves.parquet'}: no such file\n"
            "  cause: the run was stored by an older version, or its folder was changed\n"
            "  next:  run the audit again"
        )
    names = [consumer.name for consumer in run.consumers]
    consumer = " ".join(f"WHEN {number} THEN {literal(name)}" for number, name in enumerate(names))
    base_status = " ".join(f"WHEN {number} THEN o.s{number}" for number in range(len(names)))
    return _opened(folder, ("outcomes", "moves")).sql(f"""
        SELECT o.field, CASE m.consumer {consumer} END AS consumer, o.token AS raw,
            o.role_prediction AS is_prediction, o.role_reference AS is_reference, m.codes, m.environment,
            {_named("m.s", STATUS_OF)} AS status, m.v AS value, m.error,
            {_named(f"CASE m.consumer {base_status} END", STATUS_OF)} AS base_status,
            {_chosen("o", "m.consumer", names)} AS base_value
        FROM moves m JOIN outcomes o USING (unit)
        ORDER BY m.unit, m.consumer, m.codes, m.environment""")


def _opened(folder: Path, tables: Sequence[str]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name in tables:
        show(connection, folder, name)
    return connection


def _named(letter: str, names: Mapping[str, str]) -> str:
    whens = " ".join(f"WHEN {literal(one)} THEN {literal(name)}" for one, name in names.items())
    return f"CASE {letter} {whens} END"


def _number(run: Run, consumer: str) -> int:
    return [one.name for one in run.consumers].index(consumer)


def _decoder(run: Run, spec: AuditSpec, field: str, consumer: str) -> int:
    """Give the number of the consumer that reads the reference, -1 where it is in canonical form."""
    decoder = spec.fields[field].decoder_for(consumer)
    return -1 if decoder == "typed" else _number(run, decoder)


def _chosen(outcome: str, number: str, names: Sequence[str]) -> str:
    whens = " ".join(f"WHEN {index} THEN {outcome}.v{index}" for index in range(len(names)))
    return f"CASE {number} WHEN -1 THEN {outcome}.v{TYPED} {whens} END"
