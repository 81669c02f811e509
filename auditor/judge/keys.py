"""The grain key of a decoded value, and the same for most values as one SQL expression.

Which tags a field type takes stands in the functions below; what it does not take is no value of that type, and the
caller records it as `rejected` with the error ``unexpected type``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from auditor.judge.moments import SOUND_DATE, date_key, datetime_key
from auditor.judge.numbers import (
    LONGEST_NUMBER,
    decimal_key,
    integer_key,
    money_key,
    number,
    ordinal_key,
    quantity_key,
    step,
)
from auditor.judge.texts import boolean_key, category_key, identifier_key
from auditor.spec.models import FieldSpec

KeyFunction = Callable[[FieldSpec, str, str], "str | None"]

KEY_OF_TYPE: dict[str, KeyFunction] = {
    "date": date_key,
    "datetime": datetime_key,
    "money": money_key,
    "decimal": decimal_key,
    "quantity": quantity_key,
    "integer": integer_key,
    "ordinal": ordinal_key,
    "boolean": boolean_key,
    "category": category_key,
    "identifier": identifier_key,
}

_UNEXPECTED: Final = "unexpected type: "
_WHOLE: Final = re.compile(r"-?[0-9]+(\.0*)?")
_TRUTHS: Final = frozenset({"int:0", "int:1", "text:true", "text:false", "text:True", "text:False"})


def grain_key(field: FieldSpec, text: str) -> str | None:
    """Give the key of a tagged value, or None where the field's type cannot hold it.

    >>> total = FieldSpec(name="total", type="money", grain="0.01")
    >>> grain_key(total, "money:1234.50 EUR"), grain_key(total, "money:1234.500 EUR"), grain_key(total, "bool:true")
    ('1234.5 EUR', '1234.5 EUR', None)
    """
    tag, _, content = text.partition(":")
    return KEY_OF_TYPE[field.type](field, tag, content)


def unexpected_type(field: FieldSpec, text: str) -> str:
    """Say why a value is none of the field's type, and what to do where it is one but for its own type.

    >>> unexpected_type(FieldSpec(name="count", type="integer"), "decimal:3.5")
    'unexpected type: decimal:3.5 is no integer'
    """
    shown = text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"
    bounds = f" within {field.minimum}..{field.maximum}" if field.type == "ordinal" else ""
    unit = f" in {field.unit}, nor in a unit that is known to convert to it" if field.type == "quantity" else ""
    return f"{_UNEXPECTED}{shown} is no {field.type}{bounds}{unit}{_what_to_do(field, text)}"


def refused_value(error: str | None) -> str | None:
    """Give the tagged text of a value that is none of its field's type, from the error that `unexpected_type` made.

    >>> refused_value(unexpected_type(FieldSpec(name="po", type="identifier"), "int:123"))
    'int:123'
    """
    if error is None or not error.startswith(_UNEXPECTED):
        return None
    return error.removeprefix(_UNEXPECTED).partition(" is no ")[0]


def _what_to_do(field: FieldSpec, text: str) -> str:
    tag, _, content = text.partition(":")
    kind = field.type
    if tag == "decimal" and kind in ("integer", "ordinal") and _WHOLE.fullmatch(content):
        return ': return an int (in pandas the dtype Int64), or set type = "decimal" for the field'
    if kind == "identifier":
        return ": return text, as its references are: a number has lost its leading zeros" if tag == "int" else ""
    if kind == "category" and field.members == "mixed":
        return ": return the number, or True or False, that its references name" if tag == "text" else ""
    if kind == "category":
        whole = ', or write members = "integer" or "mixed" for the field' if tag == "int" else ""
        whole = ', or write members = "mixed" for the field' if tag == "bool" else whole
        return f": return text, as its references are{whole}" if field.members != "integer" else ""
    if kind == "boolean" and text in _TRUTHS:
        return ": return True or False"
    if tag == "text" and kind == "date" and re.fullmatch(SOUND_DATE, content):
        return ": return a date, not its text"
    if tag == "text" and kind in ("integer", "decimal", "money", "quantity") and number(content) is not None:
        return ": return a number, not its text"
    return ""


def fast_key_sql(field: FieldSpec, column: str) -> str:
    """Give an SQL expression for the key of `column` (tagged text) that is NULL where `grain_key` must be asked.

    It answers only for values that need no arithmetic: an ISO date, a number that is already on the grain, exact text.
    A property test holds it against `grain_key`.
    """
    if field.type == "date" and (field.grain or "day") == "day":
        return _when(f"regexp_full_match({column}, 'date:{SOUND_DATE}')", f"substr({column}, 6)")
    if field.type == "boolean":
        return f"CASE {column} WHEN 'bool:true' THEN 'true' WHEN 'bool:false' THEN 'false' END"
    if field.type in ("category", "identifier") and field.members in (None, "text"):
        return _when(f"starts_with({column}, 'text:')", column)
    if field.type == "integer" and field.grain is None:
        return _when(f"regexp_full_match({column}, 'int:(0|-?[1-9][0-9]{{0,17}})')", f"substr({column}, 5)")
    if field.type in ("decimal", "money"):
        return _fast_number_sql(field, column)
    return "NULL::VARCHAR"


def _when(condition: str, value: str) -> str:
    return f"CASE WHEN {condition} THEN {value} END"


def _fast_number_sql(field: FieldSpec, column: str) -> str:
    digits = _fraction_digits(field)
    if digits is None:
        return "NULL::VARCHAR"
    # A trailing zero is the only thing that two texts of one such number can differ in.
    number = rf"(0|-?[1-9][0-9]{{0,17}})(\.[0-9]{{0,{digits}}}0*)?"
    trailing = "contains({text}, '.') AND right({text}, 1) IN ('0', '.')"
    fraction = f"CASE WHEN {trailing} THEN rtrim(rtrim({{text}}, '0'), '.') ELSE {{text}} END"
    branches = [
        f"WHEN regexp_full_match({column}, 'decimal:{number}') THEN {fraction.format(text=f'substr({column}, 9)')}"
    ]
    branches.append(f"WHEN regexp_full_match({column}, 'int:(0|-?[1-9][0-9]{{0,17}})') THEN substr({column}, 5)")
    if field.type == "money":
        amount = f"split_part(substr({column}, 7), ' ', 1)"
        key = fraction.format(text=amount)
        if field.currency != "ignored":
            key = f"({key}) || ' ' || split_part({column}, ' ', 2)"
        branches.append(f"WHEN regexp_full_match({column}, 'money:{number} [A-Z]{{3}}') THEN {key}")
    # How many zeros end a number no pattern can count; the judge refuses the longest.
    return f"CASE WHEN strlen({column}) > {LONGEST_NUMBER} THEN NULL {' '.join(branches)} END"


def _fraction_digits(field: FieldSpec) -> int | None:
    """Digits after the point that are on the grain whatever they are; None where only arithmetic can tell."""
    grain = step(field.grain)
    if grain is None:
        return 18
    exponent = grain.as_tuple().exponent
    power_of_ten = grain.normalize().as_tuple().digits == (1,)
    if not power_of_ten or not isinstance(exponent, int) or grain > 1:
        return None
    normal = grain.normalize().as_tuple().exponent
    return -normal if isinstance(normal, int) else None
