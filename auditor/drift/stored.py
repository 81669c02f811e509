"""A stored run opened again: its tables, and every case with its raw values and verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import duckdb

from auditor.decode.reply_reader import READINGS
from auditor.errors import InternalError, StoreError
from auditor.load.case_rows import create_cases
from auditor.load.contract import Reader
from auditor.load.roles import open_roles
from auditor.load.traits import BOUND, bound_traits, traits_sql
from auditor.model.run import Run
from auditor.spec.models import AuditSpec
from auditor.sql import literal
from auditor.store.writing import CONTRACT, SOURCES


def create_run_cases(connection: duckdb.DuckDBPyConnection, run: Run, folder: Path) -> AuditSpec:
    """Create `judged_cases` from the tables and files of a run: a row per case and field, with its pair's pattern.

    Columns: arm ('' where there are none), case_id, field, split, prediction, reference (tokens), p_unit, r_unit
    (rows of `outcomes`), pattern. Gives
    the spec of its cases and fields. StoreError where the run's folder does not hold them.
    """
    for name in ("pairs", "outcomes", "faults"):
        show(connection, folder, name)
    spec = stored_spec(run, folder)
    ((with_payloads,),) = connection.execute("SELECT count(payload) > 0 FROM outcomes").fetchall()
    create_cases(spec, connection, payloads=with_payloads, reader=stored_reader(spec, folder))
    create_judged_cases(connection, payloads=with_payloads)
    return spec


def create_traits(connection: duckdb.DuckDBPyConnection, spec: AuditSpec, reader: Reader | None) -> tuple[str, ...]:
    """Create `traits` of a run's files: a row per expected case, with what it has beside its values; name its columns.

    They are those of `auditor.load.traits.BOUND`, NULL where the cases do not have them.
    """
    roles = open_roles(spec, connection, False, reader)
    names = bound_traits(spec, roles.predictions, roles.references)
    try:
        given = ", ".join(f"hash({name}) AS {name}" if name in names else f"NULL::UBIGINT AS {name}" for name in BOUND)
        ids = f"(SELECT DISTINCT id FROM {roles.references.scan(connection, ('id',), numbered=False)})"
        source = traits_sql(roles.predictions, roles.references, connection, names) if names else ids
        connection.execute(f"CREATE OR REPLACE TABLE traits AS SELECT id AS case_id, {given} FROM {source}")
    finally:
        roles.references.release()
        roles.predictions.release()
    return names


def show(connection: duckdb.DuckDBPyConnection, folder: Path, name: str) -> None:
    """Show a table of a run under its name."""
    path = literal(str(folder / f"{name}.parquet"))
    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({path})")


def stored_spec(run: Run, folder: Path) -> AuditSpec:
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
    digests = {str(source["path"]): str(source["sha256"]) for source in run.sources}
    for source_path, file in zip(paths, kept, strict=True):
        _check_content(file, digests[source_path])
    copies = {path: str(Path(SOURCES) / file.name) for path, file in zip(paths, kept, strict=True)}
    for role in ("predictions", "references"):
        contract["cases"][role] = [copies[str(one["path"])] for one in run.sources if one["role"] == role]
    known = {name: contract[name] for name in ("cases", "fields", "not_judged") if name in contract}
    return AuditSpec.model_validate(
        {"name": run.name, "file": folder / "audit.toml", "folder": folder, "consumers": {}, **known}
    )


@lru_cache(maxsize=4096)
def digest_of(file: Path, state: tuple[int, ...]) -> str:
    """Give the sha256 of a file, which is read once for as long as its `state` (where, how long, when) is the same."""
    with file.open("rb") as kept:
        return hashlib.file_digest(kept, "sha256").hexdigest()


def _check_content(file: Path, sha256: str) -> None:
    """Hold an input that a run has kept against the digest of what it read; StoreError where it is another."""
    try:
        state = file.stat()
        found = digest_of(file, (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
    except OSError as error:
        raise StoreError(f"{file}: cannot be read: {error.strerror}") from error
    if found != sha256:
        raise StoreError(
            f"{file}: is not what the run read\n  seen:  sha256 {found}, and not {sha256}\n"
            "  cause: a file of the run was changed\n  next:  run that audit again"
        )


def create_judged_cases(connection: duckdb.DuckDBPyConnection, *, payloads: bool) -> None:
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
        SELECT coalesce(c.arm, '') AS arm, c.case_id, c.field, c.split, c.prediction, c.reference, p.p_unit, p.r_unit,
            p.pattern
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


def stored_reader(spec: AuditSpec, folder: Path) -> Reader | None:
    """Give a reader that answers as the run's own did; None where the run had none of its own."""
    if ":" not in spec.cases.payload:
        return None
    path = folder / READINGS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be read: {error.strerror}\n"
            "  cause: the run's folder was changed\n  next:  run the audit again"
        ) from error
    known: dict[str, tuple[str | None, str]] = {text: (payload, why) for text, payload, why in map(json.loads, lines)}

    def read(texts: Sequence[str]) -> list[tuple[str | None, str]]:
        return [known[text] for text in texts]

    return read
