"""The type of an expression over columns whose types are known, and the type of field that it suggests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.optimizer.annotate_types import annotate_types

from auditor.decode.sql_syntax import Node, columns_in
from auditor.discover.parsing import FAULTS


def _plain(kind: str) -> Any:
    """Make a type; ClickHouse writes one as nullable unless it is told that it is not."""
    made = exp.DataType.build(kind)
    made.set("nullable", False)
    return made


TEXT = _plain("text")

_Type = exp.DataType.Type

_KINDS = {
    "date": {_Type.DATE, _Type.DATE32},
    "datetime": {*exp.DataType.TEMPORAL_TYPES} - {_Type.DATE, _Type.DATE32, _Type.TIME, _Type.TIMETZ},
    "boolean": {_Type.BOOLEAN, _Type.BIT},
    "integer": {*exp.DataType.INTEGER_TYPES} - {_Type.BIT},
    "decimal": {*exp.DataType.REAL_TYPES} - {_Type.MONEY, _Type.SMALLMONEY},
    "text": {*exp.DataType.TEXT_TYPES},
}


#: What functions give that sqlglot knows by no name: ClickHouse's, of which most coercions there are made.
_NAMED = [
    (re.compile(name, re.IGNORECASE), _plain(kind))
    for name, kind in (
        (r"toU?Int(8|16|32|64|128|256)(OrNull|OrZero|OrDefault)?", "bigint"),
        (r"toFloat(32|64)(OrNull|OrZero|OrDefault)?", "double"),
        (r"toDecimal(32|64|128|256)(OrNull|OrZero|OrDefault)?", "decimal"),
        (r"toDate(32)?(OrNull|OrZero|OrDefault)?", "date"),
        (r"(toDateTime(64)?|parseDateTime(32|64)?(BestEffort)?(US)?)(OrNull|OrZero|OrDefault)?", "timestamp"),
        (r"(TRY_)?TO_TIMESTAMP_(NTZ|LTZ|TZ)", "timestamp"),
        (r"toBool", "boolean"),
        (r"toString|lowerUTF8|upperUTF8|trimBoth|replaceAll|replaceOne|replaceRegexp(All|One)", "text"),
    )
]


def type_of(node: Node, parts: Sequence[Any], dialect: Dialect) -> Any:
    """Give the type of an expression whose columns have the types `parts`, None where it is not known."""
    if isinstance(node, exp.Column):
        return parts[0] if len(parts) == 1 else None
    try:
        copy = exp.Paren(this=node.copy())
        for column, kind in zip(list(columns_in(copy)), parts, strict=True):
            column.replace(exp.Cast(this=exp.null(), to=(kind or exp.DataType.build("unknown")).copy()))
        return _given_by(annotate_types(copy, dialect=dialect).this)
    except FAULTS:
        return None


def is_known(name: str) -> bool:
    """Say whether a function that sqlglot does not know is known here."""
    return any(pattern.fullmatch(name) for pattern, _ in _NAMED)


def _given_by(node: Node) -> Any:
    """Give the type of an annotated expression; what sqlglot leaves open or takes for another is decided here."""
    while isinstance(node, exp.Paren | exp.Try | exp.SafeFunc):
        node = node.this
    if isinstance(node, exp.Cast | exp.TryCast):
        return node.to
    if isinstance(node, exp.Convert):  # T-SQL's, whose type comes first
        return node.this
    if isinstance(node, exp.Anonymous):
        return next((kind for pattern, kind in _NAMED if pattern.fullmatch(node.name)), None)
    if isinstance(node, exp.RegexpExtract):
        return TEXT
    if isinstance(node, exp.FromISO8601Timestamp):
        return _plain("timestamptz")
    if isinstance(node, exp.DecodeCase | exp.Nvl2):
        return _common([_given_by(result) for result in results_of(node)])
    found = node.type
    if found is not None and found.expressions and node.find(exp.ToNumber):  # sqlglot does not read its scale
        return _plain("decimal")
    unknown = found is None or found.this in (_Type.UNKNOWN, _Type.NULL)
    return None if unknown or _is_duration(node) else found


def results_of(node: Node) -> list[Any]:
    """Give what a DECODE or NVL2 may come to."""
    if isinstance(node, exp.Nvl2):
        return [part for part in (node.args.get("true"), node.args.get("false")) if part is not None]
    values = node.expressions
    return [*values[2::2], *(values[-1:] if len(values) % 2 == 0 else [])]


def _common(kinds: Sequence[Any]) -> Any:
    given = [kind for kind in kinds if kind is not None]
    return given[0] if given and len({kind_of(kind) for kind in given}) == 1 else None


def _is_duration(node: Node) -> bool:
    """Say whether a day is taken from a day: a number of days or an interval, which sqlglot calls a day."""
    sides = (node.this, node.expression) if isinstance(node, exp.Sub) else ()
    return bool(sides) and all(side.type is not None and side.is_type(*exp.DataType.TEMPORAL_TYPES) for side in sides)


def kind_of(kind: Any) -> str | None:
    """Give the type of a field that a type of SQL suggests, `text` for texts; None where nothing fits."""
    if kind is None:
        return None
    return next((name for name, kinds in _KINDS.items() if kind.this in kinds), None)


def scale_of(kind: Any) -> int | None:
    """Give the digits behind the point of a decimal type that names them."""
    params = [] if kind is None or kind_of(kind) != "decimal" else kind.expressions
    return int(params[1].name) if len(params) == 2 and params[1].name.isdecimal() else None


def shown(kind: Any, dialect: Dialect) -> str:
    """Give a type as the dialect writes it, empty where it is not known."""
    return "" if kind is None else str(kind.sql(dialect)).lower()
