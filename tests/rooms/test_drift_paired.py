"""Paired tests and intervals, against published examples and against scipy."""

import pytest
from scipy.stats import binom

from auditor.score.paired import EXACT, mcnemar, paired_interval

#: Fagerland, Lydersen, Laake: Statistical Analysis of Contingency Tables (2017), chapter 8 (Bentur 2009; Cavo 2012),
#: and Altman et al.: Statistics with Confidence (2000), table 6.2; Newcombe's method 10, to the digits printed there.
PUBLISHED = [
    ((1, 1, 7, 12), (-0.507, -0.026)),
    ((59, 6, 16, 80), (-0.119, -0.005)),
    ((14, 5, 0, 22), (0.011, 0.226)),
]


@pytest.mark.parametrize(("table", "bounds"), PUBLISHED)
def test_the_interval_of_a_paired_difference_is_the_published_one(table, bounds):
    found = paired_interval(*table)
    assert (round(found.low, 3), round(found.high, 3)) == bounds


def test_an_interval_turns_round_with_its_sides_and_needs_cases():
    one, other = paired_interval(5, 9, 2, 30), paired_interval(5, 2, 9, 30)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert paired_interval(0, 0, 0, 0) is None
    alike = paired_interval(400, 0, 0, 0)
    assert alike.low < 0 < alike.high


@pytest.mark.parametrize(("first", "second"), [(7, 1), (6, 0), (0, 1), (16, 6), (25, 2), (900, 1000), (5200, 5000)])
def test_p_values_are_those_of_the_binomial_distribution(first, second):
    found, fewer, pairs = mcnemar(first, second), min(first, second), first + second
    exact = min(1.0, 2 * binom.cdf(fewer, pairs, 0.5))
    assert found.exact_p == pytest.approx(exact, rel=1e-8)
    assert found.mid_p == pytest.approx(exact - binom.pmf(fewer, pairs, 0.5), rel=1e-8)
    assert mcnemar(second, first) == found


def test_the_published_example_of_mid_p():
    assert (round(mcnemar(1, 7).exact_p, 3), round(mcnemar(1, 7).mid_p, 3)) == (0.070, 0.039)


def test_equal_numbers_and_none_at_all_prove_nothing():
    assert mcnemar(0, 0).exact_p == mcnemar(0, 0).mid_p == 1
    assert mcnemar(4, 4).exact_p == 1
    assert mcnemar(4, 4).mid_p == pytest.approx(1 - binom.pmf(4, 8, 0.5) / 2)


def test_whole_numbers_and_doubles_meet():
    below, above = mcnemar(EXACT // 2 - 40, EXACT // 2 + 40), mcnemar(EXACT // 2 - 40, EXACT // 2 + 41)
    assert below.exact_p == pytest.approx(2 * binom.cdf(EXACT // 2 - 40, EXACT, 0.5), rel=1e-9)
    assert above.exact_p == pytest.approx(2 * binom.cdf(EXACT // 2 - 40, EXACT + 1, 0.5), rel=1e-9)
    assert mcnemar(0, 1_000_000).exact_p < 1e-300
