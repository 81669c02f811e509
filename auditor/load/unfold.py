"""JSON lines of every form, unfolded into a column per field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from auditor.load.completions import completions_part
from auditor.load.files import SourceFile, mistake
from auditor.load.json_lines import all_keys, first_keys, read_records
from auditor.load.layout import Layout, absent_fields, require_named
from auditor.load.parts import Part, Value
from auditor.load.paths import FieldPaths, refuse_mixed
from auditor.load.regular_lines import spool_regular
from auditor.load.rows import (
    RawValues,
    Rows,
    case_columns,
    errors_of,
    line_of,
    outcomes_of,
    part_of,
    texts_of,
    tokens_of,
    trait_columns,
)
from auditor.load.spool import Spool
from auditor.load.tokens import object_text
from auditor.model.payload_path import PayloadPath

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
    records = read_records(file, _keys(layout), whole=whole)
    seen: set[str] = set()
    batches = _noted((Rows("line", r.first_line, r.values, r.whole) for r in records), seen)
    if layout.form == "completions":
        part = completions_part(file, layout, batches, payloads)
    elif layout.form == "long":
        part = part_of(file, layout, _long(file, layout, batches))
    else:
        part = columns_part(file, layout, batches, excluded, seen)
    require_named(file, layout, seen)
    places = {"locale": layout.locale, "jurisdiction": layout.jurisdiction}
    places |= {name: (column,) for name, column in layout.traits}
    absent = {name for name, keys in places.items() if not seen.intersection(keys)}
    return replace(part, columns={name: value for name, value in part.columns.items() if name not in absent})


def _keys(layout: Layout) -> list[str]:
    keys = [layout.id, *layout.locale, *layout.jurisdiction, *layout.outcome_names, *layout.trait_names]
    if layout.form == "completions":
        keys.append(layout.completion)
    elif layout.form == "long":
        keys += filter(None, ("field", layout.role, layout.other))
    else:
        for paths in layout.fields.values():
            keys += [head for path in paths for head in path.heads]
    return list(dict.fromkeys(keys))


def _noted(batches: Iterator[Rows], seen: set[str]) -> Iterator[Rows]:
    """Give the batches, and note which keys occur."""
    for rows in batches:
        seen.update(key for key, column in rows.columns.items() if key not in seen and column.count(None) < len(column))
        if rows.whole is not None:
            seen.update(key for record in rows.whole for key, _ in record)
        yield rows


def _long(file: SourceFile, layout: Layout, batches: Iterator[Rows]) -> Spool:
    values = [name for name in (layout.role, layout.other) if name]
    traits = [name for name, _ in layout.traits]
    names = ["field", *["value", "other"][: len(values)]]
    spool = Spool(["id", "locale", "jurisdiction", "finish", *traits, "outcome", "why", *names])
    for rows in batches:
        case = case_columns(file, layout, rows)
        fields = texts_of(rows.columns["field"])
        if None in fields:
            number = line_of(file, rows.line, fields.index(None))
            raise mistake(f"{file.name}, line {number}", "the key 'field' is missing or empty")
        outcomes = outcomes_of(layout, rows, case[3])
        why = errors_of(layout, rows, outcomes)
        traited = trait_columns(layout, rows)
        spool.add([*case, *traited, outcomes, why, fields, *(tokens_of(rows.columns[name]) for name in values)])
    spool.close()
    return spool


def columns_part(
    file: SourceFile, layout: Layout, batches: Iterator[Rows], excluded: frozenset[str], seen: set[str]
) -> Part:
    """Give rows with a value per field as a part; keys among `excluded` are no part of a payload."""
    fields = [FieldPaths(file, name, paths) for name, paths in layout.fields.items()]
    names = [f"{mark}{index}" for index, field in enumerate(fields) for mark, _ in zip("vw", field.paths, strict=False)]
    traits = [name for name, _ in layout.traits]
    spool = Spool(["id", "locale", "jurisdiction", "finish", *traits, "outcome", "why", *names, "payload"])
    dropped = layout.reserved | excluded
    named: set[str] = set()  # of a log, whose keys no other reader knows
    for rows in batches:
        case = case_columns(file, layout, rows)
        values = [column for field in fields for column in field.read(rows)]
        payload: RawValues = [None] * len(case[0])
        if rows.whole is not None:
            if file.format != "jsonl":
                named.update(key for record in rows.whole for key, _ in record)
            payload = [object_text([pair for pair in record if pair[0] not in dropped]) for record in rows.whole]
        outcomes = outcomes_of(layout, rows, case[3])
        why = errors_of(layout, rows, outcomes)
        spool.add([*case, *trait_columns(layout, rows), outcomes, why, *values, payload])
    spool.close()
    if absent := [field.name for field in fields if field.chosen is None]:
        raise absent_fields(file, layout, absent, all_keys(file) if file.format == "jsonl" else sorted(named))
    refuse_mixed(layout, fields)
    return _chosen(part_of(file, layout, spool, frozenset(seen) - dropped), fields)


def _chosen(part: Part, fields: list[FieldPaths]) -> Part:
    """Keep of each field the path that the file has."""
    numbers = [field.chosen or 0 for field in fields]
    kept = {name: value for name, value in part.columns.items() if not name[1:].isdigit()}
    values = {f"v{index}": Value(f"{'vw'[number]}{index}", token=True) for index, number in enumerate(numbers)}
    paths: dict[str, tuple[PayloadPath, ...]] = {
        field.name: (field.paths[number],) for field, number in zip(fields, numbers, strict=True)
    }
    return replace(part, layout=replace(part.layout, fields=paths), columns=kept | values)
