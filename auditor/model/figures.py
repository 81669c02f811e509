"""Counts and rates as text, rounded exactly and the same everywhere: half up, one decimal, no locale."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from auditor.model.verdicts import NOT_ACCEPTED

if TYPE_CHECKING:
    from auditor.model.run import Column, Interval, Share

#: What stands where a rate is undefined or withheld.
NO_RATE = "—"


def percent_of(count: int, of: int) -> str:
    """Give count/of in percent with one decimal, rounded on whole numbers (a float's half would go either way)."""
    tenths = (2000 * count + of) // (2 * of)
    return f"{tenths // 10}.{tenths % 10}"


def percent(rate: float | None) -> str:
    """Give a rate in percent with one decimal; the float is taken by its shortest text, as people read it."""
    if rate is None:
        return NO_RATE
    return str((Decimal(repr(rate)) * 100).quantize(Decimal("0.1"), ROUND_HALF_UP))


def interval(bounds: Interval | None) -> str:
    """Give an interval in percent: ``86.6–94.0``."""
    return NO_RATE if bounds is None else f"{percent(bounds.low)}–{percent(bounds.high)}"


def rate(column: Column) -> str:
    """Give the content rate, from its counts; a withheld rate stays withheld."""
    return NO_RATE if column.content_rate is None else percent_of(column.verdicts["ok"], column.judged)


def usable(column: Column) -> str:
    """Give the usable rate, from its counts."""
    return NO_RATE if column.usable_rate is None else percent_of(column.verdicts["ok"], column.support)


def coverage(column: Column) -> str:
    """Give the judged part of support, from its counts."""
    return NO_RATE if column.coverage is None else percent_of(column.judged, column.support)


def ceiling(column: Column) -> str:
    """Give the accepted part of the judged, from its counts."""
    return NO_RATE if column.ceiling is None else percent_of(column.accepted, column.judged)


def scored(column: Column, count: int) -> str:
    """Give a count that takes part in a rate: where the rate is withheld, nobody is to work it out again."""
    return NO_RATE if column.judged and column.content_rate is None else f"{count:,}"


def right_of(column: Column) -> str:
    """Give the counts behind the rate: ``150/234``."""
    right = scored(column, column.verdicts["ok"])
    return right if right == NO_RATE else f"{right}/{column.judged:,}"


def part_of(part: Share) -> str:
    """Give the counts behind a share, none where its rate is withheld."""
    return NO_RATE if part.of and part.rate is None else f"{part.count:,}/{part.of:,}"


def share(part: Share) -> str:
    """Give the rate of a share, from its counts."""
    return NO_RATE if part.rate is None else percent_of(part.count, part.of)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Give a count with its noun: ``1 case``, ``1,234 cases``."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def every(count: int, noun: str) -> str:
    """Say that all are meant: ``the one case``, ``both cases``, ``all 3 cases``."""
    return f"the one {noun}" if count == 1 else f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"


def no_right_answer(column: Column) -> str:
    """Say why a column has no right answer at all, or give nothing where it has one: 0 % is never a clean result."""
    why = _no_right_answer(column)
    return f"arm {column.arm}: {why}" if why and column.arm is not None else why


def _no_right_answer(column: Column) -> str:
    field, consumer = column.field, column.consumer
    given = column.judged - column.verdicts["absent"] - column.verdicts["abstained"]
    if column.verdicts["ok"]:
        return ""
    if not column.support:
        legible = " that can be read" if column.broken_references else ""
        return f"no case has a reference of {field}{legible}, so {consumer} is not scored"
    if not column.judged:
        if column.support == 1:
            return f"the one case that has a reference of {field} was not judged"
        return f"none of the {column.support:,} cases that have a reference of {field} was judged"
    if not given:
        cases = "one case that was judged" if column.judged == 1 else f"{column.judged:,} cases that were judged"
        return f"no prediction of {field} was given in the {cases}: is its path what the model writes?"
    if not column.accepted:
        lost = {name: count for name, count in column.verdicts.items() if name in NOT_ACCEPTED and count}
        how = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in lost.items())
        if given == 1:
            return f"{consumer} does not take the one prediction of {field} ({how}), whatever it says"
        return f"{consumer} takes none of the {given:,} predictions of {field} ({how}), whatever they say"
    taken = f"that {consumer} takes from predictions of {field}"
    if column.accepted == 1:
        return f"the one value {taken} does not equal its reference"
    return f"none of the {column.accepted:,} values {taken} equals its reference"
