"""Where rows of mocked tables may meet rows of another value, since a model reads a table more than once.

Keys hold the number of the row, so two readings of a table meet row by row where a key ties them together. Where none
does (``from src s, src t``, ``not exists (select 1 from src t where t.a > s.a)``), every row may depend on all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from auditor.decode.sql_outputs import Name, Origin, Output
from auditor.decode.sql_syntax import Node, argument, arms, conjuncts, sources_of


@dataclass(frozen=True)
class Meeting:
    """The parts of one query with the tables that each reads, and the columns that tie two parts row by row."""

    parts: dict[str, frozenset[Name]]
    links: list[tuple[str, str, frozenset[Origin]]]

    def untied(self, tables: Set[Name], ties: Callable[[frozenset[Origin]], bool]) -> bool:
        """Say whether rows of these tables meet without a tie; `ties` says of two equal columns whether they are one.

        What is tied through a table that is not one of these is tied too.
        """
        waiting = set(self.parts)
        wanted = {part for part, read in self.parts.items() if read & tables}
        reached = [min(wanted)] if wanted else []
        waiting -= set(reached)
        for part in reached:
            for one, other, origins in self.links:
                if part in (one, other) and ties(origins):
                    reached += waiting & {one, other}
                    waiting -= {one, other}
        return bool(waiting & wanted)


class Meetings:
    """Finds the meetings of a query; what it asks of its columns comes from the locator."""

    def __init__(
        self,
        name_of: Callable[[exp.Table], Name],
        resolve: Callable[[Node, Scope], Output],
        given: Callable[[Any, str], Output | None],
    ) -> None:
        self._name_of, self._resolve, self._given = name_of, resolve, given
        self._known: dict[int, frozenset[Name]] = {}

    def of(self, scope: Scope) -> Meeting:
        """Give the parts of a select: its sources and the subqueries of its clauses."""
        sources = {alias.lower(): source for alias, (_, source) in scope.selected_sources.items()}
        inner = {f"({number})": subquery for number, subquery in enumerate(scope.subquery_scopes)}
        parts = {name: self.tables_of(part) for name, part in (sources | inner).items()}
        links = [*self._equal(scope, sources), *self._shared(scope, sources)]
        for name, subquery in inner.items():
            links += self._correlated(name, subquery, sources)
        return Meeting(parts, links)

    def tables_of(self, source: Any) -> frozenset[Name]:
        """Give the tables that a source or query reads, those of the queries inside it too."""
        if isinstance(source, exp.Table):
            return frozenset([self._name_of(source)])
        if id(source) not in self._known:
            self._known[id(source)] = frozenset()  # a recursive query meets itself
            parts = [*sources_of(source), *source.subquery_scopes, *arms(source)]
            self._known[id(source)] = frozenset(name for part in parts for name in self.tables_of(part))
        return self._known[id(source)]

    def _equal(self, scope: Scope, sources: dict[str, Any]) -> Iterator[tuple[str, str, frozenset[Origin]]]:
        for one, other in _equations(scope.expression):
            names = one.table.lower(), other.table.lower()
            if names[0] in sources and names[1] in sources:
                yield from self._tied(*names, self._resolve(one, scope), self._resolve(other, scope))

    def _shared(self, scope: Scope, sources: dict[str, Any]) -> Iterator[tuple[str, str, frozenset[Origin]]]:
        """Tie what is joined by USING to the first source: where that is not tied to the others, some part stays so."""
        first = [node.this.alias_or_name.lower() for node in argument(scope.expression, "from")]
        for join in argument(scope.expression, "joins"):
            name = join.this.alias_or_name.lower()
            for column in argument(join, "using"):
                if name in sources and first and first[0] in sources:
                    ends = [self._given(sources[end], column.name) for end in (first[0], name)]
                    yield from self._tied(first[0], name, *ends)

    def _correlated(
        self, name: str, subquery: Scope, around: dict[str, Any]
    ) -> Iterator[tuple[str, str, frozenset[Origin]]]:
        own = {alias.lower() for alias in subquery.selected_sources}
        for equation in _equations(subquery.expression):
            for inside, outside in (equation, equation[::-1]):
                owner = outside.table.lower()
                if inside.table.lower() in own and owner in around and owner not in own:
                    yield from self._tied(name, owner, *(self._resolve(end, subquery) for end in (inside, outside)))

    def _tied(
        self, one: str, other: str, left: Output | None, right: Output | None
    ) -> Iterator[tuple[str, str, frozenset[Origin]]]:
        if left is not None and right is not None and left.bare is not None and right.bare is not None:
            yield one, other, frozenset([left.bare, right.bare])


def _equations(expression: Node) -> Iterator[tuple[Node, Node]]:
    """Give the pairs of columns that must be equal in every row of a select."""
    clauses = [node.this for node in argument(expression, "where")]
    clauses += [condition for join in argument(expression, "joins") for condition in argument(join, "on")]
    for clause in clauses:
        for condition in conjuncts(clause):
            if isinstance(condition, exp.EQ):
                ends = condition.this, condition.expression
                if all(isinstance(end, exp.Column) for end in ends):
                    yield ends
