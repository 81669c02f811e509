"""The mocked source of a warehouse model, filled with whole rows, and what the model makes of them.

A record's columns are filled from the row; keys that no payload carries hold its number, all else is NULL. A table that
the model file itself fills keeps its rows; any other that holds no records has one row for each key that is asked for.
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

import json

from .sql_engine import Column, identifier, message_of
from .sql_model_reader import DROPPED, JOINT, RESULT, Unclear
from .sql_tags import tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

    from .sql_model_run import Model

    Row = List[Optional[str]]
    #: The mark of each field; or, for all of them, `d`, `r:` and what the model raised, or `s:` and why it is no row.
    Outcome = Union[Tuple[str, ...], str]

#: What DuckDB documents to keep the order of rows, by the names of its physical operators.
IN_ORDER = {"PROJECTION", "FILTER", "SEQ_SCAN", "TABLE_SCAN", "EMPTY_RESULT", "CTE", "CTE_SCAN"}
CREATES = {"CREATE_TABLE_AS", "BATCH_CREATE_TABLE_AS"}


class RowSource:
    """The source tables of a model, and its output columns for some fields."""

    def __init__(self, model: Model, fields: Sequence[str]) -> None:
        self.model, self.engine, self.plan = model, model.engine, model.plan["rows"]
        self.count = len(fields)
        outputs = [model.plan["fields"][field]["output"] for field in fields]
        marks = [tagged(identifier(output), model.kinds[output.lower()]) for output in outputs]
        number = self.plan["number"]
        self.numbers = [
            [name for name in source["numbers"] if name not in typed]
            for source, typed in zip(self.plan["sources"], model.typed)
        ]
        self.untold = [source["numbers"] for source in self.plan["sources"]] != self.numbers
        #: Why rows are run one by one.
        self.apart: str = "a key that holds no number" if self.untold else self.plan["apart"]
        self.numbered = number is not None and not self.untold
        if self.numbered:
            marks.append("coalesce(CAST(%s AS VARCHAR), '')" % identifier(number))
        self.joined, self.listed = (
            "SELECT count(*), %s FROM %s" % (", ".join(form % mark for mark in marks), RESULT)
            for form in ("string_agg(%s, chr(30))", "list(%s)")
        )

    def together(self, rows: Sequence[Row]) -> List[Outcome]:
        self.fill(rows)
        if not self.numbered and not self._keeps_order():
            raise Unclear("the engine may give the rows in another order")
        self.model.run()
        columns = self._columns()
        if not self.numbered:
            if len(columns[0]) not in (0, len(rows)):
                raise Unclear("some rows are filtered out")
            return list(zip(*columns)) if columns[0] else [DROPPED] * len(rows)
        numbers, marks = columns[-1], list(zip(*columns[:-1]))
        names = [str(number) for number in range(1, len(rows) + 1)]
        if numbers == names:
            return list(marks)
        places = {name: place for place, name in enumerate(names)}
        outcomes: List[Outcome] = [DROPPED] * len(rows)
        times = [0] * len(rows)
        for number, mark in zip(numbers, marks):
            place = places.get(number)
            if place is None:
                raise Unclear(number)
            outcomes[place], times[place] = mark, times[place] + 1
        return [several(count) if count > 1 else outcome for outcome, count in zip(outcomes, times)]

    def alone(self, row: Row) -> Outcome:
        try:
            self.run([row])
        except self.engine.fatal:
            raise
        except self.engine.error as error:
            return "r:" + message_of(error)
        columns = self._columns()
        count = len(columns[0])
        return several(count) if count > 1 else next(zip(*columns[: self.count]), DROPPED)

    def outputs(self, rows: Sequence[Row]) -> List[Tuple[str, ...]]:
        """Run the model on rows together and give the marks of every row that comes of them."""
        if not rows:
            return []
        self.run(rows)
        return list(zip(*self._columns()[: self.count]))

    def run(self, rows: Sequence[Row]) -> None:
        self.fill(rows)
        self.model.run()

    def _columns(self) -> List[List[str]]:
        """Fetch the marks of each field, and last the numbers where there are any."""
        count, *joined = self.engine.rows(self.joined)[0]
        if count == 0:
            return [[] for _ in joined]
        columns = [text.split(JOINT) for text in joined]
        if any(len(column) != count for column in columns):  # a text holds the joint
            columns = [list(column) for column in self.engine.rows(self.listed)[0][1:]]
        return columns

    def _keeps_order(self) -> bool:
        """Ask the engine how it runs the model on these rows: nothing but projections and filters keeps their order."""
        kind, statement = self.model.plan["kind"], self.model.plan["statement"]
        target = ".".join(map(identifier, self.model.plan["target"]))
        if kind == "table":
            self.engine.run("DROP TABLE IF EXISTS " + target)
        query = "SELECT * FROM " + target if kind == "view" else statement
        try:
            text = self.engine.connection.execute("EXPLAIN (FORMAT JSON) " + query).fetchall()[0][1]
            return set(operators(json.loads(text))) <= IN_ORDER | CREATES
        except self.engine.fatal:
            raise
        except (self.engine.error, ValueError, LookupError):  # an older engine explains in another form
            return False

    def fill(self, rows: Sequence[Row]) -> None:
        """Put rows into the source: values, numbers, and NULL in all else."""
        self.model.single = None
        tables = zip(self.plan["sources"], self.model.tables, self.model.plan["sources"], self.numbers)
        for source, table, joined, numbers in tables:
            if table in self.model.seeds:
                continue
            self.engine.run("DELETE FROM " + table)
            if source["columns"] or numbers:
                used = sorted(set(source["columns"].values()))
                values = [cell for column in used for cell in parameters_of([row[column] for row in rows])]
                self.engine.run(insertion(table, source, numbers, used), [*values, len(rows)])
            elif joined["joined"]:
                self.engine.run("INSERT INTO " + table + " DEFAULT VALUES")


def operators(plan: Sequence[Any]) -> List[str]:
    """Give the names of all operators of an explained plan."""
    return [name for node in plan for name in (node["name"].strip(), *operators(node["children"]))]


def parameters_of(column: Sequence[Optional[str]]) -> List[str]:
    """Give a column as parameters: its texts as one, what separates them, and the text that stands for NULL."""
    null = "\x1d"
    while null in column:
        null += "\x1d"
    return [*Column([null if value is None else value for value in column]).parameters, null]


def insertion(table: str, source: Dict[str, Any], numbers: Sequence[str], used: Sequence[int]) -> str:
    """Give the statement that fills a table; a lookup has one row for each key."""
    split = ", ".join("nullif(unnest(string_split(?, ?)), ?) AS c%d" % column for column in used)
    rows = "SELECT %sunnest(range(1, ? + 1)) AS i" % (split + ", " if split else "")
    cell = {name: "c%d" % column for name, column in source["columns"].items()}
    by_key = bool(cell) and not source["record"]
    number = "CAST(%s AS VARCHAR)" % ("min(i)" if by_key else "i")
    cell.update(dict.fromkeys(numbers, number))
    names = ", ".join(map(identifier, cell))
    statement = "INSERT INTO %s (%s) SELECT %s FROM (%s)" % (table, names, ", ".join(cell.values()), rows)
    return statement + (" GROUP BY " + ", ".join("c%d" % column for column in used) if by_key else "")


def several(count: int) -> str:
    """Give the outcome of a row that the model makes several rows of."""
    return "s:model gives several rows for one payload: %d" % count
