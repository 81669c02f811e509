"""A warehouse model run whole, as it is written, on a mocked source of one column; `sql_rows` is about whole rows.

The source's tables exist with every column that the model names, as texts. One column holds the distinct values, the
keys hold the number of the row, all others are NULL; the number comes back in an output column that passes a source
column on. Rows that do not come back were filtered out. Where no column carries the number, or a row may depend on
its neighbours, the model runs once per value.
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

from .sql_engine import Column, identifier, message_of
from .sql_model_reader import DROPPED, RESULT, Reader
from .sql_tags import is_number
from .trouble import StartError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence

    from .sql_engine import Engine

#: Values of every type; where a filter drops them all, no value gets past it.
PROBES = ("2024-03-01", "7", "true", "x")


class Model:
    """The consumer's model and its mocked source tables."""

    def __init__(self, engine: "Engine", plan: "Dict[str, Any]") -> None:
        self.engine, self.plan = engine, plan
        self.tried = "run the model %s on %s" % (plan["file"], engine.name)
        self.tables = [".".join(map(identifier, source["name"])) for source in plan["sources"]]
        self.build()
        self.kinds = self._kinds()

    def build(self) -> None:
        """Run the set-up, create what it does not, and check the model on empty tables."""
        self.single: "Optional[Dict[str, Any]]" = None  # the field whose source holds one value
        try:
            for statement in self.plan["setup"]:
                self.engine.connection.execute(statement)
            for source, table in zip(self.plan["sources"], self.tables):
                self._create(source, table)
            self.seeds = self._filled()
            self.typed = [self._typed(table) for table in self.tables]
            self._create_schema(self.plan["target"])
            if self.plan["kind"] == "view":
                self.engine.connection.execute(self.plan["statement"])
            self.run()
        except self.engine.error as error:
            hint = "create the source table in the model file, before the select, where its columns are not texts"
            raise StartError(self.tried, message_of(error), hint) from error

    def _filled(self) -> "List[str]":
        """Give the tables that the set-up fills and no field comes from: they keep their rows."""
        read = {field["source"] for field in self.plan["fields"].values()}
        others = [table for number, table in enumerate(self.tables) if number not in read]
        return [table for table in others if self.engine.rows("SELECT 1 FROM %s LIMIT 1" % table)]

    def _typed(self, table: str) -> "List[str]":
        """Give the columns of a table that cannot hold the number of a row: the set-up makes them dates or times."""
        kinds = self.engine.columns_of("SELECT * FROM " + table)
        return [name.lower() for name, kind in kinds.items() if kind != "VARCHAR" and not is_number(kind)]

    def _create(self, source: "Dict[str, Any]", table: str) -> None:
        self._create_schema(source["name"])
        columns = ", ".join(identifier(column) + " VARCHAR" for column in source["columns"] or ["value"])
        self.engine.connection.execute("CREATE TABLE IF NOT EXISTS %s (%s)" % (table, columns))

    def _create_schema(self, name: "List[str]") -> None:
        if len(name) > 2:
            self.engine.connection.execute("ATTACH IF NOT EXISTS ':memory:' AS " + identifier(name[-3]))
        if len(name) > 1:
            self.engine.connection.execute("CREATE SCHEMA IF NOT EXISTS " + ".".join(map(identifier, name[:-1])))

    def _kinds(self) -> "Dict[str, str]":
        return {name.lower(): kind for name, kind in self.engine.columns_of("SELECT * FROM " + RESULT).items()}

    def run(self) -> None:
        """Run the model's own text; nothing is optimised across the end of it."""
        kind, statement = self.plan["kind"], self.plan["statement"]
        target = ".".join(map(identifier, self.plan["target"]))
        if kind == "table":
            self.engine.run("DROP TABLE IF EXISTS " + target)
            self.engine.run(statement)
        query = statement if kind == "select" else "SELECT * FROM " + target
        self.engine.run("CREATE OR REPLACE TEMP TABLE " + RESULT + " AS\n" + query)

    def fill(self, field: "Dict[str, Any]", values: "Sequence[str]") -> None:
        """Put values into the field's source column, and the number of the row into the keys."""
        self.single = None
        for number, (source, table) in enumerate(zip(self.plan["sources"], self.tables)):
            if table in self.seeds:
                continue
            self.engine.run("DELETE FROM " + table)
            keys = [key for key in source["keys"] if key not in self.typed[number]]
            row = dict.fromkeys(keys, "CAST(i AS VARCHAR)")
            if number == field["source"]:
                if field["number"] and field["number"] not in self.typed[number]:
                    row[field["number"]] = "CAST(i AS VARCHAR)"
                row[field["column"]] = "v"
            elif source["joined"] and not row:
                self.engine.run("INSERT INTO " + table + " DEFAULT VALUES")
            if row:
                self.engine.run(insertion(table, row), Column(values).parameters)

    def put(self, field: "Dict[str, Any]", value: str) -> None:
        """Make a value the only one."""
        if self.single is not field:
            self.fill(field, [value])
            self.single = field
            return
        table, column = self.tables[field["source"]], identifier(field["column"])
        self.engine.run("UPDATE %s SET %s = ?" % (table, column), [value])

    def reader(self, field: str) -> "Reader":
        """Give the reader of a field."""
        located = self.plan["fields"][field]
        output = located["output"].lower()
        tried = "find column %s of %s, for field %s" % (located["output"], self.plan["file"], field)
        if output not in self.kinds:
            hint = nearest(output, list(self.kinds))
            raise StartError(tried, "the model has no such column on " + self.engine.name, hint)
        self._check_source(located, tried)
        reader = Reader(self, field, located, self.kinds[output])
        if not self.plan["rows"]:
            self._check_filter(reader, tried)
        return reader

    def _check_filter(self, reader: "Reader", tried: str) -> None:
        """A filter that the mock never fulfils would say of every value that production drops it."""
        probe = reader.located["probe"]
        if probe is None or any(mark != DROPPED for mark in reader.read(PROBES)) or self._keeps_any(reader, probe):
            return
        raise keeps_nothing(tried, probe["text"], reader.field)

    def _keeps_any(self, reader: "Reader", probe: "Dict[str, str]") -> bool:
        """Say whether a row gets past the filters that are not on the field's own column."""
        try:
            for value in PROBES:
                self.fill(reader.located, [value])
                if self.engine.rows("SELECT 1 FROM (" + probe["query"] + "\n) AS kept LIMIT 1"):
                    return True
        except self.engine.fatal:
            raise
        except self.engine.error:  # then nothing is known
            return True
        return False

    def _check_source(self, located: "Dict[str, Any]", tried: str) -> None:
        """A column that the set-up gives another type would be read by the load and not by the model."""
        columns = self.engine.columns_of("SELECT * FROM " + self.tables[located["source"]])
        kind = {name.lower(): of for name, of in columns.items()}.get(located["column"])
        if kind != "VARCHAR":
            raise no_text(self.plan, located, kind, tried, "VARCHAR")


def keeps_nothing(tried: str, text: str, field: str) -> StartError:
    """Say that a filter keeps no row of the mock."""
    seen = "its filter keeps no row of the mock, which has numbers in the keys and NULL beside the field: "
    hint = 'read the field with an expression (reads.%s = "… {value} …"), or name a model without that filter'
    return StartError(tried, seen + text, hint % field)


def no_text(
    plan: "Dict[str, Any]", located: "Dict[str, Any]", kind: "Optional[str]", tried: str, text: str
) -> StartError:
    """Say that the set-up gives a source column another type than that of a text."""
    name = ".".join([*plan["sources"][located["source"]]["name"], located["column"]])
    seen = "its source column %s is %s" % (name, kind or "not in the table that the model file creates")
    return StartError(tried, seen, "declare it as %s: the raw value is a text" % text)


def notes_of(plan: "Dict[str, Any]") -> "Dict[str, str]":
    """Say what of the mock a reader of the results should know."""
    notes = {"model": plan["file"]}
    if plan["rows"]:
        return notes
    if plan["filters"]:
        notes["rows depend on"] = ", ".join(plan["filters"]) + " (NULL in the mock where it is another field)"
    alone = ["%s: %s" % (name, field["alone"]) for name, field in plan["fields"].items() if field["alone"]]
    if alone:
        notes["value by value"] = "; ".join(alone)
    return notes


def insertion(table: str, row: "Dict[str, str]") -> str:
    """Give the statement that fills columns of a table with expressions of v, a value, and i, its number."""
    return "INSERT INTO %s (%s) SELECT %s FROM (SELECT unnest(l) AS v, unnest(range(1, len(l) + 1)) AS i %s)" % (
        table,
        ", ".join(map(identifier, row)),
        ", ".join(row.values()),
        "FROM (SELECT string_split(?, ?) AS l)",
    )
