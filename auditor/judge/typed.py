"""The `typed` reader: references that are already in canonical form. Standard library only, and strict."""

from __future__ import annotations

import json
import re

from auditor.judge.escape import ESCAPED, escaped
from auditor.judge.keys import grain_key, unexpected_type
from auditor.judge.moments import SOUND_DATE
from auditor.judge.numbers import LONGEST_NUMBER, number
from auditor.judge.texts import is_mixed, mixed_member
from auditor.spec.models import FieldSpec

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATETIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_INTEGER = re.compile(r"-?[0-9]+")
_EXPONENT = re.compile(r"-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+")
_MONEY = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?) ?([A-Z]{3})?")
# What goes on like a number is no unit: 1e5 is not 1 of the unit e5.
_QUANTITY = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?: ?((?![0-9.,]|[eE][+-]?[0-9])\S+))?")

#: A value of each field type as its references are written.
CANONICAL = {
    "date": "2024-03-01",
    "datetime": "2024-03-01T09:05:07, with Z or an offset if there is one",
    "money": "1234.50 EUR",
    "decimal": "1234.5",
    "quantity": "12.5 kg",
    "integer": "24",
    "ordinal": "3",
    "boolean": "true or false",
    "category": "text",
    "identifier": "text",
}


def _an(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def read_typed(field: FieldSpec, token: str) -> tuple[str | None, str | None]:
    """Read a raw token in canonical form; gives (tagged text, None) or (None, error).

    >>> read_typed(FieldSpec(name="d", type="date"), '"2024-03-01"')
    ('date:2024-03-01', None)
    """
    content = json.loads(token) if token.startswith('"') else token
    tagged = _tagged(field, content, token)
    if tagged is None:
        like = CANONICAL["integer" if field.members == "integer" else field.type]
        return None, f"not canonical: {_an(field.type)} is written like {like}"
    if grain_key(field, tagged) is None:
        return None, unexpected_type(field, tagged)
    return tagged, None


def _tagged(field: FieldSpec, content: str, token: str) -> str | None:
    kind = field.type
    if len(content) > LONGEST_NUMBER and kind not in ("category", "identifier"):
        return None
    if kind == "category" and field.members == "integer":
        return _integer(content)
    if is_mixed(field) and mixed_member(content) != f"text:{content}":
        return mixed_member(content)
    if kind in ("category", "identifier"):
        return _text(content, token)
    if kind == "date":
        return f"date:{content}" if _DATE.fullmatch(content) else None
    if kind == "datetime":
        return _datetime(field, content)
    if kind in ("integer", "ordinal"):
        return _integer(content)
    if kind in ("decimal", "money", "quantity") and _EXPONENT.fullmatch(token):
        return _in_full(token)
    if kind == "decimal":
        return f"decimal:{content}" if _NUMBER.fullmatch(content) else None
    if kind == "boolean":
        return f"bool:{content}" if content in ("true", "false") else None
    return _with_unit(kind, content)


def _integer(content: str) -> str | None:
    return f"int:{int(content)}" if _INTEGER.fullmatch(content) and len(content) < 4000 else None


def _text(content: str, token: str) -> str | None:
    """Take a string or a number's own digits as text; an object or an array is none."""
    if token.startswith('"'):
        return f"text:{escaped(content)}"
    return f"text:{content}" if _NUMBER.fullmatch(content) else None


def _in_full(token: str) -> str | None:
    """Take a JSON number that has an exponent: so writers write floats, while a person's text has none."""
    value = number(token)
    return None if value is None else f"decimal:{value:f}"


def _datetime(field: FieldSpec, content: str) -> str | None:
    if _DATETIME.fullmatch(content):
        moment = content.replace(" ", "T", 1)
        return f"datetime:{moment[:-1]}+00:00" if moment.endswith("Z") else f"datetime:{moment}"
    coarse = field.grain in ("day", "month", "year")
    return f"date:{content}" if coarse and _DATE.fullmatch(content) else None


def _with_unit(kind: str, content: str) -> str | None:
    match = (_MONEY if kind == "money" else _QUANTITY).fullmatch(content)
    if match is None:
        return None
    amount, unit = match.groups()
    return f"{kind}:{amount} {unit}" if unit else f"decimal:{amount}"


def fast_typed_sql(field: FieldSpec, token: str) -> str:
    """Give an SQL expression for the tagged text of a canonical token, NULL where `read_typed` must be asked.

    A property test holds it against `read_typed`.
    """
    rewritten = f"contains({token}, '\\') OR starts_with({token}, '\"{ESCAPED}')"
    plain_string = f"starts_with({token}, '\"') AND NOT ({rewritten})"
    content = f"substr({token}, 2, length({token}) - 2)"
    if field.members == "mixed":
        return "NULL::VARCHAR"
    if field.type in ("category", "identifier") and field.members != "integer":
        return f"CASE WHEN {plain_string} THEN 'text:' || {content} END"
    if field.type == "boolean":
        return f"CASE WHEN {token} IN ('true', 'false') THEN 'bool:' || {token} END"
    if field.type == "date":
        return f"CASE WHEN regexp_full_match({token}, '\"{SOUND_DATE}\"') THEN 'date:' || {content} END"
    if field.type in ("decimal", "money"):
        number = r'"(0|-?[1-9][0-9]{0,17})(\.[0-9]{1,18})?'
        euro = f"WHEN regexp_full_match({token}, '{number} [A-Z]{{3}}\"') THEN 'money:' || {content}"
        bare = f"WHEN regexp_full_match({token}, '{number}\"') THEN 'decimal:' || {content}"
        return f"CASE {euro if field.type == 'money' else ''} {bare} END"
    if field.type == "integer" or field.members == "integer":
        number = r'"?(0|-?[1-9][0-9]{0,17})"?'
        return f"CASE WHEN regexp_full_match({token}, '{number}') THEN 'int:' || trim({token}, '\"') END"
    return "NULL::VARCHAR"
