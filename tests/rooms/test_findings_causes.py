"""The cause of a value disagreement, told from how the values differ. Expectations come from the real parsers."""

# ruff: noqa: DTZ001, DTZ007 - the parsers under test make naive dates, as production does

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from dateutil import parser as dateutil

from tests.rooms.outcome_tables import audit, cases


def by_dateutil(text):
    return dateutil.parse(text, default=datetime(2024, 3, 8)).date()


def day_first(text):
    return dateutil.parse(text, dayfirst=True, default=datetime(2024, 3, 8)).date()


def iso(text):
    return date.fromisoformat(text)


def one(findings, code):
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


TEXT = "identifier"


@pytest.mark.parametrize(
    ("field_type", "string", "left", "right", "says"),
    [
        ("date", "01/03/2024", by_dateutil, day_first, "day and month swapped"),
        ("date", "2023-02-04", iso, day_first, "day and month of an ISO date swapped"),
        ("datetime", "2023-02-04 10:00", datetime.fromisoformat, lambda s: dateutil.parse(s, dayfirst=True), "an ISO"),
        ("date", "01/02/03", by_dateutil, lambda s: datetime.strptime(s, "%y/%m/%d").date(), "different order"),
        ("date", "16-07-68", lambda s: date(1968, 7, 16), lambda s: datetime.strptime(s, "%d-%m-%y").date(), "century"),
        ("date", "March 2024", by_dateutil, lambda s: datetime.strptime(s, "%B %Y").date(), "filled in differently"),
        ("date", "2024-03-01", iso, lambda s: date(2023, 3, 1), "the year"),
        ("date", "2024-02-30", lambda s: date(2024, 3, 1), lambda s: date(2024, 2, 29), "no simple relation"),
        (
            "date",
            "2024-03-01T23:30:00-05:00",
            lambda s: datetime.fromisoformat(s),
            lambda s: date(2024, 3, 2),
            "time zone",
        ),
        (
            "datetime",
            "2024-03-01T10:00",
            lambda s: datetime.fromisoformat(s),
            lambda s: datetime.fromisoformat(s + "+02:00"),
            "zone",
        ),
        (
            "datetime",
            "2024-03-01T10:00",
            lambda s: datetime.fromisoformat(s),
            lambda s: datetime.fromisoformat(s[:10]),
            "different time",
        ),
        ("decimal", "1.234", Decimal, lambda s: Decimal(s.replace(".", "")), "decimal mark elsewhere"),
        (
            "decimal",
            "27,80",
            lambda s: Decimal(s.replace(",", ".")),
            lambda s: Decimal(s.replace(",", "")),
            "decimal mark elsewhere",
        ),
        ("decimal", "5,000", lambda s: float(s.replace(",", ".")), lambda s: int(s.replace(",", "")), "mark elsewhere"),
        ("decimal", "0,82", lambda s: Decimal(s.replace(",", ".")), lambda s: Decimal(82), "mark elsewhere"),
        ("decimal", "1 430", lambda s: float(s.split()[0]), lambda s: int(s.replace(" ", "")), "stops reading early"),
        ("decimal", "1 430", lambda s: int(s.split()[0]), lambda s: int(s.replace(" ", "")), "stops reading early"),
        ("decimal", "5 000", lambda s: int(s.split()[0]), lambda s: int(s.replace(" ", "")), "stops reading early"),
        ("decimal", "5'000", lambda s: 5.0, lambda s: Decimal(5000), "stops reading early"),
        ("decimal", "5,000.00", lambda s: 5.0, lambda s: Decimal("5000.00"), "stops reading early"),
        ("decimal", "0,82", lambda s: 0, lambda s: Decimal(82), "stops reading early"),
        ("decimal", "12.5%", lambda s: Decimal("12.5"), lambda s: Decimal("0.125"), "power of ten"),
        ("decimal", "1.5k", lambda s: Decimal("1.5"), lambda s: Decimal(1500), "power of ten"),
        ("decimal", "1250", lambda s: Decimal("12.50"), Decimal, "power of ten"),
        ("date", "2019", lambda s: date(2019, 1, 1), lambda s: date(2019, 3, 8), "filled in differently"),
        ("date", "16th", lambda s: date(1900, 1, 16), lambda s: date(2024, 3, 16), "filled in differently"),
        ("date", "Sep", lambda s: date(1900, 9, 1), lambda s: date(2024, 9, 8), "filled in differently"),
        ("date", "Friday 10:30", lambda s: date(2024, 3, 8), lambda s: date(2024, 3, 1), "filled in differently"),
        ("date", "1 Sep 2024", lambda s: date(2024, 9, 1), lambda s: date(2024, 9, 2), "only the day"),
        ("date", "20240901", lambda s: date(2024, 9, 1), lambda s: date(2024, 9, 2), "only the day"),
        ("decimal", "(12)", lambda s: -Decimal(s.strip("()")), lambda s: Decimal(s.strip("()")), "sign"),
        (
            "decimal",
            "1,234.5",
            lambda s: Decimal(s.replace(",", "")),
            lambda s: Decimal(s.split(",")[0]),
            "stops reading early",
        ),
        ("decimal", "12.7", Decimal, lambda s: int(float(s)), "drops the fraction"),
        ("decimal", "abc 5", lambda s: Decimal(5), lambda s: 0, "zero"),
        ("decimal", "12345678901234567890", Decimal, float, "digits lost"),
        ("money", "5 EUR", lambda s: (Decimal(5), "EUR"), lambda s: Decimal(5), "the currency"),
        ("money", "5 EUR", lambda s: (Decimal(5), "EUR"), lambda s: (Decimal(5), "USD"), "the currency"),
        ("quantity", "5 kg", lambda s: (Decimal(5), "kg"), lambda s: (Decimal(5), "g"), "the unit"),
        ("quantity", "5 lb", lambda s: Decimal("2267.96185"), lambda s: Decimal(5), "the unit"),
        ("integer", "3.7", lambda s: int(float(s)), lambda s: round(float(s)), "fraction"),
        ("boolean", "false", lambda s: s == "true", bool, "true for one, false for the other"),
        (TEXT, "ab-1", str, str.upper, "upper and lower case"),
        (TEXT, "00123", str, lambda s: s.lstrip("0"), "leading zeros"),
        (TEXT, "00123", str, int, "leading zeros"),
        (TEXT, "AB-1 2", str, lambda s: s.replace("-", "").replace(" ", ""), "spaces or punctuation"),
        (TEXT, "1e3", str, lambda s: str(int(float(s))), "text read as a number"),
        (TEXT, "Müller", str, lambda s: "Muller", "accents"),
        (TEXT, "AB12345", str, lambda s: s[:4], "stops reading early"),
        ("category", "true", str, lambda s: True, "values of different kinds"),
        ("category", "gold", str, lambda s: "platinum", "no simple relation"),
    ],
)
def test_cause_is_derived_from_how_the_values_differ(field_type, string, left, right, says):
    findings = audit(field_type, {"a": left, "b": right}, cases((string, string)), reference="a", probe=False)
    assert says in one(findings, "value-disagreement").title


def test_one_mark_read_in_two_ways_is_one_finding_whatever_the_digits():
    rows = cases(*((text, "1") for text in ("1,5", "1,25", "1,234", "12,345", "0,5")))
    readers = {"a": lambda s: Decimal(s.replace(",", ".")), "b": lambda s: Decimal(s.replace(",", ""))}
    finding = one(audit("decimal", readers, rows), "value-disagreement")
    assert finding.affected == 5
    assert "10 times in 2 strings; 100 times in 1 string; 1,000 times in 2 strings" in finding.detail
