"""An engine's texts as tagged text: a column has one tag, by its type or, where types are dynamic, by the field's.

Tags: ``date datetime time int decimal float bool text`` and ``other``, of which no value of a field can be made.
An engine whose types are dynamic has a function instead, which gives None for what no tag holds.
"""

from __future__ import annotations

import re

from .answers import is_tagged
from .sql_tags import in_iso_form, without_exponent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, List, Optional, Tuple, Union

    from .engine_common import Column

NULL = ["null", "NULL"]

DATE = r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
is_date = re.compile(DATE).fullmatch
TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
is_moment = re.compile(DATE + "[T ]" + TIME + "(?: ?(?:[+-][0-9]{2}(?::?[0-9]{2}){0,2}|Z|UTC))?").fullmatch
is_time = re.compile(TIME + r"(?:[+-][0-9]{2}(?::[0-9]{2}){0,2})?").fullmatch
is_integer = re.compile("-?[0-9]+").fullmatch
is_number = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?").fullmatch

TRUTH = {"t": "true", "true": "true", "1": "true", "f": "false", "false": "false", "0": "false"}


def date_text(text: str) -> "Optional[str]":
    """Tag a date; infinity, BC, a year of five digits and a zero month are none."""
    return "date:" + text if is_date(text) else None


def datetime_text(text: str) -> "Optional[str]":
    """Tag a moment."""
    if not is_moment(text):
        return None
    moment = text[:10] + "T" + text[11:].replace(" ", "")
    for utc in ("Z", "UTC"):
        if moment.endswith(utc):
            moment = moment[: -len(utc)] + "+00:00"
    return "datetime:" + with_colon(in_iso_form(moment))


def with_colon(moment: str) -> str:
    """Write an offset such as +0530 with its colon."""
    return re.sub(r"([+-][0-9]{2})([0-9]{2}):00$", r"\1:\2", moment)


def time_text(text: str) -> "Optional[str]":
    """Tag a time of day."""
    return "time:" + in_iso_form("T" + text)[1:] if is_time(text) else None


def integer_text(text: str) -> "Optional[str]":
    """Tag an integer."""
    return "int:" + text if is_integer(text) else None


def decimal_text(text: str) -> "Optional[str]":
    """Tag an exact number."""
    if not is_number(text):
        return None
    return without_exponent("decimal:" + text.lower()) if "e" in text.lower() else "decimal:" + text


def boolean_text(text: str) -> "Optional[str]":
    """Tag a truth value."""
    truth = TRUTH.get(text)
    return "bool:" + truth if truth else None


def plain_text(text: str) -> "Optional[str]":
    """Tag a text."""
    return "text:" + text


def untagged(tag: "Callable[[str], str]") -> "Callable[[str], str]":
    """Give what tags an engine's texts: one that looks like a tagged text is what a program may say, and no engine."""
    return lambda text: "text:" + text if is_tagged(text) else tag(text)


def no_text(text: str) -> "Optional[str]":
    """Give no tag to what no field holds."""
    return None


TAGGERS: "Dict[str, Callable[[str], Optional[str]]]" = {
    "date": date_text,
    "datetime": datetime_text,
    "time": time_text,
    "int": integer_text,
    "decimal": decimal_text,
    "float": decimal_text,
    "bool": boolean_text,
    "text": plain_text,
    "other": no_text,
}

#: A whole column of texts, one a line, each of which has the tag: one look at all of them.
COLUMNS_OF = {
    "date": re.compile("(?:%s\n)*" % DATE).fullmatch,
    "int": re.compile("(?:-?[0-9]+\n)*").fullmatch,
}

#: What numbers that are none are called by the engines.
NOT_A_NUMBER = {"nan", "NaN", "-nan", "NAN"}


def tag_column(
    column: "Column", tag: "Union[str, Callable[[str], Optional[str]]]", kind: str
) -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
    """Tag what a reader gave; {index: [status, error]} says why there is no value."""
    refused = column.errors or column.late
    if isinstance(tag, str) and tag in COLUMNS_OF and not refused and is_all(column.texts, tag):
        return [tag + ":" + text for text in column.texts], {}  # type: ignore[operator]
    tagger = TAGGERS[tag] if isinstance(tag, str) else tag
    whole = None if refused else getattr(tagger, "whole", None)
    at_once = whole(column.texts) if whole is not None else None
    if at_once is not None:
        return at_once, {}
    has_nan = tag in ("float", "decimal")
    texts: "List[Optional[str]]" = []
    faults: "Dict[int, List[str]]" = {}
    append = texts.append
    for index, text in enumerate(column.texts):
        if text is None:
            append(None)
            faults[index] = NULL
            continue
        tagged = tagger(text)
        append(tagged)
        if tagged is None:
            if has_nan and text in NOT_A_NUMBER:
                faults[index] = NULL
            else:
                faults[index] = ["rejected", "unexpected type: %s of type %s" % (text[:200], kind)]
    faults.update({index: ["rejected", message] for index, message in column.errors.items()})
    faults.update({index: ["timed_out", message] for index, message in column.late.items()})
    return texts, faults


def is_all(texts: "List[Optional[str]]", tag: str) -> bool:
    """Say whether each of a column's texts has a tag."""
    if None in texts:
        return False
    lines = "\n".join(texts) + "\n"  # type: ignore[arg-type]
    return lines.count("\n") == len(texts) and COLUMNS_OF[tag](lines) is not None
