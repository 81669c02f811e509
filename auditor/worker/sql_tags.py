"""The engine's own text of a result, as tagged text: SQL that the engine runs, and what is left to mend in Python.

A result column becomes one column of marks: a tagged text, ``n`` for NULL, or ``u:`` and the text of what no tag
can hold; the readers add ``r:`` and a message for what was rejected, and ``d`` for what was dropped. The engine writes
the values: a driver's objects would be one more parser.
"""

from __future__ import annotations

import re
from decimal import Decimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, List, Optional, Tuple

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM", "VARINT")
UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
FLOATS = ("FLOAT", "DOUBLE")
MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
TIMES = ("TIME", "TIME_NS", "TIME WITH TIME ZONE")
TEXTS = ("VARCHAR", "UUID", "JSON")

#: Fields of a structure that is an amount with its currency, or a number with its unit.
MEASURES = {("amount", "currency"): "money", ("magnitude", "unit"): "quantity", ("value", "unit"): "quantity"}

NULL = ["null", "NULL"]

OFFSET = re.compile(r"([+-]\d\d)(:\d\d)?(:\d\d)?$")


def is_integer(kind: str) -> bool:
    """Say whether a type holds integers alone."""
    return kind in INTEGERS or kind in UNSIGNED


def is_number(kind: str) -> bool:
    """Say whether a type is written as a number."""
    return is_integer(kind) or kind in FLOATS or kind.startswith("DECIMAL")


def structure(kind: str) -> "Dict[str, Tuple[str, str]]":
    """Map the lower-case names of a structure's fields to name and type; empty for any other type."""
    if not kind.startswith("STRUCT("):
        return {}
    parts, depth, quoted, start, inner = [], 0, False, 0, kind[len("STRUCT(") : -1]
    for position, sign in enumerate(inner):
        quoted ^= sign == '"'
        if not quoted:
            depth += (sign == "(") - (sign == ")")
            if sign == "," and depth == 0:
                parts.append(inner[start:position])
                start = position + 1
    fields = {}
    for part in [*parts, inner[start:]]:
        name, _, of = part.strip().partition(" ")
        fields[name.strip('"').lower()] = (name, of)
    return fields


def tagged(value: str, kind: str) -> str:
    """Give an SQL expression for the text of `value`, an SQL expression of type `kind`."""
    text = "CAST(%s AS VARCHAR)" % value
    unexpected = "'u:' || " + text
    if kind == "DATE":
        return within(value, "DATE '0001-01-01'", "DATE '9999-12-31'", "'date:' || " + text, unexpected)
    if kind in MOMENTS:
        first, last = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
        inside = "CAST(%s AS TIMESTAMP)" % value
        return within(inside, first, last, "'datetime:' || replace(%s, ' ', 'T')" % text, unexpected)
    if kind == "TIMESTAMP WITH TIME ZONE":  # its year depends on the session's zone, so the text decides
        stated = r"regexp_full_match(%s, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-][0-9:]+')" % text
        written = "WHEN %s THEN 'datetime:' || replace(%s, ' ', 'T')" % (stated, text)
        return "CASE WHEN %s IS NULL THEN 'n' %s ELSE %s END" % (value, written, unexpected)
    if kind in FLOATS:
        checks = "WHEN %s IS NULL OR isnan(%s) THEN 'n' WHEN isfinite(%s)" % (value, value, value)
        return "CASE %s THEN 'decimal:' || %s ELSE %s END" % (checks, text, unexpected)
    if tuple(structure(kind)) in MEASURES:
        return measure(value, kind)
    for tag, fits in (
        ("int", is_integer(kind)),
        ("decimal", is_number(kind)),
        ("bool", kind == "BOOLEAN"),
        ("time", kind in TIMES),
        ("text", kind in TEXTS or kind.startswith("ENUM(")),
    ):
        if fits:
            return otherwise_null("'%s:' || %s" % (tag, text), value)
    return otherwise_null(unexpected, value)


def otherwise_null(text: str, value: str) -> str:
    """Write NULL as ``n``."""
    return "CASE WHEN %s IS NULL THEN 'n' ELSE %s END" % (value, text)


def within(value: str, first: str, last: str, text: str, unexpected: str) -> str:
    """Write what ISO 8601 has a form for; infinity, BC and years of five digits have none."""
    return "CASE WHEN %s BETWEEN %s AND %s THEN %s WHEN %s IS NULL THEN 'n' ELSE %s END" % (
        value,
        first,
        last,
        text,
        value,
        unexpected,
    )


def measure(value: str, kind: str) -> str:
    """Write an amount with its currency, or a number with its unit; without the second it is a plain number."""
    fields = structure(kind)
    (number, of), (unit, _) = fields.values()
    number, unit = "(%s).%s" % (value, number), "(%s).%s" % (value, unit)
    if not is_number(of):
        return otherwise_null("'u:' || CAST(%s AS VARCHAR)" % value, value)
    tag = MEASURES[tuple(fields)]  # type: ignore[index]
    written = "'%s:' || CAST(%s AS VARCHAR) || ' ' || CAST(%s AS VARCHAR)" % (tag, number, unit)
    plain = tagged(number, of)
    checks = "WHEN %s IS NULL THEN %s" % (unit, plain)
    if of in FLOATS:
        checks += " WHEN NOT isfinite(%s) THEN %s" % (number, plain)
    return "CASE WHEN %s IS NULL THEN 'n' %s ELSE %s END" % (number, checks, written)


def without_exponent(text: str) -> str:
    """Write a number in full: 1e+20 is 100000000000000000000.0, a float like any other."""
    tag, _, content = text.partition(":")
    number, space, unit = content.partition(" ")
    if "e" in number:
        digits = format(Decimal(number), "f")
        number = digits if "." in digits else digits + ".0"
    return tag + ":" + number + space + unit


def in_iso_form(text: str) -> str:
    """Write the fraction of a second with six digits at least, the offset with minutes."""
    date, letter, time = text.rpartition("T")
    found = OFFSET.search(time)
    clock, offset = (time[: found.start()], found.group(1) + (found.group(2) or ":00")) if found else (time, "")
    if found and found.group(3):
        offset += found.group(3)
    whole, point, fraction = clock.partition(".")
    return date + letter + whole + point + (fraction.ljust(6, "0") if point else "") + offset


def mender(kind: str) -> "Optional[Callable[[str], str]]":
    """Give what is left to do with the tagged texts of a type, None where that is nothing."""
    if kind in FLOATS:
        return lambda text: without_exponent(text) if "e" in text[8:] else text
    if kind.startswith("STRUCT("):
        return without_exponent
    if kind in MOMENTS or kind in TIMES or kind == "TIMESTAMP WITH TIME ZONE":
        return in_iso_form
    return None


def take(marks: "List[str]", kind: str) -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
    """Split marks into values and faults: a mark of one letter, or a letter and a text, is no value."""
    texts: "List[Optional[str]]" = list(marks)
    mend = mender(kind)
    if mend is not None:
        texts = [mark if len(mark) < 2 or mark[1] == ":" else mend(mark) for mark in marks]
    no_values = [index for index, mark in enumerate(marks) if len(mark) < 2 or mark[1] == ":"]
    faults: "Dict[int, List[str]]" = {}
    for index in no_values:
        mark = marks[index]
        texts[index] = None
        faults[index] = NULL if mark == "n" else fault_of(mark, kind)
    return texts, faults


def fault_of(mark: str, kind: str) -> "List[str]":
    """Give status and error of a mark."""
    letter, text = mark[0], mark[2:]
    if letter == "u":
        return ["rejected", "unexpected type: %s of type %s" % (text[:200], kind)]
    if letter == "d":
        return ["dropped", "the model gives no row for the value"]
    if letter == "t":
        return ["timed_out", text]
    return ["rejected", text]
