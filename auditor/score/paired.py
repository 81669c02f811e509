"""Tests and intervals of two verdicts on each of the same cases."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp, lgamma, log, sqrt

from auditor.model.run import Interval
from auditor.score.intervals import wilson

#: Discordant pairs up to which probabilities are summed as whole numbers; beyond, as doubles (8 digits and more).
EXACT = 2_000


@dataclass(frozen=True)
class PairedTest:
    """Two-sided p-values of McNemar's test: the exact conditional one, and mid-p beside it."""

    exact_p: float
    mid_p: float


def mcnemar(only_first: int, only_second: int) -> PairedTest:
    """Test whether two rates over the same cases differ, by the cases that are right in one of them only.

    Both p-values are 1 where there is no such case. Source: M. W. Fagerland, S. Lydersen, P. Laake, BMC Medical
    Research Methodology 13:91 (2013), whose example (7 against 1) has p = 0.070 and mid-p = 0.039.

    >>> mcnemar(7, 1)
    PairedTest(exact_p=0.0703125, mid_p=0.0390625)
    >>> mcnemar(6, 0)
    PairedTest(exact_p=0.03125, mid_p=0.015625)
    """
    discordant, fewer = only_first + only_second, min(only_first, only_second)
    if not discordant:
        return PairedTest(1.0, 1.0)
    point, tail = _half_binomial(fewer, discordant)
    if only_first == only_second:
        return PairedTest(1.0, 1.0 - point / 2)
    return PairedTest(min(1.0, 2 * tail), min(1.0, 2 * tail - point))


def _half_binomial(successes: int, trials: int) -> tuple[float, float]:
    """Give the probability of exactly, and of at most, so many successes, where each has the probability 1/2."""
    if trials <= EXACT:
        whole = 2**trials
        return comb(trials, successes) / whole, sum(comb(trials, k) for k in range(successes + 1)) / whole
    ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
    point = exp(ways - trials * log(2))
    tail = term = point
    for k in range(successes, 0, -1):
        term *= k / (trials - k + 1)
        tail += term
        if term < tail * 1e-17:
            break
    return point, tail


def paired_interval(both: int, only_first: int, only_second: int, neither: int) -> Interval | None:
    """95 % interval of the first rate minus the second over the same cases; None where there is no case.

    Method 10 of R. G. Newcombe, Statistics in Medicine 17:2635 (1998): Wilson's intervals of both rates, squared and
    added, with a correlation that is corrected for continuity.

    >>> bounds = paired_interval(1, 1, 7, 12)
    >>> round(bounds.low, 3), round(bounds.high, 3)
    (-0.507, -0.026)
    """
    cases = both + only_first + only_second + neither
    if not cases:
        return None
    first, second = both + only_first, both + only_second
    of_first, of_second = wilson(first, cases), wilson(second, cases)
    assert of_first is not None and of_second is not None
    products = first * (cases - first) * second * (cases - second)
    excess: float = both * neither - only_first * only_second
    if excess > 0:
        excess = max(excess - cases / 2, 0.0)
    correlation = excess / sqrt(products) if products else 0.0
    below_first, above_first = first / cases - of_first.low, of_first.high - first / cases
    below_second, above_second = second / cases - of_second.low, of_second.high - second / cases
    difference = (only_first - only_second) / cases
    return Interval(
        max(-1.0, difference - _added(below_first, above_second, correlation)),
        min(1.0, difference + _added(above_first, below_second, correlation)),
    )


def _added(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))
