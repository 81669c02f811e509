"""SQLite in the consumer's interpreter. It casts any text to any type and stores any text in any column.

What it gives for a value is of one of its five storage classes, whatever the declared type. The settings are its
PRAGMAs, and ``STRICT``: whether the column that an insert loads is one of a STRICT table.
"""

from __future__ import annotations

import re
import time

from .answers import TEXT_OF, tagged_text
from .engine_common import Column, in_place, known_name, required, setting_error, shortened, stage_class
from .engine_texts import decimal_text, untagged
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

#: A cast of the raw text to a number, alone or inside an expression.
NUMERIC_CAST = re.compile(r"\bcast\s*\(\s*\{value\}\s+as\s+(\w+)", re.IGNORECASE)
PLAIN_CAST = re.compile(r"\s*cast\s*\(\s*\{value\}\s+as\s+[\w ]+(?:\([\d, ]*\))?\s*\)\s*", re.IGNORECASE)
TEXTUAL = re.compile("char|clob|text|blob", re.IGNORECASE)

#: The engine's own text, which is asked for reals only: the other classes are what they are.
WRITTEN = "CASE WHEN typeof(x) = 'real' THEN CAST(x AS TEXT) END"

PREFIX = "the text is no number: SQLite took what it begins with, or 0"


class Real:
    """A real, and the engine's own text of it."""

    def __init__(self, number: float, written: str) -> None:
        self.number, self.written = number, written


class Engine:
    """One database in memory."""

    gone: "Tuple[type, ...]" = ()
    server = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.module = required("sqlite3", "sqlite")
        self.loads = config["statement"] == "insert"
        self.connection = self.module.connect(":memory:", isolation_level=None)
        self.connection.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
        self.is_strict = False
        self.settings: "Dict[str, str]" = {}
        for name, value in config["settings"].items():
            self._set(name, value)
        source = self.connection.execute("SELECT sqlite_version(), sqlite_source_id()").fetchone()
        self.name = "sqlite %s (%s)" % (source[0], source[1][-16:])
        self.connection.execute("CREATE TABLE mock (value TEXT)")

    def _set(self, name: str, value: str) -> None:
        if name.lower() == "strict":
            self.is_strict = value.lower() in ("on", "true", "1")
            self.settings["STRICT"] = "on" if self.is_strict else "off"
            return
        quoted = "'" + value.replace("'", "''") + "'"
        self.connection.execute("PRAGMA %s = %s" % (known_name(name), quoted)).fetchall()
        found = self.connection.execute("PRAGMA " + name).fetchone()
        if found is None:
            raise setting_error(name, value, "SQLite has no such PRAGMA, or none that can be read back")
        self.settings[name] = str(found[0])

    def stage(self, spelled: "Dict[str, str]") -> "Any":
        """Give the tables in which a model runs."""
        return stage_class("embedded_stages", "Sqlite")(self, spelled)

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Load(self, field, target, kind) if self.loads else Expression(self, field, target, kind)

    def said(self, error: BaseException) -> str:
        """Give the engine's message of an error."""
        return shortened(str(error))

    def canary(self) -> "Dict[str, Any]":
        """Say what clock the library itself sees; its zone is that of the process."""
        instant = time.time()
        now: float = self.connection.execute("SELECT (julianday('now') - 2440587.5) * 86400.0").fetchone()[0]
        # A double has no digits for more than some ten microseconds of a Julian day.
        return {"clock": instant if abs(now - instant) < 0.01 else now}


class Expression:
    """The consumer's expression over a column."""

    def __init__(self, engine: Engine, field: str, target: str, kind: str) -> None:
        self.engine, self.shown, self.kind = engine, target, "(any)"
        self.tag, self.field_kind = storage_tagger(kind), kind
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, '"value"', tried)
        cast = NUMERIC_CAST.search(target)
        self.is_numeric_cast = cast is not None and TEXTUAL.search(cast.group(1)) is None
        self.is_plain_cast = PLAIN_CAST.fullmatch(target) is not None
        # Whether a text is a number is what the engine does with it in a column of numbers.
        query = "SELECT rowid, x, %s FROM (SELECT rowid, %s AS x FROM mock WHERE rowid %%s ORDER BY rowid)"
        self.query, self.alone = (query % (WRITTEN, sql.replace("%", "%%")) % which for which in ("> ?", "= ?"))
        self.whole = "SELECT rowid, %s AS x FROM mock ORDER BY rowid" % sql
        try:
            engine.connection.execute("DELETE FROM mock")
            engine.connection.execute("INSERT INTO mock VALUES ('1'), ('2')")
            cursor = engine.connection.execute("SELECT %s FROM mock LIMIT 0" % sql)
            columns = len(cursor.description)
        except engine.module.Error as error:
            raise StartError(tried, engine.said(error), "correct the expression") from error
        if columns != 1:
            raise StartError(tried, "it gives %d columns" % columns, "give one expression")
        try:
            rows = len(engine.connection.execute(self.query, (0,)).fetchall())
        except engine.module.Error:
            rows = 2  # it refuses these values, which is no mistake
        if rows != 2:
            raise StartError(tried, "it gives %d rows for 2 values" % rows, "give an expression of one value")

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text; a row that raises costs itself alone."""
        connection = self.engine.connection
        connection.execute("DELETE FROM mock")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO mock VALUES (?)", [(value,) for value in values])
        connection.execute("COMMIT")
        column = Column([None] * len(values))
        whole = self._read_whole(len(values))
        found: "List[Any]" = whole or [None] * len(values)
        done = len(values) if whole else 0
        while done < len(values):
            try:
                for row, value, written in connection.execute(self.query, (done,)):
                    found[row - 1] = value if written is None else Real(value, written)
                    done = row
                break
            except self.engine.module.Error:  # of this row or of the next: the driver reads one row ahead
                self._read_alone(done, found, column)
                done += 1
        self.take(found, column, values)
        return column

    def _read_whole(self, count: int) -> "Optional[List[Any]]":
        """Read a column in which no value raises and none is a real."""
        try:
            rows = self.engine.connection.execute(self.whole).fetchall()
        except self.engine.module.Error:
            return None
        if [row for row, _ in rows] != list(range(1, count + 1)):
            return None
        values = [value for _, value in rows]
        return None if float in set(map(type, values)) else values

    def _read_alone(self, index: int, found: "List[Any]", column: Column) -> None:
        """Read one row."""
        try:
            for _, value, written in self.engine.connection.execute(self.alone, (index + 1,)):
                found[index] = value if written is None else Real(value, written)
        except self.engine.module.Error as error:
            column.errors[index] = self.engine.said(error)

    def take(self, found: "List[Any]", column: Column, values: "List[str]") -> None:
        """Write values as texts; the driver's objects are SQLite's storage classes."""
        if not self.is_numeric_cast and set(map(type, found)) == {str}:
            column.texts = ["text:" + value for value in found]
            return
        for index, value in enumerate(found):
            if value is not None:
                column.texts[index] = text_of(value, self.field_kind)
                if isinstance(value, Real) and float(value.written) != value.number:
                    column.warnings[index] = "SQLite writes 15 digits of it: it holds %r" % value.number
        if self.is_numeric_cast:
            numbers = [index for index, value in enumerate(found) if isinstance(value, (int, Real))]
            for index, number in self._as_numbers(numbers, values):
                if isinstance(number, str):
                    column.warnings[index] = PREFIX
                elif self.is_plain_cast and type(found[index]) is int and found[index] != number:
                    column.warnings[index] = "gave %d for %s, and no error" % (found[index], values[index][:40])

    def _as_numbers(self, indices: "List[int]", values: "List[str]") -> "List[Tuple[int, Any]]":
        """Give values as a column of numbers holds them; what is no number stays a text there."""
        connection = self.engine.connection
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS numbers (i INTEGER, v NUMERIC)")
        connection.execute("DELETE FROM numbers")
        connection.executemany("INSERT INTO numbers VALUES (?, ?)", [(index, values[index]) for index in indices])
        return connection.execute("SELECT i, v FROM numbers").fetchall()  # type: ignore[no-any-return]


class Load(Expression):
    """A column of a table into which each text is inserted."""

    def __init__(self, engine: Engine, field: str, target: str, kind: str) -> None:
        self.engine, self.shown, self.kind = engine, target, target
        self.tag, self.field_kind = storage_tagger(kind), kind
        self.is_numeric_cast = self.is_plain_cast = False
        tried = "load column %s %s on %s" % (field, target, engine.name)
        strict = " STRICT" if engine.is_strict else ""
        try:
            engine.connection.execute("DROP TABLE IF EXISTS loaded")
            engine.connection.execute("CREATE TABLE loaded (v %s\n)%s" % (target, strict))
            columns = engine.connection.execute("PRAGMA table_info(loaded)").fetchall()
        except (engine.module.Error, engine.module.Warning) as error:
            hint = "reads.%s is the type of the column, such as INTEGER" % field
            raise StartError(tried, engine.said(error), hint) from error
        if len(columns) != 1:
            raise StartError(tried, "that makes %d columns" % len(columns), "give the type of one column")
        if columns[0][5] or engine.connection.execute("PRAGMA index_list(loaded)").fetchall():
            seen = "the column is a key, in which one value can be in the way of another"
            raise StartError(tried, seen, "give its type without PRIMARY KEY and UNIQUE")
        self.create = "CREATE TABLE loaded (v %s\n)%s" % (target, strict)

    def read(self, values: "List[str]") -> Column:
        """Insert each text by itself, and give what the column then holds."""
        connection = self.engine.connection
        column = Column([None] * len(values))
        found: "List[Any]" = [None] * len(values)
        connection.execute("DROP TABLE IF EXISTS loaded")
        connection.execute(self.create)
        connection.execute("BEGIN")
        for index, value in enumerate(values):
            try:
                connection.execute("INSERT INTO loaded (rowid, v) VALUES (?, ?)", (index, value))
            except self.engine.module.Error as error:
                column.errors[index] = self.engine.said(error)
        stored = "SELECT rowid, x, %s FROM (SELECT rowid, v AS x FROM loaded)" % WRITTEN
        for row, value, written in connection.execute(stored):
            found[row] = value if written is None else Real(value, written)
            is_text = isinstance(value, str) and not TEXTUAL.search(self.kind)
            if is_text and (self.tag("text:" + value) or "text:").startswith("text:"):
                column.warnings[row] = "stored as text in a column of type " + self.kind
        connection.execute("COMMIT")
        self.take(found, column, values)
        return column


def storage_tagger(kind: str) -> "Callable[[str], Optional[str]]":
    """Give what tags a value by its storage class; SQLite has no type for dates, so a text tells by its form."""
    tag = untagged(TEXT_OF.get(kind, tagged_text))

    def tag_text(text: str) -> "Optional[str]":
        storage, _, content = text.partition(":")
        if storage == "text":
            return tag(content)
        if storage == "float":
            return decimal_text(content)
        return None if storage == "blob" else text

    if kind == "date":
        tag_text.whole = dates  # type: ignore[attr-defined]
    return tag_text


#: A column of texts, one a line, each of which is a date.
ALL_DATES = re.compile("(?:text:[0-9]{4}-[0-9]{2}-[0-9]{2}\n)*").fullmatch


def dates(texts: "List[Optional[str]]") -> "Optional[List[Optional[str]]]":
    """Tag a column at once where each of its values is a text that is a date."""
    if None in texts:
        return None
    lines = "\n".join(texts) + "\n"  # type: ignore[arg-type]
    if lines.count("\n") != len(texts) or ALL_DATES(lines) is None:
        return None
    return ["date:" + text[5:] for text in texts]  # type: ignore[index]


def text_of(value: "Any", kind: str) -> str:
    """Write a value with its storage class; for truth SQLite has 1 and 0."""
    if isinstance(value, int):
        if kind == "boolean" and value in (0, 1):
            return "bool:true" if value else "bool:false"
        return "int:%d" % value
    if isinstance(value, Real):
        return "float:" + value.written
    if isinstance(value, bytes):
        return "blob:" + value.hex()
    return "text:" + str(value)


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open a database in memory."""
    return Engine(config)
