"""The clauses of a model that drop rows, and whether they coerce what the model gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from auditor.decode.sql_hints import hints_in
from auditor.decode.sql_outputs import Origin, Outputs
from auditor.decode.sql_syntax import Node, argument, columns_in, own
from auditor.discover.found import Filter
from auditor.discover.parsing import span_of
from auditor.discover.tracing import Tracer

#: The keywords before what is joined: the clause says them.
_JOIN = re.compile(r"\A\s*(?:\w+\s+)*?join\s+", re.IGNORECASE)

#: Clauses without a condition whose text is short; that of the others is a whole query.
_SHOWN = ("LIMIT", "OFFSET", "INNER", "SEMI", "ANTI")

#: Expressions that read a text as something else.
_COERCES = (exp.Cast, exp.TryCast, exp.StrToDate, exp.StrToTime, exp.StrToUnix, exp.TsOrDsToDate, exp.ToNumber)


def filters_of(number: int, tracer: Tracer, outputs: Outputs) -> tuple[Filter, ...]:
    """Give the filters in the text of a model, in the order of its lines."""
    scope = tracer.scope_of(number)
    if scope is None:
        return ()
    found = []
    for inner in scope.traverse():
        found += list(_of_scope(inner, tracer, outputs))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.place.line))


def _of_scope(scope: Scope, tracer: Tracer, outputs: Outputs) -> Iterator[Filter]:
    expression = scope.expression
    if isinstance(expression, exp.Except | exp.Intersect):
        yield _filter(expression.key.upper(), expression, [], scope, tracer, outputs)
    if isinstance(expression, exp.Union) and expression.args.get("distinct"):
        yield _filter("UNION without ALL", expression, [], scope, tracer, outputs)
    if not isinstance(expression, exp.Select):
        return
    inside = " in a subquery" if scope.is_subquery else ""
    for clause in ("prewhere", "where", "having", "qualify"):
        for node in argument(expression, clause):
            yield _filter(clause.upper() + inside, node.this, [node.this], scope, tracer, outputs)
    for join in argument(expression, "joins"):
        if not join.side and join.kind in ("", "INNER", "SEMI", "ANTI") and not join.args.get("method"):
            conditions = argument(join, "on")
            if conditions or argument(join, "using"):
                yield _filter(f"{join.kind or 'INNER'} JOIN{inside}", join, conditions, scope, tracer, outputs)
    for distinct in argument(expression, "distinct"):
        on = distinct.args.get("on")
        yield _filter(
            f"DISTINCT{' ON' if on else ''}{inside}", on or expression, [on] if on else [], scope, tracer, outputs
        )
    for clause in ("limit", "offset"):
        for node in argument(expression, clause):
            yield _filter(clause.upper() + inside, node, [], scope, tracer, outputs)


def _filter(clause: str, shown: Node, conditions: list[Any], scope: Scope, tracer: Tracer, outputs: Outputs) -> Filter:
    origins = _origins(conditions, scope, tracer)
    coercions = [found for condition in conditions for found in own(condition, *_COERCES)]
    coerced_origins = _origins(coercions, scope, tracer)
    coerced = [output.name for output in outputs.named.values() if output.origins & coerced_origins]
    return Filter(
        clause,
        _text(shown, tracer) if conditions or clause.split()[0] in _SHOWN else "",
        tracer.place_of(shown),
        tuple(sorted(".".join((*table, column)) for table, column in origins)),
        tuple(coerced),
        tuple(dict.fromkeys(hint for one in conditions for hint in hints_in(one))),
    )


def _origins(nodes: list[Any], scope: Scope, tracer: Tracer) -> set[Origin]:
    before = tracer.outputs(scope)
    columns = (column for node in nodes for column in columns_in(node))
    return {origin for column in columns for origin in tracer.resolve(column, scope, before).origins}


def _text(node: Node, tracer: Tracer) -> str:
    span = span_of(node)
    text = str(node.sql()) if span is None else tracer.query_of(node).file.text[slice(*span)]
    return _JOIN.sub("", text, count=1) if isinstance(node, exp.Join) else text
