"""One field of a warehouse model, in an engine other than DuckDB: its source column is filled, the others are NULL."""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

from .engine_common import OutOfTime, shortened
from .engine_stage import mark_of
from .sql_model_reader import DROPPED, Unclear, decided, several
from .sql_model_run import PROBES, keeps_nothing
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

    from .engine_model import Model
    from .engine_stage import Row


class Reader:
    """Gives the mark of each value; what the engine warned of stays in `warnings`, by value."""

    def __init__(self, model: "Model", field: str, kind: str) -> None:
        self.model, self.field, self.engine = model, field, model.engine
        self.located: "Dict[str, Any]" = model.plan["fields"][field]
        self.output = model.output(field, kind)
        self.kind, self.text = self.output[1], self.located["output"]
        line = "" if self.located["line"] is None else ":%d" % self.located["line"]
        self.shown = "%s%s %s" % (model.plan["file"], line, self.text)
        carrier = self.located["identity"]
        self.itself = carrier == self.located["output"]  # the value is its own number
        untold = any(key in typed for one, typed in zip(model.plan["sources"], model.typed) for key in one["keys"])
        self.apart = untold or bool(self.located["alone"]) or carrier is None
        self.carrier = None if carrier is None else model.carrier(carrier)
        self.warnings: "Dict[str, str]" = {}
        self.moved: "Optional[Callable[[int], None]]" = None
        self.done = 0  # values that were run alone
        if not model.plan["rows"]:
            self._check_filter()

    def read(self, values: "Sequence[str]") -> "List[str]":
        """Give the mark of each value."""
        self.warnings.clear()
        self.done = 0
        distinct = list(dict.fromkeys(values))
        marks = dict(zip(distinct, self._decode(distinct)))
        return [marks[value] for value in values]

    def _decode(self, values: "Sequence[str]") -> "List[str]":
        if self.apart:
            return [self.alone(value) for value in values]
        return decided(values, self._attempt, self.alone)

    def _attempt(self, values: "Sequence[str]") -> "Optional[List[str]]":
        """Run the model on values together; None where that gives no answer for each, or a warning for one of them."""
        assert self.carrier is not None
        try:
            self.fill(values)
            found, warned = self.model.results([self.carrier, self.output])
            return None if warned else self._told(values, found)
        except (Unclear, self.engine.error):
            return None

    def _told(self, values: "Sequence[str]", found: "Sequence[Row]") -> "List[str]":
        """Tell the rows that came back apart by their numbers."""
        names = values if self.itself else [str(number) for number in range(1, len(values) + 1)]
        places = {name: place for place, name in enumerate(names)}
        marks, times = [DROPPED] * len(names), [0] * len(names)
        for number, text in found:
            place = places.get(self.engine.plain(number))
            if place is None:
                raise Unclear(number)
            marks[place], times[place] = mark_of(text, self.output), times[place] + 1
        return [several(count) if count > 1 else mark for mark, count in zip(marks, times)]

    def alone(self, value: str) -> str:
        """Run the model on one value."""
        self.done += 1
        if self.moved is not None:
            self.moved(self.done)
        try:
            self.fill([value])
            found, warned = self.model.results([self.output])
        except self.engine.error as error:
            return ("t:" if isinstance(error, OutOfTime) else "r:") + shortened(str(error))
        if warned:
            self.warnings[value] = warned
        if len(found) > 1:
            return several(len(found))
        return mark_of(found[0][0], self.output) if found else DROPPED

    def fill(self, values: "Sequence[str]") -> None:
        """Put values into the field's source column, and the number of the row into the keys."""
        numbers = [str(number) for number in range(1, len(values) + 1)]
        for at, source in enumerate(self.model.plan["sources"]):
            columns: "Dict[str, Sequence[Optional[str]]]" = {}
            for key in source["keys"]:
                if key not in self.model.typed[at]:
                    columns[key] = numbers
            if at == self.located["source"]:
                number = self.located["number"]
                if number and number not in self.model.typed[at]:
                    columns[number] = numbers
                columns[self.located["column"]] = values
            if not columns and source["joined"]:
                columns[self.model.any_column(at)] = [None]
            self.model.fill(
                at, list(columns) or [self.model.any_column(at)], [list(row) for row in zip(*columns.values())]
            )

    def _check_filter(self) -> None:
        """A mock that the model never takes would say of every value that production drops or refuses it."""
        tried = "find column %s of %s, for field %s" % (self.text, self.model.plan["file"], self.field)
        marks = {self.alone(value) for value in ("", *PROBES)}
        if len(marks) == 1 and min(marks).startswith("r:"):
            hint = 'leave scope = "field" out, or create the source table in the model file, with Nullable columns'
            raise StartError(tried, "the model refuses whatever the value is: " + min(marks)[2:], hint)
        probe = self.located["probe"]
        if probe is not None and marks == {DROPPED} and not self._keeps_any(probe):
            raise keeps_nothing(tried, probe["text"], self.field)

    def _keeps_any(self, probe: "Dict[str, str]") -> bool:
        """Say whether a row gets past the filters that are not on the field's own column."""
        try:
            for value in PROBES:
                self.fill([value])
                if self.engine.rows("SELECT 1 FROM (" + probe["query"] + "\n) AS kept LIMIT 1"):
                    return True
        except self.engine.error:  # then nothing is known
            return True
        return False
