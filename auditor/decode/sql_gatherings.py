"""The clauses of a model that bring rows together: what a row gives may then depend on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from auditor.decode.sql_outputs import Name, Origin, Output
from auditor.decode.sql_syntax import Node, argument, own, sources_of


@dataclass(frozen=True)
class Gathering:
    """Rows of `tables` that one clause brings together: those that agree on `columns`, else all of them.

    `bare` are those of the columns that are grouped by as they are. `output` is the output column of the model that
    alone shows it; `inside` says that the clause is in a subquery that is run for each row of the query around it.
    """

    clause: str
    columns: frozenset[Origin]
    bare: frozenset[Origin]
    tables: frozenset[Name]
    keyed: bool
    inside: bool = False
    output: str | None = None

    def shown(self) -> str:
        """Give the clause and its columns."""
        columns = ", ".join(f"{'.'.join(table)}.{column}" for table, column in sorted(self.columns))
        return f"{self.clause} {columns}" if columns else self.clause


class Gatherings:
    """Finds the gatherings of a query; what it asks of its columns and tables comes from the locator."""

    def __init__(
        self,
        resolve: Callable[[Node, Scope], Output],
        tables_of: Callable[[Scope], frozenset[Name]],
    ) -> None:
        self._resolve, self._tables_of = resolve, tables_of

    def of(self, scope: Scope) -> Iterator[Gathering]:
        """Give the gatherings of a query, without those of the queries inside it."""
        expression = scope.expression
        for clause in ("limit", "offset", "sample"):
            if argument(expression, clause):
                yield self._gathering(scope, clause.upper(), [], keyed=False)
        if not isinstance(expression, exp.Select):
            return
        for node in argument(expression, "group"):
            yield self._gathering(scope, "GROUP BY", list(_grouped(node, expression)))
        for distinct in argument(expression, "distinct"):
            if distinct.args.get("on"):
                yield self._gathering(scope, "DISTINCT ON", [distinct.args["on"]], keyed=False)
        for window in own(expression, exp.Window):
            partition = window.args.get("partition_by") or []
            yield self._gathering(scope, "OVER (PARTITION BY)", partition, output=_only_output(window, scope))
        yield from self._of_all_rows(scope)

    def _of_all_rows(self, scope: Scope) -> Iterator[Gathering]:
        expression = scope.expression
        aggregates = (
            found for found in own(expression, exp.AggFunc) if found.find_ancestor(exp.Window, exp.Query) is expression
        )
        if not argument(expression, "group") and next(aggregates, None) is not None:
            yield self._gathering(scope, "an aggregate without GROUP BY", [], keyed=False)
        whole = scope.is_subquery and not scope.is_correlated_subquery
        if whole and any(isinstance(source, exp.Table) for source in sources_of(scope)):
            yield self._gathering(scope, "a subquery that reads a table whole", [], keyed=False)

    def _gathering(
        self, scope: Scope, clause: str, nodes: list[Any], *, keyed: bool = True, output: str | None = None
    ) -> Gathering:
        found = [self._resolve(column, scope) for node in nodes for column in own(node, exp.Column)]
        bare = (self._resolve(node, scope).bare for part in nodes for node in _parts(part))
        return Gathering(
            clause,
            frozenset(origin for output in found for origin in output.origins),
            frozenset(origin for origin in bare if origin is not None),
            self._tables_of(scope),
            keyed,
            scope.is_correlated_subquery,
            output,
        )


def _grouped(group: Node, select: Node) -> Iterator[Node]:
    """Give what a query groups by: expressions, numbers of its columns, or (ALL) all that hold no aggregate."""
    columns = [projection.unalias() for projection in select.selects]
    if group.args.get("all"):
        yield from (column for column in columns if next(own(column, exp.AggFunc), None) is None)
    sets = (node for kind in ("rollup", "cube", "grouping_sets") for node in argument(group, kind))
    for node in [*group.expressions, *sets]:
        place = int(node.this) if isinstance(node, exp.Literal) and not node.is_string else 0
        yield columns[place - 1] if 0 < place <= len(columns) else node


def _parts(node: Node) -> Iterator[Node]:
    """Give the columns that a clause names as they are, in brackets or without."""
    if isinstance(node, exp.Column):
        yield node
    elif isinstance(node, exp.Paren | exp.Tuple):
        for part in node.expressions or [node.this]:
            yield from _parts(part)


def _only_output(window: Node, scope: Scope) -> str | None:
    """Name the output column of the whole model that a window is part of, None where it decides on more."""
    projection: Any = window
    while projection.parent is not None and projection.parent is not scope.expression:
        projection = projection.parent
    select: Any = scope.expression
    is_output = scope.is_root and any(projection is one for one in select.selects)
    return str(projection.alias_or_name).lower() if is_output else None
