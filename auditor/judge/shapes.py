"""The written shape of a raw value: ``2024-03-01`` is ``dddd-dd-dd``, ``March 1, 2024`` is ``Mmmmm d, dddd``.

A boolean or a category is written as a word, and its shape is the word itself. Where a field has the JSON value
``true`` beside the word, the value's shape is ``JSON true``: one shape never stands for two types.

Shapes say what a consumer can read without saying what was read, so rejections and disagreements group by them.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence

from auditor.spec.models import FieldSpec

_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_DIGITS = re.compile(r"d+")
_LETTERS = re.compile(r"A+|a+")
_LONGEST = 64

#: Words of booleans and categories that are shapes of their own: up to so many characters, and so many words a field,
#: the shortest of them, so that the shape of a string does not depend on the order of the rows.
_WORD = re.compile(r'"(?=[^"]*[^\s\d"])[^"]{1,24}"')
_WORDS = 500
_DIGIT = re.compile("[0-9]")

_NAMED = {
    **dict.fromkeys(_MONTHS.split(), "Mmmmm"),
    **{name[:3]: "Mmm" for name in _MONTHS.split() if len(name) > 3},
    "sept": "Mmm",
    **dict.fromkeys(_DAYS.split(), "Wwwww"),
    **{name[:3]: "Www" for name in _DAYS.split()},
}

#: A run of letters that may be a name; to look for every name at every character takes ten times as long.
_NAME = re.compile("[A-Za-z]{3,}")

_CLASSES = bytes.maketrans(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", b"d" * 10 + b"A" * 26 + b"a" * 26
)

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


def _shortest_words(chunks: Iterable[Sequence[str]]) -> list[str]:
    """Give the words of a field, or the shortest where there are too many; few are in memory at once."""
    words: set[str] = set()
    for tokens in chunks:
        words.update(token for token in set(tokens) if _WORD.fullmatch(token))
        if len(words) > 2 * _WORDS:
            words = set(heapq.nsmallest(_WORDS, words, key=_length_first))
    return heapq.nsmallest(_WORDS, words, key=_length_first)


def _length_first(word: str) -> tuple[int, str]:
    return len(word), word


class Shapes:
    """Shapes and JSON types of one field's tokens, remembering the few classes that a million strings fall into."""

    def __init__(self, field: FieldSpec, chunks: Iterable[Sequence[str]]) -> None:
        """Look through all tokens of the field, chunk by chunk, for its words."""
        self._moments = field.type in ("date", "datetime")
        self._counted = field.type in _COUNTED
        self._worded = field.type in ("boolean", "category")
        words = _shortest_words(chunks) if self._worded else ()
        self._words = {word: (_DIGIT.sub("d", word[1:-1]), "string") for word in words}
        self._taken = {shape for shape, _ in self._words.values()}
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, tokens: Sequence[str]) -> list[tuple[str, str]]:
        """Give (shape, JSON type) of each token."""
        if not tokens:
            return []
        if max(map(len, tokens)) > _LONGEST:
            tokens = [token if len(token) <= _LONGEST else token[:_LONGEST] + "…" for token in tokens]
        classes = self._classes(tokens)
        for name, token in dict(zip(classes, tokens, strict=True)).items():
            if name not in self._known:
                self._known[name] = self._finish(name, token)
        found = list(map(self._known.__getitem__, classes))
        if "aaaa" in self._known:  # true and null are of one class, and nothing else unquoted is
            literals = (row for row, name in enumerate(classes) if name == "aaaa")
            for row in literals:
                found[row] = self._finish("aaaa", tokens[row])
        if not self._words:
            return found
        return [self._words.get(token, shape) for token, shape in zip(tokens, found, strict=True)]

    def _classes(self, tokens: Sequence[str]) -> list[str]:
        # No token holds a line feed (JSON escapes it), so all are classified as one text.
        text = "\n".join(tokens)
        if self._moments:
            text = _NAME.sub(_mark, text)
        return text.encode("utf-8", "surrogatepass").translate(_CLASSES).decode("utf-8", "surrogatepass").split("\n")

    def _finish(self, classes: str, token: str) -> tuple[str, str]:
        kind = json_type(token)
        if kind in ("boolean", "null", "object", "array"):
            shape = token if kind in ("boolean", "null") else kind
            return f"JSON {shape}" if shape in self._taken else shape, kind
        body = classes.strip('"') if kind == "string" else classes
        body = body if self._counted else _DIGITS.sub("d", body)
        body = _LETTERS.sub(lambda run: run.group()[:3] if run.group()[0] == "A" else "a", body)
        body = _unmark(body)
        if kind == "string":
            return (body if body.strip() else "(blank)" if body else "(empty)"), kind
        return f"{kind} {body}", kind


# Private-use marks stand for the letters of a name while classes are made.
_MARKED: dict[str, str] = {}
_MARKS = {"M": "\ue001", "m": "\ue002", "W": "\ue003", "w": "\ue004"}


def _mark(match: re.Match[str]) -> str:
    word = match.group()
    marked = _MARKED.get(word)
    if marked is None:
        name = _NAMED.get(word.lower())
        if name is None:
            return word
        name = name.upper() if word.isupper() else name.lower() if word.islower() else name
        marked = _MARKED[word] = "".join(_MARKS[letter] for letter in name)
    return marked


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
    return Shapes(field, [[token]]).of([token])[0][0]
