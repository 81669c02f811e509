"""The mocked source of a warehouse model on an engine other than DuckDB, filled with whole rows.

What `sql_row_source` is for DuckDB; `sql_rows` decides with either whose fault it is that a row raises.
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

from .engine_common import OutOfTime, shortened
from .engine_stage import mark_of
from .sql_model_reader import DROPPED, Unclear
from .sql_row_source import several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

    from .engine_model import Model
    from .engine_model_reader import Reader
    from .engine_stage import Row as Texts
    from .sql_row_source import Outcome, Row


class RowSource:
    """The source tables of a model, and its output columns for some fields."""

    def __init__(self, model: "Model", readers: "Sequence[Reader]") -> None:
        self.model, self.engine, self.plan = model, model.engine, model.plan["rows"]
        self.outputs_of = [reader.output for reader in readers]
        self.numbers = [
            [name for name in source["numbers"] if name not in typed]
            for source, typed in zip(self.plan["sources"], model.typed)
        ]
        self.untold = [source["numbers"] for source in self.plan["sources"]] != self.numbers
        number = self.plan["number"]
        self.carrier = None if number is None or self.untold else model.carrier(number)
        #: Why rows are run one by one: no engine but DuckDB promises to keep their order.
        self.apart: str = "a key that holds no number" if self.untold else self.plan["apart"]
        if self.carrier is None and not self.apart:
            self.apart = "no column of the model carries the number of the row"
        self.warnings: "Dict[Tuple[Optional[str], ...], str]" = {}

    def together(self, rows: "Sequence[Row]") -> "List[Outcome]":
        """Run the model on rows at once; Unclear where that gives no answer for each, or a warning for one."""
        assert self.carrier is not None
        found, warned = self._run(rows, [self.carrier, *self.outputs_of])
        if warned:
            raise Unclear(warned)
        places = {str(at + 1): at for at in range(len(rows))}
        outcomes: "List[Outcome]" = [DROPPED] * len(rows)
        times = [0] * len(rows)
        for number, *texts in found:
            place = places.get(self.engine.plain(number))
            if place is None:
                raise Unclear(number)
            outcomes[place], times[place] = self._marks(texts), times[place] + 1
        return [several(count) if count > 1 else outcome for outcome, count in zip(outcomes, times)]

    def alone(self, row: "Row") -> "Outcome":
        """Run the model on one row."""
        try:
            found, warned = self._run([row], self.outputs_of)
        except self.engine.error as error:
            return ("t:" if isinstance(error, OutOfTime) else "r:") + shortened(str(error))
        if warned:
            self.warnings[tuple(row)] = warned
        if len(found) > 1:
            return several(len(found))
        return self._marks(found[0]) if found else DROPPED

    def outputs(self, rows: "Sequence[Row]") -> "List[Tuple[str, ...]]":
        """Run the model on rows together and give the marks of every row that comes of them."""
        return [self._marks(texts) for texts in self._run(rows, self.outputs_of)[0]] if rows else []

    def run(self, rows: "Sequence[Row]") -> None:
        """Run the model on rows for nothing but what it raises."""
        self._run(rows, self.outputs_of)

    def _run(self, rows: "Sequence[Row]", columns: "Any") -> "Tuple[List[Texts], str]":
        self.fill(rows)
        return self.model.results(columns)

    def _marks(self, texts: "Sequence[Optional[str]]") -> "Tuple[str, ...]":
        return tuple(mark_of(text, output) for text, output in zip(texts, self.outputs_of))

    def fill(self, rows: "Sequence[Row]") -> None:
        """Put rows into the source: values, numbers, and NULL in all else; a lookup has one row for each key."""
        for at, source in enumerate(self.plan["sources"]):
            columns: "Dict[str, Any]" = {name: [row[of] for row in rows] for name, of in source["columns"].items()}
            lines = [str(number) for number in range(1, len(rows) + 1)]
            by_key = bool(columns) and not source["record"]
            if by_key:
                first = dict(zip(reversed(list(zip(*columns.values()))), reversed(lines)))
                columns = dict(zip(columns, zip(*first))) if first else columns
                lines = list(first.values())
            columns.update((name, lines) for name in self.numbers[at])
            if not columns and self.model.plan["sources"][at]["joined"]:
                columns[self.model.any_column(at)] = [None]
            self.model.fill(
                at, list(columns) or [self.model.any_column(at)], [list(row) for row in zip(*columns.values())]
            )
