"""A warehouse model on whole rows: each payload is a record of the source, and the model runs once for all its fields.

A row is a list with a text, or None, for each column of the source that payloads carry. Where the model raises on a
row, the row is rejected for every field, as the load would stop; the columns at fault are found by reading them alone.
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

import json

from .sql_engine import LONGEST_STATEMENT, SURROGATE, can_be_sent, identifier
from .sql_model_reader import DROPPED, FEW, Unclear, shape_of
from .sql_model_run import PROBES
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

    from .engine_model import Model as EngineModel
    from .engine_model_rows import RowSource as EngineRowSource
    from .sql_model_run import Model
    from .sql_row_source import Outcome, Row, RowSource

#: Characters of rows whose marks are kept, since the same row is asked for each of its fields.
KEPT_CHARACTERS = 64 * 1024 * 1024
KEPT_REFUSALS = 100_000

SURROGATE_MARK = "r:" + SURROGATE
REJECTED = "r:payload rejected: "


class Rows:
    """Reads rows for the fields of a model."""

    def __init__(
        self,
        model: Union[Model, EngineModel],
        source: Union[RowSource, EngineRowSource],
        fields: Sequence[str],
    ) -> None:
        self.model, self.plan = model, model.plan["rows"]
        self.engine: Any = model.engine
        self.names: List[str] = self.plan["names"]
        self.fields = {field: place for place, field in enumerate(fields)}
        self.own = [self.plan["fields"][field] for field in fields]
        self.source = source
        self.known: Dict[str, Tuple[str, ...]] = {}
        self.characters = 0
        self.refusals: Dict[Tuple[int, str], str] = {}
        self.blank_is_read = not is_raised(self.source.alone([None] * len(self.names)))
        self._check_filter()
        self._check_meetings()

    def read(self, field: str, texts: Sequence[str]) -> List[str]:
        """Give the field's mark of each row, which is the JSON text of its list."""
        place = self.fields[field]
        found = {text: self.known[text] for text in texts if text in self.known}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(new, self._marks([json.loads(text) for text in new])))
        self._keep(new, found)
        return [found[text][place] for text in texts]

    def _keep(self, texts: Sequence[str], found: Dict[str, Tuple[str, ...]]) -> None:
        size = sum(map(len, texts))
        if self.characters + size > KEPT_CHARACTERS:
            self.known.clear()
            self.characters = 0
        if size <= KEPT_CHARACTERS:
            self.known.update((text, found[text]) for text in texts)
            self.characters += size

    def _marks(self, rows: Sequence[Row]) -> List[Tuple[str, ...]]:
        """Give the marks of all fields for each row; what the engine cannot be sent is no row of a table."""
        marks: List[Any] = [self._unsendable(row) for row in rows]
        left = [index for index, mark in enumerate(marks) if mark is None]
        outcomes = self._outcomes([rows[index] for index in left])
        raised = [position for position, outcome in enumerate(outcomes) if is_raised(outcome)]
        blamed = self._blamed([rows[left[position]] for position in raised], [outcomes[at] for at in raised])
        for position, marked in zip(raised, blamed):
            outcomes[position] = marked
        for index, outcome in zip(left, outcomes):
            marks[index] = outcome if isinstance(outcome, tuple) else self._for_all(outcome)
        return marks

    def _for_all(self, outcome: str) -> Tuple[str, ...]:
        return (outcome.replace("s:", "r:", 1) if outcome.startswith("s:") else outcome,) * len(self.own)

    def _unsendable(self, row: Row) -> Optional[Tuple[str, ...]]:
        bad = {column: SURROGATE_MARK for column, value in enumerate(row) if value and not can_be_sent(value)}
        return self._blame(bad, "") if bad else None

    # What the model makes of rows -------------------------------------------------------------------------------------

    def _outcomes(self, rows: Sequence[Row]) -> List[Outcome]:
        found: List[Outcome] = []
        for part in parts_of_rows(rows):
            found += self._decode(part)
        return found

    def _decode(self, rows: Sequence[Row]) -> List[Outcome]:
        """Run the model on all rows; where one makes it fail, apart from those that hold a value which fails alone."""
        if self.source.apart or len(rows) == 1:
            return [self.source.alone(row) for row in rows]
        found = self._attempt(rows)
        if found is not None:
            return found
        outcomes: List[Any] = [None] * len(rows)
        rest = list(range(len(rows)))
        if self._raises(rows) and any(sum(value is not None for value in row) > 1 for row in rows):
            self._learn(rows)
            suspects = {index for index, row in enumerate(rows) if any(self.refusals[key] for key in cells(row))}
            for index in suspects:
                outcomes[index] = self.source.alone(rows[index])
            rest = [index for index in rest if index not in suspects]
        rest.sort(key=lambda index: self._likeness(rows[index]))
        for index, outcome in zip(rest, self._halves([rows[index] for index in rest])):
            outcomes[index] = outcome
        return outcomes

    def _raises(self, rows: Sequence[Row]) -> bool:
        try:
            self.source.run(rows)
        except self.engine.fatal:
            raise
        except self.engine.error:
            return True
        return False

    def _likeness(self, row: Row) -> Any:
        """Put rows side by side that a filter treats alike, then those that look alike."""
        filtered = [row[column] or "" for column in self.plan["order"]]
        return filtered, [shape_of(value or "") for value in row]

    def _halves(self, rows: Sequence[Row]) -> List[Outcome]:
        found = self._attempt(rows) if len(rows) > 1 else None
        if found is not None:
            return found
        if len(rows) <= FEW:
            return [self.source.alone(row) for row in rows]
        middle = len(rows) // 2
        return self._halves(rows[:middle]) + self._halves(rows[middle:])

    def _attempt(self, rows: Sequence[Row]) -> Optional[List[Outcome]]:
        """Run the model on rows together; None where that gives no answer for each."""
        try:
            return self.source.together(rows)
        except Unclear:
            return None
        except self.engine.fatal:
            raise
        except self.engine.error:
            return None

    # Whose fault it is ------------------------------------------------------------------------------------------------

    def _learn(self, rows: Iterable[Row]) -> None:
        """Read alone, in rows of their own, the values that are not known yet, and keep what the model raises."""
        if len(self.refusals) > KEPT_REFUSALS:
            self.refusals.clear()
        new = list(dict.fromkeys(key for row in rows for key in cells(row) if key not in self.refusals))
        if not self.blank_is_read:  # then no value can be told by being alone
            self.refusals.update(dict.fromkeys(new, ""))
            return
        alone = [self._only(column, value) for column, value in new]
        for part in parts_of_rows(alone):
            places = range(len(part))
            order = sorted(places, key=lambda index: self._likeness(part[index]))
            outcomes = dict(zip(order, self._halves([part[index] for index in order])))
            keys, new = new[: len(part)], new[len(part) :]
            for index, key in enumerate(keys):
                outcome = outcomes[index]
                self.refusals[key] = outcome if is_raised(outcome) else ""  # type: ignore[assignment]

    def _only(self, column: int, value: str) -> Row:
        row: Row = [None] * len(self.names)
        row[column] = value
        return row

    def _blamed(self, rows: Sequence[Row], messages: Sequence[Any]) -> List[Tuple[str, ...]]:
        """Give the marks of rows on which the model raised."""
        self._learn(rows)
        return [self._blame(self._at_fault(row, message), message) for row, message in zip(rows, messages)]

    def _at_fault(self, row: Row, message: str) -> Dict[int, str]:
        """Give the columns whose value raises alone; else those without which the row is read."""
        found = {key[0]: self.refusals[key] for key in cells(row) if self.refusals[key]}
        if found:
            return found
        without = [(column, [*row[:column], None, *row[column + 1 :]]) for column, _ in cells(row)]
        return {column: message for column, rest in without if not is_raised(self.source.alone(rest))}

    def _blame(self, faults: Dict[int, str], message: str) -> Tuple[str, ...]:
        """Mark the fields whose own value is at fault with what it raises, all others with the first fault."""
        column = min(faults, default=None)
        other = REJECTED + (message[2:] if column is None else "%s: %s" % (self.names[column], faults[column][2:]))
        return tuple(faults.get(own, other) for own in self.own)

    def _check_filter(self) -> None:
        """A filter on what no payload carries would say of every payload that production drops it."""
        probe = self.plan["probe"]
        read = set(probe["reads"]) if probe is not None else set()
        if probe is None or read & {table.replace('"', "").lower() for table in self.model.seeds}:
            return
        rows: List[Row] = [[value] * len(self.names) for value in PROBES]
        if any(self.source.alone(row) != DROPPED for row in rows) or self._keeps_any(rows, probe["query"]):
            return
        tried = "run the model %s on whole rows" % self.model.plan["file"]
        seen = "its filter keeps no row, as no payload carries what it is on: " + probe["text"]
        hint = (
            'let the predictions carry it, name a model without it, or read with expressions (reads.%s = "… {value}")'
        )
        raise StartError(tried, seen, hint % next(iter(self.fields)))

    def _check_meetings(self) -> None:
        """Run rows together: the text of a model does not show what its macros and functions make of other rows."""
        if self.source.untold:  # its keys are NULL here in every row, and differ in production
            return
        rows: List[Row] = [[value] * len(self.names) for value in PROBES]
        alone = [(row, self.source.alone(row)) for row in rows]
        kept = [(row, outcome) for row, outcome in alone if isinstance(outcome, tuple)]
        try:
            together = self.source.outputs([row for row, _ in kept])
        except self.engine.fatal:
            raise
        except self.engine.error:  # then nothing is known
            return
        if set(together) != {outcome for _, outcome in kept}:
            seen = "it lets the records of one table meet, and each prediction is read by itself: %d rows give %d"
            hint = 'add scope = "field", which reads each column alone, or name a model in which no record needs others'
            tried = "run the model %s on whole rows" % self.model.plan["file"]
            raise StartError(tried, seen % (len(kept), len(together)), hint)

    def _keeps_any(self, rows: Sequence[Row], query: str) -> bool:
        try:
            for row in rows:
                self.source.fill([row])
                if self.engine.rows("SELECT 1 FROM (" + query + "\n) AS kept LIMIT 1"):
                    return True
        except self.engine.fatal:
            raise
        except self.engine.error:  # then nothing is known
            return True
        return False

    def note(self) -> str:
        """Say what of a row is not what production has."""
        notes, parts = self.plan["notes"], []
        lookups = [name for name in notes["lookups"] if quoted(name) not in self.model.seeds]
        if notes["null"]:
            parts.append("NULL, as no payload carries it: " + ", ".join(notes["null"]))
        if notes["number"]:
            parts.append("another one in each row: " + ", ".join(notes["number"]))
        if notes["unasserted"]:
            parts.append("not among the references: " + ", ".join(notes["unasserted"]))
        if lookups:
            parts.append("a row of NULLs for each key: " + ", ".join(lookups))
        return "; ".join(parts)


def quoted(name: str) -> str:
    """Quote a name of several parts."""
    return ".".join(map(identifier, name.split(".")))


def cells(row: Row) -> List[Tuple[int, str]]:
    """Give the values of a row with their columns."""
    return [(column, value) for column, value in enumerate(row) if value is not None]


def is_raised(outcome: Outcome) -> bool:
    """Say whether the model raised an error on a row."""
    return isinstance(outcome, str) and outcome.startswith("r:")


def parts_of_rows(rows: Sequence[Row]) -> List[Sequence[Row]]:
    """Cut rows into parts that one statement takes."""
    parts, start, size = [], 0, 0
    for index, row in enumerate(rows):
        length = sum(len(value) for value in row if value)
        if size + length > LONGEST_STATEMENT and index > start:
            parts.append(rows[start:index])
            start, size = index, 0
        size += length
    return [*parts, rows[start:]] if len(rows) else []
