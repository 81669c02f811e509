"""Guess the type of a field from its values: conservatively, and with the reason beside it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from auditor.cli.guess_dates import DATES, date_notes, month_comes_first
from auditor.judge.units import factor
from auditor.model.figures import every
from auditor.spec.lines import quoted

_DATETIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_NUMBER = r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?"
_MONEY = re.compile(rf"([$€£¥]|[A-Z]{{3}}) ?{_NUMBER}|{_NUMBER} ?([$€£¥]|[A-Z]{{3}})")
_DECIMALS = re.compile(_NUMBER)
_INTEGERS = re.compile(r"[+-]?\d{1,15}")
_LEADING_ZERO = re.compile(r"0\d+")
_TOO_LONG = re.compile(r"\d{16,}")
_CODES = re.compile(r"(?=.*\d)[A-Za-z0-9]+([-/_.][A-Za-z0-9]+)*")
_UNITS = (
    "kg|g|mg|µg|t|lb|lbs|oz|km|m|cm|mm|mi|ft|in|yd|ha|m²|m2|m³|m3|l|L|ml|mL|cl|gal|kWh|MWh|Wh|kW|MW|W|A|V|Hz|kHz|MHz|GHz"
    "|h|hr|hrs|hour|hours|min|s|sec|ms|d|day|days|week|weeks|month|months|year|years|°C|°F|K|bar|kPa|Pa|psi"
    "|kB|MB|GB|TB|pcs|pc|units?|%"
)
_QUANTITIES = re.compile(rf"([+-]?\d+(?:[.,]\d+)*) ?({_UNITS})")
_BOOLEAN_WORDS = frozenset({"true", "false", "yes", "no", "y", "n"})
_TICKS = frozenset({"x", "[x]", "[ ]", "✓", "✔", "☑", "☒", "☐"})

#: Of references that a type fits so far, one in so many may be something else: a broken reference, said beside it.
_ONE_MISFIT_IN = 5


@dataclass(frozen=True)
class Guess:
    """A proposed type, and why; `notes` are sentences that go with it."""

    type: str
    why: str
    unit: str = ""
    notes: tuple[str, ...] = ()
    month_first: bool | None = None  # of dates in numbers, as far as they tell


def guess_type(references: Sequence[str], predictions: Sequence[str]) -> Guess:
    """Propose a type from raw tokens: references must fit it, predictions are asked only where there are none."""
    given, role = (references, "reference") if references else (predictions, "prediction")
    tokens = list(dict.fromkeys(given))
    contents = [_content(token) for token in tokens]
    if not contents:
        return Guess("category", "no values seen: set the type that your consumers read")
    type_, what, fitting = _first_fit(tokens, contents)
    seen = every(len(contents), f"distinct {role}")
    if len(fitting) < len(contents):
        seen = f"{len(fitting):,} of {len(contents):,} distinct {role}s"
    why = f"{what}: {seen} (of {len(given):,} read), such as {shortest(fitting)}"
    notes = [*_notes(type_, fitting), *_misfit_note(type_, role, fitting, contents)]
    if references:
        notes += _prediction_notes(type_, list(dict.fromkeys(map(_content, predictions))))
    unit = _commonest_unit(fitting) if type_ == "quantity" else ""
    return Guess(type_, why, unit, tuple(notes), month_comes_first(fitting) if type_ == "date" else None)


def shortest(contents: Sequence[str]) -> str:
    """Give a short example on one line."""
    example = quoted(min(contents, key=lambda content: (len(content), content)))
    return example if len(example) <= 40 else example[:36] + '…"'


def _first_fit(tokens: Sequence[str], contents: Sequence[str]) -> tuple[str, str, Sequence[str]]:
    """Give a type, what its values are, and those that fit it: all, or most where a type is unmistakable."""
    if any(_LEADING_ZERO.fullmatch(content) for content in contents):
        return "identifier", "some have leading zeros, which a number would lose", contents
    if any(_TOO_LONG.fullmatch(content) for content in contents):
        return "identifier", "some have more digits than a float keeps", contents
    if all(token in ("true", "false") for token in tokens):
        return "boolean", "JSON booleans", contents
    if all(content.lower() in _BOOLEAN_WORDS for content in contents):
        return "boolean", "words for true and false", contents
    if all(content.lower() in _TICKS for content in contents):
        return "boolean", "ticks in a box", contents
    for type_, pattern, what in _PATTERNS:
        fitting = [content for content in contents if pattern.fullmatch(content)]
        allowed = len(contents) // _ONE_MISFIT_IN if type_ in _UNMISTAKABLE else 0
        if len(contents) - len(fitting) <= allowed:
            return type_, what, fitting
    return "category", "no narrower type fits; compared as the consumer returns it", contents


_PATTERNS = (
    ("date", DATES, "written as dates"),
    ("datetime", _DATETIMES, "dates with a time"),
    ("integer", _INTEGERS, "whole numbers"),
    ("decimal", _DECIMALS, "numbers"),
    ("money", _MONEY, "amounts with a currency"),
    ("quantity", _QUANTITIES, "numbers with a unit"),
    ("identifier", _CODES, "codes, compared exactly"),
)

#: What is mostly written so is nothing else. A number is: a code that is digits for the most part is no integer.
_UNMISTAKABLE = frozenset({"date", "datetime", "money", "quantity"})


def _notes(type_: str, contents: Sequence[str]) -> list[str]:
    if type_ == "date":
        return date_notes(contents)
    if type_ == "quantity":
        return [_unit_note(contents)]
    if type_ == "boolean" and all(content.lower() in _TICKS for content in contents):
        return ["an empty box is no value here: a case without a tick has no reference, and is not scored"]
    return []


def _unit_note(contents: Sequence[str]) -> str:
    counts = Counter(_unit(content) for content in contents)
    common = _commonest_unit(contents)
    apart = [unit for unit in counts if factor(unit, common) is None]
    if not apart:
        return "a plain number is taken to be in this unit, and other units of its kind are converted"
    listed = ", ".join(f"{unit} {count:,}" for unit, count in counts.most_common())
    are = "is" if len(apart) == 1 else "are"
    return (
        f"the references have several units ({listed}), and {', '.join(apart)} {are} not converted: write them in one"
    )


def _unit(content: str) -> str:
    match = _QUANTITIES.fullmatch(content)
    return match[2] if match else ""


def _commonest_unit(contents: Sequence[str]) -> str:
    return Counter(_unit(content) for content in contents).most_common(1)[0][0]


def _misfit_note(type_: str, role: str, fitting: Sequence[str], contents: Sequence[str]) -> list[str]:
    fits = set(fitting)
    misfits = [content for content in contents if content not in fits]
    if not misfits:
        return []
    broken = "; a run will list them as broken references" if role == "reference" else ""
    are = "is" if len(misfits) == 1 else "are"
    return [f"{len(misfits):,} {are} no {type_}, such as {shortest(misfits)}{broken}"]


def _prediction_notes(type_: str, contents: Sequence[str]) -> list[str]:
    """Say how many predictions are not written as the type has it, and what those that are leave open."""
    written = {name: (pattern, what) for name, pattern, what in _PATTERNS if name != "identifier"}
    if type_ == "boolean":
        misfits = [one for one in contents if one.lower() not in _BOOLEAN_WORDS | _TICKS]
        what = "words for true and false"
    elif type_ in written:
        pattern, what = written[type_]
        misfits = [one for one in contents if not pattern.fullmatch(one)]
    else:
        return []
    notes = [f"of the predictions: {note}" for note in date_notes(contents)] if type_ == "date" else []
    if misfits:
        some = f"{len(misfits):,} of {len(contents):,} distinct predictions: not {what}"
        notes.append(f"{some}, such as {shortest(misfits)}; a run shows what each consumer makes of them")
    return notes


def _content(token: str) -> str:
    return str(json.loads(token)).strip() if token.startswith('"') else token
