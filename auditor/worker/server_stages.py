"""The stages of PostgreSQL and MariaDB, on the private server that was started for the consumer; see `engine_stage`."""

from __future__ import annotations

from .engine_common import OutOfTime, Refused
from .engine_stage import Stage
from .mariadb_readers import NAMES, in_hex, packets, tag_of
from .mariadb_readers import TAGS as MARIADB_TAGS
from .postgres_readers import TAGS, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

    from .engine_stage import Kind, Row

#: From so many rows on, a table is emptied by a new file for it, which costs more than to delete a few.
MANY = 100


class Postgres(Stage):
    """Tables of the server's own database, or of one that has the name that the model gives it."""

    text_type = "text"

    def __init__(self, engine: "Any", spelled: "Dict[str, str]") -> None:
        super().__init__(engine, spelled)
        self.numbers: "Dict[str, int]" = {}  # the types of columns, by their names
        self.sizes: "Dict[str, int]" = {}

    def open(self, names: "Sequence[Sequence[str]]") -> None:
        """Enter the database that the tables' names begin with: no statement reaches another one."""
        databases = list(dict.fromkeys(self.spelled.get(name[0].lower(), name[0]) for name in names if len(name) > 2))
        if databases:
            self.run("CREATE DATABASE " + self.quoted(databases[0]))
            self.engine.enter(databases[0])

    def create_schema(self, name: "Sequence[str]") -> None:
        """Create the schema, whose name stands behind that of the database."""
        super().create_schema(name[-2:])

    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""
        module = self.engine.module
        try:
            return self.engine.run(sql)
        except module.Error as error:
            self.engine.see_whether_gone(error)
            late = isinstance(error, module.errors.QueryCanceled)
            raise (OutOfTime if late else Refused)(self.engine.said(error)) from error

    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query."""
        return list(self.run(sql).fetchall())

    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe columns by the numbers of their types."""
        found: "Dict[str, Kind]" = {}
        for column in self.run("SELECT * FROM (\n%s\n) AS described LIMIT 0" % query).description:
            self.numbers[column.name] = column.type_code
            name = self.engine.type_name(column.type_code)
            found[column.name.lower()] = (column.name, name, TAGS.get(column.type_code, "other"))
        return found

    def empty(self, table: str, coming: int) -> None:
        """Delete rows, or give the table a new file where they were many."""
        self.run(("TRUNCATE " if self.sizes.get(table, MANY) >= MANY else "DELETE FROM ") + table)
        self.sizes[table] = coming

    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Load rows by COPY, which takes a text for what it is."""
        module = self.engine.module
        try:
            statement = "COPY %s (%s) FROM STDIN" % (table, ", ".join(map(self.quoted, columns)))
            with self.engine.connection.cursor().copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
        except module.Error as error:
            self.engine.see_whether_gone(error)
            raise Refused(self.engine.said(error)) from error

    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Compute every column, as a table that is made of the model has them all."""
        texts = ", ".join(written(self.quoted(name), self.numbers[name]) for name, _, _ in columns)
        found = self.rows("WITH auditor_result AS MATERIALIZED (\n%s\n) SELECT %s FROM auditor_result" % (query, texts))
        return found, ""


class MariaDb(Stage):
    """Tables of the server; what its queries warn of stands beside the rows."""

    quote = "`"
    text_type = "LONGTEXT CHARACTER SET utf8mb4"
    storage = " ENGINE = Aria TRANSACTIONAL = 0"  # no row of it has to outlive the server

    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""
        try:
            return self.engine.run(sql)
        except self.engine.module.Error as error:
            raise (OutOfTime if self.engine.is_late(error) else Refused)(self.engine.said(error)) from error

    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query."""
        return list(self.run(sql).fetchall())

    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe columns by the numbers of their types."""
        described = self.run("SELECT * FROM (\n%s\n) AS described LIMIT 0" % query).description
        return {
            name.lower(): (name, NAMES.get(MARIADB_TAGS.get(code, ""), "another"), tag_of(code, kind))
            for name, code, *_ in described
        }

    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Insert rows as hexadecimal, in which no mode of the session reads anything."""
        statement = "INSERT INTO %s (%s) VALUES " % (table, ", ".join(map(self.quoted, columns)))
        for part in packets("(%s)" % ",".join(map(cell, row)) for row in rows):
            self.run(statement + ",".join(part))

    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Read the columns as the model's own select gives them."""
        texts = ", ".join("CAST(%s AS CHAR)" % self.quoted(name) for name, _, _ in columns)
        cursor = self.run("SELECT %s FROM (\n%s\n) AS auditor_result" % (texts, query))
        found = list(cursor.fetchall())
        return found, self.engine.warned() if cursor.warning_count else ""


def cell(value: "Optional[str]") -> str:
    """Write a text, or NULL."""
    return "NULL" if value is None else in_hex(value)
