"""One cause between many consumers on the same strings is one entry of a report; run.json keeps them apart."""

from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

from auditor.model.run import Finding, Location
from auditor.report import render_text
from auditor.report.groups import grouped
from auditor.report.notebook import notebook_html
from tests.rooms.report_samples import FINDINGS, SAMPLE
from tests.rooms.test_report_terminal import printed, words

[DISAGREEMENT] = [finding for finding in FINDINGS if finding.code == "value-disagreement"][:1]


def between(left: str, right: str, number: int, **changes: object) -> Finding:
    """Give the disagreement of another pair."""
    return replace(
        DISAGREEMENT,
        consumers=(left, right),
        owners=(left, right),
        title=f"{left} and {right} both accept the same strings and read different values",
        fingerprint=f"{number:032x}"[::-1],
        **changes,  # type: ignore[arg-type]
    )


PAIRS = (between("billing", "ledger", 1), between("billing", "api", 2), between("warehouse", "ledger", 3))
RUN = replace(SAMPLE, findings=PAIRS)


def test_pairs_of_one_cause_on_the_same_strings_are_one_group() -> None:
    [group] = grouped(PAIRS)
    assert {finding.consumers for finding in group.findings} == {one.consumers for one in PAIRS}
    assert group.owners == tuple(dict.fromkeys(owner for one in group.findings for owner in one.owners))
    assert group.who == "3 pairs of consumers"


@pytest.mark.parametrize(
    "other",
    [
        {"cause": "another"},
        {"affected": DISAGREEMENT.affected + 1},
        {"field": "effective_date"},
        {"code": "acceptance-disagreement"},
        {"witnesses": DISAGREEMENT.witnesses[:-1]},
        {"shapes": {"read differently": {"dd/dd/dddd": 4711}}},
        {"severity": "medium"},
        {"location": Location("parsers.py", 7)},
    ],
)
def test_what_differs_in_anything_else_stays_apart(other: dict[str, object]) -> None:
    assert len(grouped((PAIRS[0], between("billing", "api", 2, **other)))) == 2


@pytest.mark.parametrize("code", ["clock-dependent", "neighbour-dependent", "unstable"])
def test_what_each_consumer_reads_elsewhere_is_its_own(code: str) -> None:
    """Range, days and moved values are of one consumer: the entry of another would hide them."""
    alike = [replace(one, code=code) for one in PAIRS]
    assert [group.lead.consumers for group in grouped(alike)] == [one.consumers for one in alike]


def test_findings_without_strings_stay_apart() -> None:
    assert len(grouped(replace(one, witnesses=()) for one in PAIRS)) == 3


@pytest.mark.parametrize("suffix", [".html", ".md", "terminal", "notebook"])
def test_reports_show_a_group_once_with_every_pair_and_fingerprint(suffix: str) -> None:
    if suffix == "notebook":
        text = words(notebook_html(RUN))
    else:
        text = words(printed(RUN, 100) if suffix == "terminal" else render_text(RUN, suffix))
    plain = html.unescape(text.replace("`", "").replace("&#8203;", ""))
    for finding in PAIRS:
        assert f"{', '.join(finding.consumers)} #{finding.fingerprint[:8]}" in plain, finding.consumers
    assert plain.count(DISAGREEMENT.cause) == (0 if suffix == "notebook" else 1)
    assert "3 high" in plain, "the bugs are still three"


def test_links_to_each_finding_lead_somewhere() -> None:
    page = render_text(RUN, ".html")
    assert all(f'id="{finding.anchor}"' in page for finding in PAIRS)


def test_run_json_keeps_them_apart() -> None:
    assert len(json.loads(render_text(RUN, ".json"))["findings"]) == 3
