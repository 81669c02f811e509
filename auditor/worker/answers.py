"""The answers of a program as tagged text: by what JSON type each has, and by the type of the field.

`consumers/protocol/PROTOCOL.md` has the table. A string of a text field is its own content, whatever it looks like;
elsewhere it may carry its tag. Where a program says that all its strings are tagged, they are: ``text:`` is then a
string of its own, and any other tag what it says, in a text field too. Numbers are known by their source text.
"""

from __future__ import annotations

import re

from .canonical import LONGEST_NUMBER
from .program import Number
from .trouble import LONGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    Texts = Tuple[List[Optional[str]], Dict[int, List[str]]]

is_tagged = re.compile("(?:date|datetime|time|decimal|int|bool|text|money|quantity):").match
is_date = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
is_datetime = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*", re.DOTALL).fullmatch
is_number = re.compile(r"-?[0-9]+(?:\.[0-9]+)?").fullmatch
has_unit = re.compile(r"-?[0-9]+(?:\.[0-9]+)? [^\s0-9.,+-]\S*").fullmatch

#: What an object says that is no value: its one key, and the status that it means.
STATUS_OF = {"rejected": "rejected", "error": "crashed", "null": "null"}


def date_text(text: str) -> str:
    """Tag a string of a date field."""
    if is_date(text):
        return "date:" + text
    return datetime_text(text)


def datetime_text(text: str) -> str:
    """Tag a string of a datetime field."""
    if is_tagged(text):
        return text
    if is_datetime(text):
        return "datetime:" + text
    return "date:" + text if is_date(text) else "text:" + text


def decimal_text(text: str) -> str:
    """Tag a string of a decimal field: a number whose digits count is written as text."""
    if is_number(text):
        return "decimal:" + text
    return tagged_text(text)


def with_unit(tag: str) -> "Callable[[str], str]":
    """Give what tags a string of a money or quantity field."""

    def tag_text(text: str) -> str:
        return tag + text if has_unit(text) else decimal_text(text)

    return tag_text


def tagged_text(text: str) -> str:
    """Tag a string of a field that holds no strings: by the tag that it carries, else as the text that it is."""
    return text if is_tagged(text) else "text:" + text


def own_text(text: str) -> str:
    """Tag a string of a field of texts."""
    return "text:" + text


TEXT_OF: "Dict[str, Callable[[str], str]]" = {
    "date": date_text,
    "datetime": datetime_text,
    "decimal": decimal_text,
    "money": with_unit("money:"),
    "quantity": with_unit("quantity:"),
    "identifier": own_text,
    "category": own_text,
}

#: The tag that most values of a type carry, where they carry one.
OWN_TAG = {
    "date": "date:",
    "datetime": "datetime:",
    "decimal": "decimal:",
    "money": "money:",
    "quantity": "quantity:",
    "integer": "int:",
    "ordinal": "int:",
}


def number_text(text: str) -> "Tuple[str, str]":
    """Tag a number: without point and exponent it is an integer; gives (tagged text, "") or ("", what is wrong)."""
    if len(text) > LONGEST_NUMBER:
        return "", "unexpected type: a number of %d characters" % len(text)
    digits, mark, exponent = text.lower().partition("e")
    if not mark:
        return ("decimal:" if "." in text else "int:") + str.__str__(text), ""
    plain = without_exponent(digits, exponent)
    return ("decimal:" + plain, "") if plain else ("", "unexpected type: the number " + text)


def without_exponent(digits: str, exponent: str) -> str:
    """Write a number in full; it keeps a point, since a number with an exponent is no integer. Empty where too long."""
    if len(exponent) > 4 or abs(int(exponent)) > LONGEST_NUMBER:
        return ""
    sign = "-" if digits[0] == "-" else ""
    whole, _, fraction = digits.lstrip("-").partition(".")
    point = len(whole) + int(exponent)
    every = whole + fraction
    if point <= 0:
        every, point = "0" * (1 - point) + every, 1
    every += "0" * (point - len(every))
    return "%s%s.%s" % (sign, every[:point].lstrip("0") or "0", every[point:] or "0")


def reader_of(kind: str, tagged: bool) -> "Tuple[Callable[[str], str], str]":
    """Give what tags a string of a field, and how most of its strings begin that are right as they are."""
    tag, own = TEXT_OF.get(kind, tagged_text), OWN_TAG.get(kind, "\0")
    if not tagged:
        return tag, own
    size = len(own)

    def tag_text(text: str) -> str:
        if text[:5] == "text:":
            content = text[5:]
            return content if content[:size] == own else tag(content)
        return text if is_tagged(text) else tag(text)

    return tag_text, "text:" if tag is own_text else own


def take(answers: "List[Any]", kind: str, tagged: bool = False) -> "Texts":
    """Give the tagged text of each answer, or None and why there is none."""
    tag, own = reader_of(kind, tagged)
    size = len(own)
    texts: "List[Optional[str]]" = []
    faults: "Dict[int, List[str]]" = {}
    append = texts.append
    for answer in answers:
        known = type(answer)
        if known is str:
            append(answer if answer[:size] == own else tag(answer))
        elif known is bool:
            append("bool:true" if answer else "bool:false")
        else:
            text, fault = number_or_fault(answer)
            if fault:
                faults[len(texts)] = fault
            append(text)
    return texts, faults


def number_or_fault(answer: "Any") -> "Tuple[Optional[str], Optional[List[str]]]":
    """Read an answer that is neither a string nor a boolean."""
    if isinstance(answer, Number):
        text, wrong = number_text(answer)
        return (text, None) if text else (None, ["rejected", wrong])
    if answer is None:
        return None, ["null", "null"]
    if isinstance(answer, dict) and len(answer) == 1:
        for key, error in answer.items():
            if key in STATUS_OF:
                return None, [STATUS_OF[key], (error if isinstance(error, str) else repr(error))[:LONGEST]]
    shown = "an array" if isinstance(answer, list) else "an object"
    return None, ["rejected", "unexpected type: " + shown]
