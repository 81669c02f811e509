"""Dates of two readings: reported where nothing settles them, misread where the case's place does."""

from __future__ import annotations

from datetime import date, datetime
from itertools import product

import pytest
from dateutil import parser as dateutil
from hypothesis import given
from hypothesis import strategies as st

from auditor.findings.places import settled_order
from tests.rooms.outcome_tables import audit, cases, codes

# ruff: noqa: DTZ001 - the parsers under test make naive dates, as production does


def month_first(text):
    return dateutil.parse(text, default=datetime(2024, 3, 8)).date()


def day_first(text):
    return dateutil.parse(text, dayfirst=True, default=datetime(2024, 3, 8)).date()


def by_year_first(text):
    return date.fromisoformat(text) if text[4:5] == "-" else day_first(text)


def one(findings, code):
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


@pytest.mark.parametrize("text", ["01/03/2024", "1/3/24", "01-03-2024", "1.3.2024", "01/03/24", "01/03/2024 10:30"])
def test_a_reference_of_two_readings_is_reported(text):
    rows = cases((text, text, 3), ("2024-03-13", "2024-03-13", 7))
    finding = one(audit("date", {"billing": month_first}, rows, reference="billing"), "ambiguous-reference")
    assert (finding.severity, finding.affected, finding.share) == ("medium", 3, 0.3)
    assert finding.shapes == {"billing": {"month first": 3}}
    assert finding.witnesses[0].note == "day first it is 2024-03-01, month first it is 2024-01-03"


@pytest.mark.parametrize(
    "text", ["2024-01-03", "03/03/2024", "13/03/2024", "March 1, 2024", "Fri 01/03/2024", "20240103"]
)
def test_a_reference_of_one_reading_is_not(text):
    findings = audit("date", {"billing": month_first}, cases((text, text)), reference="billing")
    assert "ambiguous-reference" not in codes(findings)


def test_only_the_reference_counts():
    assert audit("date", {"billing": month_first}, cases(("01/03/2024", "2024-01-03"))) == ()


def test_a_reference_that_is_broken_anyway_is_not_ambiguous_too():
    assert codes(audit("date", {"billing": month_first}, cases(("2024-01-03", "01/03/2024")))) == {"broken-reference"}


def test_which_reading_each_consumer_takes():
    rows = cases(("01/03/2024", "01/03/2024", 3))
    readers = {"us": month_first, "eu": day_first, "iso": date.fromisoformat}
    finding = one(audit("date", readers, rows, reference="us"), "ambiguous-reference")
    assert finding.shapes == {"us": {"month first": 3}, "eu": {"day first": 3}, "iso": {"does not read it": 3}}
    assert finding.consumers == ("us", "eu", "iso")


@pytest.mark.parametrize(
    ("place", "misreads"),
    [("en-GB|", True), ("|England and Wales", True), ("de_DE|", True), ("en-US|", False), ("|New York", False)],
)
def test_the_place_of_the_case_settles_it(place, misreads):
    rows = cases(("01/03/2024", "01/03/2024", 4), ("13/03/2024", "13/03/2024"), place=place)
    findings = audit("date", {"billing": month_first}, rows, reference="billing")
    assert "ambiguous-reference" not in codes(findings)
    assert ("misreading" in codes(findings)) == misreads
    if misreads:
        finding = one(findings, "misreading")
        assert (finding.severity, finding.affected, finding.share) == ("high", 4, 0.8)
        assert "month first" in finding.title and "day is written first" in finding.title


def test_a_prediction_is_misread_too_and_a_correct_reader_is_silent():
    rows = cases(("01/03/2024", "2024-03-01", 2), place="en-GB|")
    findings = audit("date", {"us": month_first, "eu": day_first}, rows)
    assert one(findings, "misreading").consumers == ("us",)
    us = cases(("01/03/2024", "2024-01-03", 2), place="|California")
    assert one(audit("date", {"us": month_first, "eu": day_first}, us), "misreading").consumers == ("eu",)


@pytest.mark.parametrize("place", [None, "en|", "|Georgia", "en-US|England", "|Texas; Singapore", "xx|", "en-CA|"])
def test_a_place_that_settles_nothing(place):
    rows = cases(("01/03/2024", "01/03/2024"), place=place)
    findings = audit("date", {"billing": month_first}, rows, reference="billing")
    assert codes(findings) == {"ambiguous-reference"}


def test_at_the_grain_of_a_year_both_readings_are_one():
    rows = cases(("01/03/2024", "01/03/2024"), place="en-GB|")
    assert audit("date", {"billing": month_first}, rows, reference="billing", grain="year") == ()


@pytest.mark.parametrize(
    ("place", "order"),
    [
        ("en_US|", "month"),
        ("en-GB|", "day"),
        ("en_GB.UTF-8|", "day"),
        ("C.UTF-8|", None),
        ("fr|", "day"),
        ("ja-JP|", None),
        ("|US", "month"),
        ("|US-NY", "month"),
        ("|GB-ENG", "day"),
        ("|DE", None),
        ("|Germany", "day"),
        ("|Federal Republic of Germany", "day"),
        ("|State of Delaware", "month"),
        ("|England, United Kingdom; Wales, United Kingdom", "day"),
        ("|England and Wales, UK", "day"),
        ("|Georgia, USA", "month"),
        ("|Victoria, Australia", "day"),
        ("|Ontario, Canada", None),
        ("|New York and Delaware", "month"),
        ("|Massachusetts; Netherlands", None),
        ("|Trinidad and Tobago", "day"),
        ("en-GB|Scotland", "day"),
        ("|,", None),
        ("", None),
    ],
)
def test_what_a_place_settles(place, order):
    assert settled_order(place) == order


@given(st.text(max_size=30))
def test_no_place_breaks_the_audit(place):
    assert settled_order(place) in ("day", "month", None)


def test_what_is_found_ambiguous_is_what_dateutil_reads_in_two_ways():
    texts = [
        f"{first:02}{mark}{second:02}{mark}{year}"
        for first, second, mark, year in product(range(1, 13), range(1, 13), "/-.", ("2024", "24"))
    ]
    rows = cases(*((text, text) for text in texts))
    finding = one(audit("date", {"a": month_first}, rows, reference="a", probe=False), "ambiguous-reference")
    assert finding.affected == sum(month_first(text) != day_first(text) for text in texts) > 0


def year_first(text):
    year, month, day = (int(part) for part in text.split("/"))
    return date(year, month, day)


def test_a_year_in_front_is_neither_day_first_nor_month_first():
    rows = cases(("6/1/06", "2006-06-01", 4), place="en-US|")
    findings = audit("date", {"us": month_first, "warehouse": year_first}, rows)
    assert "misreading" not in codes(findings)
    assert "different order" in one(findings, "value-disagreement").title
    day = cases(("6/1/06", "2006-01-06", 4), place="en-GB|")
    findings = audit("date", {"eu": day_first, "warehouse": year_first}, day)
    assert "misreading" not in codes(findings)
    assert "different order" in one(findings, "value-disagreement").title


def test_the_witness_is_a_case_that_shows_the_finding():
    rows = [
        *cases(("01/03/2024", "2024-03-01", 5), place="de-DE|"),
        *cases(("2024-03-13", "01/03/2024", 2), place="en-US|"),
        *cases(("01/03/2024", "01/03/2024", 3)),
    ]
    findings = audit("date", {"eu": day_first}, rows, reference="eu")
    misread, doubtful = one(findings, "misreading"), one(findings, "ambiguous-reference")
    shown = [(w.case_id, w.role, w.rows) for w in (misread.witnesses[0], doubtful.witnesses[0])]
    assert shown == [("case-2", "reference", 2), ("case-3", "reference", 3)]
    assert (misread.affected, doubtful.affected) == (2, 3)
