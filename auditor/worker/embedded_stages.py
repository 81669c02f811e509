"""The stages of SQLite, DataFusion and ClickHouse, which run in the consumer's interpreter; see `engine_stage`."""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

import json

from . import engine_clickhouse, engine_datafusion
from .engine_common import Refused
from .engine_sqlite import WRITTEN, Real, storage_tagger, text_of
from .engine_stage import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

    from .engine_stage import Kind, Row

RESULT = "auditor_model_result"


class Sqlite(Stage):
    """A database in memory, with another one attached for each schema."""

    def plain(self, text: "Optional[str]") -> str:
        """Leave out the storage class."""
        return (text or "").partition(":")[2]

    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""
        module = self.engine.module
        try:
            return self.engine.connection.execute(sql)
        except (module.Error, module.Warning) as error:
            raise Refused(self.engine.said(error)) from error

    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query; a value may raise only when its row is fetched."""
        try:
            return list(self.run(sql).fetchall())
        except self.engine.module.Error as error:
            raise Refused(self.engine.said(error)) from error

    def create_schema(self, name: "Sequence[str]") -> None:
        """Attach a database of the schema's name."""
        known = {row[1].lower() for row in self.rows("PRAGMA database_list")}
        if len(name) > 1 and name[-2].lower() not in known:
            self.run("ATTACH ':memory:' AS " + self.quoted(name[-2]))

    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe columns, which have no types: any of them holds any text."""
        described = self.run("SELECT * FROM (\n%s\n) LIMIT 0" % query).description
        return {column[0].lower(): (column[0], "(any)", tagger_of(kind)) for column in described}

    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Insert rows."""
        places = ", ".join("?" * len(columns))
        statement = "INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(map(self.quoted, columns)), places)
        self.run("BEGIN")
        try:
            self.engine.connection.executemany(statement, rows)
        except self.engine.module.Error as error:
            raise Refused(self.engine.said(error)) from error
        finally:
            self.run("COMMIT")

    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Give values with their storage classes, which tell what they are."""
        names = [self.quoted(name) for name, _, _ in columns]
        texts = ", ".join("%s, %s" % (name, WRITTEN.replace("x", name)) for name in names)
        found = self.rows("SELECT %s FROM (\n%s\n) AS %s" % (texts, query, RESULT))
        return [[stored(*row[at : at + 2]) for at in range(0, 2 * len(columns), 2)] for row in found], ""


def stored(value: "Any", written: "Optional[str]") -> "Optional[str]":
    """Write a value with its storage class."""
    return None if value is None else text_of(value if written is None else Real(value, written), "")


def tagger_of(kind: str) -> "Union[str, Callable[[str], Optional[str]]]":
    """Give what tags a stored value; for truth SQLite has 1 and 0."""
    if not kind:  # a column of a source
        return "text"
    tag = storage_tagger(kind)
    truth = {"int:1": "bool:true", "int:0": "bool:false"} if kind == "boolean" else {}
    return lambda text: truth.get(text) or tag(text)


class DataFusion(Stage):
    """A session with tables in memory."""

    text_type = "VARCHAR"

    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""
        with self.engine.refusing():
            return self.engine.context.sql(sql).collect()

    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query."""
        return list(zip(*self.engine.columns(sql)))

    def create_schema(self, name: "Sequence[str]") -> None:
        """Create catalogue and schema."""
        if len(name) > 2:
            self.run("CREATE DATABASE IF NOT EXISTS " + self.path(name[:1]))
        super().create_schema(name)

    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe columns by their Arrow types."""
        with self.engine.refusing():
            schema = self.engine.context.sql(query).schema()
        return {
            column.name.lower(): (column.name, str(column.type), engine_datafusion.tag_of(str(column.type)))
            for column in schema
        }

    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Insert rows, which takes them for the types of the table."""
        self.engine.mock("auditor_rows", list(zip(*rows)))
        cells = ", ".join('"c%d"' % at for at in range(len(columns)))
        names = ", ".join(map(self.quoted, columns))
        self.run("INSERT INTO %s (%s) SELECT %s FROM auditor_rows" % (table, names, cells))

    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Compute every column, as a table that is made of the model has them all."""
        self.run("CREATE OR REPLACE TABLE %s AS\n%s" % (RESULT, query))
        texts = ", ".join("CAST(%s AS VARCHAR) AS c%d" % (self.quoted(kind[0]), at) for at, kind in enumerate(columns))
        return self.rows("SELECT %s FROM %s" % (texts, RESULT)), ""


class ClickHouse(Stage):
    """A session; its tables are in memory.

    A column is String unless the set-up makes it Nullable, as in the engine itself: what a function gives for a text
    that it cannot read, an error or NULL, depends on that. So a text that is not there is an empty one.
    """

    quote = "`"
    text_type = "String"
    storage = " ENGINE = Memory"

    def create_schema(self, name: "Sequence[str]") -> None:
        """Create the database of a table."""
        if len(name) > 1:
            self.run("CREATE DATABASE IF NOT EXISTS " + self.path(name[:-1]))

    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""
        return self.engine.run(sql)

    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query."""
        return list(zip(*self.engine.columns(sql)))

    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe columns by the names of their types."""
        names, kinds, *_ = self.engine.columns("DESCRIBE TABLE (\n%s\n)" % query)
        return {name.lower(): (name, of, engine_clickhouse.tag_of(of)) for name, of in zip(names, kinds)}

    def empty(self, table: str, coming: int) -> None:
        """Delete the rows of a table."""
        self.run("TRUNCATE TABLE " + table)

    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Insert rows as data behind the statement."""
        data = "\n".join(map(json.dumps, rows))
        names = ", ".join(map(self.quoted, columns))
        self.run("INSERT INTO %s (%s) FORMAT JSONCompactEachRow %s" % (table, names, data))

    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Compute every column, as a table that is made of the model has them all."""
        self.run("DROP TABLE IF EXISTS " + RESULT)
        self.run("CREATE TABLE %s ENGINE = Memory AS\n%s" % (RESULT, query))
        texts = ", ".join("toString(%s) AS c%d" % (self.quoted(kind[0]), at) for at, kind in enumerate(columns))
        return self.rows("SELECT %s FROM %s" % (texts, RESULT)), ""
