"""What the text of an SQL consumer suggests that its values depend on besides the string: a hint, never a proof.

Found in the syntax tree: calls of functions that the engine's catalogue does not call consistent, conversions between
time zones, formats with a year of two digits, collations. A hint says nothing about whether a value moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from auditor.decode.plan import Plan
from auditor.decode.sql_dialects import dialect_of
from auditor.model.decoding import Readiness

#: The worker writes a column in this place.
PLACE = "{value}"

#: Names under which the catalogue may have a function that a syntax tree has one name for.
_NAMED = {
    "current_date": ("current_date", "today"),
    "current_timestamp": ("get_current_timestamp", "now"),
    "current_time": ("get_current_time",),
    "localtimestamp": ("current_localtimestamp",),
    "localtime": ("current_localtime",),
    "uuid": ("uuid", "gen_random_uuid", "uuidv4"),
}

#: Functions of the clock; an engine that has no catalogue is told by these and the next.
_CLOCK = {
    *("current_date", "today", "now", "get_current_timestamp", "get_current_time", "transaction_timestamp"),
    *("current_localtimestamp", "current_localtime", "current_timestamp", "current_time", "localtimestamp"),
    *("localtime", "clock_timestamp", "statement_timestamp", "curdate", "sysdate"),
}
_CHANCE = {"random", "rand", "gen_random_uuid", "uuid", "uuidv4", "uuidv7", "setseed", "nextval", "currval"}
_SESSION = {"getvariable", "current_setting", "current_user", "session_user", "current_schema", "current_database"}

_TWO_DIGITS = re.compile(r"%-?y")

#: A cast, whatever the dialect, to a type that knows no zone: it gives no hint, so that it need not be parsed.
_PLAIN_CAST = re.compile(
    r"\s*(?:try_)?cast\s*\(\s*value\s+as\s+(?:date|bool(?:ean)?|(?:tiny|small|big)?int|integer|double|real|float|varchar"
    r"|text|(?:decimal|numeric)(?:\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\))?)\s*\)\s*",
    re.IGNORECASE,
)


def field_hints(plan: Plan, readiness: Readiness) -> dict[str, tuple[str, ...]]:
    """Give the hints of each field that an SQL consumer reads; nothing for other consumers."""
    if plan.config["adapter"] != "sql" or plan.config["statement"] != "cast":
        return {}
    dialect = dialect_of(plan.config["engine"])
    model = plan.config["plan"]
    found = {}
    for field, target in readiness.reads.items():
        if model and field in model["fields"]:
            column = str(model["fields"][field]["output"])
            found[field] = hints_of(model["statement"], readiness.functions, column, dialect=dialect)
        else:
            found[field] = hints_of(target.replace(PLACE, "value"), readiness.functions, dialect=dialect)
    return {field: hints for field, hints in found.items() if hints}


def hints_of(
    sql: str, functions: Mapping[str, str], column: str | None = None, *, dialect: str = "duckdb"
) -> tuple[str, ...]:
    """Give the hints of an expression, or of what a model's output column is made of, each once.

    `functions` maps names to the engine's words on their stability. A text that sqlglot cannot read gives none.

    >>> hints_of("coalesce(try_cast(value as date), current_date)", {"current_date": "CONSISTENT_WITHIN_QUERY"})
    ('calls current_date (the clock; DuckDB: CONSISTENT_WITHIN_QUERY)',)
    """
    if _PLAIN_CAST.fullmatch(sql):
        return ()
    tree = _tree(sql, dialect)
    if tree is None:
        return ()
    reached = _reached(tree, column) if column is not None else None
    found = _hints_of(sql, dialect, tuple(functions.items()))
    return tuple(dict.fromkeys(hint for node, hint in found if reached is None or _concerns(node, reached)))


def hints_in(node: Any) -> tuple[str, ...]:
    """Give the hints of a syntax tree, each once, by what functions are called: no catalogue is asked."""
    return tuple(dict.fromkeys(hint for part in node.walk() for hint in _of(part, {})))


@lru_cache(maxsize=8)
def _tree(sql: str, dialect: str) -> Any:
    """Parse a text; None where sqlglot cannot. A model is asked about once for each of its columns."""
    import sqlglot  # takes 0.1 s, and most consumers have no SQL
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.parse_one(sql, dialect=dialect)
    except SqlglotError:
        return None


@lru_cache(maxsize=8)
def _hints_of(sql: str, dialect: str, functions: tuple[tuple[str, str], ...]) -> list[tuple[Any, str]]:
    """Give each hint in a text with its node, whatever column it concerns."""
    tree, words = _tree(sql, dialect), dict(functions)
    return [] if tree is None else [(node, hint) for node in tree.walk() for hint in _of(node, words)]


def _reached(tree: Any, column: str) -> set[str]:
    """Name the columns that an output column may be made of, by name alone: rather one too many."""
    from sqlglot import exp

    reached, before = {column.lower()}, 0
    projections = [projection for select in tree.find_all(exp.Select) for projection in select.expressions]
    while len(reached) > before:
        before = len(reached)
        for projection in projections:
            if projection.alias_or_name.lower() in reached:
                reached |= {one.name.lower() for one in projection.find_all(exp.Column)}
    return reached


def _concerns(node: Any, reached: set[str]) -> bool:
    """Say whether a node stands in a column that was reached, or where it concerns all rows, as in a filter."""
    from sqlglot import exp

    while node.parent is not None:
        if isinstance(node.parent, exp.Select) and node.arg_key == "expressions":
            return node.alias_or_name.lower() in reached
        node = node.parent
    return True


def _of(node: Any, functions: Mapping[str, str]) -> Iterator[str]:
    from sqlglot import exp

    if isinstance(node, exp.AtTimeZone):
        yield f"converts between time zones ({_short(node)})"
    elif isinstance(node, exp.Collate):
        yield f"compares by a collation ({_short(node)})"
    elif isinstance(node, exp.Cast | exp.TryCast):
        yield from _of_cast(node)
    elif isinstance(node, exp.Literal) and node.is_string and _TWO_DIGITS.search(node.name) and _is_format(node):
        yield f"reads a year of two digits ({node.name!r})"
    elif isinstance(node, exp.Func) and not isinstance(node, exp.Connector):  # AND is one, of all that it joins
        yield from _of_call(node, functions)


def _of_cast(node: Any) -> Iterator[str]:
    if _is_instant(node.this) and not _is_instant(node):
        yield f"takes a {node.to.sql('duckdb').lower()} from an instant: the session's time zone decides it"
    elif _is_instant(node) and not _is_instant(node.this):
        yield "casts to timestamptz: a text without offset is taken in the session's time zone"


def _is_instant(node: Any) -> bool:
    """Say whether a value is a timestamp with time zone, as far as the text tells."""
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Cast | exp.TryCast):
        return bool(node.to.is_type(exp.DataType.Type.TIMESTAMPTZ))
    name = _name(node) if isinstance(node, exp.Func) else ""
    return name in ("now", "get_current_timestamp", "current_timestamp", "to_timestamp", "make_timestamptz")


def _is_format(node: Any) -> bool:
    """Say whether a text stands where a format does."""
    from sqlglot import exp

    while isinstance(node.parent, exp.Array | exp.Paren):
        node = node.parent
    call = node.parent
    return isinstance(call, exp.StrToTime | exp.StrToDate) or (
        isinstance(call, exp.Func) and _name(call) in ("strptime", "try_strptime")
    )


def _of_call(node: Any, functions: Mapping[str, str]) -> Iterator[str]:
    name = _name(node)
    words = next((functions[one] for one in _NAMED.get(name, (name,)) if one in functions), "")
    kind = _kind(name)
    if name == "age" and len(node.expressions or [node.this]) == 1:
        yield "calls age with one argument (the clock)"
    elif "CONSISTENT" in words.split():
        if any(_is_instant(part) for part in node.iter_expressions()):
            yield f"calls {name} on an instant (the session's time zone; DuckDB: CONSISTENT_WITHIN_QUERY)"
    elif words or kind:
        said = "; ".join(part for part in (kind, f"DuckDB: {words}" if words else "") if part)
        yield f"calls {name} ({said})"


def _kind(name: str) -> str:
    kinds = (("the clock", _CLOCK), ("chance", _CHANCE), ("the session", _SESSION))
    return next((kind for kind, names in kinds if name in names), "")


def _name(node: Any) -> str:
    """Give a function's name as DuckDB writes it."""
    written = re.match(r"\w+", node.sql("duckdb"))
    return written[0].lower() if written else ""


def _short(node: Any) -> str:
    text = " ".join(node.sql("duckdb").split())
    return text if len(text) <= 80 else text[:80] + "…"
