"""One field of a warehouse model on DuckDB: a column of values as the model's source, its marks as what comes out."""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

import re

from .sql_engine import identifier, message_of
from .sql_tags import tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

    from .sql_model_run import Model

RESULT = "auditor_model_result"
JOINT = "\x1e"
DROPPED = "d"
RUNS = re.compile(r"[^\W\d_]+|\d+")

#: So many values that cannot be decided together are decided one by one.
FEW = 16


class Unclear(Exception):
    """The rows that came back cannot be told apart."""


class Reader:
    """One field of a model."""

    def __init__(self, model: Model, field: str, located: "Dict[str, Any]", kind: str) -> None:
        self.model, self.field, self.located, self.kind = model, field, located, kind
        self.engine = model.engine
        line = "" if located["line"] is None else ":%d" % located["line"]
        self.text = located["output"]
        self.shown = "%s%s %s" % (model.plan["file"], line, located["output"])
        mark, carrier = tagged(identifier(located["output"]), kind), located["identity"]
        self.alone = "SELECT %s FROM %s" % (mark, RESULT)
        self.itself = carrier == located["output"]
        if carrier is not None:
            number = "coalesce(CAST(%s AS VARCHAR), '')" % identifier(carrier)
            self.joined = "SELECT string_agg(%s, chr(30)), string_agg(%s, chr(30)) FROM %s" % (number, mark, RESULT)
            self.listed = "SELECT list(%s), list(%s) FROM %s" % (number, mark, RESULT)

    def read(self, values: "Sequence[str]") -> "List[str]":
        """Give the mark of each value."""
        untold = any(
            key in typed for one, typed in zip(self.model.plan["sources"], self.model.typed) for key in one["keys"]
        )
        if untold or self.located["alone"] or self.located["identity"] is None:
            return [self._alone(value) for value in values]
        if not self.itself:
            return self._decode(values)
        distinct = list(dict.fromkeys(values))  # the value is its own number
        marks = dict(zip(distinct, self._decode(distinct)))
        return [marks[value] for value in values]

    def _decode(self, values: "Sequence[str]") -> "List[str]":
        return decided(values, self._attempt, self._alone)

    def _attempt(self, values: "Sequence[str]") -> "Optional[List[str]]":
        """Run the model on values together; None where that gives no answer for each."""
        try:
            return self._together(values)
        except Unclear:
            return None
        except self.engine.fatal:
            raise
        except self.engine.error:
            return None

    def _together(self, values: "Sequence[str]") -> "List[str]":
        self.model.fill(self.located, values)
        self.model.run()
        numbers, found = self._rows()
        names = values if self.itself else [str(number) for number in range(1, len(values) + 1)]
        if numbers == names:
            return found
        places = {name: place for place, name in enumerate(names)}
        marks, times = [DROPPED] * len(names), [0] * len(names)
        for number, mark in zip(numbers, found):
            place = places.get(number)
            if place is None:
                raise Unclear(number)
            marks[place], times[place] = mark, times[place] + 1
        return [several(count) if count > 1 else mark for mark, count in zip(marks, times)]

    def _rows(self) -> "tuple[List[str], List[str]]":
        if not self.itself:
            numbers, marks = self.engine.rows(self.joined)[0]
            if numbers is None:
                return [], []
            split = marks.split(JOINT)
            if len(split) == numbers.count(JOINT) + 1:
                return numbers.split(JOINT), split
        numbers, marks = self.engine.rows(self.listed)[0]
        return numbers or [], marks or []

    def _alone(self, value: str) -> str:
        try:
            self.model.put(self.located, value)
            self.model.run()
            found = self.engine.rows(self.alone)
        except self.engine.fatal:
            raise
        except self.engine.error as error:
            return "r:" + message_of(error)
        if len(found) > 1:
            return several(len(found))
        mark: str = found[0][0] if found else DROPPED
        return mark


def decided(
    values: "Sequence[str]",
    attempt: "Callable[[Sequence[str]], Optional[List[str]]]",
    alone: "Callable[[str], str]",
) -> "List[str]":
    """Run a model on all values; where one makes it fail, on ever fewer of those that look alike.

    `attempt` gives a mark for each value, or None where it cannot; `alone` always gives one.
    """
    marks = attempt(values)
    if marks is not None:
        return marks
    order = sorted(range(len(values)), key=lambda index: shape_of(values[index]))
    found = halved([values[index] for index in order], attempt, alone)
    return [mark for _, mark in sorted(zip(order, found))]


def halved(
    values: "Sequence[str]",
    attempt: "Callable[[Sequence[str]], Optional[List[str]]]",
    alone: "Callable[[str], str]",
) -> "List[str]":
    """Give the marks of values that cannot be decided together: of their halves, and of few values one by one."""
    if len(values) <= FEW:
        return [alone(value) for value in values]
    middle, marks = len(values) // 2, []
    for half in (values[:middle], values[middle:]):
        marks += attempt(half) or halved(half, attempt, alone)
    return marks


def shape_of(value: str) -> str:
    """Give the form of a value: values of one form mostly fare alike, and are then decided in one run."""
    return RUNS.sub(lambda run: "d" if run.group()[0].isdigit() else "a", value[:64])


def several(count: int) -> str:
    """Give the mark of a value that the model makes several rows of."""
    return "r:model gives several rows for one value: %d" % count
