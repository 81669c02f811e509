"""An expression over bound values, for warehouses of whose drivers nothing more is known than that they bind.

Values are the rows of a derived table, some at a time; a row that is refused takes its statement with it, and ever
fewer come again. The warehouse writes the values as text; what type they had is not known across drivers, so the type
of the field tells what the text is.

An engine has `name`, `moved`, `text_type` (of any text), `dual` (what stands behind a select of constants), `longest`
(characters of a text that can be sent, 0 for any), `place(at)` (where a value is bound), `as_it_is(sql)` (the
consumer's text as the driver takes it for itself) and `rows(sql, values)`.
"""

from __future__ import annotations

from .answers import TEXT_OF, tagged_text
from .engine_common import Column, Refused, by_halves, in_place, see_that_each_has_one_row
from .engine_texts import boolean_text, decimal_text, integer_text, untagged
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional, Sequence

#: Rows of one statement.
ROWS = 100


class Expression:
    """The consumer's expression over rows of bound values."""

    def __init__(self, engine: "Any", field: str, target: str, kind: str) -> None:
        self.engine, self.shown, self.kind = engine, target, kind
        self.tag = tagger_of(kind)
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        self.sql = engine.as_it_is(in_place(target, "value", tried))
        try:
            found = self._rows([0, 1], ["1", "2"])
        except Refused:
            found = []  # these values may be none of its own
            self._check(tried)
        if found and (len(found) != 2 or len(found[0]) != 2):
            raise StartError(tried, "it gives %d rows for 2 values" % len(found), "give an expression of one value")

    def _check(self, tried: str) -> None:
        """See that the expression is one, over no rows."""
        query = self._query([0]) + " WHERE 1 = 0"
        try:
            self.engine.rows(query, [""])
        except Refused as error:
            raise StartError(tried, str(error), "correct the expression") from error

    def _query(self, rows: "Sequence[int]") -> str:
        text = self.engine.text_type
        bound = " UNION ALL ".join(
            "SELECT %d AS i, CAST(%s AS %s) AS value%s" % (row, self.engine.place(at), text, self.engine.dual)
            for at, row in enumerate(rows)
        )
        return "SELECT i, CAST(x AS %s) AS t FROM (SELECT i, %s AS x FROM (%s) mock) r" % (text, self.sql, bound)

    def _rows(self, rows: "Sequence[int]", values: "Sequence[str]") -> "List[Any]":
        found: "List[Any]" = self.engine.rows(self._query(rows), values)
        return found

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text."""
        column = Column([None] * len(values))

        def run(rows: "Sequence[int]") -> None:
            found = self._rows(rows, [values[row] for row in rows])
            see_that_each_has_one_row([int(row) for row, _ in found], rows)
            for row, text in found:
                column.texts[int(row)] = None if text is None else str(text)

        longest = self.engine.longest or max(map(len, values), default=0)
        sent = [row for row, value in enumerate(values) if len(value) <= longest]
        for start in range(0, len(sent), ROWS):
            by_halves(sent[start : start + ROWS], run, column, self.engine.moved)
        for row in set(range(len(values))).difference(sent):
            column.errors[row] = "a text of more than %d characters was not sent" % longest
        return column


def tagger_of(kind: str) -> "Callable[[str], Optional[str]]":
    """Give what tags a text of a field's type."""
    number = {"integer": integer_text, "ordinal": integer_text, "decimal": decimal_text}.get(kind)
    if number is not None:
        return lambda text: number(text) or decimal_text(text) or "text:" + text
    if kind == "boolean":
        return lambda text: boolean_text(text.lower()) or "text:" + text
    return untagged(TEXT_OF.get(kind, tagged_text))
