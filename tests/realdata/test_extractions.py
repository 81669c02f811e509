"""Extractions of insurance schedules by several models, read by consumers of several countries."""

from __future__ import annotations

import json

import pytest

from tests.realdata.plain import Pipeline, columns_of, differing_in, needs_real_data

pytestmark = needs_real_data

SOURCE = r"""
import datetime
import re
from decimal import Decimal

from dateutil.parser import parse


def us_date(text):
    month, day, year = re.fullmatch(r"(\d\d?)/(\d\d?)/(\d\d(?:\d\d)?)", text.strip()).groups()
    return datetime.date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))


def month_first(text):
    return parse(text, default=datetime.datetime(2000, 1, 1)).date()


def day_first(text):
    return parse(text, dayfirst=True, default=datetime.datetime(2000, 1, 1)).date()


def us_amount(text):
    if not re.fullmatch(r"-?\$?[0-9,]+(\.[0-9]+)?", text.strip()):
        raise ValueError("no amount")
    return Decimal(re.sub(r"[$,]", "", text.strip()))


def point_groups(text):
    return Decimal(re.sub(r"[^0-9,-]", "", text).replace(",", "."))


def plain_amount(text):
    return Decimal(text)


def same(text):
    return text


def letters(text):
    return re.sub(r"\W", "", text).upper()
"""

DATES = (
    "date_reported",
    "date_of_loss",
    "date_of_birth",
    "effective_date",
    "mvr_run_date",
    "date_hired",
    "date_closed",
)
AMOUNTS = ("claim_paid", "claim_reserves", "claim_recovered")
NAMES = ("policy_number", "unit_number", "driver_license_number")


def reads(dates=None, amounts=None, names=None):
    fields = {**dict.fromkeys(DATES, dates), **dict.fromkeys(AMOUNTS, amounts), **dict.fromkeys(NAMES, names)}
    return {field: target for field, target in fields.items() if target}


def pipeline(folder):
    python = {"adapter": "python"}
    return Pipeline(
        folder,
        "longlistbench.jsonl",
        SOURCE,
        {
            "name": "longlist",
            "fields": {
                **{field: {"type": "date", "reference": "policy"} for field in DATES},
                **{
                    field: {"type": "money", "currency": "ignored", "grain": "0.01", "reference": "policy"}
                    for field in AMOUNTS
                },
                **{field: {"type": "identifier", "reference": "policy"} for field in NAMES},
            },
            "consumers": {
                "policy": {**python, "reads": reads("parsers:us_date", "parsers:us_amount", "parsers:same")},
                "billing": {**python, "reads": reads("parsers:month_first", "parsers:plain_amount")},
                "claims": {**python, "reads": reads("parsers:day_first", "parsers:point_groups", "parsers:letters")},
                "warehouse": {
                    "adapter": "sql",
                    "engine": "duckdb",
                    "reads": reads("try_cast({value} as date)", "try_cast({value} as decimal(18,2))", "trim({value})"),
                },
            },
        },
    )


@pytest.fixture(scope="module")
def schedules(tmp_path_factory):
    """Audit once; gives the plain counterpart, too."""
    folder = tmp_path_factory.mktemp("schedules")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        plain = pipeline(folder)
        return plain, plain.audit(store=False)


def test_verdicts_are_those_of_a_plain_script_that_calls_the_parsers(schedules):
    plain, run = schedules
    assert columns_of(run) == plain.columns()
    assert differing_in(run) == plain.differing()


def test_a_day_first_reader_misreads_american_dates_and_the_others_do_not(schedules):
    plain, run = schedules
    misread = {(finding.field, finding.consumers) for finding in run.findings if finding.code == "misreading"}
    differs = {
        field
        for field in DATES
        for text, (status, value) in plain.decode(field, "claims").items()
        if status == "value" and plain.decode(field, "policy")[text] not in (("rejected", None), (status, value))
    }
    assert {(field, consumers) for field, consumers in misread if "warehouse" not in consumers} == {
        (field, ("claims",)) for field in differs
    }
    assert not [finding for finding in run.findings if finding.code == "ambiguous-reference"]


def test_the_warehouse_reads_no_short_date_as_american_or_as_any_other(schedules):
    """It takes `6/1/06` for the year 6: no misreading of an order, and no century that is lacking."""
    findings = schedules[1].findings
    assert not [finding for finding in findings if finding.code == "misreading" and "warehouse" in finding.consumers]
    differing = [finding for finding in findings if finding.code == "value-disagreement"]
    assert not [finding for finding in differing if finding.field in DATES and "century" in finding.title]


def test_the_witnesses_of_a_misreading_are_cases_that_are_misread(schedules):
    plain, run = schedules
    misread = [finding for finding in run.findings if finding.code == "misreading"]
    rows = {f"{row['case_id']}": row for row in plain.rows}
    for finding in misread:
        for witness in finding.witnesses:
            row, text = rows[witness.case_id], json.loads(witness.raw)
            assert row["field"] == finding.field and row[witness.role] == text
            assert 0 < witness.rows <= finding.affected
