"""JSON lines of the columns and long forms, unfolded into a column per field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.load.completions import spool_completions
from auditor.load.files import SourceFile, mistake
from auditor.load.json_lines import all_keys, first_keys, read_records
from auditor.load.layout import Layout, absent_fields
from auditor.load.parts import Part
from auditor.load.regular_lines import spool_regular
from auditor.load.rows import (
    Column,
    RepeatedKeyError,
    Rows,
    case_columns,
    line_of,
    outcomes_of,
    part_of,
    texts_of,
    tokens_of,
    value_at,
)
from auditor.load.spool import Spool
from auditor.load.tokens import object_text

if TYPE_CHECKING:
    import duckdb


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
        return part_of(file, layout, regular, carried if layout.form == "columns" else None)
    batches = (Rows("line", r.first_line, r.values, r.whole) for r in read_records(file, _keys(layout), whole=whole))
    if layout.form == "completions":
        return part_of(file, layout, spool_completions(file, layout, batches))
    if layout.form == "long":
        return part_of(file, layout, _long(file, layout, batches))
    seen: dict[str, None] = {}
    spool = _columns(file, layout, batches, excluded, seen)
    return part_of(file, layout, spool, frozenset(seen) - layout.reserved - excluded)


def _keys(layout: Layout) -> list[str]:
    keys = [layout.id, *layout.locale, *layout.jurisdiction, *layout.finish, *layout.error]
    if layout.form == "completions":
        keys.append(layout.completion)
    elif layout.form == "long":
        keys += filter(None, ("field", layout.role, layout.other))
    else:
        for path, *_ in layout.fields.values():
            keys += [path, path.partition(".")[0]]
    return list(dict.fromkeys(keys))


def _long(file: SourceFile, layout: Layout, batches: Iterator[Rows]) -> Spool:
    values = [name for name in (layout.role, layout.other) if name]
    spool = Spool(["id", "locale", "jurisdiction", "finish", "outcome", "field", "value", "other"][: 6 + len(values)])
    for rows in batches:
        case = case_columns(file, layout, rows)
        fields = texts_of(rows.columns["field"])
        if None in fields:
            number = line_of(file, rows.line, fields.index(None))
            raise mistake(f"{file.name}, line {number}", "the key 'field' is missing or empty")
        spool.add(
            [*case, outcomes_of(layout, rows, case[3]), fields, *(tokens_of(rows.columns[name]) for name in values)]
        )
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
        case = case_columns(file, layout, rows)
        values = []
        for name, paths in layout.fields.items():
            column = tokens_of(_at_path(file, rows, paths[0]))
            values.append(column)
            if name in unseen and column.count(None) < len(column):
                unseen.discard(name)
        payload: Column = [None] * len(case[0])
        if rows.whole is not None:
            kept = [[pair for pair in record if pair[0] not in dropped] for record in rows.whole]
            seen.update(dict.fromkeys(key for record in kept for key, _ in record))
            payload = [object_text(record) for record in kept]
        else:
            seen.update(dict.fromkeys(key for key, column in rows.columns.items() if column.count(None) < len(column)))
        spool.add([*case, outcomes_of(layout, rows, case[3]), *values, payload])
    spool.close()
    if unseen:
        raise absent_fields(file, layout, [name for name in layout.fields if name in unseen], all_keys(file))
    return spool


def _at_path(file: SourceFile, rows: Rows, path: str) -> Column:
    """Give the values at a path; a key that is the whole path counts before a nested one."""
    column: Column = rows.columns[path]
    if "." not in path:
        return column
    outer = rows.columns[path.partition(".")[0]]
    return [
        exact if exact is not None else _nested(file, rows, index, parent, path)
        for index, (exact, parent) in enumerate(zip(column, outer, strict=True))
    ]


def _nested(file: SourceFile, rows: Rows, index: int, parent: str | None, path: str) -> str | None:
    try:
        return None if parent is None else value_at(parent, path.split(".")[1:])
    except RepeatedKeyError as error:
        number = line_of(file, rows.line, index)
        raise mistake(f"{file.name}, {rows.where} {number}", str(error), "keep one of them") from error
    except RecursionError as error:
        number = line_of(file, rows.line, index)
        raise mistake(f"{file.name}, {rows.where} {number}", "the value is nested too deeply to be read") from error
