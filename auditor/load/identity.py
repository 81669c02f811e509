"""Every id once: the proof, or the error that names what is repeated."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.manifest import ColumnDigest, Manifest
from auditor.load.parts import RoleTable, Value
from auditor.sql import literal

#: Up to here rows are fetched as Python objects; beyond, Arrow's import (0.1 s) is worth it.
FETCHED_ROWS = 50_000
_BATCH = 50_000
_NAMED = 5

#: The first column of a query, those between, and whether the last is true anywhere.
_Batch = tuple[Any, list[Any], bool]


def reference_value(table: RoleTable, name: str, sql: str = "") -> Value:
    """Give the value of a reference column (at the place `sql` of a query), NULL where it is empty."""
    value = table.value(name, sql or name)
    if value.token:
        return Value(f"CASE WHEN {value.sql} NOT IN ('\"\"', 'null') THEN {value.sql} END", token=True)
    return Value(f"nullif({value.sql}, '')")


def identify_references(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> Manifest:
    """Check that every id (and field) occurs once, and give the manifest; LoadError names what does not."""
    if table.count > FETCHED_ROWS:
        manifest = _in_file_order(table, connection, fields)
        if manifest is not None and manifest.dense:
            return manifest
    manifest = Manifest(fields)
    broken = not _read_into(manifest, table, connection, _sorted_sql(table, connection, fields))
    if broken:
        raise _repeated(table, connection, fields)
    return manifest


def _read_into(manifest: Manifest, table: RoleTable, connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Add the rows (id, a value per field, whether broken) of a query to the manifest, unless one is broken."""
    with closing(_batches(connection, query, table.count)) as batches:
        for ids, columns, broken in batches:
            if broken:
                return False
            _add_rows(manifest, table, ids, columns)
    return True


def _add_rows(manifest: Manifest, table: RoleTable, ids: Any, columns: list[Any]) -> None:
    _add(manifest.ids, ids, tokens=False)
    for index, (digest, column) in enumerate(zip(manifest.columns.values(), columns, strict=True)):
        _add(digest, column, tokens=("value" if table.layout.form == "long" else f"v{index}") in table.tokens)


def _add(digest: ColumnDigest, column: Any, *, tokens: bool) -> None:
    if isinstance(column, tuple):
        digest.add(column, tokens=tokens)
    else:
        digest.add_arrow(column, tokens=tokens)


def _sorted_sql(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> str:
    """Give the query for the dense table, sorted: id, a value per field, whether the id is missing or repeated."""
    if table.layout.form == "long":
        scan = table.scan(connection, ("id", "field", "value"))
        value = reference_value(table, "value").sql
        values = [f"max({value}) FILTER (field = {literal(field)})" for field in fields]
        counts = [f"count(*) FILTER (field = {literal(field)})" for field in fields]
        repeated = f"greatest(0, {', '.join(counts)}) > 1"
    else:
        names = tuple(f"v{index}" for index in range(len(fields)))
        scan = table.scan(connection, ("id", *names))
        values = [f"max({reference_value(table, name).sql})" for name in names]
        repeated = "count(*) > 1"
    columns = ", ".join(f"{value} AS t{index}" for index, value in enumerate(values))
    return (
        f"SELECT id, {columns}, {repeated} OR id IS NULL OR id = '' AS broken FROM {scan} "
        "GROUP BY id ORDER BY strlen(id), id"
    )


def _batches(connection: duckdb.DuckDBPyConnection, query: str, rows: int) -> Generator[_Batch, None, None]:
    """Give batches of a query; an unfinished one keeps the connection busy, so close what is not read to the end."""
    if rows <= FETCHED_ROWS:
        found = connection.execute(query).fetchall()
        if found:
            first, *columns, broken = zip(*found, strict=True)
            yield first, columns, any(broken)
        return
    import pyarrow.compute

    reader = connection.sql(query).to_arrow_reader(_BATCH)
    try:
        for batch in reader:
            first, *columns, broken = batch.columns
            yield first, columns, bool(pyarrow.compute.any(broken).as_py())
    except (OSError, pyarrow.ArrowException) as error:  # what DuckDB raises within a stream arrives as these
        raise duckdb.InvalidInputException(str(error)) from error
    finally:
        reader.close()


def _in_file_order(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> Manifest | None:
    """Read the references as they stand: if they are in shortlex order, ids are unique, and this is the manifest."""
    if table.layout.form == "long":
        return _long_in_file_order(table, connection, fields)
    names = tuple(f"v{index}" for index in range(len(fields)))
    scan = table.scan(connection, ("id", *names))
    values = ", ".join(f"{reference_value(table, name).sql} AS t{name}" for name in names)
    query = f"SELECT id, {values}, {_disorder()} AS broken FROM {scan}"
    manifest = Manifest(fields)
    return manifest if _read_into(manifest, table, connection, query) else None


def _long_in_file_order(
    table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]
) -> Manifest | None:
    ranks = _ranks(table, connection)
    scan = table.scan(connection, ("id", "field", "value"))
    query = (
        f"SELECT CASE WHEN id IS DISTINCT FROM lag(id) OVER () THEN id END AS started, rank, "
        f"{reference_value(table, 'value').sql} AS value, {_disorder('rank')} AS broken "
        f"FROM (SELECT id, value, {_rank_sql(ranks)} AS rank FROM {scan})"
    )
    import pyarrow.compute

    manifest = Manifest(fields)
    tokens = "value" in table.tokens
    with closing(_batches(connection, query, table.count)) as batches:
        for started, (rank, values), broken in batches:
            if broken:
                return None
            manifest.ids.add_arrow(started.drop_null(), tokens=False)
            for field, digest in manifest.columns.items():
                if field in ranks:
                    digest.add_arrow(values.filter(pyarrow.compute.equal(rank, ranks[field])), tokens=tokens)
    return manifest


def _ranks(table: RoleTable, connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Number the fields of a long file by their first appearance: the order that a case's rows are expected in."""
    found = connection.execute(f"SELECT field FROM {table.scan(connection, ('field',))} LIMIT 1000").fetchall()
    return {field: rank for rank, field in enumerate(dict.fromkeys(row[0] for row in found if row[0] is not None))}


def _rank_sql(ranks: dict[str, int]) -> str:
    cases = " ".join(f"WHEN {literal(field)} THEN {rank}" for field, rank in ranks.items())
    return f"CAST(CASE field {cases} END AS UTINYINT)" if len(ranks) < 250 else f"CASE field {cases} END"


def _disorder(rank: str = "") -> str:
    """Give the SQL condition that a row does not follow the row before it in shortlex order, or has no id."""
    before = "lag(id) OVER ()"
    follows = f"WHEN strlen(id) = strlen({before}) THEN id > {before} ELSE strlen(id) > strlen({before}) END"
    missing = "id IS NULL OR id = ''"
    if rank:
        follows = f"WHEN id = {before} THEN {rank} > lag({rank}) OVER () {follows}"
        missing += f" OR {rank} IS NULL"
    return f"({missing} OR NOT coalesce(CASE {follows}, true))"


def identify_predictions(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> int:
    """Check that every id (and field) occurs once; give the number of ids."""
    long = table.layout.form == "long"
    names = ("id", "field") if long else ("id",)
    if table.count > FETCHED_ROWS:
        rank = f", {_rank_sql(_ranks(table, connection))} AS rank" if long else ""
        rows = f"(SELECT id{rank} FROM {table.scan(connection, names)})"
        found = connection.execute(
            f"SELECT count_if(broken), count_if(started) FROM (SELECT {_disorder('rank' if long else '')} AS broken, "
            f"id IS DISTINCT FROM lag(id) OVER () AS started FROM {rows})"
        ).fetchall()
        if found[0][0] == 0:
            return int(found[0][1])
    known = f"field IN ({', '.join(map(literal, fields))})" if long else "true"
    key = "hash(id, field)" if long else "hash(id)"
    found = connection.execute(
        f"SELECT count(*) FILTER ({known}), count(DISTINCT {key}) FILTER ({known}), count(DISTINCT id), "
        f"count_if(id IS NULL OR id = '') FROM {table.scan(connection, names)}"
    ).fetchall()
    rows, keys, ids, missing = found[0]
    if (rows > keys and _repeats(table, connection, fields)) or missing:
        raise _repeated(table, connection, fields)
    return int(ids)


def _repeated(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> LoadError:
    """Make the error that names rows without an id, or ids that occur twice."""
    missing = connection.execute(
        f"SELECT ordinal FROM {table.scan(connection, ('id',))} WHERE id IS NULL OR id = '' ORDER BY 1"
    ).fetchall()
    if missing:
        rows = table.rows([row[0] for row in missing[:_NAMED]])
        what = f"{len(missing)} row{'s have' if len(missing) > 1 else ' has'} no id in the column {table.layout.id!r}"
        return LoadError([Mistake(rows, what, "every row needs the id of its case")])
    repeats = _repeats(table, connection, fields)
    what = "(id, field)" if table.layout.form == "long" else "id"
    mistakes = [
        Mistake(
            table.rows(ordinals[:_NAMED]),
            f"the {what} {key} occurs {count} times in the {table.layout.role}s",
        )
        for key, count, ordinals in repeats[:_NAMED]
    ]
    head = Mistake(
        ", ".join(sorted({part.file.name for part in table.parts})),
        f"{len(repeats)} {what}{'s occur' if len(repeats) > 1 else ' occurs'} more than once; a case is graded once",
        "remove the repeated rows, or give each case an id of its own",
    )
    return LoadError([head, *mistakes])


def _repeats(
    table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]
) -> list[tuple[str, int, list[int]]]:
    """Give what occurs twice: its name, how often, and the first rows."""
    names: tuple[str, ...] = ("id",)
    key, known = "id", "true"
    if table.layout.form == "long":
        names, key, known = ("id", "field"), "id, field", f"field IN ({', '.join(map(literal, fields))})"
    found = connection.execute(
        f"SELECT {key}, count(*), list(ordinal ORDER BY ordinal)[:{_NAMED}] FROM {table.scan(connection, names)} "
        f"WHERE {known} GROUP BY {key} HAVING count(*) > 1 ORDER BY min(ordinal)"
    ).fetchall()
    return [(", ".join(map(repr, row[:-2])), row[-2], row[-1]) for row in found]
