"""JSON lines that DuckDB reads without loss: flat objects whose wanted values are all strings.

DuckDB reads JSON several times faster than Python, but writes numbers and nested values anew, and gives NULL for null
and for no key alike. So its reading is taken only where the file proves to hold none of that; else it is thrown away,
and the lossless reader of `json_lines` reads the file from the start. Errors, too, are left to that reader.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import duckdb

from auditor.load.files import SourceFile
from auditor.load.json_lines import ESCAPED_KEY, read_chunks
from auditor.load.layout import Layout
from auditor.load.manifest import contents_of
from auditor.load.spool import Spool
from auditor.load.tokens import ESCAPED, path_literal
from auditor.sql import literal

#: Below, a file is read before pyarrow is imported.
SMALLEST = 16 << 20
_BATCH = 50_000
_MARK = ESCAPED.encode()


def spool_regular(file: SourceFile, layout: Layout, connection: duckdb.DuckDBPyConnection) -> Spool | None:
    """Give the rows of a large file of the long or columns form, or None where DuckDB is not proven to lose nothing."""
    if file.path.stat().st_size < SMALLEST or layout.form == "completions" or layout.outcome_names or layout.traits:
        return None
    import pyarrow

    if layout.form == "long":
        texts = {"id": layout.id, "field": "field"}
        values = {"value": layout.role} | ({"other": layout.other} if layout.other else {})
    else:
        if any(len(paths[0].choices) > 1 or paths[0].is_nested for paths in layout.fields.values()):
            return None
        texts = {"id": layout.id}
        values = {f"v{index}": paths[0].heads[0] for index, paths in enumerate(layout.fields.values())}
    places = {"locale": layout.locale[0], "jurisdiction": layout.jurisdiction[0]}
    columns = texts | places | values
    if any("." in key for key in columns.values()) or len({key.lower() for key in columns.values()}) < len(columns):
        return None
    spool = Spool(list(columns))
    missing = dict.fromkeys(values, 0)
    try:
        if not _read_into(spool, file, columns, connection, missing):
            return None
    except (duckdb.InvalidInputException, OSError, pyarrow.ArrowException):  # the last two from within the stream
        return None
    if any(count == spool.count for count in missing.values()):
        return None  # a key that never occurs is a mistake, or its value is elsewhere
    alternatives = layout.form == "columns" and any(len(paths) > 1 for paths in layout.fields.values())
    if alternatives and any(missing.values()):
        return None  # which path counts is for all lines to tell
    if any(missing[name] and _counted(file, values[name]) != spool.count - missing[name] for name in missing):
        return None  # some of the NULLs are nulls
    return spool


def _read_into(
    spool: Spool,
    file: SourceFile,
    columns: dict[str, str],
    connection: duckdb.DuckDBPyConnection,
    missing: dict[str, int],
) -> bool:
    selected = ", ".join(f"CAST(k{index} AS VARCHAR)" for index in range(len(columns)))
    typed = ", ".join(f"{literal(key)}: 'JSON'" for key in columns.values())
    aliases = ", ".join(f"k{index}" for index in range(len(columns)))
    options = f"format = 'newline_delimited', hive_partitioning = false, columns = {{{typed}}}"
    query = f"SELECT {selected} FROM read_json({path_literal(file.path)}, {options}) AS t({aliases})"
    with closing(connection.sql(query).to_arrow_reader(_BATCH)) as reader:
        for batch in reader:
            arrays = _lossless(dict(zip(columns, batch.columns, strict=True)), missing)
            if arrays is None:
                return False
            spool.add_arrow(arrays)
    spool.close()
    return True


def _lossless(columns: dict[str, Any], missing: dict[str, int]) -> list[Any] | None:
    """Give the columns of a batch, texts without quotes; None where a value is no plain string."""
    import pyarrow.compute as compute

    arrays = []
    for name, column in columns.items():
        contents = contents_of(column).tobytes()
        if compute.all(compute.starts_with(column, '"')).as_py() is False:
            return None
        if name in missing:
            if b"\\u00" in contents:  # DuckDB writes \u001F for \u001f
                return None
            missing[name] += column.null_count
        elif b"\\" in contents or (name in ("id", "field") and column.null_count):
            return None
        elif contents:
            column = compute.ascii_trim(column, '"')
            if compute.any(compute.equal(column, "")).as_py():
                return None  # an empty id is an error, an empty place is none
            if _MARK in contents:
                return None  # an id that starts with it is rewritten
        arrays.append(column)
    return arrays


def _counted(file: SourceFile, key: str) -> int:
    """Count where a file spells a key, or a string that is equal to it; -1 where a key may be spelled with escapes."""
    spellings = {json.dumps(key).encode(), json.dumps(key, ensure_ascii=False).encode()}
    count = 0
    for _, chunk in read_chunks(file):
        if b"\\" in chunk and ESCAPED_KEY.search(chunk):
            return -1
        count += sum(chunk.count(spelling) for spelling in spellings)
    return count
