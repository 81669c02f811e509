"""Where the columns of an SQL model come from. It locates; the text that runs stays the consumer's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from auditor.decode.sql_filters import Condition
from auditor.decode.sql_gatherings import Gathering, Gatherings
from auditor.decode.sql_meetings import Meeting, Meetings
from auditor.decode.sql_outputs import LineageError, Made, Name, Origin, Output, Outputs, renamed, united
from auditor.decode.sql_syntax import (
    Node,
    argument,
    arms,
    carried_column,
    columns_in,
    conjuncts,
    is_plain,
    line_of,
    own,
    shared_names,
    sources_of,
)

_JSON = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar)


#: Dialects in which a select may use a name that it gives; in the others such a name is a source's column.
_NAMES_AFTER_COLUMNS = ("duckdb", "snowflake", "redshift", "databricks", "spark", "spark2", "teradata", "exasol")
_NAMES_FIRST = ("clickhouse",)


@dataclass
class Lineage:
    """What a model reads: its outputs, the columns of each physical table, and how they are used."""

    outputs: Outputs = field(default_factory=Outputs)
    tables: dict[Name, set[str]] = field(default_factory=dict)
    keys: set[Origin] = field(default_factory=set)  # joined on, grouped or partitioned by
    filters: set[Origin] = field(default_factory=set)
    conditions: list[Condition] = field(default_factory=list)
    joined: set[Name] = field(default_factory=set)
    gatherings: list[Gathering] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)


def lineage_of(query: Node, dialect: str = "duckdb") -> Lineage:
    """Locate every column of a query."""
    locator = Locator(dialect)
    locator.locate(query)
    return locator.lineage


def table_name(table: exp.Table) -> Name:
    """Give the parts of a table's name as they are written."""
    return tuple(part.name for part in table.parts)


def _own_names_in(dialect: str) -> Literal["after columns", "first", "never"]:
    """Say whether a select may use the names that it gives: after columns of that name, first, or never."""
    if dialect in _NAMES_FIRST:
        return "first"
    return "after columns" if dialect in _NAMES_AFTER_COLUMNS else "never"


class Locator:
    """Resolves the columns of queries. What cannot be resolved is a LineageError; `lost` is where that is decided."""

    def __init__(self, dialect: str = "duckdb") -> None:
        self.own_names = _own_names_in(dialect)
        self._known: dict[int, Outputs] = {}
        self._spelled: dict[Name, Name] = {}
        self.lineage = Lineage()

    def locate(self, query: Node) -> None:
        """Note in `lineage` every column of a query, and what decides on its rows."""
        root = build_scope(query)
        if root is None:
            raise LineageError("it is no query")
        self.lineage.outputs = self.outputs(root)
        self._meetings = Meetings(self._table, lambda column, scope: self.resolve(column, scope, Outputs()), self._from)
        self._gatherings = Gatherings(
            lambda column, scope: self.resolve(column, scope, self.outputs(scope)), self._meetings.tables_of
        )
        for scope in root.traverse():
            self._visit(scope)

    def _table(self, table: exp.Table) -> Name:
        if not isinstance(table.this, exp.Identifier):
            raise LineageError(f"it reads {table.this.sql('duckdb')}", "only tables can be mocked: read from a table")
        name = table_name(table)
        spelled = self._spelled.setdefault(tuple(part.lower() for part in name), name)
        self.lineage.tables.setdefault(spelled, set())
        return spelled

    def outputs(self, scope: Scope) -> Outputs:
        """Give the columns of a query."""
        if id(scope) not in self._known:
            self._known[id(scope)] = Outputs()  # a recursive query meets itself
            around = scope.expression.parent
            names = around.alias_column_names if isinstance(around, exp.CTE | exp.Subquery) else ()
            self._known[id(scope)] = renamed(self._outputs_of_new(scope), names)
        return self._known[id(scope)]

    def _outputs_of_new(self, scope: Scope) -> Outputs:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            branches = arms(scope)
            return united(expression, *(self.outputs(branch) for branch in branches))
        outputs = Outputs()
        if isinstance(expression, exp.UDTF):
            why = "" if isinstance(expression, exp.Values) else "it comes out of UNNEST, LATERAL or a table function"
            for name in expression.alias_column_names:
                origins = self._origins(expression, scope)
                outputs.named[name.lower()] = Output(name, origins, made=Made(expression, why=why))
            return outputs
        for position, projection in enumerate(getattr(expression, "selects", ()), 1):
            if projection.is_star:
                self._expand(projection, scope, outputs)
            else:
                output = self._output(projection, scope, outputs)
                outputs.add(output, position)
        return outputs

    def _output(self, projection: Node, scope: Scope, before: Outputs) -> Output:
        columns = [(column, self.resolve(column, scope, before)) for column in columns_in(projection)]
        parts = [part for _, part in columns]
        inner = {id(node) for node in projection.walk()}
        for subquery in scope.subquery_scopes:
            if id(subquery.expression) in inner:
                parts += self.outputs(subquery).named.values()
        carried = carried_column(projection.unalias())
        passed = None if carried is None else self.resolve(carried, scope, before)
        plain = passed is not None and passed.plain and is_plain(projection.unalias())
        unpacked = any(part.unpacked for part in parts) or any(own(projection, *_JSON, exp.Dot))
        origins = frozenset(origin for part in parts for origin in part.origins)
        bare = None if passed is None else passed.bare
        made = Made(projection.unalias(), tuple(columns))
        return Output(projection.alias_or_name, origins, bare, line_of(projection), unpacked, plain, made)

    def _expand(self, star: Node, scope: Scope, outputs: Outputs) -> None:
        node = star.this if isinstance(star, exp.Column) else star
        wanted = star.table.lower() if isinstance(star, exp.Column) and star.table else None
        excluded = {column.name.lower() for column in argument(node, "except")}
        renamed = {alias.this.name.lower(): alias.alias for alias in argument(node, "rename")}
        for alias, (_, source) in scope.selected_sources.items():
            if wanted is not None and alias.lower() != wanted:
                continue
            inner = self.given(source)
            outputs.open += inner.open
            for key, output in inner.named.items():
                if key not in excluded:
                    outputs.named.setdefault(renamed.get(key, key).lower(), output)
        for replaced in argument(node, "replace"):
            outputs.named[replaced.alias.lower()] = self._output(replaced, scope, Outputs())

    def _origins(self, expression: Node, scope: Scope) -> frozenset[Origin]:
        found = (self.resolve(column, scope, Outputs()).origins for column in columns_in(expression))
        return frozenset(origin for origins in found for origin in origins)

    def resolve(self, column: Node, scope: Scope, before: Outputs) -> Output:
        """Find what a column stands for: a source's column, else an earlier one of the same select."""
        return self._found(column, scope, before) or self.lost(column, scope)

    def _found(self, column: Node, scope: Scope, before: Outputs) -> Output | None:
        name, table = column.name, column.args.get("table")
        owner = None if table is None else self._source_called(table.name, scope)
        if owner is not None:
            return self._from(owner, name)
        unpacked = table is not None  # a structure's field: the table's place names the column
        if unpacked:
            name = column.parts[0].name
        found = None
        if unpacked or not self._is_own_name(name, scope, before):
            found = self._among(sources_of(scope), name, name.lower() in shared_names(scope.expression))
        if found is None and name.lower() in before.named:
            found = before.named[name.lower()]
        if found is None and scope.parent is not None and scope.parent is not scope:
            found = self._found(column, scope.parent, Outputs())
        return Output(name, found.origins, None, found.line, True) if unpacked and found else found

    def _is_own_name(self, name: str, scope: Scope, before: Outputs) -> bool:
        """Say whether a name is rather that of an earlier column of the same select than a source's column.

        A source's column comes first where there is one. Of a table whose columns are not known, there is one if the
        text says so elsewhere: ``trim(d) as d, cast(d as date)`` reads d twice, ``trim(d) as e, cast(e as date)`` once.
        """
        own, key = before.named.get(name.lower()), name.lower()
        if own is None or self.own_names != "after columns":
            return own is not None and self.own_names == "first"
        sources = sources_of(scope)
        tables = [table for source in sources for table in self.given(source).open]
        return not (
            any(column == key for _, column in own.origins)
            or any(key in self.lineage.tables[table] for table in tables)
            or any(self._is_closed(source) and self.given(source).get(name) for source in sources)
            or any(column.table and column.name.lower() == key for column in columns_in(scope.expression))
        )

    def _source_called(self, alias: str, scope: Scope | None) -> Any:
        """Find a source by its alias; a subquery may name one of the query around it."""
        while scope is not None:
            for name, (_, source) in scope.selected_sources.items():
                if name.lower() == alias.lower():
                    return source
            scope = scope.parent
        return None

    def _among(self, sources: list[Any], name: str, shared: bool) -> Output | None:
        """Find an unqualified column: where it is named, else in the only source whose columns are not known."""
        closed = [source for source in sources if self._is_closed(source)]
        for source in closed:
            found = self._from(source, name)
            if found is not None:
                return found
        rest = [source for source in sources if source not in closed]
        if len(rest) > 1 and not shared:
            return self.ambiguous(name, sorted(self._shown(source) for source in rest))
        return self._from(rest[0], name) if rest else None

    def _is_closed(self, source: Any) -> bool:
        return not self.given(source).open

    def _shown(self, source: Any) -> str:
        return ".".join(self._table(source)) if isinstance(source, exp.Table) else "a subquery with *"

    def _from(self, source: Any, name: str) -> Output | None:
        found = self.given(source).get(name)
        for table, column in found.origins if found else ():
            self.lineage.tables[table].add(column)
        return found

    def given(self, source: Any) -> Outputs:
        """Give the columns of a source: a table, of which any column may be asked for, or an inner query."""
        return Outputs(open=[self._table(source)]) if isinstance(source, exp.Table) else self.outputs(source)

    def lost(self, column: Node, scope: Scope) -> Output:
        """Give what stands for a column that no source has."""
        return Output(column.name, frozenset())

    def ambiguous(self, name: str, sources: list[str]) -> Output:
        """Refuse a column that several sources may have."""
        raise LineageError(
            f"column {name} may come from {' or '.join(sources)}", f"write it with its table in the model: t.{name}"
        )

    def _visit(self, scope: Scope) -> None:
        """Note every column of a scope, and which of them decide on rows."""
        expression, lineage = scope.expression, self.lineage
        lineage.gatherings += self._gatherings.of(scope)
        if not isinstance(expression, exp.Select):
            return
        lineage.meetings.append(self._meetings.of(scope))
        outputs = self.outputs(scope)
        for column in columns_in(expression):
            self.resolve(column, scope, outputs)
        for clause in ("where", "having", "qualify"):
            for node in argument(expression, clause):
                lineage.filters |= self._origins_with(node, scope, outputs)
                self._add_conditions(node.this, scope, outputs)
                lineage.keys |= self._equated(node, scope, outputs)
        self._visit_joins(scope, outputs)
        lineage.keys |= {origin for one in lineage.gatherings if one.keyed for origin in one.columns}

    def _visit_joins(self, scope: Scope, outputs: Outputs) -> None:
        joins = argument(scope.expression, "joins")
        if not joins:
            return
        physical = [source for source in sources_of(scope) if isinstance(source, exp.Table)]
        self.lineage.joined |= {self._table(source) for source in physical}
        for join in joins:
            for condition in argument(join, "on"):
                self.lineage.keys |= self._equated(condition, scope, outputs)
                self.lineage.filters |= self._origins_with(condition, scope, outputs)
                if not join.side and join.kind in ("", "INNER", "SEMI"):
                    self._add_conditions(condition, scope, outputs)
            for column in argument(join, "using"):
                for source in sources_of(scope):
                    found = self._from(source, column.name)
                    self.lineage.keys |= found.origins if found else frozenset()

    def _add_conditions(self, clause: Node, scope: Scope, before: Outputs) -> None:
        for node in conjuncts(clause):
            self.lineage.conditions.append(Condition(node, frozenset(self._origins_with(node, scope, before))))

    def _origins_with(self, node: Node, scope: Scope, before: Outputs) -> set[Origin]:
        return {origin for column in columns_in(node) for origin in self.resolve(column, scope, before).origins}

    def _equated(self, node: Node, scope: Scope, before: Outputs) -> set[Origin]:
        """Give the columns that a condition sets equal to other columns."""
        found: set[Origin] = set()
        for equal in own(node, exp.EQ):
            if isinstance(equal.this, exp.Column) and isinstance(equal.expression, exp.Column):
                found |= self._origins_with(equal, scope, before)
        return found
