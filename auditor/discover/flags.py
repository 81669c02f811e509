"""What a reader must know of an expression: conditions, token maps, defaults, the clock, and what was not followed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from auditor.decode.sql_hints import hints_in
from auditor.decode.sql_syntax import Node, columns_in, own
from auditor.discover.found import Flag
from auditor.discover.kinds import is_known

#: Tokens that the note of a map lists.
_MOST_TOKENS = 12

_CONDITIONAL = (exp.Nullif, exp.Coalesce, exp.Nvl2)
_GIVES_ROWS = (exp.Explode, exp.Unnest, exp.Inline, exp.GenerateSeries)
_UNPACKS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.Dot, exp.Bracket)


def flags_of(node: Node) -> list[Flag]:
    """Give the flags of one expression, without what is inside its subqueries."""
    flags = [Flag("volatile", hint) for hint in hints_in(node)]
    for case in own(node, exp.Case):
        arms = [(part.this, part.args.get("true")) for part in case.args.get("ifs") or []]
        flags += _of_case("CASE", case.this, arms, case.args.get("default"))
    for one in own(node, exp.If):
        if not isinstance(one.parent, exp.Case):
            flags += _of_case("IF", None, [(one.this, one.args.get("true"))], one.args.get("false"))
    for decode in own(node, exp.DecodeCase):
        values = decode.expressions
        rest = values[-1] if len(values) % 2 == 0 else None
        flags += _of_case("DECODE", values[0], list(zip(values[1::2], values[2::2], strict=False)), rest)
    if next(own(node, *_CONDITIONAL), None) is not None:
        flags.append(Flag("conditional", "what comes out depends on a condition"))
    for coalesce in own(node, exp.Coalesce):
        flags += _of_default(coalesce)
    flags += _of_calls(node)
    return list(dict.fromkeys(flags))


def _of_case(clause: str, compared: Node | None, arms: list[tuple[Any, Any]], default: Any) -> Iterator[Flag]:
    given = [result for _, result in arms] + ([default] if default is not None else [])
    if all(is_constant(one) for one in given) and all(_tokens(when, compared) for when, _ in arms):
        shown = [f"{_listed(_tokens(when, compared))} → {_short(result)}" for when, result in arms]
        rest = "NULL" if default is None else _short(default)
        yield Flag("token map", f"{'; '.join(shown)}; anything else → {rest}")
    else:
        yield Flag("conditional", f"{clause}: what comes out depends on a condition")
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
    if next(own(node, *_GIVES_ROWS), None) is not None:
        yield Flag("not followed", "one value gives several rows")
    if next(own(node, exp.Parameter, exp.Placeholder), None) is not None:
        yield Flag("not followed", "it holds a parameter, and what that stands for is not known")
    names = {found.name for found in own(node, exp.Anonymous, exp.AnonymousAggFunc) if not is_known(found.name)}
    for name in sorted(names):
        yield Flag("unknown function", f"{name}: a UDF, a macro or a function that sqlglot does not know; not entered")


def _short(node: Any) -> str:
    text = " ".join(str(node.sql()).split()) if node is not None else "NULL"
    return text if len(text) <= 60 else text[:59] + "…"
