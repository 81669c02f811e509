"""Every verdict of a case, and every value that moves: what a run counts, one by one, from what it has stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from auditor.audit.replies import stored_reader
from auditor.errors import InternalError, StoreError
from auditor.load.case_rows import create_cases
from auditor.model.run import Column, Run
from auditor.model.verdicts import STATUS_OF, VERDICT_OF
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec
from auditor.sql import literal
from auditor.store.writing import CONTRACT, SOURCES


def case_verdicts(run: Run, folder: Path) -> duckdb.DuckDBPyRelation:
    """Give a row per case, field and consumer: the raw values, what the consumer made of them, and the verdict.

    In a run of arms it is a row for each arm. The relation is computed as it is read; the cases behind it are read
    again from the files that the run has kept.
    StoreError where the run holds no such files.
    """
    connection = _opened(folder, ("pairs", "outcomes", "faults"))
    if (folder / "warnings.parquet").exists():  # which an older version did not write
        _show(connection, folder, "warnings")
    else:
        connection.execute("CREATE TABLE warnings (unit BIGINT, consumer INTEGER, warning VARCHAR)")
    spec = _stored_spec(run, folder)
    ((with_payloads,),) = connection.execute("SELECT count(payload) > 0 FROM outcomes").fetchall()
    create_cases(spec, connection, payloads=with_payloads, reader=stored_reader(spec, folder))
    _create_judged_cases(connection, payloads=with_payloads)
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
        _show(connection, folder, name)
    return connection


def _show(connection: duckdb.DuckDBPyConnection, folder: Path, name: str) -> None:
    path = literal(str(folder / f"{name}.parquet"))
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({path})")


def _named(letter: str, names: Mapping[str, str]) -> str:
    whens = " ".join(f"WHEN {literal(one)} THEN {literal(name)}" for one, name in names.items())
    return f"CASE {letter} {whens} END"


def _stored_spec(run: Run, folder: Path) -> AuditSpec:
    """Give the spec as far as cases and fields go, with the files that the run has kept in place of the user's."""
    path = folder / CONTRACT
    try:
        contract = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path}: cannot be read: {error}\n"
            "  cause: the run was stored by an older version, or its folder was changed\n"
            "  next:  run the audit again"
        ) from error
    kept = sorted((folder / SOURCES).glob("[0-9][0-9][0-9]*-*"), key=lambda file: int(file.name.partition("-")[0]))
    paths = list(dict.fromkeys(str(source["path"]) for source in run.sources))
    if len(kept) != len(paths):
        raise StoreError(f"{folder / SOURCES}: {len(paths)} input files are expected, there are {len(kept)}")
    copies = {path: str(Path(SOURCES) / file.name) for path, file in zip(paths, kept, strict=True)}
    for role in ("predictions", "references"):
        contract["cases"][role] = [copies[str(one["path"])] for one in run.sources if one["role"] == role]
    return AuditSpec.model_validate(
        {"name": run.name, "file": folder / "audit.toml", "folder": folder, "consumers": {}, **contract}
    )


def _create_judged_cases(connection: duckdb.DuckDBPyConnection, *, payloads: bool) -> None:
    """Find for each case the pair that it is one of; a case that is in none, or a pair that lacks one, is an error.

    `payloads` says that raw values are told apart by the payload that they stand in; otherwise a completion has one
    here that nobody was given.
    """
    given, asserted = (
        ("AND u.payload IS NOT DISTINCT FROM c.payload", "AND t.payload IS NOT DISTINCT FROM c.reference_payload")
        if payloads
        else ("", "")
    )
    connection.execute(f"""
        CREATE TABLE judged_cases AS
        SELECT c.arm, c.case_id, c.field, c.prediction, c.reference, p.p_unit, p.r_unit, p.pattern
        FROM cases c
        LEFT JOIN outcomes u
            ON u.field = c.field AND u.token = c.prediction AND u.role_prediction {given}
        LEFT JOIN outcomes t
            ON t.field = c.field AND t.token = c.reference AND t.role_reference {asserted}
        JOIN (SELECT DISTINCT field, outcome, p_unit, r_unit, pattern FROM pairs) p
            ON p.field = c.field AND p.outcome = c.outcome AND p.p_unit IS NOT DISTINCT FROM u.unit
            AND p.r_unit IS NOT DISTINCT FROM t.unit""")
    ((cases, judged, counted),) = connection.execute(
        "SELECT (SELECT count(*) FROM cases), (SELECT count(*) FROM judged_cases),"
        " (SELECT coalesce(sum(n), 0) FROM pairs)"
    ).fetchall()
    if not cases == judged == counted:
        raise InternalError(f"the files hold {cases} cases, {judged} have a verdict, and the run counted {counted}")


def _number(run: Run, consumer: str) -> int:
    return [one.name for one in run.consumers].index(consumer)


def _decoder(run: Run, spec: AuditSpec, field: str, consumer: str) -> int:
    """Give the number of the consumer that reads the reference, -1 where it is in canonical form."""
    decoder = spec.fields[field].decoder_for(consumer)
    return -1 if decoder == "typed" else _number(run, decoder)


def _chosen(outcome: str, number: str, names: Sequence[str]) -> str:
    whens = " ".join(f"WHEN {index} THEN {outcome}.v{index}" for index in range(len(names)))
    return f"CASE {number} WHEN -1 THEN {outcome}.v{TYPED} {whens} END"
