"""Resolves the columns of all models together; what a model's lineage refuses is noted here, and the rest goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from auditor.decode.sql_lineage import Locator, table_name
from auditor.decode.sql_outputs import Made, Name, Origin, Output, Outputs, renamed
from auditor.decode.sql_syntax import Node, sources_of
from auditor.discover.found import Place
from auditor.discover.linking import Link
from auditor.discover.parsing import FAULTS, start_of
from auditor.discover.statements import Query


class Tracer(Locator):
    """The columns of several queries, each followed into the models and the tables that are known."""

    def __init__(
        self,
        queries: Sequence[Query],
        links: Mapping[Link, int],
        schemas: Mapping[Name, Mapping[str, Any]],
        dialect: str = "duckdb",
    ) -> None:
        super().__init__(dialect)
        self.queries = queries
        self.types: dict[Origin, Any] = {}
        self.faults: dict[int, str] = {}
        self._links, self._schemas = links, schemas
        self._of: dict[int, int] = {}  # the number of a query, by the identity of what it was parsed into
        self._scopes: dict[int, Scope | None] = {}
        self._tables: dict[Name, Outputs] = {}
        self._reading: list[int] = []

    def place_of(self, node: Node) -> Place:
        """Give the line on which a node stands; all of a query where it names nothing."""
        query = self.query_of(node)
        start = start_of(node)
        return query.place if start is None else query.file.place(start)

    def query_of(self, node: Node) -> Query:
        """Give the query that a node is part of."""
        return self.queries[self._number_of(node)]

    def scope_of(self, number: int) -> Scope | None:
        """Give the scope of a query; None where sqlglot cannot take it apart, which `faults` then says."""
        if number not in self._scopes:
            node = self.queries[number].node
            self._of[id(node)] = number
            self._scopes[number] = None
            try:
                self._scopes[number] = build_scope(node)
            except FAULTS as error:
                self.faults[number] = str(error).split("\n")[0] or type(error).__name__
        return self._scopes[number]

    def outputs_of(self, number: int) -> Outputs:
        """Give the columns of a query under the names that its statement gives them."""
        scope = self.scope_of(number)
        if scope is None:
            return Outputs()
        self._reading.append(number)
        try:
            return renamed(self.outputs(scope), self.queries[number].names)
        finally:
            self._reading.pop()

    def tables_of(self, number: int) -> tuple[str, ...]:
        """Name the tables that a query reads itself and that are no models."""
        tables = (table for table in self._read_in(number) if self.linked(table) is None)
        return tuple(dict.fromkeys(".".join(self._table(table)) for table in tables))

    def models_of(self, number: int) -> tuple[str, ...]:
        """Name the models that a query reads itself."""
        linked = (self.linked(table) for table in self._read_in(number))
        return tuple(dict.fromkeys(self.queries[target].name for target in linked if target is not None))

    def _read_in(self, number: int) -> list[exp.Table]:
        scope = self.scope_of(number)
        scopes = [] if scope is None else list(scope.traverse())
        return [source for one in scopes for source in sources_of(one) if isinstance(source, exp.Table)]

    def linked(self, table: exp.Table) -> int | None:
        """Give the number of the query that a table stands for, if it is a model."""
        return self._links.get((self._number_of(table), tuple(part.lower() for part in table_name(table))))

    def given(self, source: Any) -> Outputs:
        """Give the columns of a source: a model's, those of a table whose columns are known, or whatever is asked."""
        if not isinstance(source, exp.Table):
            return super().given(source)
        target = self.linked(source)
        if target is not None and target not in self._reading:
            return self.outputs_of(target)
        table = self._table(source)
        if table not in self._tables:
            self._tables[table] = self._outputs_of_table(table)
        return self._tables[table]

    def _outputs_of_table(self, table: Name) -> Outputs:
        columns = self._columns_of(table)
        if columns is None:
            return Outputs(open=[table])
        outputs = Outputs()
        for name, kind in columns.items():
            origin = (table, name.lower())
            self.types[origin] = kind
            outputs.named[name.lower()] = Output(name, frozenset([origin]), origin, plain=True)
        return outputs

    def lost(self, column: Node, scope: Scope) -> Output:
        """Say why a column is found nowhere."""
        return Output(column.name, frozenset(), made=Made(column, why=self._why(column, scope)))

    def ambiguous(self, name: str, sources: list[str]) -> Output:
        """Say which sources may have a column."""
        several = " or ".join(sources)
        why = f"{name} may come from {several}: give a file with their `create table`, or write t.{name}"
        return Output(name, frozenset(), made=Made(None, why=why))

    def _outputs_of_new(self, scope: Scope) -> Outputs:
        outputs = super()._outputs_of_new(scope)
        if isinstance(scope.expression, exp.Select | exp.Subquery) and _pivoted(scope):
            why = "it passes a PIVOT, whose columns are made of values"
            for key, output in outputs.named.items():
                outputs.named[key] = Output(output.name, frozenset(), made=Made(scope.expression, why=why))
            outputs.open.clear()
        return outputs

    def _table(self, table: exp.Table) -> Name:
        if isinstance(table.this, exp.Identifier):
            return super()._table(table)
        name = (" ".join(table.this.sql().split())[:60],)
        self.lineage.tables.setdefault(name, set())
        return name

    def _number_of(self, node: Node) -> int:
        at = node
        while id(at) not in self._of:
            at = at.parent
        self._of[id(node)] = self._of[id(at)]
        return self._of[id(at)]

    def _columns_of(self, table: Name) -> Mapping[str, Any] | None:
        """Find the `create table` of a table: under the same name, or the only one that ends alike."""
        name = tuple(part.lower() for part in table)
        if name in self._schemas:
            return self._schemas[name]
        alike = [
            columns
            for other, columns in self._schemas.items()
            if other[-min(len(other), len(name)) :] == name[-min(len(other), len(name)) :]
        ]
        return alike[0] if len(alike) == 1 else None

    def _why(self, column: Node, scope: Scope) -> str:
        owner = self._source_called(column.table, scope) if column.table else None
        if isinstance(owner, Scope) and isinstance(owner.expression, exp.UDTF):
            return "it comes out of UNNEST, LATERAL or a table function"
        if _is_recursive(column):
            return "it is in a recursive query, which is followed only where it begins"
        sources = [owner] if owner is not None else sources_of(scope)
        stars = sorted({".".join(table) for source in sources for table in self.given(source).open})
        if stars:
            listed = ", ".join(stars)
            return f"{column.name} comes from * over {listed}: give a file with their `create table`"
        if any(isinstance(source, Scope) and isinstance(source.expression, exp.UDTF) for source in sources):
            return f"{column.name} comes out of UNNEST, LATERAL or a table function"
        return f"no source of the query has a column {column.name}"


def _pivoted(scope: Scope) -> bool:
    try:
        return bool(scope.pivots)
    except FAULTS:
        return False


def _is_recursive(node: Node) -> bool:
    while node is not None:
        if isinstance(node, exp.CTE) and isinstance(node.parent, exp.With) and node.parent.args.get("recursive"):
            return True
        node = node.parent
    return False
