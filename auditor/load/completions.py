"""Completions: the text of a JSON object in one column, unfolded into a column per field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from auditor.load.columnar import ColumnarFile
from auditor.load.files import SourceFile
from auditor.load.json_lines import members
from auditor.load.layout import Layout
from auditor.load.malformed import why_malformed, why_no_text
from auditor.load.parts import CompletionKeys, Part
from auditor.load.rows import Rows, case_columns, errors_of, member, outcomes_of, part_of, value_at
from auditor.load.spool import Spool
from auditor.load.tokens import escape_surrogates, token_of

_BATCH = 10_000
_SHOWN = 100


def open_columnar_completions(columnar: ColumnarFile, layout: Layout, payloads: bool) -> Part:
    """Give the completions of a CSV or Parquet file as a part."""
    part = completions_part(columnar.file, layout, _rows(columnar, layout), payloads)
    places = {"locale": layout.locale, "jurisdiction": layout.jurisdiction}
    absent = {name for name, columns in places.items() if not set(columns).intersection(columnar.names)}
    columns = {name: value for name, value in part.columns.items() if name not in absent}
    return replace(part, columns=columns, header=tuple(columnar.names))


def _rows(columnar: ColumnarFile, layout: Layout) -> Iterator[Rows]:
    names = [layout.id, *layout.locale, *layout.jurisdiction, *layout.finish, *layout.error, layout.completion]
    selected = ", ".join(
        value.as_token() if (value := columnar.value(name)) is not None else "CAST(NULL AS VARCHAR)" for name in names
    )
    row = 1
    with closing(columnar.connection.cursor()) as cursor:  # others use the connection meanwhile
        found = cursor.execute(f"SELECT {selected} FROM {columnar.relation(cursor)}")
        while rows := found.fetchmany(_BATCH):
            columns = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
            yield Rows("row", row, columns)
            row += len(rows)
        columnar.release()


def completions_part(file: SourceFile, layout: Layout, batches: Iterable[Rows], payloads: bool) -> Part:
    """Read the completions that ended cleanly; the outcome of every case is a column beside its fields.

    The completion itself is kept as the payload of its fields where `payloads` are asked for, and there alone.
    """
    unsent = set(layout.fields)
    keys: dict[str, None] = {}
    read_count = 0
    names = [f"v{index}" for index in range(len(layout.fields))]
    spool = Spool(["id", "locale", "jurisdiction", "finish", "outcome", "why", *names, "payload"])
    for rows in batches:
        case = case_columns(file, layout, rows)
        outcomes = outcomes_of(layout, rows, case[3])
        why = errors_of(layout, rows, outcomes)
        values: list[list[str | None]] = [[None] * len(outcomes) for _ in names]
        whole: list[str | None] = [None] * len(outcomes)
        for index, completion in enumerate(rows.columns[layout.completion]):
            if outcomes[index] != "judged":
                continue
            text = _completion_text(completion)
            read = None if text is None else read_completion(text, layout.fields)
            if read is None:
                outcomes[index] = "malformed"
                why[index] = why_no_text(completion) if text is None else _why(text, layout.fields)
                continue
            whole[index] = text if payloads else None
            read_count += 1
            if read_count <= _SHOWN and text is not None:
                keys.update(dict.fromkeys(key for key, _ in members(text)))
            for column, value in zip(values, read, strict=True):
                column[index] = value
        unsent -= {name for name, column in zip(layout.fields, values, strict=True) if column.count(None) < len(column)}
        spool.add([*case, outcomes, why, *values, whole])
    spool.close()
    found = CompletionKeys(read_count, frozenset(unsent), tuple(keys))
    return replace(part_of(file, layout, spool), completions=found)


def _completion_text(raw: str | None) -> str | None:
    if raw is None:
        return None
    if raw[0] == '"':
        return escape_surrogates(json.loads(raw))
    return raw if raw[0] == "{" else None


def read_completion(text: str, fields: dict[str, tuple[str, ...]]) -> list[str | None] | None:
    """Give the token of each field in the text of a completion, or None where it is malformed."""
    try:
        return _read(text, fields)
    except (ValueError, RecursionError):  # not JSON, no object, or a wanted key that occurs twice
        return None


def _why(text: str, fields: dict[str, tuple[str, ...]]) -> str:
    return why_malformed(text, lambda text: _read(text, fields))


def _read(text: str, fields: dict[str, tuple[str, ...]]) -> list[str | None]:
    found = members(text)
    return [_at_first(found, paths) for paths in fields.values()]


def _at_first(found: Sequence[tuple[str, str]], paths: Sequence[str]) -> str | None:
    path = paths[0]
    value = member(found, path)
    if value is None and "." in path:
        first, *rest = path.split(".")
        outer = member(found, first)
        value = None if outer is None else value_at(outer, rest)
    return None if value is None else token_of(value)
