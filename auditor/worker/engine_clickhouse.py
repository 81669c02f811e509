"""ClickHouse in the consumer's interpreter, as chdb builds it.

Its functions that try accept other strings than those that raise, so the consumer's own text is all that runs: a value
that raises takes its statement with it, and ever fewer values come again. It wraps numbers, cuts digits and carries
days over without a word; where a text and its value do not agree, that is a warning beside it.
"""

from __future__ import annotations

import json
import os
import re
import time

from .engine_common import (
    Column,
    OutOfTime,
    Refused,
    by_halves,
    in_place,
    known_name,
    required,
    see_that_each_has_one_row,
    setting_error,
    shortened,
    silent_change,
    stage_class,
)
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

ZONE = "session_timezone"

#: What is recorded of a session beside what the consumer sets.
RECORDED = (ZONE, "date_time_input_format", "cast_string_to_date_time_mode", "date_time_overflow_behavior")

#: Tags by how the name of a type begins, behind Nullable( and LowCardinality(.
TAGS = (
    ("DateTime", "datetime"),
    ("Date", "date"),
    ("Int", "int"),
    ("UInt", "int"),
    ("Float", "float"),
    ("BFloat", "float"),
    ("Decimal", "decimal"),
    ("Bool", "bool"),
    ("String", "text"),
    ("FixedString", "text"),
    ("UUID", "text"),
    ("Enum", "text"),
)
WRAPPED = re.compile(r"^(?:(?:Nullable|LowCardinality)\()+")

DECODER = json.JSONDecoder()
START = re.compile(r"\s*")

#: Codes of a statement that took longer than the session allows, or was stopped.
TOO_LATE = re.compile(r"Code: (?:159|160|394)\.")

#: Where in our own query a message says that something was.
OUR_PLACE = re.compile(r"(?::|,)? while (?:executing|converting)[^.]*?__table.*$", re.DOTALL)

#: The value is cast as it is, so that what the engine gives can be held against it.
OF_THE_VALUE = re.compile(
    r"\s*(?:cast|accurateCast|to[A-Z]\w+)\s*\(\s*\{value\}\s*(?:,\s*\w+|as\s+[^()]+(?:\([^()]*\))?)?\)\s*",
    re.IGNORECASE,
)


class Engine:
    """One session in memory."""

    gone = ()
    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        module = required("chdb.session", "clickhouse")
        self.session = module.Session()
        self.run("SET calculate_text_stack_trace = 0")  # which takes longer than the query
        given = set(config["settings"])
        if ZONE not in given:
            self._set(ZONE, os.environ.get("TZ") or "UTC")
        for name, value in config["settings"].items():
            self._set(name, value)
        self.name = "clickhouse %s (chdb)" % self.columns("SELECT version()")[0][0]
        asked = ", ".join("'%s'" % known_name(name) for name in sorted({*given, *RECORDED}))
        names, values = self.columns("SELECT name, value FROM system.settings WHERE name IN (%s) ORDER BY name" % asked)
        self.settings: "Dict[str, str]" = dict(zip(names, values))  # noqa: B905 - no `strict` on Python 3.8
        self.run("CREATE TABLE IF NOT EXISTS mock (i UInt32, value String) ENGINE = Memory")

    def _set(self, name: str, value: str) -> None:
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        try:
            self.run("SET %s = '%s'" % (known_name(name), quoted))
        except Refused as error:
            raise setting_error(name, value, str(error)) from error

    def run(self, sql: str) -> bytes:
        """Run a statement and give what it printed; Refused where it raises."""
        try:
            found: bytes = self.session.query(sql, "JSONCompactColumns").bytes()
        except UnicodeDecodeError as error:  # of the message, which was cut inside a character
            raise Refused(self.said_of(error.object.decode("utf-8", "replace"))) from None
        except RuntimeError as error:
            kind = OutOfTime if TOO_LATE.match(str(error)) else Refused
            raise kind(self.said_of(str(error))) from error
        return found

    def columns(self, sql: str) -> "List[List[Any]]":
        """Give the columns of a query; what statements that raised had begun to print stands before its answer."""
        text = self.run(sql).decode("utf-8", "surrogateescape")  # texts that differ in bytes that are none stay apart
        found: "List[List[Any]]" = []
        start = 0
        while start < len(text.rstrip()):
            found, start = DECODER.raw_decode(text, START.match(text, start).end())  # type: ignore[union-attr]
        return found

    def fill(self, values: "Sequence[str]") -> None:
        """Make values the table that expressions read: as data behind the statement, which is not parsed as SQL."""
        self.run("TRUNCATE TABLE mock")
        rows = "\n".join(json.dumps([index, value]) for index, value in enumerate(values))
        self.run("INSERT INTO mock FORMAT JSONCompactEachRow " + rows)

    def said_of(self, message: str) -> str:
        """Give the engine's message without the names of our own table."""
        return shortened(
            re.sub(r"(?::|,)? while (?:executing|converting)[^.]*?__table.*$", "", message.strip(), flags=re.DOTALL)
        )

    def said(self, error: BaseException) -> str:
        """Give the engine's message of an error."""
        return self.said_of(str(error))

    def stage(self, spelled: "Dict[str, str]") -> "Any":
        """Give the tables in which a model runs."""
        return stage_class("embedded_stages", "ClickHouse")(self, spelled)

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target)

    def canary(self) -> "Dict[str, Any]":
        """Say what clock the engine itself sees."""
        instant = time.time()
        now = int(self.columns("SELECT toString(toUnixTimestamp64Milli(now64(3)))")[0][0]) / 1000
        return {"clock": instant if abs(now - instant) < 0.002 else now}  # which has three digits


class Expression:
    """The consumer's expression over a column."""

    def __init__(self, engine: Engine, field: str, target: str) -> None:
        self.engine, self.shown = engine, target
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, "`value`", tried)
        self.query = (
            "SELECT i, toString(x) AS t FROM (SELECT i, %s AS x FROM mock WHERE i BETWEEN %%d AND %%d) ORDER BY i"
            % (sql.replace("%", "%%"))
        )
        self.all = "SELECT i, toString(x) AS t FROM (SELECT i, %s AS x FROM mock) ORDER BY i" % sql
        self.is_of_the_value = OF_THE_VALUE.fullmatch(target) is not None
        try:
            kinds = engine.columns("DESCRIBE TABLE (SELECT %s AS x FROM mock)" % sql)[1]
        except Refused as error:
            raise StartError(tried, str(error), "correct the expression") from error
        if len(kinds) != 1:
            raise StartError(tried, "it gives %d columns" % len(kinds), "give one expression")
        self.kind = kinds[0]
        scale = re.match(r"Decimal\(\d+, (\d+)\)", WRAPPED.sub("", self.kind))
        self.scale = int(scale.group(1)) if scale else 0
        self.tag = tag_of(self.kind)

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text."""
        column = Column([None] * len(values))
        if values:
            self.engine.fill(values)
        by_halves(range(len(values)), lambda part: self._run(part, len(values), column), column, self.engine.moved)
        if self.is_of_the_value:
            for index, text in enumerate(column.texts):
                said = silent_change(values[index], text, self.tag, self.scale) if text is not None else ""
                if said:
                    column.warnings[index] = said
        return column

    def _run(self, rows: "Sequence[int]", count: int, column: Column) -> None:
        sql = self.all if len(rows) == count else self.query % (rows[0], rows[-1])
        found = self.engine.columns(sql)
        see_that_each_has_one_row(found[0] if found else [], rows)
        for row, text in zip(*found):  # noqa: B905 - no `strict` on Python 3.8
            column.texts[row] = text


def tag_of(kind: str) -> str:
    """Give the tag of a type."""
    plain = WRAPPED.sub("", kind)
    return next((tag for name, tag in TAGS if plain.startswith(name)), "other")


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open a session."""
    return Engine(config)
