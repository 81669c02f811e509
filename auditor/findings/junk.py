"""Which strings of a data set are junk for a field, as SQL conditions on `outcomes`."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.findings import sql
from auditor.findings.probes import junk_words
from auditor.spec.models import FieldType

_NO_VALUE_WORDS = (
    "n/a", "na", "n.a.", "none", "null", "nil", "nan", "not stated", "not specified", "not provided", "not applicable",
    "not available", "not found", "not given", "unknown", "unspecified", "tbd", "tba", "to be determined",
    "to be agreed", "see attached", "see above", "see below", "missing", "blank", "empty", "undefined",
)  # fmt: skip

#: Signs that say no, as a form prints them.
EMPTY_BOXES = ("[ ]", "[]", "( )", "☐", "□")

_CONTENT = "lower(trim(CASE WHEN starts_with(token, '\"') THEN token[2:-2] ELSE token END))"


def is_junk(field_type: FieldType, number: int) -> str:
    """Write the condition that a string is no value of a field, whatever the consumer of a number made of it."""
    if field_type in ("category", "identifier"):
        return f"NOT {_is_echo(number)}"
    return is_one_of({*_NO_VALUE_WORDS, *(word.strip() for word in junk_words(field_type))})


def is_one_of(words: Iterable[str]) -> str:
    """Write the condition that a string is one of some words, whatever its case."""
    return f"{_CONTENT} IN {sql.texts(sorted({word.lower() for word in words}))}"


def _is_echo(number: int) -> str:
    """Write the condition that the value is the string itself, but for case, spaces and punctuation."""

    def letters(text: str) -> str:
        return rf"regexp_replace(lower({text}), '[^\pL\pN]', '', 'g')"

    return f"{letters(_CONTENT)} = {letters(f'substr(v{number}, strpos(v{number}, chr(58)) + 1)')}"
