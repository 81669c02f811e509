"""JSON lines, and completions from any format, unfolded into a column per field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auditor.errors import LoadError
from auditor.load.columnar import ColumnarFile
from auditor.load.files import SourceFile, mistake
from auditor.load.finish import outcome_of
from auditor.load.json_lines import all_keys, first_keys, members, read_records
from auditor.load.layout import Layout, absent_fields
from auditor.load.parts import Part, Value
from auditor.load.regular_lines import spool_regular
from auditor.load.spool import Spool
from auditor.load.tokens import content_of, escape_surrogates, object_text, token_of

if TYPE_CHECKING:
    import duckdb

_NO_ERROR = frozenset(("null", '""', "false", "{}", "[]", "0"))
_BATCH = 10_000
_TOKENS = ("value", "other", "payload")
_Column = Sequence[str | None]


class RepeatedKeyError(ValueError):
    """A key that is wanted occurs twice in one object."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a file: JSON source texts by column; `line` is the number of the first one."""

    where: str  # line or row
    line: int
    columns: dict[str, list[str | None]]
    whole: list[list[tuple[str, str]]] | None = None

    def first_of(self, names: Sequence[str]) -> _Column:
        """Give, per row, the first of `names` that has a value other than null."""
        if len(names) == 1:
            return self.columns[names[0]]
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return [next((value for value in row if value is not None and value != "null"), None) for row in rows]


def open_json_lines(
    file: SourceFile,
    layout: Layout,
    connection: duckdb.DuckDBPyConnection,
    payloads: bool,
    excluded: frozenset[str],
) -> Part:
    """Give a file of JSON lines as a part."""
    whole = payloads and layout.form == "columns"
    if not whole and (regular := spool_regular(file, layout, connection)) is not None:
        carried = frozenset(first_keys(file)) - layout.reserved - excluded
        return _part(file, layout, regular, carried if layout.form == "columns" else None)
    batches = (Rows("line", r.first_line, r.values, r.whole) for r in read_records(file, _keys(layout), whole=whole))
    if layout.form == "completions":
        return _part(file, layout, _completed(file, layout, batches), None)
    if layout.form == "long":
        return _part(file, layout, _long(file, layout, batches), None)
    seen: dict[str, None] = {}
    spool = _columns(file, layout, batches, excluded, seen)
    return _part(file, layout, spool, frozenset(seen) - layout.reserved - excluded)


def open_columnar_completions(columnar: ColumnarFile, layout: Layout) -> Part:
    """Give the completions of a CSV or Parquet file as a part."""
    return _part(columnar.file, layout, _completed(columnar.file, layout, _columnar_rows(columnar, layout)), None)


def _keys(layout: Layout) -> list[str]:
    keys = [layout.id, *layout.locale, *layout.jurisdiction, *layout.finish, *layout.error]
    if layout.form == "completions":
        keys.append(layout.completion)
    elif layout.form == "long":
        keys += filter(None, ("field", layout.role, layout.other))
    else:
        for path in (path for paths in layout.fields.values() for path in paths):
            keys += [path, path.partition(".")[0]]
    return list(dict.fromkeys(keys))


def _columnar_rows(columnar: ColumnarFile, layout: Layout) -> Iterator[Rows]:
    names = [layout.id, *layout.locale, *layout.jurisdiction, *layout.finish, *layout.error, layout.completion]
    selected = ", ".join(
        value.as_token() if (value := columnar.value(name)) is not None else "CAST(NULL AS VARCHAR)" for name in names
    )
    cursor = columnar.connection.cursor()
    found = cursor.execute(f"SELECT {selected} FROM {columnar.relation(cursor)}")
    row = 1
    while rows := found.fetchmany(_BATCH):
        yield Rows(
            "row", row, {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        )
        row += len(rows)


def _part(file: SourceFile, layout: Layout, spool: Spool, carried: frozenset[str] | None) -> Part:
    columns = {name: Value(name, name in _TOKENS or name[1:].isdigit()) for name in spool.names}
    return Part(file, layout, spool.count, spool.scan, columns, carried, spool.release)


def _case_columns(file: SourceFile, layout: Layout, rows: Rows) -> list[_Column]:
    """Give the columns id, locale, jurisdiction, finish of some rows."""
    # The plain string first: a call per row is what this costs otherwise.
    ids = [
        raw[1:-1] if raw is not None and raw[0] == '"' and "\\" not in raw and raw != '""' else _id(raw)
        for raw in rows.columns[layout.id]
    ]
    if None in ids:
        raise _missing_id(file, layout, rows, ids.index(None))
    texts = [_texts(rows.first_of(names)) for names in (layout.locale, layout.jurisdiction)]
    return [ids, *texts, _texts(rows.first_of(layout.finish)) if layout.finish else [None] * len(ids)]


def _id(raw: str | None) -> str | None:
    if raw is None or raw == "null":
        return None
    text = content_of(raw)
    return text if text and raw[0] not in "{[tf" else None


def _missing_id(file: SourceFile, layout: Layout, rows: Rows, index: int) -> LoadError:
    raw = rows.columns[layout.id][index]
    if raw is None or raw in ("null", '""'):
        what = f"the id {layout.id!r} is missing or empty"
    else:
        what = f"the id {layout.id!r} is {raw[:40]}, neither a string nor a number"
    number = rows.line + index
    if rows.where == "line":
        number = _line_of(file, rows.line, index)
    return mistake(f"{file.name}, {rows.where} {number}", what, "every row needs the id of its case")


def _line_of(file: SourceFile, first_line: int, index: int) -> int:
    with file.path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if number >= first_line and line.strip(b" \t\r\n\xef\xbb\xbf"):
                if index == 0:
                    return number
                index -= 1
    return first_line


class _Contents(dict[str | None, str | None]):
    """Content by source text, of columns with few distinct values."""

    def __missing__(self, raw: str | None) -> str | None:
        if len(self) > 100_000:
            self.clear()
        self[raw] = content = None if raw is None or raw == "null" else content_of(raw) or None
        return content


_contents = _Contents()


def _texts(column: _Column) -> list[str | None]:
    return [_contents[raw] for raw in column]


def _tokens(column: _Column) -> list[str | None]:
    return [raw if raw is None or "\\" not in raw else token_of(raw) for raw in column]


def _outcomes(layout: Layout, rows: Rows, finishes: _Column) -> list[str]:
    failures = rows.first_of(layout.error) if layout.error else [None] * len(finishes)
    if layout.finish:
        outcomes = [outcome_of(finish, layout.assume_finish) for finish in finishes]
    else:
        outcomes = ["judged"] * len(finishes)
    for index, failure in enumerate(failures):
        if failure is not None and failure not in _NO_ERROR:
            outcomes[index] = "transport"
    return outcomes


def _long(file: SourceFile, layout: Layout, batches: Iterator[Rows]) -> Spool:
    values = [name for name in (layout.role, layout.other) if name]
    spool = Spool(["id", "locale", "jurisdiction", "finish", "outcome", "field", "value", "other"][: 6 + len(values)])
    for rows in batches:
        case = _case_columns(file, layout, rows)
        fields = _texts(rows.columns["field"])
        if None in fields:
            number = _line_of(file, rows.line, fields.index(None))
            raise mistake(f"{file.name}, line {number}", "the key 'field' is missing or empty")
        spool.add([*case, _outcomes(layout, rows, case[3]), fields, *(_tokens(rows.columns[name]) for name in values)])
    spool.close()
    return spool


def _columns(
    file: SourceFile, layout: Layout, batches: Iterator[Rows], excluded: frozenset[str], seen: dict[str, None]
) -> Spool:
    names = [f"v{index}" for index in range(len(layout.fields))]
    spool = Spool(["id", "locale", "jurisdiction", "finish", "outcome", *names, "payload"])
    unseen = set(layout.fields)
    dropped = layout.reserved | excluded
    for rows in batches:
        case = _case_columns(file, layout, rows)
        values = []
        for name, paths in layout.fields.items():
            column = _tokens(_at_paths(file, rows, paths))
            values.append(column)
            if name in unseen and column.count(None) < len(column):
                unseen.discard(name)
        payload: _Column = [None] * len(case[0])
        if rows.whole is not None:
            kept = [[pair for pair in record if pair[0] not in dropped] for record in rows.whole]
            seen.update(dict.fromkeys(key for record in kept for key, _ in record))
            payload = [object_text(record) for record in kept]
        else:
            seen.update(dict.fromkeys(key for key, column in rows.columns.items() if column.count(None) < len(column)))
        spool.add([*case, _outcomes(layout, rows, case[3]), *values, payload])
    spool.close()
    if unseen:
        raise absent_fields(file, layout, [name for name in layout.fields if name in unseen], all_keys(file))
    return spool


def _at_paths(file: SourceFile, rows: Rows, paths: Sequence[str]) -> _Column:
    """Give the values at the first path that any row has."""
    for path in paths:
        column: _Column = rows.columns[path]
        if "." in path:
            outer = rows.columns[path.partition(".")[0]]
            column = [
                exact if exact is not None else _nested(file, rows, index, parent, path)
                for index, (exact, parent) in enumerate(zip(column, outer, strict=True))
            ]
        if column.count(None) < len(column):
            return column
    return column


def _nested(file: SourceFile, rows: Rows, index: int, parent: str | None, path: str) -> str | None:
    try:
        return None if parent is None else value_at(parent, path.split(".")[1:])
    except RepeatedKeyError as error:
        number = _line_of(file, rows.line, index)
        raise mistake(f"{file.name}, {rows.where} {number}", str(error), "keep one of them") from error


def value_at(source: str, keys: Sequence[str]) -> str | None:
    """Give the source text of a member of nested objects, or None where there is none."""
    for key in keys:
        if source[:1] != "{":
            return None
        found = member(members(source), key)
        if found is None:
            return None
        source = found
    return source


def member(found: Sequence[tuple[str, str]], key: str) -> str | None:
    """Give the value of a key among the members of an object; RepeatedKeyError where it occurs twice."""
    values = [value for name, value in found if name == key]
    if len(values) > 1:
        raise RepeatedKeyError(f"the key {key!r} occurs {len(values)} times")
    return values[0] if values else None


def _completed(file: SourceFile, layout: Layout, batches: Iterator[Rows]) -> Spool:
    names = [f"v{index}" for index in range(len(layout.fields))]
    spool = Spool(["id", "locale", "jurisdiction", "finish", "outcome", *names, "payload"])
    for rows in batches:
        case = _case_columns(file, layout, rows)
        outcomes = _outcomes(layout, rows, case[3])
        values: list[list[str | None]] = [[None] * len(outcomes) for _ in names]
        payloads: list[str | None] = [None] * len(outcomes)
        for index, completion in enumerate(rows.columns[layout.completion]):
            if outcomes[index] != "judged":
                continue
            text = _completion_text(completion)
            read = None if text is None else read_completion(text, layout.fields)
            if read is None:
                outcomes[index] = "malformed"
                continue
            payloads[index] = text
            for column, value in zip(values, read, strict=True):
                column[index] = value
        spool.add([*case, outcomes, *values, payloads])
    spool.close()
    return spool


def _completion_text(raw: str | None) -> str | None:
    if raw is None:
        return None
    if raw[0] == '"':
        return escape_surrogates(json.loads(raw))
    return raw if raw[0] == "{" else None


def read_completion(text: str, fields: dict[str, tuple[str, ...]]) -> list[str | None] | None:
    """Give the token of each field in the text of a completion, or None where it is malformed."""
    try:
        found = members(text)
        return [_at_first(found, paths) for paths in fields.values()]
    except (ValueError, RecursionError):  # not JSON, no object, or a wanted key that occurs twice
        return None


def _at_first(found: Sequence[tuple[str, str]], paths: Sequence[str]) -> str | None:
    path = paths[0]
    value = member(found, path)
    if value is None and "." in path:
        first, *rest = path.split(".")
        outer = member(found, first)
        value = None if outer is None else value_at(outer, rest)
    return None if value is None else token_of(value)
