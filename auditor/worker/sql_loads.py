"""DuckDB's loads: values become a typed column by an INSERT or a COPY, as a cast reads no value.

An INSERT takes texts of a column. A COPY reads a CSV file with a header, the value and a number; its reader guesses how
dates are written from the rows that it sees, so each value has a file of its own.
"""

from __future__ import annotations

import os
import re
import tempfile
from abc import ABC, abstractmethod

from .engine_common import Column as Outcomes
from .engine_common import Refused, by_halves, no_room, shortened
from .sql_engine import Column, identifier, literal, message_of
from .sql_tags import tagged
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, List, Optional, Sequence

    from .sql_engine import Engine

COLUMN = identifier("value")
FILL = "CREATE OR REPLACE TEMP TABLE mock AS SELECT unnest(string_split(?, ?)) AS " + COLUMN

#: What a file of CSV says of itself; how dates are written is left to the reader, as a load has it by default.
OPTIONS = """(FORMAT csv, HEADER, DELIMITER ',', QUOTE '"', ESCAPE '"')"""

#: What needs quotes in a file of CSV.
SPECIAL = re.compile('[",\r\n]')

#: The reader's own message begins behind the line that it quotes, and ends before its options, with our file's name;
#: that of an insert ends with the name of our column.
OPENING = re.compile(r"CSV Error on Line: \d+\nOriginal Line: .*?\n(?=[A-Z][a-z]+ )", re.DOTALL)
CLOSING = re.compile(
    r" when casting from source column value\b| Actual Size:|\n+(?:Column \w+ is being converted|Possible |\s+file = )"
)


class Load(ABC):
    """A table with a column of the consumer's type, and the number of each value."""

    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, engine: "Engine", field: str, target: str) -> None:
        self.engine, self.text, self.shown = engine, target, target
        tried = "load column %s %s on %s" % (field, target, engine.name)
        hint = "reads.%s is the type of the column, such as date" % field
        self.create = "CREATE OR REPLACE TEMP TABLE loaded (v %s\n, i BIGINT)" % target
        try:
            if len(engine.parse(self.create)) != 1:
                raise StartError(tried, "more than one statement", hint)
            engine.run(self.create)
            columns = engine.columns_of("SELECT * FROM loaded")
            engine.run("INSERT INTO loaded (v, i) SELECT '' AS x, 0 WHERE 1 = 0")
            keys = "SELECT 1 FROM duckdb_constraints() WHERE table_name = 'loaded' "
            keys += "AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')"
            is_key = bool(engine.rows(keys))
        except engine.error as error:
            raise StartError(tried, message_of(error), hint) from error
        if list(columns) != ["v", "i"]:
            raise StartError(tried, "that makes %d columns" % (len(columns) - 1), "give the type of one column")
        if is_key:
            seen = "the column is a key, in which one value can be in the way of another"
            raise StartError(tried, seen, "give its type without PRIMARY KEY and UNIQUE")
        self.kind = columns["v"]
        self.stored = "SELECT i, %s FROM loaded" % tagged("v", self.kind)

    def read(self, values: "Sequence[str]") -> "List[str]":
        """Give the mark of each value."""
        column = Outcomes([None] * len(values))
        self.engine.run(self.create)
        self.load(values, column)
        for row, mark in self.engine.rows(self.stored):
            column.texts[row] = mark
        column.errors.update(
            (row, "the statement has not stored its row")
            for row, mark in enumerate(column.texts)
            if mark is None and row not in column.errors
        )
        return ["r:" + column.errors[row] if mark is None else mark for row, mark in enumerate(column.texts)]

    @abstractmethod
    def load(self, values: "Sequence[str]", column: Outcomes) -> None:
        """Load values, and note those that are refused."""

    def attempt(self, sql: str, parameters: "Optional[List[object]]" = None) -> None:
        """Run a statement; Refused where a value is to blame."""
        try:
            self.engine.run(sql, parameters)
        except self.engine.fatal:
            raise
        except self.engine.error as error:
            raise Refused(said_of(error)) from error


class Insert(Load):
    """A column of texts that is inserted: the values that a cast would take at once, each other one by itself.

    The insert has the last word on both: a column may refuse what the cast takes, such as by a CHECK.
    """

    def load(self, values: "Sequence[str]", column: Outcomes) -> None:
        """Insert values."""
        self.engine.run(FILL, Column(values).parameters)
        likely = self._likely()
        others = sorted(set(range(len(values))).difference(likely))
        by_halves(likely, self._insert, column, self.moved)
        for row in others:
            by_halves([row], self._insert, column, self.moved)

    def _likely(self) -> "List[int]":
        query = "SELECT rowid FROM mock WHERE TRY_CAST(%s AS %s) IS NOT NULL ORDER BY rowid" % (COLUMN, self.kind)
        try:
            return [row for (row,) in self.engine.rows(query)]
        except self.engine.fatal:
            raise
        except self.engine.error:
            return []

    def _insert(self, rows: "Sequence[int]") -> None:
        insert = "INSERT INTO loaded (v, i) SELECT %s, rowid FROM mock WHERE rowid " % COLUMN
        if len(rows) == 1:
            self.attempt(insert + "= CAST(? AS BIGINT)", [rows[0]])
        else:
            self.attempt(insert + "IN (SELECT unnest(CAST(? AS BIGINT[])))", [list(rows)])


class Copy(Load):
    """CSV files, one for each value."""

    def load(self, values: "Sequence[str]", column: Outcomes) -> None:
        """Write each value into a file and load that."""
        path = os.path.join(self.engine.folder, "value.csv")
        copy = "COPY loaded FROM %s %s" % (literal(path), OPTIONS)
        for row, value in enumerate(values):
            self._write(path, "v,i\n%s,%d\n" % (in_csv(value), row))
            by_halves([row], lambda _: self.attempt(copy), column, self.moved)

    def _write(self, path: str, text: str) -> None:
        try:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            raise no_room(self.engine.name, str(error)) from error


def folder() -> str:
    """Make the folder of the files: within the worker's own, which goes with it."""
    return tempfile.mkdtemp(prefix="load-")


def in_csv(value: str) -> str:
    """Write a value as CSV with no more quotes than it needs."""
    return '"%s"' % value.replace('"', '""') if SPECIAL.search(value) else value


def said_of(error: BaseException) -> str:
    """Give the engine's own message, without the line that it quotes and the options of its reader."""
    own = OPENING.sub("", CLOSING.split(str(error), maxsplit=1)[0], count=1)
    return shortened(own) if own != str(error) else message_of(error)


LOADS = {"insert": Insert, "copy": Copy}
