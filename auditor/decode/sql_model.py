"""The plan of a warehouse model: its own statements as they are written, and what to put where in a mocked source.

For each field the plan names the output column, the one source column that it passes through, and an output column
that carries the number of the row. `auditor/worker/sql_model_run.py` runs it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.sql_dialects import dialect_of, spelled
from auditor.decode.sql_filters import foreign_filter
from auditor.decode.sql_lineage import Lineage, lineage_of, table_name
from auditor.decode.sql_outputs import LineageError, Name, Origin, Output
from auditor.decode.sql_rows import row_plan
from auditor.decode.sql_syntax import Node, template_in
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec


def model_plan(
    spec: AuditSpec, consumer: ConsumerSpec, fields: Mapping[str, FieldSpec], keys: PayloadKeys | None = None
) -> dict[str, Any]:
    """Give the `plan` of a worker's configuration for `consumer.model`; ConsumerError names what cannot be located.

    A read names an output column of the model; without one it is the column of the field's name. A field that the
    model does not give is not read, unless a read says that it is. `keys` are those of the payloads that will be sent;
    without any, and in scope ``field``, each raw value is read alone.
    """
    path = spec.folder / (consumer.root or ".") / str(consumer.model)
    shown = os.path.relpath(path, spec.folder)
    text = _read(consumer, path)
    dialect = dialect_of(consumer.engine)
    setup, statement = _statements(consumer, shown, text, dialect)
    kind, target, query = _model(consumer, shown, statement, dialect)
    try:
        lineage = lineage_of(query, dialect)
    except LineageError as error:
        raise ConsumerError(consumer.name, f"locate the columns of {shown}", error.seen, error.hint) from error
    except SqlglotError as error:
        raise ConsumerError(consumer.name, f"locate the columns of {shown}", str(error).split("\n")[0]) from error
    offset = text[: text.index(statement)].count("\n")
    located = _locate_all(consumer, shown, lineage, fields, offset)
    for one in located.values():
        source = list(lineage.tables)[one["source"]], one["column"]
        one["probe"] = foreign_filter(query, lineage.conditions, source, lineage.tables, dialect)
    by_payload = consumer.scope == "payload" and bool(located)
    rows = None
    if by_payload and keys is not None:
        reads_references = any(fields[name].is_decoded_by(consumer.name) for name in located)
        try:
            rows = row_plan(query, lineage, located, fields, keys, reads_references, dialect)
        except LineageError as error:
            raise ConsumerError(consumer.name, f"run {shown} on whole rows", error.seen, error.hint) from error
    return {
        "file": shown,
        "text": text,
        "setup": setup,
        "statement": statement,
        "kind": kind,
        "target": list(target),
        "sources": _sources(lineage),
        "fields": located,
        "rows": rows,
        "scope_note": "each string alone: it came in no payload" if by_payload and rows is None else "",
        "filters": sorted(f"{'.'.join(table)}.{column}" for table, column in lineage.filters),
        "spelled": _spelling(statement, consumer.engine, dialect),
    }


def _read(consumer: ConsumerSpec, path: Path) -> str:
    tried = f"read the model {path}"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConsumerError(consumer.name, tried, error.strerror or str(error), "correct `model`") from error
    except UnicodeDecodeError as error:
        raise ConsumerError(consumer.name, tried, f"it is not UTF-8: {error}", "save it as UTF-8") from error
    if found := template_in(text):
        hint = "name the compiled model: dbt writes it to target/compiled/"
        raise ConsumerError(consumer.name, tried, f"line {found[0]} has a template, {found[1]}", hint)
    return text


def _statements(consumer: ConsumerSpec, shown: str, text: str, dialect: str) -> tuple[list[str], str]:
    """Split a file into the statements that come first and the model, each as it is written."""
    try:
        tokens = sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError as error:
        raise ConsumerError(consumer.name, f"read the model {shown}", str(error).split("\n")[0]) from error
    statements, start = [], None
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if start is not None:
                statements.append(text[start : token.start])
            start = None
        elif start is None:
            start = token.start
    if start is not None:
        statements.append(text[start:])
    if not statements:
        raise ConsumerError(consumer.name, f"read the model {shown}", "it has no statement", "write a select")
    return statements[:-1], statements[-1]


def _model(consumer: ConsumerSpec, shown: str, statement: str, dialect: str) -> tuple[str, Name, Node]:
    """Parse the model: a select, or the select of a table or view that it creates."""
    tried = f"read the model {shown} with sqlglot, which locates its columns"
    try:
        parsed = sqlglot.parse_one(statement, dialect=dialect)
    except SqlglotError as error:
        raise ConsumerError(consumer.name, tried, str(error).split("\n")[0], "correct the model") from error
    if isinstance(parsed, exp.Query):
        return "select", (), parsed
    query = parsed.args.get("expression")
    kind = str(parsed.args.get("kind", "")).lower()
    if isinstance(parsed, exp.Create) and kind in ("table", "view") and isinstance(query, exp.Query):
        created = parsed.this if isinstance(parsed.this, exp.Table) else parsed.this.this
        return kind, table_name(created), query
    seen = f"its last statement is {parsed.key.upper()}"
    raise ConsumerError(consumer.name, tried, seen, "end it with a select, or with create table or view … as select")


def _spelling(statement: str, engine: str | None, dialect: str) -> dict[str, str]:
    """Map names in lower case, by which columns are located, to what an engine that tells the two apart calls them."""
    if engine in (None, "duckdb"):
        return {}
    names = sqlglot.parse_one(statement, dialect=dialect).find_all(exp.Identifier)
    return {name.name.lower(): spelled(name.name, bool(name.args.get("quoted")), engine) for name in names}


def _sources(lineage: Lineage) -> list[dict[str, Any]]:
    return [
        {
            "name": list(table),
            "columns": sorted(columns),
            "keys": sorted(column for owner, column in lineage.keys if owner == table),
            "joined": table in lineage.joined,
        }
        for table, columns in lineage.tables.items()
    ]


def _locate_all(
    consumer: ConsumerSpec, shown: str, lineage: Lineage, fields: Mapping[str, FieldSpec], offset: int
) -> dict[str, dict[str, Any]]:
    located = {}
    for name, field in fields.items():
        column = consumer.reads.get(name, name)
        if "{value}" in column or (name not in consumer.reads and lineage.outputs.named.get(column.lower()) is None):
            continue
        tried = f"find column {column} of {shown}, for field {name}"
        try:
            located[name] = _locate(lineage, field, column, offset)
        except LineageError as error:
            raise ConsumerError(consumer.name, tried, error.seen, error.hint) from error
    if not located and not consumer.reads:
        hint = f'name the columns, such as reads.{next(iter(fields), "total")} = "column"'
        seen = f"the model gives {_listed(lineage.outputs.named)}, and no field has such a name"
        raise ConsumerError(consumer.name, f"find the fields in {shown}", seen, hint)
    return located


def _locate(lineage: Lineage, field: FieldSpec, column: str, offset: int) -> dict[str, Any]:
    output = lineage.outputs.named.get(column.lower())
    if output is None and lineage.outputs.open:
        seen = (
            f"the model gives every column of {'.'.join(lineage.outputs.open[0])} (*), and which those are is not known"
        )
        raise LineageError(seen, f"write {column} in the model's select")
    if output is None:
        close = difflib.get_close_matches(column.lower(), lineage.outputs.named, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else ""
        raise LineageError(f"the model has no such column; it gives {_listed(lineage.outputs.named)}", hint)
    if output.unpacked:
        raise LineageError(
            "it is taken out of a JSON text or a structure", "read the field with an expression on {value}"
        )
    source = _source(output, field)
    carrier = _carrier(lineage, source)
    number = carrier.bare[1] if carrier is not None and carrier.bare is not None else None
    itself = output.bare == source and output.plain
    return {
        "output": output.name,
        "source": list(lineage.tables).index(source[0]),
        "column": source[1],
        "line": None if output.line is None else output.line + offset,
        "identity": output.name if itself else carrier.name if carrier is not None else None,
        "number": number,
        "alone": _alone(lineage, source, number),
    }


def _source(output: Output, field: FieldSpec) -> Origin:
    """Give the one source column that a column passes through; of several, the one with the field's own name."""
    if len(output.origins) == 1:
        return next(iter(output.origins))
    if not output.origins:
        raise LineageError("it is made of no column of a table", "name a column that a source column passes through")
    own = (field.name.lower(), *(str(place[-1]).lower() for place in field.prediction_path.choices))
    named = [origin for name in own for origin in sorted(output.origins) if origin[1] == name]
    if len(set(named)) == 1:
        return named[0]
    columns = ", ".join(f"{'.'.join(table)}.{column}" for table, column in sorted(output.origins))
    raise LineageError(f"it is made of several columns: {columns}", "read the field with an expression on {value}")


def _alone(lineage: Lineage, source: Origin, number: str | None) -> str:
    """Say why the model must run once per value; empty where rows do not meet."""
    if any(one.keyed and one.columns <= {source} for one in lineage.gatherings):
        return "a window or group over the value itself or over all rows"
    numbered = {table for table, _ in lineage.keys} | {source[0]}
    if any(meeting.untied(numbered, lambda origins: source not in origins) for meeting in lineage.meetings):
        return "tables that meet without a key"
    numbers = lineage.keys if number is None else lineage.keys | {(source[0], number)}
    if any(condition.counts(numbers - {source}, {source}) for condition in lineage.conditions):
        return "a filter on a key"
    return next((one.clause for one in lineage.gatherings if not one.keyed), "")


def _carrier(lineage: Lineage, source: Origin) -> Output | None:
    """Choose an output column that carries the number of a row; a key first, since neighbours meet at keys."""
    found = [
        other
        for other in lineage.outputs.named.values()
        if other.bare is not None and other.bare[0] == source[0] and other.bare != source
    ]
    found.sort(key=lambda other: (other.bare not in lineage.keys, not other.plain))
    return found[0] if found else None


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "") if shown else "none"
