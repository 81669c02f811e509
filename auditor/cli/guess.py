"""Guess the type of a field from its values: conservatively, and with the reason beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from auditor.spec.lines import quoted

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = re.compile(
    r"\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{4}"
    rf"|{_MONTH} \d\d?(st|nd|rd|th)?,? \d{{4}}|\d\d?(st|nd|rd|th)? {_MONTH},? \d{{4}}",
    re.IGNORECASE,
)
_DATETIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_NUMBER = r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?"
_MONEY = re.compile(rf"([$€£¥]|[A-Z]{{3}}) ?{_NUMBER}|{_NUMBER} ?([$€£¥]|[A-Z]{{3}})")
_DECIMALS = re.compile(_NUMBER)
_INTEGERS = re.compile(r"[+-]?\d{1,15}")
_LEADING_ZERO = re.compile(r"0\d+")
_TOO_LONG = re.compile(r"\d{16,}")
_CODES = re.compile(r"(?=.*\d)[A-Za-z0-9]+([-/_.][A-Za-z0-9]+)*")
_BOOLEAN_WORDS = frozenset({"true", "false", "yes", "no", "y", "n"})


@dataclass(frozen=True)
class Guess:
    """A proposed type, and why."""

    type: str
    why: str


def guess_type(references: Sequence[str], predictions: Sequence[str]) -> Guess:
    """Propose a type from raw tokens: all references must fit, predictions are asked only where there are none."""
    tokens = list(dict.fromkeys(references)) or list(dict.fromkeys(predictions))
    role = "references" if references else "predictions"
    contents = [_content(token) for token in tokens]
    if not contents:
        return Guess("category", "no values seen: set the type that your consumers read")
    type_, why = _first_fit(tokens, contents)
    return Guess(type_, f"{why.format(all=f'all {len(contents)} distinct {role}')}, such as {shortest(contents)}")


def shortest(contents: Sequence[str]) -> str:
    """Give a short example on one line."""
    example = quoted(min(contents, key=lambda content: (len(content), content)))
    return example if len(example) <= 40 else example[:36] + '…"'


def _first_fit(tokens: Sequence[str], contents: Sequence[str]) -> tuple[str, str]:
    if any(_LEADING_ZERO.fullmatch(content) for content in contents):
        return "identifier", "some have leading zeros, which a number would lose: {all}"
    if any(_TOO_LONG.fullmatch(content) for content in contents):
        return "identifier", "some have more digits than a float keeps: {all}"
    if all(token in ("true", "false") for token in tokens):
        return "boolean", "{all} are JSON booleans"
    if all(content.lower() in _BOOLEAN_WORDS for content in contents):
        return "boolean", "{all} are words for true and false"
    for type_, pattern, why in _PATTERNS:
        if all(pattern.fullmatch(content) for content in contents):
            return type_, why
    return "category", "no narrower type fits {all}; compared as the consumer returns it"


_PATTERNS = (
    ("date", _DATES, "{all} look like dates"),
    ("datetime", _DATETIMES, "{all} look like dates with a time"),
    ("integer", _INTEGERS, "{all} are whole numbers"),
    ("decimal", _DECIMALS, "{all} are numbers"),
    ("money", _MONEY, "{all} are an amount with a currency"),
    ("identifier", _CODES, "{all} are codes, compared exactly"),
)


def _content(token: str) -> str:
    return str(json.loads(token)).strip() if token.startswith('"') else token
