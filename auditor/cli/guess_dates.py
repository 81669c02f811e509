"""How dates are written, and what their text leaves open: the order of day and month, and the century."""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.spec.lines import quoted

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY, _NUMBER = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])"  # of a month
_IN_NUMBERS = rf"({_DAY}([./-]){_NUMBER}|{_NUMBER}([./-]){_DAY})[./-](\d{{4}}|\d\d)"

#: A whole date. What is written in numbers has a day and a month in it, in some order: 20-00-00 is none.
DATES = re.compile(
    rf"\d{{4}}-\d\d?-\d\d?|{_IN_NUMBERS}"
    rf"|{_MONTH} \d\d?(st|nd|rd|th)?,? \d{{4}}|\d\d?(st|nd|rd|th)? {_MONTH},? \d{{4}}",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(\d\d?)[./-](\d\d?)[./-](\d{4}|\d\d)")


def date_notes(contents: Sequence[str]) -> list[str]:
    """Say what the texts leave open, in sentences; nothing where each has one reading."""
    return [note for note in (_order_note(contents), _century_note(contents)) if note]


def month_comes_first(contents: Sequence[str]) -> bool | None:
    """Whether dates in numbers have the month first or the day; None where they do not tell, or not all alike."""
    numbers = _in_numbers(contents).values()
    day_first, month_first = any(first > 12 for first, _ in numbers), any(second > 12 for _, second in numbers)
    return None if day_first == month_first else month_first


def _order_note(contents: Sequence[str]) -> str:
    numbers = _in_numbers(contents)
    day_first = [content for content, (first, _) in numbers.items() if first > 12]
    month_first = [content for content, (_, second) in numbers.items() if second > 12]
    is_open = [content for content, (first, second) in numbers.items() if max(first, second) <= 12 and first != second]
    if day_first and month_first:
        said = f"some have the day first ({quoted(day_first[0])}) and some the month ({quoted(month_first[0])})"
    elif day_first:
        said = f"the day comes first in {quoted(day_first[0])}"
    elif month_first:
        said = f"the month comes first in {quoted(month_first[0])}"
    else:
        said = "no value tells whether the day or the month comes first" if is_open else ""
    if not is_open:
        return said
    can = "is" if len(is_open) == 1 else "are"
    return f"{said}; {len(is_open):,} {can} ambiguous, such as {quoted(is_open[0])}"


def _century_note(contents: Sequence[str]) -> str:
    short = [content for content in contents if (match := _PARTS.fullmatch(content)) and len(match[3]) == 2]
    if not short:
        return ""
    return f"years of two digits, such as {quoted(short[0])}: each parser picks the century by a rule of its own"


def _in_numbers(contents: Sequence[str]) -> dict[str, tuple[int, int]]:
    found = {content: _PARTS.fullmatch(content) for content in contents}
    return {content: (int(match[1]), int(match[2])) for content, match in found.items() if match}
