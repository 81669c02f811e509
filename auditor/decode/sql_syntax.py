"""The syntax trees of SQL, as far as the columns of a model need them; names that differ between releases stay here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

Node = Any  # an expression of sqlglot: the base class has another name in newer releases

_TEMPLATES = re.compile(r"\{[{%].*")
_TEXTS = ("text", "varchar")
_KEEPS_DIGITS = (*_TEXTS, "bigint", "int", "hugeint", "int128")


def template_in(text: str) -> tuple[int, str] | None:
    r"""Give the line of the first template in a text and how it begins; None where there is none.

    >>> template_in("select a\nfrom {{ ref('stg') }}")
    (2, "{{ ref('stg') }}")
    """
    found = _TEMPLATES.search(text)
    return (text.count("\n", 0, found.start()) + 1, found[0][:60]) if found else None


def sources_of(scope: Scope) -> list[Any]:
    """Give the tables and inner queries that a query selects from."""
    return [source for _, source in scope.selected_sources.values()]


def shared_names(expression: Node) -> set[str]:
    """Give the columns that joins have in common."""
    return {column.name.lower() for join in argument(expression, "joins") for column in argument(join, "using")}


def arms(scope: Scope) -> list[Scope]:
    """Give both sides of a set operation, under the name that this release has for them."""
    arms: list[Scope] = getattr(scope, "set_operation_scopes", None) or getattr(scope, "union_scopes", [])
    return arms


def own(expression: Node, *kinds: type[Any]) -> Iterator[Any]:
    """Walk an expression without entering the queries inside it."""
    for node in expression.walk(prune=lambda node: node is not expression and isinstance(node, exp.Query)):
        if isinstance(node, kinds) and not (node is not expression and isinstance(node, exp.Query)):
            yield node


def conjuncts(condition: Node) -> Iterator[Any]:
    """Give the conditions that AND joins into one."""
    waiting = [condition]
    while waiting:
        one = waiting.pop()
        if isinstance(one, exp.Paren):
            waiting.append(one.this)
        elif isinstance(one, exp.And):
            waiting += [one.expression, one.this]
        else:
            yield one


def columns_in(expression: Node) -> Iterator[exp.Column]:
    return (column for column in own(expression, exp.Column) if not isinstance(column.this, exp.Star))


def is_plain(expression: Node) -> bool:
    while isinstance(expression, exp.Cast | exp.TryCast) and expression.to.sql("duckdb").lower() in _TEXTS:
        expression = expression.this
    return isinstance(expression, exp.Column)


def carried_column(expression: Node) -> Node | None:
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


def argument(node: Node, name: str) -> list[Any]:
    """Give an argument as a list; its name ends with _ in newer releases of sqlglot where Python reserves it."""
    found = node.args.get(name) or node.args.get(f"{name}_")
    return found if isinstance(found, list) else [found] if found else []


def line_of(projection: Node) -> int | None:
    for node in (projection.args.get("alias"), projection.find(exp.Identifier)):
        if node is not None and "line" in node.meta:
            return int(node.meta["line"])
    return None
