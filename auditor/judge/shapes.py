"""The written shape of a raw value: ``2024-03-01`` is ``dddd-dd-dd``, ``March 1, 2024`` is ``Mmmmm d, dddd``.

Shapes say what a consumer can read without saying what was read, so rejections and disagreements group by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.spec.models import FieldSpec

_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_WORD = re.compile(r"[A-Za-z]{3,9}")
_DIGITS = re.compile(r"d+")
_LETTER = re.compile(r"[A-Za-z]")
_LETTERS = re.compile(r"A+|a+")
_LONGEST = 64

_NAMED = {
    **dict.fromkeys(_MONTHS.split(), "Mmmmm"),
    **{name[:3]: "Mmm" for name in _MONTHS.split() if len(name) > 3},
    "sept": "Mmm",
    **dict.fromkeys(_DAYS.split(), "Wwwww"),
    **{name[:3]: "Www" for name in _DAYS.split()},
}

_CLASSES = dict.fromkeys(range(ord("0"), ord("9") + 1), "d")
_CLASSES |= dict.fromkeys(range(ord("A"), ord("Z") + 1), "A")
_CLASSES |= dict.fromkeys(range(ord("a"), ord("z") + 1), "a")

#: Types whose digits are counted: 1 and 12 are two shapes of a day, but not of an amount.
_COUNTED = ("date", "datetime", "category", "identifier", "boolean")


def json_type(token: str) -> str:
    """Name the JSON type of a token; ``3`` is an integer, ``3.0`` and ``1e5`` are numbers."""
    first = token[:1]
    if first == '"':
        return "string"
    if first in "{[":
        return "object" if first == "{" else "array"
    if token in ("true", "false"):
        return "boolean"
    if token == "null":
        return "null"
    return "integer" if token.lstrip("-").isdigit() else "number"


class Shapes:
    """Shapes of one field's tokens, remembering the few hundred classes that a million strings fall into."""

    def __init__(self, field: FieldSpec) -> None:
        self._moments = field.type in ("date", "datetime")
        self._counted = field.type in _COUNTED
        self._known: dict[str, str] = {}

    def of(self, tokens: Sequence[str]) -> list[str]:
        """Give the shape of each token."""
        return [self._shape(token) for token in tokens]

    def _shape(self, token: str) -> str:
        if len(token) > _LONGEST:
            token = token[:_LONGEST] + "…"
        classes = self._with_names(token) if self._moments else token.translate(_CLASSES)
        shape = self._known.get(classes)
        if shape is None:
            shape = self._finish(classes, token)
            if len(self._known) < 100_000:
                self._known[classes] = shape
        return shape

    def _with_names(self, token: str) -> str:
        """Classify with the letters of month and weekday names kept apart from other letters."""
        if not _LETTER.search(token):
            return token.translate(_CLASSES)
        return _WORD.sub(_mark, token).translate(_CLASSES)

    def _finish(self, classes: str, token: str) -> str:
        kind = json_type(token)
        if kind in ("boolean", "null", "object", "array"):
            return token if kind in ("boolean", "null") else kind
        body = classes.strip('"') if kind == "string" else classes
        body = body if self._counted else _DIGITS.sub("d", body)
        body = _LETTERS.sub(lambda run: run.group()[:3] if run.group()[0] == "A" else "a", body)
        body = _unmark(body)
        if kind == "string":
            return body if body.strip() else "(empty)" if not body else "(blank)"
        return f"{kind} {body}"


# Private-use marks stand for the letters of a name while classes are made.
_MARKS = {"M": "\ue001", "m": "\ue002", "W": "\ue003", "w": "\ue004"}


def _mark(match: re.Match[str]) -> str:
    word = match.group()
    name = _NAMED.get(word.lower())
    if name is None:
        return word
    if word.isupper():
        name = name.upper()
    elif word.islower():
        name = name.lower()
    return "".join(_MARKS[letter] for letter in name)


def _unmark(shape: str) -> str:
    for letter, mark in _MARKS.items():
        shape = shape.replace(mark, letter)
    return shape


def shape_of(field: FieldSpec, token: str) -> str:
    """Give the shape of one token.

    >>> shape_of(FieldSpec(name="d", type="date"), '"March 1, 2024"')
    'Mmmmm d, dddd'
    >>> shape_of(FieldSpec(name="total", type="money"), '"EUR 1,234.50"')
    'AAA d,d.d'
    """
    return Shapes(field).of([token])[0]
