"""Figures of a comparison: differences in points, p-values, changes of a count."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from auditor.model.drift import Side
from auditor.model.figures import NO_RATE, percent_of
from auditor.model.run import Interval

MINUS = "−"


def points(part: float | Fraction, places: int = 1) -> str:
    """Give a difference of rates in points with its sign, rounded half away from nought: ``−1.5``, ``0.0``."""
    fraction = Decimal(repr(part)) if isinstance(part, float) else Decimal(part.numerator) / Decimal(part.denominator)
    rounded = (100 * fraction).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    sign = "" if not rounded else MINUS if rounded < 0 else "+"
    return f"{sign}{abs(rounded)}"


def points_between(bounds: Interval) -> str:
    """Give an interval in points: ``−3.1 to −0.1``."""
    return f"{points(bounds.low)} to {points(bounds.high)}"


def p_value(p: float) -> str:
    """Give a p-value to two digits, and no smaller than anybody needs."""
    if p < 0.0001:
        return "<0.0001"
    return "1" if p >= 0.995 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def rate(side: Side) -> str:
    """Give the content rate of a side in percent, from its counts."""
    return NO_RATE if side.ok is None or not side.judged else percent_of(side.ok, side.judged)


def moved(old: int, new: int) -> str:
    """Give a count, or both where they differ: ``400``, ``400 → 398``."""
    return f"{old:,}" if old == new else f"{old:,} → {new:,}"
