"""CSV and Parquet files, scanned by DuckDB itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from auditor.errors import LoadError, Mistake
from auditor.load.cells import data_start, delimiter_of, line_at, read_rows
from auditor.load.files import SourceFile, mistake
from auditor.load.finish import NO_ERROR, NO_ERROR_STATUS, outcome_sql
from auditor.load.layout import Layout, absent_fields
from auditor.load.parts import Part, Value
from auditor.load.spool import Spool
from auditor.load.tokens import ESCAPED, escaped_sql, path_literal, string_token
from auditor.model.payload_path import PayloadPath, Steps
from auditor.sql import literal

if TYPE_CHECKING:
    from collections.abc import Callable

    Relation = Callable[[duckdb.DuckDBPyConnection], str]

_LONGEST_LINE = 1 << 30
_BATCH = 10_000
_INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|DECIMAL")


class ColumnarFile:
    """A CSV or Parquet file: its names and types, and a relation with columns c0, c1, … and `position` or `ordinal`."""

    def __init__(self, file: SourceFile, connection: duckdb.DuckDBPyConnection) -> None:
        self.file = file
        self.connection = connection
        self.release: Callable[[], None] = lambda: None
        if file.format == "parquet":
            self.names, self.types, self.count, self.relation = _open_parquet(file, connection)
        else:
            self.names, self.count, self.relation, self.release = _open_delimited(file, connection)
            self.types = ["VARCHAR"] * len(self.names)

    def column(self, name: str) -> Value | None:
        """Give the values of a column, None where there is none of that name."""
        return self._at((name,))

    def value(self, path: PayloadPath) -> Value | None:
        """Give the value at a path: of each row the first of its places that has one, be it a column or in a column."""
        found = [value for place in path.choices if (value := self._at(place)) is not None]
        if len(found) < 2:
            return found[0] if found else None
        return Value(f"coalesce({', '.join(value.as_token() for value in found)})", token=True)

    def _at(self, place: Steps) -> Value | None:
        first, *rest = place
        if first not in self.names or (rest and self.file.format != "parquet"):
            return None
        index = self.names.index(str(first))
        if not rest:
            return typed_value(f"c{index}", self.types[index])
        member = f"c{index}" + "".join(f"[{_subscript(step)}]" for step in rest)
        try:
            described = self.connection.execute(f"DESCRIBE SELECT {member} FROM {self.relation(self.connection)}")
        except duckdb.BinderException:
            return None
        return typed_value(member, described.fetchall()[0][1])

    def text(self, names: Sequence[str]) -> Value | None:
        """Give the first of `names` that is a column, as plain text."""
        value = self._first(names)
        return None if value is None else Value(value.sql)

    def failure(self, names: Sequence[str], *, is_error: bool) -> str | None:
        """Give SQL for what stands in the first of `names` that is a column, NULL where it says that nothing failed.

        Where an error stands, so may the status of an answer that is none.
        """
        value = self._first(names)
        if value is None:
            return None
        nothing = ", ".join(map(literal, NO_ERROR if value.token else ("",)))
        fails = f"{value.sql} NOT IN ({nothing})"
        if is_error:
            fails += f" AND NOT regexp_full_match({value.sql}, '{NO_ERROR_STATUS}')"
        return f"CASE WHEN {fails} THEN {value.sql} END"

    def _first(self, names: Sequence[str]) -> Value | None:
        return next((self.column(name) for name in names if name in self.names), None)


def _subscript(step: str | int) -> str:
    """Write a step into a nested column; DuckDB counts items from 1, and from the end with negative numbers."""
    return literal(step) if isinstance(step, str) else str(step + 1 if step >= 0 else step)


def open_columnar(columnar: ColumnarFile, layout: Layout, payloads: bool, excluded: frozenset[str]) -> Part:
    """Give a CSV or Parquet file of the columns or long form as a part."""
    columns: dict[str, Value] = {}
    _add(columns, "id", _id(columnar, layout))
    ordinal = "ordinal"
    if columnar.file.format == "parquet":
        columns["position"] = Value("position")
        ordinal = "position + 1"
    _add(columns, "locale", columnar.text(layout.locale))
    _add(columns, "jurisdiction", columnar.text(layout.jurisdiction))
    for name, column in layout.traits:
        _add(columns, name, columnar.text([column]))
    carried = None
    if layout.form == "long":
        _add(columns, "field", columnar.text(["field"]))
        _add(columns, "value", columnar.column(layout.role))
        _add(columns, "other", columnar.column(layout.other) if layout.other else None)
    else:
        layout = _with_paths(columnar, layout)
        for index, (path,) in enumerate(layout.fields.values()):
            _add(columns, f"v{index}", columnar.value(path))
        carried = frozenset(columnar.names) - layout.reserved - excluded
        if payloads:
            columns["payload"] = _payload(columnar, [name for name in columnar.names if name in carried])
    _add_outcome(columns, columnar, layout)
    return Part(
        columnar.file,
        layout,
        columnar.count,
        columnar.relation,
        columns,
        carried,
        columnar.release,
        ordinal,
        tuple(columnar.names),
    )


def _with_paths(columnar: ColumnarFile, layout: Layout) -> Layout:
    """Keep, of each field's paths, the first one that the file has."""
    found = {name: [path for path in paths if columnar.value(path)] for name, paths in layout.fields.items()}
    if absent := [name for name, paths in found.items() if not paths]:
        raise absent_fields(columnar.file, layout, absent, columnar.names)
    return replace(layout, fields={name: (paths[0],) for name, paths in found.items()})


def _id(columnar: ColumnarFile, layout: Layout) -> Value | None:
    value = columnar.text([layout.id])
    if value is None or not _may_need_escapes(columnar, value):
        return value  # as it stands: DuckDB reads two files side by side only then
    return Value(escaped_sql(value.sql))


def _may_need_escapes(columnar: ColumnarFile, value: Value) -> bool:
    if columnar.file.format != "parquet":
        return columnar.file.marked
    # The statistics of most files answer this without a scan.
    follower = chr(ord(ESCAPED) + 1)
    query = (
        f"SELECT 1 FROM {columnar.relation(columnar.connection)} "
        f"WHERE {value.sql} >= {literal(ESCAPED)} AND {value.sql} < {literal(follower)} LIMIT 1"
    )
    return bool(columnar.connection.execute(query).fetchall())


def _add(columns: dict[str, Value], name: str, value: Value | None) -> None:
    if value is not None:
        columns[name] = value


def _add_outcome(columns: dict[str, Value], columnar: ColumnarFile, layout: Layout) -> None:
    finish = columnar.text(layout.finish)
    error, refusal = columnar.failure(layout.error, is_error=True), columnar.failure(layout.refusal, is_error=False)
    _add(columns, "finish", finish)
    outcome = outcome_sql(finish.sql, layout.assume_finish, layout.contract.outcomes) if finish else "'judged'"
    said = "NULL"
    if refusal:
        outcome = f"CASE WHEN {refusal} IS NOT NULL THEN 'refused' ELSE {outcome} END"
        said = f"CASE WHEN {refusal} IS NOT NULL THEN 'a refusal in the reply' END"
    if error:
        outcome = f"CASE WHEN {error} IS NOT NULL THEN 'transport' ELSE {outcome} END"
        said = f"coalesce({error}, {said})"
    if error or refusal:
        columns["why"] = Value(said)
    if finish or error or refusal:
        columns["outcome"] = Value(outcome)


def _payload(columnar: ColumnarFile, names: Sequence[str]) -> Value:
    members = []
    for name in names:
        index = columnar.names.index(name)
        value = typed_value(f"c{index}", columnar.types[index])
        members.append(f"{literal(string_token(name) + ': ')} || {value.as_json()}")
    return Value("'{' || concat_ws(', ', " + ", ".join([*members, "NULL"]) + ") || '}'", token=True)


def typed_value(sql: str, type_name: str) -> Value:
    """Give the value of a typed column: what JSON has no type for becomes the text that ISO 8601 or the type gives."""
    text = f"CAST({sql} AS VARCHAR)"
    if type_name == "VARCHAR":
        return Value(sql)
    if type_name == "JSON":
        return Value(f"trim({text}, chr(32) || chr(9) || chr(10) || chr(13))", token=True)
    if type_name == "BOOLEAN" or (_INTEGER.match(type_name) and not type_name.endswith("]")):
        return Value(text, token=True)
    if type_name in ("DOUBLE", "FLOAT"):
        return Value(f"replace(replace({text}, 'nan', 'NaN'), 'inf', 'Infinity')", token=True)
    if type_name.startswith("TIMESTAMP WITH TIME ZONE"):
        utc = f"CAST(timezone('UTC', {sql}) AS VARCHAR)"
        return Value(
            f"CASE WHEN isfinite({sql}) AND NOT contains({utc}, '(BC)') THEN replace({utc}, ' ', 'T') || '+00:00' "
            f"ELSE {utc} END"
        )
    if type_name.startswith("TIMESTAMP") and not type_name.endswith("]"):
        # A year before the common era has no ISO form; what DuckDB writes for it is then the text.
        return Value(f"CASE WHEN contains({text}, '(BC)') THEN {text} ELSE replace({text}, ' ', 'T') END")
    if type_name == "BLOB":
        return Value(f"decode({sql})")
    if type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION")):
        return Value(f"CAST(to_json({sql}) AS VARCHAR)", token=True)
    return Value(text)


def _open_parquet(
    file: SourceFile, connection: duckdb.DuckDBPyConnection
) -> tuple[list[str], list[str], int, Relation]:
    path = path_literal(file.path)
    source = f"read_parquet({path}, hive_partitioning = false)"
    try:
        types = [row[1] for row in connection.execute(f"DESCRIBE FROM {source}").fetchall()]
        schema = connection.execute(f"SELECT name, num_children FROM parquet_schema({path})").fetchall()
        count = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise mistake(file.name, f"cannot be read as Parquet: {first}", "is it complete, and Parquet?") from error
    names = _header(file, _top_level(schema))
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    if "file_row_number" in map(str.lower, names):  # DuckDB's option of this name would clash with the column
        return (
            names,
            types,
            count,
            lambda _: f"(SELECT *, row_number() OVER () - 1 AS position FROM {source} AS t({aliases}))",
        )
    source = f"read_parquet({path}, hive_partitioning = false, file_row_number = true)"
    return names, types, count, lambda _: f"(SELECT * FROM {source} AS t({aliases}, position))"


def _top_level(schema: Sequence[tuple[str, int | None]]) -> list[str]:
    """Give the names of a Parquet file's own columns: DuckDB renames those that differ in case only."""
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if inside == 0:
            names.append(name)
        inside += (children or 0) - (1 if inside else 0)
    return names


def _open_delimited(
    file: SourceFile, connection: duckdb.DuckDBPyConnection
) -> tuple[list[str], int, Relation, Callable[[], None]]:
    rows = read_rows(file)
    start, header = next(rows, (0, []))
    names = _header(file, header)
    rows.close()
    # DuckDB takes the first line for the header even where it is blank.
    if not (file.lone_returns or file.spaced_quotes or len(names) == 1 or start > data_start(file)):
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(names)))
        options = (
            f"delim = {literal(delimiter_of(file))}, quote = '\"', escape = '\"', header = true, "
            f"auto_detect = false, strict_mode = true, allow_quoted_nulls = false, max_line_size = {_LONGEST_LINE}, "
            "hive_partitioning = false"
        )
        source = f"read_csv({path_literal(file.path)}, columns = {{{columns}}}, {options})"
        try:
            count = connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
        except duckdb.InvalidInputException:
            pass  # the reader below reads it, or says where it is broken
        else:
            relation = f"(SELECT row_number() OVER () AS ordinal, * FROM {source})"
            return names, count, lambda _: relation, lambda: None
    spool = _spooled(file, names)
    return names, spool.count, spool.scan, spool.release


def _header(file: SourceFile, row: Sequence[str | None]) -> list[str]:
    names = [name or "" for name in row]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise LoadError([Mistake(f"{file.name}, line 1", f"the column {name!r} occurs twice") for name in repeated])
    return names


def _spooled(file: SourceFile, names: Sequence[str]) -> Spool:
    spool = Spool([f"c{i}" for i in range(len(names))])
    rows = read_rows(file)
    next(rows)
    batch: list[list[str | None]] = []
    for offset, row in rows:
        if len(row) != len(names):
            raise mistake(
                f"{file.name}, line {line_at(file, offset)}",
                f"has {len(row)} cell{'s' if len(row) > 1 else ''}, the header has {len(names)}",
                f"the row starts with {str(row[0])[:60]!r}",
            )
        batch.append(row)
        if len(batch) >= _BATCH:
            spool.add(list(zip(*batch, strict=True)))
            batch = []
    if batch:
        spool.add(list(zip(*batch, strict=True)))
    spool.close()
    return spool
