"""What a reader must know of an expression: conditions, token maps, defaults, the clock, and what was not followed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from auditor.decode.sql_hints import hints_of
from auditor.decode.sql_syntax import Node, columns_in, own
from auditor.discover.found import Flag

#: Tokens that the note of a map lists.
_MOST_TOKENS = 12

_CONDITIONAL = (exp.If, exp.Nullif, exp.Coalesce)
_UNPACKS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.Dot, exp.Bracket)


def flags_of(node: Node, text: str, dialect: str) -> list[Flag]:
    """Give the flags of one expression, without what is inside its subqueries."""
    flags = [Flag("volatile", hint) for hint in hints_of(text, {}, dialect=dialect)]
    cases = list(own(node, exp.Case))
    for case in cases:
        flags += _of_case(case)
    in_cases = {id(part) for case in cases for part in case.args.get("ifs") or []}
    if any(id(found) not in in_cases for found in own(node, *_CONDITIONAL)):
        flags.append(Flag("conditional", "what comes out depends on a condition"))
    for coalesce in own(node, exp.Coalesce):
        flags += _of_default(coalesce)
    flags += _of_calls(node)
    return list(dict.fromkeys(flags))


def _of_case(case: Node) -> Iterator[Flag]:
    arms = [(part.this, part.args.get("true")) for part in case.args.get("ifs") or []]
    default = case.args.get("default")
    if any(is_constant(result) for _, result in arms) and all(_tokens(when, case.this) for when, _ in arms):
        shown = [f"{_listed(_tokens(when, case.this))} → {_short(result)}" for when, result in arms]
        rest = "NULL" if default is None else _short(default)
        yield Flag("token map", f"{'; '.join(shown)}; anything else → {rest}")
    else:
        yield Flag("conditional", "CASE: what comes out depends on a condition")
    if default is not None and not isinstance(default, exp.Null) and is_constant(default):
        yield Flag("default", f"ELSE {_short(default)}: whatever else comes in gives this value, a sentinel")


def _tokens(when: Node, compared: Node | None) -> list[str]:
    """Give the texts that a condition compares a column with; none where it is another condition."""
    if compared is not None:
        return [when.name] if isinstance(when, exp.Literal) else []
    found = []
    for part in when.flatten() if isinstance(when, exp.Or) else [when]:
        inner = part.unnest()
        if isinstance(inner, exp.In) and next(columns_in(inner.this), None) is not None:
            values = inner.expressions
        elif isinstance(inner, exp.EQ | exp.Like | exp.ILike):
            values = [side for side in (inner.this, inner.expression) if isinstance(side, exp.Literal)]
        else:
            return []
        if not values or not all(isinstance(value, exp.Literal) for value in values):
            return []
        found += [value.name for value in values]
    return found


def _listed(tokens: list[str]) -> str:
    shown = ", ".join(repr(token) for token in tokens[:_MOST_TOKENS])
    return shown + (f" and {len(tokens) - _MOST_TOKENS} more" if len(tokens) > _MOST_TOKENS else "")


def _of_default(coalesce: Node) -> Iterator[Flag]:
    last = (coalesce.expressions or [None])[-1]
    if last is not None and is_constant(last) and not isinstance(last, exp.Null):
        yield Flag("default", f"COALESCE … {_short(last)}: a NULL becomes this value, a sentinel")


def is_constant(node: Any) -> bool:
    """Say whether an expression is of literals alone: ``0``, ``date '1970-01-01'``, ``true``."""
    while isinstance(node, exp.Cast | exp.TryCast | exp.Neg | exp.Paren):
        node = node.this
    return isinstance(node, exp.Literal | exp.Boolean | exp.Null)


def _of_calls(node: Node) -> Iterator[Flag]:
    windows = list(own(node, exp.Window))
    if windows:
        yield Flag("window", "its value depends on other rows (OVER)")
    in_windows = {id(window.this) for window in windows}
    if any(id(found) not in in_windows for found in own(node, exp.AggFunc)):
        yield Flag("aggregate", "its value is made of several rows")
    if node.find(exp.Query) is not None:
        yield Flag("subquery", "a subquery in it is not followed")
    if next(own(node, *_UNPACKS), None) is not None:
        yield Flag("unpacked", "the column is a JSON text, a structure or an array that the value is taken out of")
    names = {found.name for found in own(node, exp.Anonymous, exp.AnonymousAggFunc)}
    for name in sorted(names):
        yield Flag("unknown function", f"{name}: a UDF, a macro or a function that sqlglot does not know; not entered")


def _short(node: Any) -> str:
    text = " ".join(str(node.sql()).split()) if node is not None else "NULL"
    return text if len(text) <= 60 else text[:59] + "…"
