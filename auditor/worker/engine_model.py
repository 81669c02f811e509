"""A warehouse model run whole, as it is written, on mocked sources in an engine other than DuckDB.

The plan is the one of `sql_model_run`, and so is what the sources hold; `engine_stage` says what an engine does for it.
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

from .engine_stage import is_number, is_text
from .sql_engine import identifier
from .sql_model_run import no_text
from .trouble import StartError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Sequence, Tuple

    from .engine_stage import Kind, Row, Stage


class Model:
    """The consumer's model and its mocked source tables."""

    def __init__(self, engine: "Stage", plan: "Dict[str, Any]") -> None:
        self.engine, self.plan = engine, plan
        self.tried = "run the model %s on %s" % (plan["file"], engine.name)
        self.tables = [engine.path(source["name"]) for source in plan["sources"]]
        self.target = engine.path(plan["target"])
        self.query = plan["statement"] if plan["kind"] == "select" else "SELECT * FROM " + self.target
        try:
            self._build()
        except engine.error as error:
            hint = "create the source table in the model file, before the select, where its columns are not texts"
            raise StartError(self.tried, str(error), hint) from error

    def _build(self) -> None:
        """Run the set-up, create what it does not, and check the model on empty tables."""
        names = [source["name"] for source in self.plan["sources"]]
        self.engine.open([*names, self.plan["target"]])
        for statement in self.plan["setup"]:
            self.engine.run(statement)
        for name, table, source in zip(names, self.tables, self.plan["sources"]):
            self.engine.create_schema(name)
            self.engine.create_table(table, source["columns"] or ["value"])
        #: Tables that the set-up fills and no field comes from keep their rows; named as `sql_rows` knows them.
        read = {field["source"] for field in self.plan["fields"].values()}
        for at in sorted(read):
            self.engine.fill(self.tables[at], [*self.plan["sources"][at]["columns"]][:1], [])
        self.seeded = [at not in read and bool(self._first_row(table)) for at, table in enumerate(self.tables)]
        self.seeds = [".".join(map(identifier, name)) for name, seeded in zip(names, self.seeded) if seeded]
        self.columns = [self.engine.kinds_of("SELECT * FROM " + table) for table in self.tables]
        #: Columns that cannot hold the number of a row: the set-up makes them dates or times.
        self.typed = [[name for name, kind in columns.items() if not is_number(kind)] for columns in self.columns]
        if self.plan["target"]:
            self.engine.create_schema(self.plan["target"])
        if self.plan["kind"] == "view":
            self.engine.run(self.plan["statement"])
        self._make_table()
        self.kinds = self.engine.kinds_of(self.query)
        self.results(list(self.kinds.values())[:1])

    def _first_row(self, table: str) -> "List[Any]":
        return self.engine.rows("SELECT 1 FROM %s LIMIT 1" % table)

    def _make_table(self) -> None:
        """Make the table that the model makes."""
        if self.plan["kind"] == "table":
            self.engine.run("DROP TABLE IF EXISTS " + self.target)
            self.engine.run(self.plan["statement"])

    def results(self, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Run the model's own text and give the engine's texts of some columns, and what it warned of."""
        self._make_table()
        return self.engine.results(self.query, columns)

    def fill(self, at: int, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Make rows the only ones of a source table that the set-up does not fill."""
        if not self.seeded[at]:
            self.engine.fill(self.tables[at], columns, rows)

    def any_column(self, at: int) -> str:
        """Give a column of a source table: a row of NULLs has to begin with one."""
        return next(iter(self.columns[at]))

    def output(self, field: str, kind: str) -> "Kind":
        """Give the output column of a field; StartError where the model has none, or it comes from no text."""
        located = self.plan["fields"][field]
        tried = "find column %s of %s, for field %s" % (located["output"], self.plan["file"], field)
        name = located["output"].lower()
        if name not in self.kinds:
            hint = nearest(name, list(self.kinds))
            raise StartError(tried, "the model has no such column on " + self.engine.name, hint)
        source = self.columns[located["source"]].get(located["column"])
        if source is None or not is_text(source):
            raise no_text(self.plan, located, source and source[1], tried, self.engine.text_type)
        return self.engine.kinds_of(self.query, kind)[name]

    def carrier(self, name: str) -> "Kind":
        """Give the output column that carries the number of a row."""
        return self.kinds[name.lower()]
