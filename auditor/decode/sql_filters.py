"""Filters of a model on what the mock does not have: the number of the row in a key, NULL in every other column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp

from auditor.decode.sql_outputs import Name, Origin
from auditor.decode.sql_syntax import Node, own

_MARK = "condition"


@dataclass(frozen=True)
class Condition:
    """One condition that every row which the model keeps fulfils, and the columns that it depends on."""

    node: Node
    origins: frozenset[Origin]

    def binds(self, source: Origin, tables: Set[str]) -> bool:
        """Say whether it can be judged on the mock whatever the value: it is of other columns, or equal to one.

        `tables` are those that it may read in a subquery: the mocked ones without the field's own.
        """
        if self.read:
            return self.read <= tables
        return source not in self.origins or (len(self.origins) > 1 and self._is_equation())

    def binds_rows(self, carried: Set[Origin], links: Set[frozenset[Origin]], tables: Set[str]) -> bool:
        """Say whether it can be judged on the mock whatever the payload: nothing that a payload carries is in it.

        `links` tie what is carried to a table that is mocked to match; `tables` are those that no field comes from.
        """
        if self.read:
            return self.read <= tables
        if self._is_equation() and len(self.origins) > 1:
            return self.origins not in links and not self.origins <= carried
        return not self.origins & carried

    def counts(self, numbers: Set[Origin], values: Set[Origin]) -> bool:
        """Say whether it may read the number of the row; windows and aggregates see whole groups of rows instead."""
        of_keys = self._is_equation() and not self.origins & values
        if not self.origins & numbers or of_keys or isinstance(self.node, exp.Is):
            return False
        is_not = isinstance(self.node, exp.Not) and isinstance(self.node.this, exp.Is)
        return not is_not and next(own(self.node, exp.Window, exp.AggFunc), None) is None

    @property
    def read(self) -> set[str]:
        """The tables that its subqueries read."""
        return {_dotted(tuple(part.name for part in table.parts)).lower() for table in self.node.find_all(exp.Table)}

    def _is_equation(self) -> bool:
        node = self.node
        return isinstance(node, exp.EQ) and all(isinstance(end, exp.Column) for end in (node.this, node.expression))

    def shown(self, dialect: str) -> str:
        """Give its text and its columns."""
        columns = ", ".join(f"{_dotted(table)}.{column}" for table, column in sorted(self.origins))
        text = str(self.node.sql(dialect))
        return f"{text} (of {columns})" if columns else text


def _dotted(table: Name) -> str:
    return ".".join(table)


def dotted(tables: Iterable[Name]) -> set[str]:
    """Give the names of tables in lower case."""
    return {_dotted(table).lower() for table in tables}


def foreign_filter(
    query: Node, conditions: Sequence[Condition], source: Origin, tables: Iterable[Name], dialect: str
) -> dict[str, str] | None:
    """Give the query with no filters but those that the field's own column cannot fulfil, and their text."""
    others = dotted(table for table in tables if table != source[0])
    binding = [condition for condition in conditions if condition.binds(source, others)]
    return only(query, conditions, binding, dialect)


def only(
    query: Node, conditions: Sequence[Condition], binding: Sequence[Condition], dialect: str
) -> dict[str, str] | None:
    """Give the query with no filters but the binding ones, and their text; None where there are none."""
    if not binding:
        return None
    for number, condition in enumerate(conditions):
        condition.node.meta[_MARK] = number
    other = {number for number, condition in enumerate(conditions) if condition not in binding}
    copied = query.copy()
    for node in [node for node in copied.walk() if node.meta.get(_MARK) in other]:
        node.replace(exp.true())
    text = " and ".join(condition.shown(dialect) for condition in binding)
    return {"query": copied.sql(dialect), "text": text}
