"""The fixed strings that every parser is fed, so that what it makes of junk does not depend on the data set.

Junk is what a correct parser of the type refuses and nobody can take for a value: words for "nothing", blanks,
punctuation, another type's values. It has no digits where numbers or dates are due, no unit where quantities are due,
and no lone dash, which is a zero to an accountant.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from auditor.spec.models import FieldSpec, FieldType

ProbeKind = Literal["junk", "negative", "positive", "sound", "json_type"]


@dataclass(frozen=True)
class ProbeString:
    """A raw token to feed a parser; `meaning` says what a sound one means, or which JSON type it is of."""

    token: str
    kind: ProbeKind
    meaning: str = ""


@dataclass(frozen=True)
class ProbeOutcome:
    """What one consumer made of a probe string: a status letter, and for a value its tagged text and grain key.

    `warning` is what an SQL engine said or did silently beside the value.
    """

    field: str
    consumer: str
    probe: ProbeString
    status: str
    value: str | None = None
    key: str | None = None
    error: str | None = None
    warning: str | None = None


#: Words that say that there is no value, and words that say nothing.
MISSING_WORDS = ("N/A", "not stated", "unknown")
NONSENSE = ("zzqx", "lorem ipsum dolor", "???")
BLANKS = ("", "  ")

_OTHER_TYPES: dict[FieldType, tuple[str, ...]] = {
    "date": ("true", "[x]"),
    "datetime": ("true", "[x]"),
    "money": ("true", "see attached"),
    "decimal": ("true", "see attached"),
    "quantity": ("true", "see attached"),
    "integer": ("true", "see attached"),
    "ordinal": ("true", "see attached"),
    "boolean": ("2024-03-01", "see attached"),
    "category": (),
    "identifier": (),
}

NEGATIVE_WORDS = ("no", "No", "false", "False", "n", "off", "0")
POSITIVE_WORDS = ("yes", "Yes", "true", "True", "y", "on", "1")

_DATES = {
    "2024-03-15": ("2024-03-15", "March 15, 2024", "15 March 2024", "03/15/2024", "15/03/2024", "15.03.2024"),
    "1999-12-31": ("1999-12-31", "December 31, 1999", "31 December 1999", "12/31/1999", "31/12/1999", "31.12.1999"),
    # What parsers give back instead of an error: the epoch, the ends of the calendar, the base clock's day.
    "1970-01-01": ("1970-01-01",),
    "1900-01-01": ("1900-01-01",),
    "0001-01-01": ("0001-01-01",),
    "9999-12-31": ("9999-12-31",),
    "2024-03-08": ("2024-03-08",),
}

_DATETIMES = {
    "2024-03-15T10:20:30": ("2024-03-15T10:20:30", "2024-03-15 10:20:30", "2024-03-15T10:20:30Z"),
    "1999-12-31T23:59:59": ("1999-12-31T23:59:59", "1999-12-31 23:59:59", "1999-12-31T23:59:59Z"),
    "1970-01-01T00:00:00": ("1970-01-01T00:00:00", "1970-01-01 00:00:00", "1970-01-01T00:00:00Z", "1970-01-01"),
    "1900-01-01T00:00:00": ("1900-01-01T00:00:00", "1900-01-01"),
    "0001-01-01T00:00:00": ("0001-01-01T00:00:00", "0001-01-01"),
    "9999-12-31T00:00:00": ("9999-12-31T00:00:00", "9999-12-31"),
}

_NUMBERS = ("0", "1", "7", "12.50", "250000", "98765432.10", "-1")


def probe_tokens(field: FieldSpec, receives: str) -> tuple[ProbeString, ...]:
    """Give what to feed a parser of a field; numbers, `null` and other JSON types only where it receives JSON."""
    is_json = receives != "text"
    junk = [ProbeString(_quoted(word), "junk") for word in junk_words(field.type)]
    if is_json:
        junk.append(ProbeString("null", "junk"))
    typed = [ProbeString(token, "json_type", form) for token, form in _other_json_types(field)] if is_json else []
    return (*junk, *_sound(field, is_json), *typed)


def junk_words(field_type: FieldType) -> tuple[str, ...]:
    """Give the contents of the junk strings of a field type."""
    return (*MISSING_WORDS, *NONSENSE, *BLANKS, *_OTHER_TYPES[field_type])


def _quoted(content: str) -> str:
    return json.dumps(content, ensure_ascii=False)


def _sound(field: FieldSpec, is_json: bool) -> Iterator[ProbeString]:
    match field.type:
        case "boolean":
            yield from _booleans(is_json)
        case "date":
            yield from _written(_DATES)
        case "datetime":
            yield from _written(_DATETIMES)
        case "integer" | "ordinal":
            yield from _numbers(_whole_numbers(field), is_json)
        case "decimal":
            yield from _numbers(_NUMBERS, is_json)
        case "money":
            yield from _numbers(_NUMBERS, is_json)
            yield from _written({number: (f"{number} EUR", f"EUR {number}", f"${number}") for number in _NUMBERS})
        case "quantity":
            yield from _numbers(_NUMBERS, is_json)
            unit = field.unit or "kg"
            yield from _written({number: (f"{number} {unit}", f"{number}{unit}") for number in _NUMBERS})
        case "identifier":
            yield from _written({"A-1001": ("A-1001",), "B-2002": ("B-2002",), "0012345": ("0012345",)})
        case "category":
            return


def _booleans(is_json: bool) -> Iterator[ProbeString]:
    yield from (ProbeString(_quoted(word), "negative", "false") for word in NEGATIVE_WORDS)
    yield from (ProbeString(_quoted(word), "positive", "true") for word in POSITIVE_WORDS)
    if is_json:
        yield ProbeString("false", "negative", "false")
        yield ProbeString("true", "positive", "true")


def _written(forms: dict[str, tuple[str, ...]]) -> Iterator[ProbeString]:
    for meaning, contents in forms.items():
        yield from (ProbeString(_quoted(content), "sound", meaning) for content in contents)


def _numbers(numbers: Iterable[str], is_json: bool) -> Iterator[ProbeString]:
    for number in numbers:
        yield ProbeString(_quoted(number), "sound", number)
        if is_json:
            yield ProbeString(number, "sound", number)


def _whole_numbers(field: FieldSpec) -> tuple[str, ...]:
    low = field.minimum if field.minimum is not None else 0
    high = field.maximum if field.maximum is not None else max(low, 0) + 250000
    spread = (low, low + 1, low + 7, high)
    return tuple(dict.fromkeys(str(number) for number in spread if number <= high))


def _other_json_types(field: FieldSpec) -> tuple[tuple[str, str], ...]:
    """Give tokens of JSON types that are not the field's, with the name of the type."""
    match field.type:
        case "integer" | "ordinal":
            number = field.minimum if field.minimum is not None else 3
            return (
                (f'"{number}"', "string"),
                (f"{number}.0", "number"),
                (f"{number}.5", "number"),
                ("true", "boolean"),
            )
        case "boolean":
            return (("1", "whole number"), ("0", "whole number"), ('"yes"', "string"), ('"true"', "string"))
        case "date" | "datetime":
            return (("1709251200", "whole number"), ("1709251200000", "whole number"), ("true", "boolean"))
        case "category" | "identifier":
            return (("7", "whole number"), ("true", "boolean"))
        case "decimal" | "money" | "quantity":
            return (("true", "boolean"),)
