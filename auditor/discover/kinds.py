"""The type of an expression over columns whose types are known, and the type of field that it suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.optimizer.annotate_types import annotate_types

from auditor.decode.sql_syntax import Node, columns_in
from auditor.discover.parsing import FAULTS

TEXT = exp.DataType.build("text")

_Type = exp.DataType.Type

_KINDS = {
    "date": {_Type.DATE, _Type.DATE32},
    "datetime": {*exp.DataType.TEMPORAL_TYPES} - {_Type.DATE, _Type.DATE32, _Type.TIME, _Type.TIMETZ},
    "boolean": {_Type.BOOLEAN, _Type.BIT},
    "integer": {*exp.DataType.INTEGER_TYPES} - {_Type.BIT},
    "decimal": {*exp.DataType.REAL_TYPES},
    "text": {*exp.DataType.TEXT_TYPES},
}


def type_of(node: Node, parts: Sequence[Any], dialect: Dialect) -> Any:
    """Give the type of an expression whose columns have the types `parts`, None where it is not known."""
    if isinstance(node, exp.Column):
        return parts[0] if len(parts) == 1 else None
    if isinstance(node, exp.Paren):
        return type_of(node.this, parts, dialect)
    if isinstance(node, exp.Cast | exp.TryCast):
        return node.to
    try:
        copy = exp.Paren(this=node.copy())
        for column, kind in zip(list(columns_in(copy)), parts, strict=True):
            column.replace(exp.Cast(this=exp.null(), to=(kind or exp.DataType.build("unknown")).copy()))
        annotated = annotate_types(copy, dialect=dialect).this
        found = annotated.type
    except FAULTS:
        return None
    if found is None or found.this in (_Type.UNKNOWN, _Type.NULL) or _is_duration(annotated):
        return None
    return found


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
