"""How PostgreSQL reads a column: an expression, an INSERT per value, or COPY; see `engine_postgres.py`."""

from __future__ import annotations

import re

from .engine_common import NUL, Column, in_place, shortened
from .sql_engine import Column as JoinedColumn
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, List, Tuple

    from .engine_postgres import Engine

PARAMETER = "auditor_value"

#: Tags by the number of a type, which no version changes.
TAGS = {
    **dict.fromkeys((16,), "bool"),
    **dict.fromkeys((20, 21, 23), "int"),
    **dict.fromkeys((790, 1700), "decimal"),
    **dict.fromkeys((700, 701), "float"),
    **dict.fromkeys((1082,), "date"),
    **dict.fromkeys((1114, 1184), "datetime"),
    **dict.fromkeys((1083, 1266), "time"),
    **dict.fromkeys((18, 19, 25, 114, 1042, 1043, 2950, 3802), "text"),
}
MONEY = 790

#: What needs quotes in a CSV.
SPECIAL = re.compile('[",\r\n]')

#: The line of the data in the context of an error.
OF_COPY = re.compile(r"^COPY auditor_load_\d+, line (\d+)", re.MULTILINE)
#: A cast that is nothing but the type's own reading of a text, so that `pg_input_error_info` says what it
#: accepts: measured to be the same. A cast to varchar(3) is another thing, which cuts.
PLAIN_CAST = re.compile(
    r"\s*(?:cast\s*\(\s*\{value\}\s+as\s+(?P<cast>TYPE)\s*\)|\{value\}\s*::\s*(?P<colons>TYPE))\s*".replace(
        "TYPE",
        r"(?:date|timestamp(?:tz)?|timestamp with(?:out)? time zone|smallint|integer|int|bigint|boolean|bool|real"
        r"|double precision|(?:numeric|decimal)(?:\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\))?)",
    ),
    re.IGNORECASE,
)

#: One value in so many that is refused is no more than a few: measured, where both statements take the same time.
FEW = 16

#: The first version that has it.
TRIES = 160000

#: Values of one COPY: one that is refused takes the others with it, which then come again.
COPIED = 64


def written(value: str, number: int) -> str:
    """Write a value as the engine's text; dates in ISO form, whatever the session writes, by its own JSON."""
    if TAGS.get(number) in ("date", "datetime"):
        return "to_json(%s) #>> '{}'" % value
    return "(%s)::%stext" % (value, "numeric::" if number == MONEY else "")


class Expression:
    """The consumer's expression, in a function of the session."""

    def __init__(self, engine: Engine, field: str, target: str, number: int) -> None:
        self.engine, self.shown = engine, target
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, PARAMETER, tried)
        try:
            asked = "SELECT %s AS x FROM (SELECT NULL::text AS %s) AS mock LIMIT 0" % (sql, PARAMETER)
            described = engine.run(asked).description
        except engine.module.Error as error:
            engine.see_whether_gone(error)
            raise StartError(tried, engine.said(error), "correct the expression") from error
        if len(described) != 1:
            raise StartError(tried, "it gives %d columns" % len(described), "give one expression")
        oid = described[0].type_code
        self.kind, self.tag = engine.type_name(oid), TAGS.get(oid, "other")
        name = "pg_temp.auditor_read_%d" % number
        quote = "$auditor$"
        while quote in sql:
            quote = quote[:-1] + "x$"
        body = (
            "CREATE FUNCTION %s(%s text) RETURNS text LANGUAGE plpgsql AS %s\n#variable_conflict use_column\n"
            "DECLARE auditor_read %s; BEGIN\nauditor_read := %s;\n"
            "RETURN CASE WHEN auditor_read IS NULL THEN 'n' ELSE 'v' || (%s) END;\n"
            "EXCEPTION WHEN insufficient_resources OR system_error THEN RAISE;\n"
            "WHEN OTHERS THEN RETURN 'r' || SQLSTATE || ' ' || SQLERRM;\nEND %s"
        ) % (name, PARAMETER, quote, self.kind, sql, written("auditor_read", oid), quote)
        # One text that the engine splits costs a third of an array of texts, and is a column all the same.
        self.query = (
            "SELECT %s(v) FROM unnest(string_to_array(%%s::text, %%s::text)) WITH ORDINALITY AS mock(v, i) ORDER BY i"
        ) % name
        self.bulk = self._bulk(target, sql, oid)
        self.refuses = False  # more than a few of the last values
        try:
            engine.run(body)
            engine.run(self.query, ["1", "\x1e"])
        except engine.module.Error as error:
            engine.see_whether_gone(error)
            raise StartError(tried, engine.said(error), "a temporary function is made for it: may you?") from error

    def _bulk(self, target: str, sql: str, oid: int) -> "List[str]":
        """Give statements that read a column of plain casts without a block for each, and say why one is refused.

        The first is quick with what is accepted, the second with what is refused, which it looks at once only.
        """
        plain = PLAIN_CAST.fullmatch(target)
        if plain is None or int(self.engine.one("SHOW server_version_num")) < TRIES:
            return []
        kind, text = plain.group("cast") or plain.group("colons"), written(sql, oid)
        given = "FROM unnest(string_to_array(%s::text, %s::text)) WITH ORDINALITY AS given({0}, i)".format(PARAMETER)
        why = "pg_input_error_info({0}, '{1}')".format(PARAMETER, kind)
        marks = "SELECT string_agg(CASE WHEN {0} THEN 'v' || ({1}) ELSE 'r' || {2} END, chr(30) ORDER BY i) {3}"
        valid = "pg_input_is_valid({0}, '{1}')".format(PARAMETER, kind)
        told = "(SELECT sql_error_code || ' ' || message FROM {0})".format(why)
        once = "FROM (SELECT i, {0}, {1} AS e {2} OFFSET 0) AS mock".format(PARAMETER, why, given)
        of_error = "(e).sql_error_code || ' ' || (e).message"
        return [marks.format(valid, text, told, given), marks.format("(e).message IS NULL", text, of_error, once)]

    def _read_at_once(self, values: "List[str]", places: "List[int]", column: Column) -> "List[int]":
        """Read a column of plain casts, and give the places that are left: all of them where the statement fails."""
        if not self.bulk or len(places) < 2:
            return places
        try:
            parameters = JoinedColumn([values[place] for place in places]).parameters
            found = self.engine.one(self.bulk[self.refuses], parameters)
        except self.engine.module.Error as error:
            self.engine.see_whether_gone(error)
            return places
        except UnicodeDecodeError:  # of a message that the server cut inside a character
            return places
        marks = (found or "").split("\x1e")
        if len(marks) != len(places):  # a message quotes a value that holds the joint
            return places
        self._take(marks, places, column)
        self.refuses = len(column.errors) * FEW > len(places)
        return []

    def _take(self, marks: "Iterable[str]", places: "List[int]", column: Column) -> None:
        """Note what marks say: a value, NULL, or why there is none."""
        for place, mark in zip(places, marks):  # noqa: B905 - no `strict` on Python 3.8
            if mark[0] == "v":
                column.texts[place] = mark[1:]
            elif mark[0] == "r":
                self.engine.see_whether_failed(mark[1:6], mark[1:])
                column.errors[place] = shortened(mark[1:])

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text."""
        column = Column([None] * len(values))
        places = [index for index, value in enumerate(values) if "\0" not in value]
        if len(places) < len(values):
            sent = set(places)
            column.errors.update({index: NUL for index in range(len(values)) if index not in sent})
        self._read(values, self._read_at_once(values, places, column), column)
        return column

    def _mark_of_nothing(self) -> "Tuple[str]":
        """Give the mark of an empty text that is alone, which is no text to split."""
        return self.engine.marks(self.query, ["\x1e", "\x1e"])[0]

    def _read(self, values: "List[str]", places: "List[int]", column: Column) -> None:
        """Read some of the values; where the whole statement fails, such as by a time-out, its halves."""
        if not places:
            return
        try:
            texts = JoinedColumn([values[place] for place in places])
            found = self.engine.marks(self.query, texts.parameters) if texts.text else [self._mark_of_nothing()]
        except self.engine.module.Error as error:
            self.engine.see_whether_gone(error)
            if len(places) > 1:
                half = len(places) // 2
                self._read(values, places[:half], column)
                self._read(values, places[half:], column)
                return
            cancelled = isinstance(error, self.engine.module.errors.QueryCanceled)
            (column.late if cancelled else column.errors)[places[0]] = self.engine.said(error)
            return
        self._take((mark for (mark,) in found), places, column)


class Load:
    """A column of a temporary table into which each value is loaded."""

    def __init__(self, engine: Engine, field: str, target: str, number: int) -> None:
        self.engine, self.shown = engine, target
        self.table = "pg_temp.auditor_load_%d" % number
        tried = "load column %s %s on %s" % (field, target, engine.name)
        try:
            engine.run("CREATE TEMPORARY TABLE auditor_load_%d (i bigint, v %s\n)" % (number, target))
            described = engine.run("SELECT * FROM %s LIMIT 0" % self.table).description
        except engine.module.Error as error:
            engine.see_whether_gone(error)
            hint = "reads.%s is the type of the column, such as date" % field
            raise StartError(tried, engine.said(error), hint) from error
        if len(described) != 2:
            raise StartError(tried, "that makes %d columns" % (len(described) - 1), "give the type of one column")
        oid = described[1].type_code
        self.kind, self.tag, self.text = engine.type_name(oid), TAGS.get(oid, "other"), written("v", oid)


class Insert(Load):
    """One INSERT per value, bound as a driver binds it: the engine takes it for a value of the column's type."""

    def read(self, values: "List[str]") -> Column:
        """Insert each value by itself."""
        column = Column([None] * len(values))
        sql = "INSERT INTO %s (v) VALUES (%%s) RETURNING %s" % (self.table, self.text)
        for index, value in enumerate(values):
            if "\0" in value:
                column.errors[index] = NUL
                continue
            try:
                column.texts[index] = self.engine.one(sql, [value])
            except self.engine.module.Error as error:
                self.engine.see_whether_gone(error)
                cancelled = isinstance(error, self.engine.module.errors.QueryCanceled)
                (column.late if cancelled else column.errors)[index] = self.engine.said(error)
        self.engine.run("TRUNCATE " + self.table)
        return column


class Copy(Load):
    """CSV rows; the engine names the line that it refuses, and the others come again without it."""

    def read(self, values: "List[str]") -> Column:
        """Load the values some at a time."""
        column = Column([None] * len(values))
        places = []
        for index, value in enumerate(values):
            if "\0" in value:
                column.errors[index] = NUL
            else:
                places.append(index)
        for start in range(0, len(places), COPIED):
            self._copy(values, places[start : start + COPIED], column)
        return column

    def _copy(self, values: "List[str]", places: "List[int]", column: Column) -> None:
        waiting = [places] if places else []
        while waiting:
            part = waiting.pop()
            rows = "".join("%d,%s\n" % (place, in_csv(values[place])) for place in part)
            try:
                with self.engine.connection.cursor().copy("COPY %s FROM STDIN (FORMAT csv)" % self.table) as copy:
                    copy.write(rows)
            except self.engine.module.Error as error:
                self.engine.see_whether_gone(error)
                waiting += self._without_refused(error, part, rows, column)
                continue
            found = self.engine.run("SELECT i, %s FROM %s" % (self.text, self.table)).fetchall()
            self.engine.run("TRUNCATE " + self.table)
            for place, text in found:
                column.texts[place] = text
            lost = set(part).difference(place for place, _ in found)
            column.errors.update(dict.fromkeys(lost, "COPY has not stored its row"))

    def _without_refused(
        self, error: BaseException, places: "List[int]", rows: str, column: Column
    ) -> "List[List[int]]":
        """Note the row that an error names and give the others; their halves where it names none for sure."""
        is_late = isinstance(error, self.engine.module.errors.QueryCanceled)
        if len(places) == 1:
            (column.late if is_late else column.errors)[places[0]] = self.engine.said(error)
            return []
        # A function's own lines stand before that of COPY, which miscounts where a text has several.
        is_one_line_each = rows.count("\n") == len(places) and "\r" not in rows
        named = OF_COPY.search(getattr(getattr(error, "diag", None), "context", None) or "")
        at = int(named.group(1)) - 1 if named is not None and is_one_line_each and not is_late else len(places)
        if at >= len(places):
            half = len(places) // 2
            return [places[half:], places[:half]]
        column.errors[places[at]] = self.engine.said(error)
        return [places[:at] + places[at + 1 :]]


def in_csv(value: str) -> str:
    """Write a value as CSV with no more quotes than it needs; a bare carriage return would end lines for COPY."""
    return '"%s"' % value.replace('"', '""') if SPECIAL.search(value) else value
