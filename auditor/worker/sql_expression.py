"""One SQL expression over one column of texts."""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

from .sql_engine import Column, identifier, literal, message_of
from .sql_tags import tagged
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Sequence

    from .sql_engine import Engine

PLACE = "{value}"
COLUMN = identifier("value")

#: A longer value is asked for through a table instead of a literal.
LONGEST_LITERAL = 4096

REJECTED = "r"
JOINT = "\x1e"

FILL = "CREATE OR REPLACE TEMP TABLE mock AS SELECT unnest(string_split(?, ?)) AS " + COLUMN


class Expression:
    """The consumer's expression, applied to a column of a table and never to a literal.

    The engine's TRY tells an error from NULL for a whole column: a structure around the expression is NULL where it
    raised, and has a NULL inside where it gave NULL. Whatever TRY says is rejected is then asked for alone, without
    TRY: that is what production runs, so it has the last word, and only it gives the engine's message. A prepared
    statement does so in 0.2 ms. Where TRY is not to be had (an older engine, a volatile function, a subquery, an
    aggregate) each value is a table of its own.
    """

    def __init__(self, engine: "Engine", field: str, text: str) -> None:
        self.engine, self.field, self.text, self.shown = engine, field, text, text
        sql = "(\n" + text.replace(PLACE, COLUMN) + "\n)"
        self.kind = self._kind(sql)
        mark = tagged("x", self.kind)
        self.alone = (
            "WITH result AS MATERIALIZED (SELECT " + sql + " AS x FROM mock WHERE rowid = CAST(? AS BIGINT)) SELECT "
        ) + (mark + " FROM result")
        self.name = identifier("reject of " + field)
        self.prepare = "PREPARE " + self.name + " AS SELECT " + mark + " FROM (SELECT " + sql + " AS x FROM (SELECT "
        self.prepare += "CAST($1 AS VARCHAR) AS " + COLUMN + "))"
        marks = "CASE WHEN r IS NULL THEN '" + REJECTED + "' ELSE " + tagged("r.x", self.kind) + " END"
        tried = "WITH mock AS MATERIALIZED (SELECT unnest(string_split(?, ?)) AS " + COLUMN + "), "
        tried += "result AS MATERIALIZED (SELECT TRY({'x': " + sql + "}) AS r FROM mock) SELECT "
        self.joined = tried + "string_agg(" + marks + ", chr(30)) FROM result"
        self.listed = tried + "list(" + marks + ") FROM result"
        self.can_try = self._can_try()

    def _kind(self, sql: str) -> str:
        """Have the engine check the expression and name the type of its result."""
        tried = "reads.%s = %s on %s" % (self.field, self.text, self.engine.name)
        if PLACE not in self.text:
            raise StartError(tried, "the expression does not mention {value}", "such as try_cast({value} as date)")
        select = "SELECT " + sql + " AS x FROM mock"
        try:
            self.engine.run(FILL, ["", JOINT])
            if len(self.engine.parse(select)) != 1:
                raise StartError(tried, "more than one statement", "give one expression")
            columns = self.engine.rows("SELECT column_name, column_type FROM (DESCRIBE " + select + "\n)")
            names = [name for name, _ in columns]
            if names != ["x"]:
                raise StartError(tried, "it gives the columns " + ", ".join(names), "give one expression")
            self.engine.parse("SELECT (" + sql + ")")  # where nothing but an expression can stand
        except self.engine.error as error:
            raise StartError(tried, message_of(error), "correct the expression") from error
        return str(columns[0][1])

    def _can_try(self) -> bool:
        try:
            self.engine.rows(self.joined, ["", JOINT])
        except self.engine.error:
            return False
        return True

    def read(self, values: "Sequence[str]") -> "List[str]":
        """Give the mark of each value."""
        if not self.can_try:
            return self._one_by_one(values)
        marks = self._together(values)
        rejected = [index for index, mark in enumerate(marks) if mark == REJECTED]
        for index, mark in zip(rejected, self._strictly([values[index] for index in rejected])):
            marks[index] = mark
        return marks

    def _strictly(self, values: "Sequence[str]") -> "List[str]":
        """Give the marks of values that TRY says are rejected, by the expression itself."""
        marks = [self._message(value) for value in values]
        unsure = [index for index, mark in enumerate(marks) if mark is None]
        for index, mark in zip(unsure, self._one_by_one([values[index] for index in unsure])):
            marks[index] = mark
        return [mark for mark in marks if mark is not None]

    def _message(self, value: str) -> "Optional[str]":
        """Give the mark of a value that the expression rejects alone too; None where that is not sure."""
        if len(value) > LONGEST_LITERAL or "\0" in value or not self._is_prepared():
            return None
        try:
            self.engine.connection.execute("EXECUTE " + self.name + "(" + literal(value) + ")").fetchall()
        except self.engine.fatal:
            raise
        except self.engine.module.OutOfMemoryException:
            return None
        except self.engine.error as error:
            return "r:" + message_of(error)
        return None

    def _is_prepared(self) -> bool:
        """Prepare the expression; what is no constant of the value alone, such as a subquery, may refuse."""
        prepared = self.engine.prepared
        if self.name not in prepared:
            try:
                self.engine.connection.execute(self.prepare)
                prepared[self.name] = True
            except self.engine.fatal:
                raise
            except self.engine.error:
                prepared[self.name] = False
        return prepared[self.name]

    def _together(self, values: "Sequence[str]") -> "List[str]":
        parameters = Column(values).parameters
        joined: str = self.engine.rows(self.joined, parameters)[0][0]
        marks = joined.split(JOINT)
        if len(marks) != len(values):  # a text of the result holds the joint
            marks = list(self.engine.rows(self.listed, parameters)[0][0])
        return marks

    def _one_by_one(self, values: "Sequence[str]") -> "List[str]":
        """Apply the expression to each value as if it were alone."""
        if not values:
            return []
        self.engine.run(FILL, Column(values).parameters)
        return [self._alone(row) for row in range(len(values))]

    def _alone(self, row: int) -> str:
        try:
            found = self.engine.rows(self.alone, [row])
        except self.engine.fatal:
            raise
        except self.engine.error as error:
            return "r:" + message_of(error)
        if len(found) != 1:
            return "r:the expression gives %d rows for one value" % len(found)
        mark: str = found[0][0]
        return mark
