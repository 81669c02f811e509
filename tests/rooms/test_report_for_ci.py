"""A run as JUnit XML and as SARIF: what CI shows, read by the libraries and by the rules of those formats."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from auditor.model.baseline import Baseline, Entry
from auditor.model.run import Location, Run
from auditor.model.spec_place import SpecPlace
from auditor.report import render_text
from tests.rooms.report_samples import BROKEN, EMPTY, FINDINGS, HOSTILE, SAMPLE, hostile

DAY = date(2024, 3, 8)
WORST = next(finding for finding in SAMPLE.findings if finding.severity == "high")
ACCEPTED = Baseline({WORST.fingerprint: Entry(WORST.fingerprint, "accepted", "until release 12", DAY)})


def junit(run: Run, baseline: Baseline | None = None) -> dict[str, Any]:
    """Give the tests of each suite with what came of them, none for one that passed."""
    read = JUnitXml.fromstring(render_text(run, ".junit.xml", baseline).encode())
    return {suite.name: {f"{case.classname} {case.name}": case.result for case in suite} for suite in read}


def sarif(run: Run, baseline: Baseline | None = None) -> dict[str, Any]:
    """Give the one run of the log."""
    log = json.loads(render_text(run, ".sarif", baseline).encode())
    assert log["version"] == "2.1.0"
    [one] = log["runs"]
    return dict(one)


def test_a_bug_is_a_failure_and_a_column_passes() -> None:
    suites = junit(SAMPLE)
    assert len(suites["columns"]) == len(SAMPLE.columns)
    assert not any(suites["columns"].values())
    assert len(suites["bugs"]) == len(SAMPLE.findings)
    for finding in SAMPLE.findings:
        [result] = [found for name, found in suites["bugs"].items() if finding.anchor in name]
        if finding.severity == "info":
            assert result == []
        else:
            assert isinstance(result[0], Failure)
            assert result[0].type == finding.code


def test_the_counts_are_those_of_the_tests() -> None:
    read = JUnitXml.fromstring(render_text(SAMPLE, ".junit.xml").encode())
    results = [result for suite in read for case in suite for result in case.result]
    assert read.tests == sum(len(list(suite)) for suite in read)
    assert read.failures == sum(isinstance(result, Failure) for result in results)
    assert read.skipped == sum(isinstance(result, Skipped) for result in results)


def test_a_known_bug_is_skipped_with_the_reason() -> None:
    [result] = [found for name, found in junit(SAMPLE, ACCEPTED)["bugs"].items() if WORST.anchor in name]
    assert isinstance(result[0], Skipped)
    assert result[0].message == f"accepted until {DAY}: until release 12"


def test_a_broken_reference_is_an_error_and_what_is_blocked_is_skipped() -> None:
    suites = junit(BROKEN)
    assert suites["references"]
    assert all(isinstance(result[0], Error) for result in suites["references"].values())
    counts = {"missing": SAMPLE.cases.missing, "truncated": SAMPLE.cases.truncated}
    skipped = junit(SAMPLE)["blocked"]
    assert {name: isinstance(skipped[f"blocked {name}"][0], Skipped) for name, count in counts.items() if count}
    assert all(f"{count:,} of" in skipped[f"blocked {name}"][0].message for name, count in counts.items() if count)


@pytest.mark.parametrize("run", [EMPTY, *(hostile(text) for text in HOSTILE.values())])
def test_data_is_no_markup(run: Run) -> None:
    assert junit(run).keys() == {"columns", "bugs", "references", "blocked"}
    assert len(sarif(run)["results"]) == len(run.findings)


def test_a_bug_has_the_rule_level_and_fingerprint_of_its_finding() -> None:
    log = sarif(SAMPLE)
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    levels = {"high": "error", "medium": "warning", "low": "note", "info": "note"}
    by_fingerprint = {finding.fingerprint: finding for finding in FINDINGS}
    assert len(log["results"]) == len(SAMPLE.findings)
    for result in log["results"]:
        finding = by_fingerprint[result["partialFingerprints"]["finding/v1"]]
        assert (result["ruleId"], rules[result["ruleIndex"]]) == (finding.code, finding.code)
        assert result["level"] == levels[finding.severity]
        assert finding.title[:40] in result["message"]["text"]


def test_what_is_known_is_suppressed() -> None:
    suppressed = [one for one in sarif(SAMPLE, ACCEPTED)["results"] if "suppressions" in one]
    assert [one["partialFingerprints"]["finding/v1"] for one in suppressed] == [WORST.fingerprint]
    assert suppressed[0]["suppressions"][0]["justification"] == "until release 12"


LINES = {"fields.total": 4, "billing": 10, "billing.reads.total": 12, "ledger": 20, "ledger.reads": 21, "api": 30}


@pytest.mark.parametrize(
    ("consumers", "location", "places"),
    [
        (("billing",), None, [("sub/audit.toml", 12)]),
        (("billing", "ledger"), None, [("sub/audit.toml", 12), ("sub/audit.toml", 21)]),
        (("api",), None, [("sub/audit.toml", 30)]),
        ((), None, [("sub/audit.toml", 4)]),
        (("gone",), None, [("sub/audit.toml", 4)]),
        (("billing",), Location("a b/ingest.py", 7), [("sub/a%20b/ingest.py", 7), ("sub/audit.toml", 12)]),
        (
            ("billing",),
            Location("dateutil/parser/_parser.py", 631),
            [("sub/audit.toml", 12), ("dateutil/parser/_parser.py", 631)],
        ),
    ],
)
def test_a_bug_is_at_the_line_that_is_to_be_mended(consumers, location, places) -> None:
    finding = replace(WORST, field="total", consumers=consumers, location=location)
    place = SpecPlace("sub", LINES, ("a b/ingest.py",))
    [result] = sarif(replace(SAMPLE, findings=(finding,), spec="audit.toml", spec_place=place))["results"]
    found = [one["physicalLocation"] for one in (*result["locations"], *result.get("relatedLocations", ()))]
    assert [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in found] == places


PARSERS = {
    "billing.total": Location("billing/parsers.py", 9),
    "api.total": Location("api/models.py", 24),
    "api.day": Location("api/models.py", 25),
}


@pytest.mark.parametrize(
    ("consumers", "location", "places"),
    [
        (("billing",), None, [("sub/billing/parsers.py", 9), ("sub/audit.toml", 12)]),
        (
            ("billing", "ledger", "api"),
            None,
            [
                ("sub/billing/parsers.py", 9),
                ("sub/api/models.py", 24),
                ("sub/audit.toml", 12),
                ("sub/audit.toml", 21),
                ("sub/audit.toml", 30),
            ],
        ),
        (("ledger",), None, [("sub/audit.toml", 21)]),
        (
            ("billing",),
            Location("a b/ingest.py", 7),
            [("sub/a%20b/ingest.py", 7), ("sub/billing/parsers.py", 9), ("sub/audit.toml", 12)],
        ),
    ],
)
def test_a_bug_is_where_its_parser_stands_unless_a_line_is_proven(consumers, location, places) -> None:
    finding = replace(WORST, field="total", consumers=consumers, location=location)
    place = SpecPlace("sub", LINES, ("a b/ingest.py",), PARSERS)
    [result] = sarif(replace(SAMPLE, findings=(finding,), spec="audit.toml", spec_place=place))["results"]
    found = [one["physicalLocation"] for one in (*result["locations"], *result.get("relatedLocations", ()))]
    assert [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in found] == places


def test_a_run_that_does_not_know_its_lines_points_at_its_spec() -> None:
    places = {
        (place["artifactLocation"]["uri"], place["region"]["startLine"])
        for result in sarif(replace(SAMPLE, spec="audit.toml", spec_place=None))["results"]
        for place in [result["locations"][0]["physicalLocation"]]
        if place["artifactLocation"]["uri"].endswith(".toml")
    }
    assert places == {("audit.toml", 1)}
