"""How MariaDB reads a column: an expression, or an INSERT per value; see `engine_mariadb.py`.

Values go into a temporary table as hexadecimal, whatever the session's mode makes of quotes and backslashes. A warning
names no row where a column is cast, so the rows that warned are found: by the value that a plain cast's warning quotes,
else by asking for ever fewer rows.
"""

from __future__ import annotations

import re

from .engine_common import Column, in_place
from .engine_texts import boolean_text, integer_text
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, Iterable, List, Optional, Sequence, Union

    from .engine_mariadb import Engine

COLUMN = "`value`"

#: Tags by the number of a type in the protocol.
TAGS = {
    **dict.fromkeys((1, 2, 3, 8, 9, 13, 16), "int"),
    **dict.fromkeys((0, 246), "decimal"),
    **dict.fromkeys((4, 5), "float"),
    **dict.fromkeys((10, 14), "date"),
    **dict.fromkeys((7, 12), "datetime"),
    **dict.fromkeys((11,), "time"),
    **dict.fromkeys((15, 245, 249, 250, 251, 252, 253, 254), "text"),
}

NAMES = {
    "int": "integer",
    "decimal": "decimal",
    "float": "double",
    "date": "date",
    "datetime": "datetime",
    "time": "time",
    "text": "text",
}

#: Nothing happens to the value before it is cast, so that a warning quotes the value itself, once.
PLAIN_CAST = re.compile(r"\s*cast\s*\(\s*\{value\}\s+as\s+[\w ]+(\([\d, ]*\))?\s*\)\s*", re.IGNORECASE)
QUOTED = re.compile(r" value: '(.*?)'(?: for column .*)?$", re.DOTALL)
#: Where in our own tables a message says that something was.
OUR_PLACE = re.compile(r"(?: for column (?:`[^`]*`\.`auditor_\w+`\.`\w+`|'v'))?(?: at row \d+)?$")
AT_ROW = re.compile(r" at row (\d+)$")

#: Bytes of values in one statement, below any server's limit.
LONGEST = 512 * 1024


def boolean_or_integer(text: str) -> "Optional[str]":
    """Tag an integer of a boolean field: the engine's only form of truth."""
    return boolean_text(text) or integer_text(text)


def tag_of(code: int, kind: str) -> "Union[str, Callable[[str], Optional[str]]]":
    """Give the tag of a type."""
    tag = TAGS.get(code, "other")
    return boolean_or_integer if tag == "int" and kind == "boolean" else tag


def in_hex(value: str) -> str:
    """Write a text so that nothing in it is read as SQL."""
    return "_utf8mb4 x'%s'" % value.encode().hex()


def packets(rows: "Iterable[str]") -> "Iterable[List[str]]":
    """Give rows in statements that no server finds too long."""
    part: "List[str]" = []
    size = 0
    for row in rows:
        if part and size + len(row) > LONGEST:
            yield part
            part, size = [], 0
        part.append(row)
        size += len(row)
    if part:
        yield part


def without_place(message: str) -> str:
    """Leave out of a message the table of ours and the row, so that it is the same for the same value anywhere."""
    return OUR_PLACE.sub("", message)


class Expression:
    """The consumer's expression over a column."""

    def __init__(self, engine: "Engine", field: str, target: str, kind: str, number: int) -> None:
        self.engine, self.shown = engine, target
        self.is_plain = PLAIN_CAST.fullmatch(target) is not None
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, COLUMN, tried)
        self.table = "auditor_mock_%d" % number
        self.query = "SELECT i, CAST(x AS CHAR) FROM (SELECT i, %s AS x FROM %s) AS r" % (sql, self.table)
        columns = "(i INT PRIMARY KEY, %s LONGTEXT CHARACTER SET utf8mb4)" % COLUMN
        try:
            engine.run("CREATE TEMPORARY TABLE %s %s" % (self.table, columns))
            asked = engine.run("SELECT %s AS x FROM %s LIMIT 0" % (sql, self.table)).description
            self.fill(["1", "2"])
        except engine.module.Error as error:
            raise StartError(tried, engine.said(error), "correct the expression") from error
        try:
            rows = len(engine.rows("SELECT %s AS x FROM %s" % (sql, self.table)))
        except engine.module.Error:
            rows = 2  # it refuses these values, which is no mistake
        if len(asked) != 1:
            raise StartError(tried, "it gives %d columns" % len(asked), "give one expression")
        if rows != 2:
            raise StartError(tried, "it gives %d rows for 2 values" % rows, "give an expression of one value")
        self.tag = tag_of(asked[0][1], kind)
        self.kind = NAMES.get(TAGS.get(asked[0][1], ""), "another")

    def fill(self, values: "Sequence[str]") -> None:
        """Put values into the column."""
        self.engine.run("TRUNCATE TABLE " + self.table)
        for part in packets("(%d, %s)" % (index, in_hex(value)) for index, value in enumerate(values)):
            self.engine.run("INSERT INTO %s VALUES %s" % (self.table, ",".join(part)))

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text, and what the engine warned of."""
        column = Column([None] * len(values))
        if values:
            self.fill(values)
            self._read(values, range(len(values)), column)
        return column

    def _read(self, values: "List[str]", rows: "Sequence[int]", column: Column) -> None:
        """Read some of the rows, and find which of them warned; where the statement fails, its halves."""
        try:
            cursor = self.engine.run(self.query + self._where(rows, len(values)))
        except self.engine.module.Error as error:
            if len(rows) > 1:
                self._halves(values, rows, column)
            elif self.engine.is_late(error):
                column.late[rows[0]] = self.engine.said(error)
            else:
                column.errors[rows[0]] = self.engine.said(error)
            return
        for index, text in cursor.fetchall():
            column.texts[index] = text
        count = cursor.warning_count
        if not count:
            return
        if len(rows) == 1:
            column.warnings[rows[0]] = self.engine.warned()
            return
        left = [*rows]
        if self.is_plain:
            found = quoted_by(self.engine.warnings(), {values[row]: row for row in rows})
            column.warnings.update({row: without_place(warning) for row, warning in found.items()})
            if len(found) == count:
                return
            left = [row for row in rows if row not in found]
        self._halves(values, left, column)

    def _halves(self, values: "List[str]", rows: "Sequence[int]", column: Column) -> None:
        parts = [rows[at : at + 1] for at in range(len(rows))] if len(rows) <= 4 else split(rows)
        for part in parts:
            self._read(values, part, column)

    def _where(self, rows: "Sequence[int]", count: int) -> str:
        """Say which rows are asked for; our own numbers, in their order."""
        if len(rows) == count:
            return " ORDER BY i"
        return " WHERE i IN (%s) ORDER BY i" % ",".join(map(str, rows))


def split(rows: "Sequence[int]") -> "List[Sequence[int]]":
    """Give both halves."""
    half = len(rows) // 2
    return [rows[:half], rows[half:]]


def quoted_by(warnings: "List[str]", rows: "Dict[str, int]") -> "Dict[int, str]":
    """Give the rows whose value a warning quotes whole."""
    found = {}
    for warning in warnings:
        quoted = QUOTED.search(AT_ROW.sub("", warning))
        if quoted is not None and quoted.group(1) in rows:
            found[rows[quoted.group(1)]] = warning
    return found


class Insert:
    """A column of a temporary table, into which each value is inserted."""

    def __init__(self, engine: "Engine", field: str, target: str, kind: str, number: int) -> None:
        self.engine, self.shown, self.kind = engine, target, target
        self.table = "auditor_load_%d" % number
        tried = "load column %s %s on %s" % (field, target, engine.name)
        try:
            engine.run("CREATE TEMPORARY TABLE %s (i INT PRIMARY KEY, v %s\n)" % (self.table, target))
            asked = engine.run("SELECT * FROM %s LIMIT 0" % self.table).description
        except engine.module.Error as error:
            hint = "reads.%s is the type of the column, such as DATE" % field
            raise StartError(tried, engine.said(error), hint) from error
        if len(asked) != 2:
            raise StartError(tried, "that makes %d columns" % (len(asked) - 1), "give the type of one column")
        self.tag = tag_of(asked[1][1], kind)

    def read(self, values: "List[str]") -> Column:
        """Insert all values so that none stops the others; what then warned is inserted again, alone and as it is."""
        column = Column([None] * len(values))
        self.engine.run("TRUNCATE TABLE " + self.table)
        again = self._insert_leniently(values)
        if again:
            self.engine.run("DELETE FROM %s WHERE i IN (%s)" % (self.table, ",".join(map(str, again))))
        for index in again:
            self._insert(index, values[index], column)
        for index, text in self.engine.rows("SELECT i, CAST(v AS CHAR) FROM %s ORDER BY i" % self.table):
            column.texts[index] = text
        return column

    def _insert_leniently(self, values: "List[str]") -> "List[int]":
        """Insert with IGNORE, and give the rows of which the engine had anything to say."""
        again: "List[int]" = []
        start = 0
        for part in packets("(%d, %s)" % (index, in_hex(value)) for index, value in enumerate(values)):
            rows = list(range(start, start + len(part)))
            start += len(part)
            try:
                cursor = self.engine.run("INSERT IGNORE INTO %s VALUES %s" % (self.table, ",".join(part)))
            except self.engine.module.Error:
                again += rows
                continue
            if cursor.warning_count:
                named = [AT_ROW.search(warning) for warning in self.engine.warnings()]
                told = sorted({int(row.group(1)) for row in named if row})
                again += [rows[row - 1] for row in told] if all(named) and len(named) == cursor.warning_count else rows
        return again

    def _insert(self, index: int, value: str, column: Column) -> None:
        """Insert one value as the session's mode has it."""
        try:
            cursor = self.engine.run("INSERT INTO %s VALUES (%d, %s)" % (self.table, index, in_hex(value)))
            if cursor.warning_count:
                column.warnings[index] = self.engine.warned()
        except self.engine.module.Error as error:
            late = self.engine.is_late(error)
            (column.late if late else column.errors)[index] = self.engine.said(error)
