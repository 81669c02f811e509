"""The file of a warehouse's answers: CSV or JSON lines, as the warehouse or its client exported them.

The columns, in any order and any case: `field`; `raw_json` (or `raw`), the string that was read, as JSON text;
`status` (``value``, ``null``, ``rejected``, ``about``), which alone decides, never whether a cell is empty;
`value`, the engine's own text; and, where the file has them, `type`, the engine's name of its type; `error`; `seen`,
what the engine says of the string that it read (MD5, or the bytes in hexadecimal). A row ``about`` names in `raw_json`
what `value` says: ``engine``,
``version``, ``recorded_at``, ``contract.FIELD``, ``setting.NAME``. A header may be repeated: files can be appended.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json

from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Tuple

    Row = Dict[str, str]

#: Some products know the word `raw` as one of their own.
NAMES = {"raw_json": "raw"}

NEEDED = ("field", "raw", "status", "value")
STATUSES = ("value", "null", "rejected", "about")

#: What needs no more than its line in a message.
LONGEST_SHOWN = 80

AGAIN = "run the SQL of `auditor record` again, and export all of its result"


class Answer:
    """What the warehouse gave for one string: the line of the file, status, the engine's text and its type."""

    __slots__ = ("error", "kind", "line", "status", "value")

    def __init__(self, line: int, status: str, value: str, kind: str, error: str) -> None:
        self.line, self.status, self.value, self.kind, self.error = line, status, value, kind, error

    @property
    def said(self) -> str:
        """Say the answer in a few words."""
        text = self.value if self.status == "value" else self.status
        return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"

    def is_as(self, other: "Answer") -> bool:
        """Say whether two answers are one: the words of an error may differ."""
        return (self.status, self.value, self.kind) == (other.status, other.value, other.kind)


class Records:
    """All answers by field and string, and what the file says about itself."""

    def __init__(self) -> None:
        self.about: "Dict[str, str]" = {}
        self.answers: "Dict[str, Dict[str, Answer]]" = {}
        self.sha256 = ""


def read_records(path: str, shown: str) -> Records:
    """Read a file; StartError names the line that cannot be trusted."""
    tried = "read the records in " + shown
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        hint = "run `auditor record`, run what it writes in the warehouse, and save what that gives as this file"
        raise StartError(tried, error.strerror or str(error), hint) from error
    records = Records()
    records.sha256 = hashlib.sha256(data).hexdigest()
    for line, row in rows_of(text_of(data, tried), tried):
        take(records, line, row, "%s:%d" % (shown, line), tried)
    return records


def text_of(data: bytes, tried: str) -> str:
    """Decode the file: UTF-8, or UTF-16 where a mark says so, as some clients of SQL Server write it."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StartError(tried, "line %d is not UTF-8" % line, "export it as UTF-8") from error


def rows_of(text: str, tried: str) -> "Iterator[Tuple[int, Row]]":
    """Give each row with the line that it starts in."""
    if text.lstrip()[:1] == "{":
        return json_rows(text, tried)
    return csv_rows(text, tried)


def csv_rows(text: str, tried: str) -> "Iterator[Tuple[int, Row]]":
    """Give the rows of a CSV file, whatever separates its cells."""
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: "List[str]" = []
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            lowered = [named(cell) for cell in cells]
            if not names:
                names = lowered
                see_columns(names, tried)
            elif cells and lowered != names:
                if len(cells) != len(names):
                    seen = "line %d has %d cells, the header %d" % (line, len(cells), len(names))
                    raise StartError(tried, seen, "export it again as CSV with quotes")
                yield line, dict(zip(names, cells))  # noqa: B905 - no `strict` on Python 3.8
    except csv.Error as error:
        raise StartError(
            tried, "line %d is no CSV: %s" % (start, error), "export it again as CSV with quotes"
        ) from error


def json_rows(text: str, tried: str) -> "Iterator[Tuple[int, Row]]":
    """Give the rows of JSON lines; what is null or not there is an empty text."""
    for line, source in enumerate(text.split("\n"), 1):
        if not source.strip():
            continue
        try:
            found = json.loads(source)
        except ValueError as error:
            raise StartError(tried, "line %d is no JSON: %s" % (line, error), AGAIN) from error
        if not isinstance(found, dict):
            raise StartError(tried, "line %d is no JSON object" % line, AGAIN)
        row = {named(str(name)): cell for name, cell in found.items()}
        row = {name: "" if cell is None else cell for name, cell in row.items()}
        for name in ("status", "field", "raw"):
            row.setdefault(name, "")
        row.setdefault("value", "")
        odd = [name for name, cell in row.items() if not isinstance(cell, str)]
        if odd:
            seen = "line %d: %s is %s, not a text" % (line, odd[0], json.dumps(row[odd[0]])[:LONGEST_SHOWN])
            raise StartError(tried, seen, "export texts: a number or a date of JSON is not what the engine wrote")
        yield line, row


def named(name: str) -> str:
    """Give a column's name as it is known here."""
    name = name.strip().lower()
    return NAMES.get(name, name)


def see_columns(names: "List[str]", tried: str) -> None:
    """See that the columns are there, each once."""
    missing = [name for name in NEEDED if name not in names]
    if missing:
        seen = "there is no column %s in its header: %s" % (" and no column ".join(missing), ", ".join(names))
        raise StartError(tried, seen[:500], AGAIN)
    twice = [name for name in set(names) if names.count(name) > 1]
    if twice:
        raise StartError(tried, "its header has the column %s twice" % twice[0], AGAIN)


def take(records: Records, line: int, row: "Row", where: str, tried: str) -> None:
    """Take up one row; two that contradict each other are no records of one warehouse."""
    status = row["status"].strip().lower()
    if status not in STATUSES:
        seen = "%s: the status is %r, not one of %s" % (where, row["status"][:LONGEST_SHOWN], ", ".join(STATUSES))
        raise StartError(tried, seen, AGAIN)
    if status == "about":
        known = records.about.setdefault(row["raw"].strip(), row["value"])
        if known != row["value"]:
            seen = "%s: %s is %r, and was %r in a line before" % (where, row["raw"], row["value"], known)
            raise StartError(tried, seen, "these are two records: keep them in two files, and use the later one")
        return
    string = string_of(row["raw"], where, tried)
    see_string(string, row.get("seen", "").strip().lower(), where, tried)
    value = row["value"] if status == "value" else ""
    kind = row.get("type", "").strip() if status == "value" else ""
    answer = Answer(line, status, value, kind, row.get("error", "").strip())
    before = records.answers.setdefault(row["field"], {}).setdefault(string, answer)
    if not answer.is_as(before):
        seen = "%s says %s and line %d says %s for the same string, %s" % (
            where,
            answer.said,
            before.line,
            before.said,
            row["raw"][:LONGEST_SHOWN],
        )
        hint = "a warehouse that reads one string in two ways is unstable, and no record of it holds: ask its owner why"
        raise StartError(tried, seen, hint)


def string_of(raw: str, where: str, tried: str) -> str:
    """Give the string of a cell of JSON text."""
    found: "Any" = None
    with contextlib.suppress(ValueError):
        found = json.loads(raw)
    if not isinstance(found, str):
        seen = "%s: raw is %s, which is no string in JSON's quotes" % (where, raw[:LONGEST_SHOWN])
        raise StartError(tried, seen, "export the column as it is: `auditor record` writes each string as JSON text")
    return found


def see_string(string: str, seen: str, where: str, tried: str) -> None:
    """See that the warehouse read the string that it was to read, by what it says of it."""
    if not seen:
        return
    data = string.encode("utf-8", "surrogatepass")
    wide = string.encode("utf-16-le", "surrogatepass")
    if seen not in (hashlib.md5(data).hexdigest(), hashlib.md5(wide).hexdigest(), data.hex()):
        was = "%s: the warehouse read another string than %s" % (where, json.dumps(string)[:LONGEST_SHOWN])
        hint = "its client or a conversion of its character set changed it: run the SQL as UTF-8, and export it again"
        raise StartError(tried, was, hint)
