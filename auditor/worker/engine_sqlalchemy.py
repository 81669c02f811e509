"""Any other warehouse, over the user's own connection by SQLAlchemy.

Values are bound as the rows of a derived table, some at a time; a row that is refused takes its statement with it, and
ever fewer come again. The engine writes the values as text; what type they had is not known across drivers, so the type
of the field tells what the text is.
"""

from __future__ import annotations

import os

from .answers import TEXT_OF, tagged_text
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
)
from .engine_texts import boolean_text, decimal_text, integer_text
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

#: Rows of one statement.
ROWS = 100

#: Characters of a text, where an engine knows none without a length.
LONGEST = 4000


#: SQLSTATEs and codes of a statement that took too long, and the classes of errors that no value is to blame for.
TOO_LATE = ("57014", "1969", "3024", "1317")
OF_THE_MACHINE = ("53", "58")


def code_of(error: "Any") -> str:
    """Give the SQLSTATE of a driver's error, or the number with which drivers of MySQL begin; empty where none is."""
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if state:
        return str(state)
    number = error.args[0] if getattr(error, "args", ()) else ""
    return str(number) if isinstance(number, int) and number >= 1000 and str(number)[:2] not in OF_THE_MACHINE else ""


class Engine:
    """One connection."""

    gone = ()
    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.module = required("sqlalchemy", "sqlalchemy")
        self.errors = required("sqlalchemy.exc", "sqlalchemy")
        self.connection = self._connect(config["connection"])
        self.dialect = self.connection.dialect
        for name, value in config["settings"].items():
            self._set(name, value)
        self.settings: "Dict[str, str]" = dict(config["settings"])
        version = ".".join(map(str, self.dialect.server_version_info or ("of unknown version",)))
        self.name = "%s %s (by sqlalchemy %s, %s)" % (
            self.dialect.name,
            version,
            self.module.__version__,
            self.dialect.driver,
        )
        self.longest, self.text_type = self._text_type()
        self.dual = " FROM dual" if self.dialect.name == "oracle" else ""

    def _text_type(self) -> "tuple[int, str]":
        """Give the longest text that a cast makes, 0 where it may be of any length, and its type."""
        if self.dialect.name in ("mysql", "mariadb"):
            return 0, "CHAR"
        write = self.dialect.type_compiler_instance.process
        try:
            return 0, write(self.module.Unicode())
        except self.errors.CompileError:
            return LONGEST, write(self.module.Unicode(LONGEST))

    def _connect(self, url: str) -> "Any":
        tried = "connect to the warehouse"
        hint = "look at the variable that `connection` names, and whether the warehouse takes connections"
        secrets = [url]
        try:
            parsed = self.module.make_url(url)
            secrets.append(str(parsed.password or ""))
            return self.module.create_engine(parsed, isolation_level="AUTOCOMMIT").connect()
        except (self.errors.SQLAlchemyError, ImportError, ValueError, TypeError) as error:
            seen = self.said(error)
            for secret in filter(None, secrets):
                seen = seen.replace(secret, "…")
            raise StartError(tried, seen, hint) from None

    def _set(self, name: str, value: str) -> None:
        sql = "SET %s = '%s'" % (known_name(name), value.replace("'", "''").replace(":", "\\:"))
        try:
            self.connection.execute(self.module.text(sql))
        except self.errors.SQLAlchemyError as error:
            raise setting_error(name, value, self.said(error)) from error

    def rows(self, sql: str, parameters: "Dict[str, str]") -> "List[Any]":
        """Give the rows of a query; Refused where it raises, Ended where the connection is lost."""
        try:
            return list(self.connection.execute(self.module.text(sql), parameters).fetchall())
        except self.errors.DBAPIError as error:
            if error.connection_invalidated:
                raise Ended("the connection to %s was lost: %s" % (self.dialect.name, self.said(error))) from error
            code = code_of(error.orig)
            if code[:2] in OF_THE_MACHINE:
                message = "%s could not do its work: %s" % (self.dialect.name, self.said(error))
                raise Ended(message) from error
            raise (OutOfTime if code in TOO_LATE else Refused)(self.said(error)) from error
        except self.errors.SQLAlchemyError as error:
            raise Refused(self.said(error)) from error

    def said(self, error: BaseException) -> str:
        """Give the driver's own message, without our statement."""
        return shortened(str(getattr(error, "orig", None) or error).split("\n[SQL")[0])

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target, kind)

    def canary(self) -> "Dict[str, Any]":
        """Say that nothing of the environment reaches a warehouse that runs elsewhere."""
        return {"clock": None, "offsets": None, "locale": ""}


class Expression:
    """The consumer's expression over rows of bound values."""

    def __init__(self, engine: Engine, field: str, target: str, kind: str) -> None:
        self.engine, self.shown, self.kind = engine, target, kind
        self.tag = tagger_of(kind)
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        # A colon would begin the name of a parameter.
        self.sql = in_place(target, "value", tried).replace(":", "\\:")
        try:
            found = self._rows([0, 1], ["1", "2"])
        except Refused:
            found = []  # these values may be none of its own
            self._check(tried)
        if found and (len(found) != 2 or len(found[0]) != 2):
            raise StartError(tried, "it gives %d rows for 2 values" % len(found), "give an expression of one value")

    def _check(self, tried: str) -> None:
        """See that the expression is one, over no rows."""
        query = self._query([0]) + " WHERE 1 = 0"
        try:
            self.engine.rows(query, {"v0": ""})
        except Refused as error:
            raise StartError(tried, str(error), "correct the expression") from error

    def _query(self, rows: "Sequence[int]") -> str:
        text = self.engine.text_type
        bound = " UNION ALL ".join(
            "SELECT %d AS i, CAST(:v%d AS %s) AS value%s" % (row, at, text, self.engine.dual)
            for at, row in enumerate(rows)
        )
        return "SELECT i, CAST(x AS %s) AS t FROM (SELECT i, %s AS x FROM (%s) mock) r" % (text, self.sql, bound)

    def _rows(self, rows: "Sequence[int]", values: "Sequence[str]") -> "List[Any]":
        return self.engine.rows(self._query(rows), {"v%d" % at: value for at, value in enumerate(values)})

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text."""
        column = Column([None] * len(values))

        def run(rows: "Sequence[int]") -> None:
            found = self._rows(rows, [values[row] for row in rows])
            see_that_each_has_one_row([int(row) for row, _ in found], rows)
            for row, text in found:
                column.texts[int(row)] = None if text is None else str(text)

        longest = self.engine.longest or max(map(len, values), default=0)
        sent = [row for row, value in enumerate(values) if len(value) <= longest]
        for start in range(0, len(sent), ROWS):
            by_halves(sent[start : start + ROWS], run, column, self.engine.moved)
        for row in set(range(len(values))).difference(sent):
            column.errors[row] = "a text of more than %d characters was not sent" % longest
        return column


def tagger_of(kind: str) -> "Callable[[str], Optional[str]]":
    """Give what tags a text of a field's type."""
    number = {"integer": integer_text, "ordinal": integer_text, "decimal": decimal_text}.get(kind)
    if number is not None:
        return lambda text: number(text) or decimal_text(text) or tagged_text(text)
    if kind == "boolean":
        return lambda text: boolean_text(text.lower()) or tagged_text(text)
    return TEXT_OF.get(kind, tagged_text)


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Connect to the warehouse."""
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")  # a driver that reads it gives up before we are given up
    return Engine(config)
