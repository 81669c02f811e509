"""Text and numbers of every report: nothing invisible, nothing endless, rounding that is exact."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.figures import interval, percent, percent_of, plural
from auditor.model.run import Interval
from auditor.report.text import shorten, visible
from auditor.report.view import field_views, severity_counts, worst_first
from tests.rooms.report_samples import BROKEN, SAMPLE


@pytest.mark.parametrize(
    ("count", "of", "expected"),
    [
        (149, 233, "63.9"),
        (155, 233, "66.5"),
        (1, 3, "33.3"),
        (2, 3, "66.7"),
        (0, 7, "0.0"),
        (7, 7, "100.0"),
        (1, 2000, "0.1"),
        (1, 2001, "0.0"),
        (3, 2000, "0.2"),
        (1, 8, "12.5"),
        (9, 400, "2.3"),
    ],
)
def test_a_share_is_rounded_half_up_on_whole_numbers(count: int, of: int, expected: str) -> None:
    assert percent_of(count, of) == expected


@given(st.integers(1, 10**9).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_a_share_is_what_decimal_arithmetic_gives(pair: tuple[int, int]) -> None:
    count, of = pair
    exact = (Decimal(count) * 100 / Decimal(of)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    assert percent_of(count, of) == str(exact)


def test_rates_and_intervals() -> None:
    assert (percent(None), percent(1.0), percent(0.0), percent(0.6395), percent(1e-9)) == (
        "—",
        "100.0",
        "0.0",
        "64.0",
        "0.0",
    )
    assert interval(Interval(0.8661519, 0.9402947)) == "86.6–94.0"
    assert interval(None) == "—"
    assert (plural(1, "bug"), plural(1234, "bug"), plural(0, "match", "matches")) == (
        "1 bug",
        "1,234 bugs",
        "0 matches",
    )


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain é 漢 🙂", "plain é 漢 🙂"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x00\x1b\x7f\x9b", r"\x00\x1b\x7f\x9b"),
        ("\u202eabc\u2066\u200f", r"\u202eabc\u2066\u200f"),
        ("1\u00a0234", r"1\xa0234"),
        ("\ud800\ufeff", r"\ud800\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("\ufffd", "\ufffd"),
    ],
)
def test_what_would_not_show_is_spelled_out(raw: str, shown: str) -> None:
    assert visible(raw) == shown


def test_a_long_text_keeps_both_ends_and_states_its_length() -> None:
    text = "a" * 500 + "b" * 500
    short = shorten(text, 100)
    assert short == "a" * 75 + "…" + "b" * 25 + " (1,000 characters)"
    assert shorten(text, 1000) == text


def test_the_worst_bug_comes_first_and_broken_references_before_all() -> None:
    assert [finding.severity for finding in worst_first(SAMPLE.findings)] == ["high"] * 4 + ["medium"] * 2 + ["info"]
    assert worst_first(reversed(BROKEN.findings))[0].code == "broken-reference"
    assert severity_counts(SAMPLE.findings) == {"high": 4, "medium": 2, "info": 1}


def test_a_column_without_a_summary_is_not_lost() -> None:
    views = field_views(SAMPLE)
    assert sum(len(view.columns) for view in views) == len(SAMPLE.columns)
    assert [view.name for view in views] == ["effective_date", "total", "auto_renew", "po_number", "net_weight"]
