"""Completions: the text of a JSON object in one column, unfolded into a column per field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from auditor.load.columnar import ColumnarFile
from auditor.load.content_parts import content_of_reply
from auditor.load.files import SourceFile
from auditor.load.finish import TOOL_REASONS
from auditor.load.json_lines import members
from auditor.load.layout import TOOL, Layout
from auditor.load.malformed import why_no_text
from auditor.load.parts import CompletionKeys, Part
from auditor.load.payload import PayloadReader
from auditor.load.rows import (
    REFUSED,
    RawValues,
    Rows,
    arms_of,
    case_columns,
    errors_of,
    outcomes_of,
    part_of,
    trait_columns,
)
from auditor.load.spool import Spool
from auditor.load.tokens import escape_surrogates
from auditor.model.payload_path import payload_path

_BATCH = 10_000
_SHOWN = 100
_NO_INPUT = "the reply calls a tool, and its text is no JSON"


def open_columnar_completions(columnar: ColumnarFile, layout: Layout, payloads: bool) -> Part:
    """Give the completions of a CSV or Parquet file as a part."""
    part = completions_part(columnar.file, layout, _rows(columnar, layout), payloads)
    places = {"locale": layout.locale, "jurisdiction": layout.jurisdiction}
    places |= {name: (column,) for name, column in layout.traits}
    absent = {name for name, columns in places.items() if not set(columns).intersection(columnar.names)}
    columns = {name: value for name, value in part.columns.items() if name not in absent}
    return replace(part, columns=columns, header=tuple(columnar.names))


def _rows(columnar: ColumnarFile, layout: Layout) -> Iterator[Rows]:
    names = [layout.id, *layout.locale, *layout.jurisdiction, *layout.outcome_names, *layout.trait_names]
    names.append(layout.completion)
    selected = ", ".join(
        value.as_token() if (value := columnar.value(payload_path(name))) is not None else "CAST(NULL AS VARCHAR)"
        for name in names
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

    What was read is kept as the payload of its fields where `payloads` are asked for, and there alone; of what was not
    judged the text is kept.
    """
    reader = PayloadReader(layout.contract, layout.fields)
    unsent = set(layout.fields)
    keys: dict[str, None] = {}
    names = [f"v{index}" for index in range(len(layout.fields))]
    traits = [name for name, _ in layout.traits]
    spool = Spool(["id", "locale", "jurisdiction", "finish", *traits, "outcome", "why", *names, "payload", "reply"])
    for rows in batches:
        case = case_columns(file, layout, rows)
        outcomes = outcomes_of(layout, rows, case[3])
        why = errors_of(layout, rows, outcomes)
        contents = [content_of_reply(raw) for raw in rows.columns[layout.completion]]
        for index, content in enumerate(contents):
            if content.refusal is not None and outcomes[index] != "transport":
                outcomes[index], why[index] = "refused", REFUSED
        replies = [reply_text(content.text) for content in contents]
        values, whole = _read_batch(reader, layout, rows, (case[3], replies, outcomes, why))
        for text in whole:
            if text is not None and reader.taken <= _SHOWN:
                keys.update(dict.fromkeys(key for key, _ in members(text)))
        unsent -= {name for name, column in zip(layout.fields, values, strict=True) if column.count(None) < len(column)}
        kept = [None if outcome == "judged" else reply for outcome, reply in zip(outcomes, replies, strict=True)]
        given = [*case, *trait_columns(layout, rows), outcomes, why, *values]
        spool.add([*given, whole if payloads else [None] * len(whole), kept])
    spool.close()
    found = CompletionKeys(reader.taken, frozenset(unsent), tuple(keys))
    return replace(part_of(file, layout, spool), completions=found, censuses=reader.censuses)


_Cases = tuple[RawValues, Sequence[str | None], list[str], list[str | None]]


def _read_batch(
    reader: PayloadReader, layout: Layout, rows: Rows, cases: _Cases
) -> tuple[list[list[str | None]], list[str | None]]:
    """Read the replies that ended cleanly into a column per field; where one cannot be read its outcome changes."""
    finishes, replies, outcomes, why = cases
    values: list[list[str | None]] = [[None] * len(outcomes) for _ in layout.fields]
    whole: list[str | None] = [None] * len(outcomes)
    ended = [index for index, outcome in enumerate(outcomes) if outcome == "judged"]
    texts = {index: text for index in ended if (text := replies[index]) is not None}
    objects = dict(zip(texts, reader.objects(list(texts.values())), strict=True))
    from_tools = rows.columns.get(TOOL)
    arms = arms_of(layout, rows)
    for index in ended:
        reader.of_arm(arms[index])
        if from_tools is None or from_tools[index] is None:
            calls_tool = (finishes[index] or layout.assume_finish or "").lower() in TOOL_REASONS
            if calls_tool and not (replies[index] or "").lstrip().startswith("{"):
                outcomes[index], why[index] = "unknown", _NO_INPUT
                continue
        if index not in texts:
            reader.census.ended += 1
            outcomes[index], why[index] = "malformed", why_no_text(rows.columns[layout.completion][index])
            continue
        taken, seen = objects[index]
        read, wrong = reader.read(texts[index], taken, seen)
        if read is None:
            outcomes[index], why[index] = "malformed", wrong
            continue
        whole[index] = taken
        for column, value in zip(values, read, strict=True):
            column[index] = value
    return values, whole


def reply_text(raw: str | None) -> str | None:
    """Give the text of a reply from its JSON source: a string's content, an object as it is; None for all else."""
    if raw is None:
        return None
    if raw[0] == '"':
        return escape_surrogates(json.loads(raw))
    return raw if raw[0] == "{" else None
