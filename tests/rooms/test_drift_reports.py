"""Figures, sheets and documents of a comparison, without a run."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from rich.console import Console

from auditor.drift.split import dominating
from auditor.model.drift import ColumnDrift, Drift, Flip, Paired, RunHead, Side
from auditor.model.run import Interval
from auditor.report.comparison import comparison_text, write_comparison
from auditor.report.comparison.figures import p_value, points
from auditor.report.markdown import LIMIT, size


def column(consumer: str, flips: tuple[Flip, ...] = (), suppressed: str = "") -> ColumnDrift:
    """Give a column of 100 cases of which two fell."""
    old = Side(100, 100, 0, {}, 0, 90, 0.9, Interval(0.83, 0.94))
    new = replace(old, ok=88, content_rate=0.88)
    paired = Paired(100, 88, 2, 0, 10, 2, 0.5, 0.25, -0.02, Interval(-0.07, 0.02))
    if suppressed:
        old = new = replace(old, ok=None, content_rate=None, interval=None)
    return ColumnDrift("day", consumer, "all", old, new, suppressed, (), None if suppressed else paired, flips)


def drift(*columns: ColumnDrift) -> Drift:
    """Give a comparison of some columns."""
    head = RunHead("r1", "days", "2026-01-01T00:00:00+00:00", "0.1.0", "m", 100)
    return Drift(head, replace(head, run_id="r2"), True, 100, (), (), columns, (), ())


FLIP = Flip("ok", "wrong", "content", 2, ("C-1", "=cmd|' /C calc'!A0"))


@pytest.mark.parametrize(
    ("part", "shown"),
    [(-0.015, "−1.5"), (0.0, "0.0"), (-0.0004, "0.0"), (0.0005, "+0.1"), (Fraction(-1, 3), "−33.3"), (1.0, "+100.0")],
)
def test_points_have_a_sign_where_they_are_not_nought(part, shown):
    assert points(part) == shown


def test_p_values_are_as_long_as_they_need_to_be():
    assert [p_value(p) for p in (0.03125, 0.015625, 1.0, 0.25, 0.00001, 0.0005)] == [
        "0.031",
        "0.016",
        "1",
        "0.25",
        "<0.0001",
        "0.0005",
    ]


def test_a_comment_that_would_be_too_long_says_what_is_left_out():
    long = drift(*(column(f"consumer-{number}" + "x" * 200, (FLIP,)) for number in range(300)))
    text = comparison_text(long, ".md")
    assert size(text) <= LIMIT
    assert "What does not fit into a comment" in text
    assert "What does not fit" not in comparison_text(drift(column("billing", (FLIP,))), ".md")


def test_a_terminal_without_unicode_gets_ascii_and_a_narrow_one_loses_nothing():
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    write_comparison(
        drift(column("billing", (FLIP,)), column("api", suppressed="3 judged, fewer than 8")),
        Console(file=out, width=40),
    )
    out.flush()
    said = " ".join(raw.getvalue().decode("ascii").split())
    for part in ("-2.0 points", "ok -> wrong", "exact p 0.50", "not compared: 3 judged, fewer than 8", "mid-p 0.25"):
        assert part in said


def test_documents_hold_all_and_run_no_formula():
    found = drift(column("=1+1", (FLIP,)))
    document = json.loads(comparison_text(found, ".json"))
    assert (document["schema"], document["kind"], document["columns"][0]["drop"]) == (1, "drift", False)
    assert document["columns"][0]["flips"][0]["cases"] == list(FLIP.cases)
    assert "'=1+1" in comparison_text(found, ".csv")


@pytest.mark.parametrize(
    ("parser", "prediction", "interaction", "said"),
    [
        ((-5, -5), (2, 2), (-1, -1), "parser"),
        ((1, 1), (-2, -2), (1, 1), "prediction"),
        ((0, 0), (0, 0), (0, 0), "neither"),
        ((1, 1), (1, 1), (0, 0), "neither"),
        ((-5, 4), (1, 1), (0, 0), "unknown"),
        ((-5, -3), (1, 2), (-1, 0), "parser"),
        ((0, 0), (0, 0), (-3, -3), "interaction"),
    ],
)
def test_the_larger_effect_dominates_whatever_is_not_known(parser, prediction, interaction, said):
    names = ("parser", "prediction", "interaction")
    bounds = {
        name: (Fraction(low, 100), Fraction(high, 100))
        for name, (low, high) in zip(names, (parser, prediction, interaction), strict=True)
    }
    assert dominating(bounds) == said
