"""Cells of a delimited file, read in Python, with quoted empty cells told apart from unquoted ones.

DuckDB reads delimited files faster. This reader takes the header, and the files that DuckDB refuses or changes: spaces
beside quotes, lone carriage returns in quoted cells, mixed line ends, cells of many megabytes. Python's csv module
cannot tell `""` from an empty cell before 3.12, so it is no substitute. What this reader refuses, it names by line and
column.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Generator

from auditor.errors import LoadError
from auditor.load.files import SourceFile, mistake

_MARK = b"\xef\xbb\xbf"


def delimiter_of(file: SourceFile) -> str:
    """Give the delimiter that the file's name stands for."""
    return "\t" if file.format == "tsv" else ","


def read_rows(file: SourceFile) -> Generator[tuple[int, list[str | None]], None, None]:
    """Give each record, header included, with its byte offset; an unquoted empty cell is None.

    A blank line is no record.
    """
    with file.path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        old_mac = data.find(b"\n") < 0
        cell = _cell_pattern(delimiter_of(file).encode(), old_mac)
        mark = cell_delimiter(file)
        position, end = (3 if data[:3] == _MARK else 0), len(data)
        row: list[str | None] = []
        start = position
        while position < end:
            match = cell.match(data, position)
            if match is None:
                raise _broken_cell(file, data, position)
            quoted, plain, stop = match.group(1, 2, 3)
            if quoted is not None:
                row.append(quoted.decode().replace('""', '"'))
            else:
                row.append(plain.decode() or None)
            position = match.end()
            if stop != mark or position == end:
                if stop == mark:
                    row.append(None)
                if len(row) > 1 or row[0] is not None:
                    yield start, row
                row, start = [], position


def data_start(file: SourceFile) -> int:
    """Give the byte offset of the first character after a byte order mark."""
    with file.path.open("rb") as opened:
        return len(_MARK) if opened.read(len(_MARK)) == _MARK else 0


def line_at(file: SourceFile, offset: int) -> int:
    """Give the number of the line at a byte offset."""
    with file.path.open("rb") as opened:
        return opened.read(offset).count(b"\n") + 1


def cell_delimiter(file: SourceFile) -> bytes:
    """Give the delimiter as it stands in the file."""
    return delimiter_of(file).encode()


def _cell_pattern(delimiter: bytes, old_mac: bool) -> re.Pattern[bytes]:
    mark = re.escape(delimiter)
    stop = rb"(" + mark + (rb"|\r|\Z)" if old_mac else rb"|\r?\n|\Z)")
    quoted = rb'"([^"]*(?:""[^"]*)*)"'
    plain = rb"([^" + mark + rb'"\r\n][^' + mark + rb"\r\n]*|)"
    return re.compile(rb"(?:" + quoted + rb"|" + plain + rb")" + stop)


def _broken_cell(file: SourceFile, data: mmap.mmap, position: int) -> LoadError:
    line = data[:position].count(b"\n") + 1
    start = max(data.rfind(b"\n", 0, position) + 1, 0)
    column = len(data[start:position].decode(errors="replace")) + 1
    where = f"{file.name}, line {line}, column {column}"
    if data[position : position + 1] != b'"':
        return mistake(where, "a carriage return stands alone in a cell without quotes", "put the cell in quotes")
    if re.compile(rb'"[^"]*(?:""[^"]*)*"').match(data, position) is None:
        return mistake(where, "a quoted cell is never closed", 'within quotes, write a quote as ""')
    return mistake(where, "text follows the closing quote of a cell", 'within quotes, write a quote as ""')
