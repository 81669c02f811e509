"""Intervals of a rate."""

from __future__ import annotations

from math import sqrt

from auditor.model.run import Interval, Share

#: 97.5 % quantile of the standard normal distribution, as a double.
Z95 = 1.959963984540054


def wilson(successes: int, trials: int) -> Interval | None:
    """Wilson's score interval (95 %) without continuity correction; None when nothing was tried.

    Source: E. B. Wilson, JASA 22 (1927); scipy.stats.binomtest(...).proportion_ci(method="wilson") gives the same.

    >>> bounds = wilson(8, 10)
    >>> round(bounds.low, 6), round(bounds.high, 6)
    (0.490162, 0.943318)
    """
    if trials == 0:
        return None
    rate = successes / trials
    square = Z95 * Z95
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    half = Z95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(low, high)


def share(count: int, of: int) -> Share:
    """Give a count with its rate and interval; None where there is nothing to take a part of."""
    return Share(count, of, count / of if of else None, wilson(count, of))
