"""Where the columns of an SQL model come from. It locates; the text that runs stays the consumer's own.

An output column has `origins`, the columns of physical tables that its value is made of. It is `bare` where it is one
of them, at most cast to a text or an integer, so that it can carry a row's number through the model; it is `plain`
where nothing but a text comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

Node = Any  # an expression of sqlglot: the base class has another name in newer releases
Name = tuple[str, ...]
Origin = tuple[Name, str]

_JSON = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar)
_TEXTS = ("text", "varchar")
_KEEPS_DIGITS = (*_TEXTS, "bigint", "int", "hugeint", "int128")


class LineageError(Exception):
    """A column cannot be located; `hint` is the next step."""

    def __init__(self, seen: str, hint: str = "") -> None:
        super().__init__(seen)
        self.seen, self.hint = seen, hint


@dataclass(frozen=True)
class Output:
    """One column of a query."""

    name: str
    origins: frozenset[Origin]
    bare: Origin | None = None
    line: int | None = None
    unpacked: bool = False  # taken out of a JSON text or a structure
    plain: bool = False


@dataclass
class Outputs:
    """The columns of a query; `open` are physical tables of which it gives every column (a star)."""

    named: dict[str, Output] = field(default_factory=dict)
    open: list[Name] = field(default_factory=list)

    def get(self, name: str) -> Output | None:
        """Give the output of a name; the only open table has whatever column it is asked for."""
        found = self.named.get(name.lower())
        if found is None and len(self.open) == 1:
            origin = (self.open[0], name.lower())
            return Output(name, frozenset([origin]), origin, plain=True)
        return found


@dataclass
class Lineage:
    """What a model reads: its outputs, the columns of each physical table, and how they are used."""

    outputs: Outputs
    tables: dict[Name, set[str]]
    keys: set[Origin]  # joined on, grouped or partitioned by
    filters: set[Origin]
    joined: set[Name]
    neighbours: str  # why a row may depend on other rows; empty where none does


def lineage_of(query: Node) -> Lineage:
    """Locate every column of a query."""
    return _Locator(query).lineage


def table_name(table: exp.Table) -> Name:
    """Give the parts of a table's name as they are written."""
    return tuple(part.name for part in table.parts)


class _Locator:
    def __init__(self, query: Node) -> None:
        root = build_scope(query)
        if root is None:
            raise LineageError("it is no query")
        self._known: dict[int, Outputs] = {}
        self._spelled: dict[Name, Name] = {}
        self.lineage = Lineage(Outputs(), {}, set(), set(), set(), "")
        self.lineage.outputs = self._outputs(root)
        for scope in root.traverse():
            self._visit(scope)

    def _table(self, table: exp.Table) -> Name:
        if not isinstance(table.this, exp.Identifier):
            raise LineageError(f"it reads {table.this.sql('duckdb')}", "only tables can be mocked: read from a table")
        name = table_name(table)
        spelled = self._spelled.setdefault(tuple(part.lower() for part in name), name)
        self.lineage.tables.setdefault(spelled, set())
        return spelled

    def _outputs(self, scope: Scope) -> Outputs:
        if id(scope) not in self._known:
            self._known[id(scope)] = Outputs()  # a recursive query meets itself
            self._known[id(scope)] = self._outputs_of_new(scope)
        return self._known[id(scope)]

    def _outputs_of_new(self, scope: Scope) -> Outputs:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            branches = _arms(scope)
            return _united(expression, *(self._outputs(branch) for branch in branches))
        outputs = Outputs()
        if isinstance(expression, exp.UDTF):
            for name in expression.alias_column_names:
                outputs.named[name.lower()] = Output(name, self._origins(expression, scope))
            return outputs
        for projection in getattr(expression, "selects", ()):
            if projection.is_star:
                self._expand(projection, scope, outputs)
            else:
                output = self._output(projection, scope, outputs)
                outputs.named.setdefault(output.name.lower(), output)
        return outputs

    def _output(self, projection: Node, scope: Scope, before: Outputs) -> Output:
        parts = [self._resolve(column, scope, before) for column in _columns(projection)]
        carried = _carried(projection.unalias())
        passed = None if carried is None else self._resolve(carried, scope, before)
        plain = passed is not None and passed.plain and _is_plain(projection.unalias())
        unpacked = any(part.unpacked for part in parts) or any(_own(projection, *_JSON, exp.Dot))
        origins = frozenset(origin for part in parts for origin in part.origins)
        bare = None if passed is None else passed.bare
        return Output(projection.alias_or_name, origins, bare, _line(projection), unpacked, plain)

    def _expand(self, star: Node, scope: Scope, outputs: Outputs) -> None:
        node = star.this if isinstance(star, exp.Column) else star
        wanted = star.table.lower() if isinstance(star, exp.Column) and star.table else None
        excluded = {column.name.lower() for column in _arg(node, "except")}
        renamed = {alias.this.name.lower(): alias.alias for alias in _arg(node, "rename")}
        for alias, (_, source) in scope.selected_sources.items():
            if wanted is not None and alias.lower() != wanted:
                continue
            if isinstance(source, exp.Table):
                outputs.open.append(self._table(source))
                continue
            inner = self._outputs(source)
            outputs.open += inner.open
            for key, output in inner.named.items():
                if key not in excluded:
                    outputs.named.setdefault(renamed.get(key, key).lower(), output)
        for replaced in _arg(node, "replace"):
            outputs.named[replaced.alias.lower()] = self._output(replaced, scope, Outputs())

    def _origins(self, expression: Node, scope: Scope) -> frozenset[Origin]:
        found = (self._resolve(column, scope, Outputs()).origins for column in _columns(expression))
        return frozenset(origin for origins in found for origin in origins)

    def _resolve(self, column: Node, scope: Scope, before: Outputs) -> Output:
        """Find what a column stands for: a source's column, else an earlier one of the same select."""
        name, table = column.name, column.args.get("table")
        sources = {alias.lower(): source for alias, (_, source) in scope.selected_sources.items()}
        if table is not None and table.name.lower() in sources:
            return self._from(sources[table.name.lower()], name) or Output(name, frozenset())
        unpacked = table is not None  # a structure's field: the table's place names the column
        if unpacked:
            name = column.parts[0].name
        found = self._among(list(sources.values()), name)
        if found is None and name.lower() in before.named:
            found = before.named[name.lower()]
        if found is None and scope.parent is not None and scope.parent is not scope:
            found = self._resolve(column, scope.parent, Outputs())
        found = found or Output(name, frozenset())
        return Output(name, found.origins, None, found.line, True) if unpacked else found

    def _among(self, sources: list[Any], name: str) -> Output | None:
        """Find an unqualified column: where it is named, else in the only source whose columns are not known."""
        closed = [source for source in sources if self._is_closed(source)]
        for source in closed:
            found = self._from(source, name)
            if found is not None:
                return found
        rest = [source for source in sources if source not in closed]
        if len(rest) > 1:
            named = " or ".join(sorted(self._shown(source) for source in rest))
            raise LineageError(
                f"column {name} may come from {named}", f"write it with its table in the model: t.{name}"
            )
        return self._from(rest[0], name) if rest else None

    def _is_closed(self, source: Any) -> bool:
        return not isinstance(source, exp.Table) and not self._outputs(source).open

    def _shown(self, source: Any) -> str:
        return ".".join(self._table(source)) if isinstance(source, exp.Table) else "a subquery with *"

    def _from(self, source: Any, name: str) -> Output | None:
        if isinstance(source, exp.Table):
            table = self._table(source)
            origin = (table, name.lower())
            self.lineage.tables[table].add(name.lower())
            return Output(name, frozenset([origin]), origin, plain=True)
        found = self._outputs(source).get(name)
        for table, column in found.origins if found else ():
            self.lineage.tables[table].add(column)
        return found

    def _visit(self, scope: Scope) -> None:
        """Note every column of a scope, and which of them decide on rows."""
        expression, lineage = scope.expression, self.lineage
        if not isinstance(expression, exp.Select):
            return
        outputs = self._outputs(scope)
        for column in _columns(expression):
            self._resolve(column, scope, outputs)
        for clause in ("where", "having", "qualify"):
            for node in _arg(expression, clause):
                lineage.filters |= self._origins_with(node, scope, outputs)
                lineage.keys |= self._equated(node, scope, outputs)
        self._visit_joins(scope, outputs)
        for node in _arg(expression, "group"):
            lineage.keys |= self._origins_with(node, scope, outputs)
        for window in _own(expression, exp.Window):
            partition = window.args.get("partition_by") or []
            lineage.keys |= {origin for part in partition for origin in self._origins_with(part, scope, outputs)}
            if not partition:
                lineage.neighbours = "a window without PARTITION BY"
        for clause in ("limit", "offset", "sample"):
            if _arg(expression, clause):
                lineage.neighbours = clause.upper()

    def _visit_joins(self, scope: Scope, outputs: Outputs) -> None:
        joins = _arg(scope.expression, "joins")
        if not joins:
            return
        physical = [source for _, source in scope.selected_sources.values() if isinstance(source, exp.Table)]
        self.lineage.joined |= {self._table(source) for source in physical}
        for join in joins:
            for condition in _arg(join, "on"):
                self.lineage.keys |= self._equated(condition, scope, outputs)
                self.lineage.filters |= self._origins_with(condition, scope, outputs)
            for column in _arg(join, "using"):
                for _, source in scope.selected_sources.values():
                    found = self._from(source, column.name)
                    self.lineage.keys |= found.origins if found else frozenset()

    def _origins_with(self, node: Node, scope: Scope, before: Outputs) -> set[Origin]:
        return {origin for column in _columns(node) for origin in self._resolve(column, scope, before).origins}

    def _equated(self, node: Node, scope: Scope, before: Outputs) -> set[Origin]:
        """Give the columns that a condition sets equal to other columns."""
        found: set[Origin] = set()
        for equal in _own(node, exp.EQ):
            if isinstance(equal.this, exp.Column) and isinstance(equal.expression, exp.Column):
                found |= self._origins_with(equal, scope, before)
        return found


def _arms(scope: Scope) -> list[Scope]:
    """Give both sides of a set operation, under the name that this release has for them."""
    arms: list[Scope] = getattr(scope, "set_operation_scopes", None) or getattr(scope, "union_scopes", [])
    return arms


def _united(expression: exp.SetOperation, left: Outputs, right: Outputs) -> Outputs:
    """Give the columns of a set operation: by name where it says so, else by position."""
    united = Outputs(open=[*left.open, *(table for table in right.open if table not in left.open)])
    others = list(right.named.values())
    for position, (key, output) in enumerate(left.named.items()):
        by_name = right.named.get(key) if expression.args.get("by_name") else None
        other = by_name or (others[position] if position < len(others) else output)
        bare = output.bare if output.bare == other.bare else None
        origins = output.origins | other.origins
        unpacked, plain = output.unpacked or other.unpacked, output.plain and other.plain
        united.named[key] = Output(output.name, origins, bare, output.line, unpacked, plain)
    return united


def _own(expression: Node, *kinds: type[Any]) -> Iterator[Any]:
    """Walk an expression without entering the queries inside it."""
    for node in expression.walk(prune=lambda node: node is not expression and isinstance(node, exp.Query)):
        if isinstance(node, kinds) and not (node is not expression and isinstance(node, exp.Query)):
            yield node


def _columns(expression: Node) -> Iterator[exp.Column]:
    return (column for column in _own(expression, exp.Column) if not isinstance(column.this, exp.Star))


def _is_plain(expression: Node) -> bool:
    while isinstance(expression, exp.Cast | exp.TryCast) and expression.to.sql("duckdb").lower() in _TEXTS:
        expression = expression.this
    return isinstance(expression, exp.Column)


def _carried(expression: Node) -> Node | None:
    """Give the column that an expression passes on so that the digits of a row's number stay readable."""
    while True:
        if isinstance(expression, exp.Column):
            return expression
        if isinstance(expression, exp.Cast | exp.TryCast):
            if expression.to.sql("duckdb").lower() not in _KEEPS_DIGITS:
                return None
        elif not isinstance(expression, exp.Trim | exp.Lower | exp.Upper | exp.Paren):
            return None
        expression = expression.this


def _arg(node: Node, name: str) -> list[Any]:
    """Give an argument as a list; its name ends with _ in newer releases of sqlglot where Python reserves it."""
    found = node.args.get(name) or node.args.get(f"{name}_")
    return found if isinstance(found, list) else [found] if found else []


def _line(projection: Node) -> int | None:
    for node in (projection.args.get("alias"), projection.find(exp.Identifier)):
        if node is not None and "line" in node.meta:
            return int(node.meta["line"])
    return None
