"""A headline holds for what was judged: where much was not, every format says for how little it speaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.model.run import CaseCounts, Run
from auditor.report import render_text, view
from auditor.report.html import fragment_text
from tests.rooms.report_samples import CLEAN, SAMPLE
from tests.rooms.test_report_terminal import printed, words

FEW = CaseCounts(expected=16, judged=2, missing=1, unrelated=0, transport=1, truncated=2, malformed=8, unknown=2)
NOTE = "malformed: 8 of 16 cases hold no JSON object that can be read, and are not judged: a trailing comma 8; case K1"


def pages(run: Run) -> dict[str, str]:
    texts = {suffix: render_text(run, suffix) for suffix in (".html", ".md")}
    return texts | {"terminal": words(printed(run, 100)), "notebook": fragment_text(run)}


def test_few_judged_cases_are_in_the_headline_of_a_clean_run() -> None:
    for name, page in pages(replace(CLEAN, cases=FEW, notes=(NOTE,))).items():
        assert "No bugs found in the 2 judged cases of 16." in page, name
        assert "No bugs found on these strings" not in page and "a trailing comma 8" in page, name


def test_few_judged_cases_are_in_the_headline_of_a_run_with_bugs() -> None:
    run = replace(SAMPLE, cases=FEW)
    for name, page in pages(run).items():
        assert "in the 2 judged cases of 16" in page, name
    assert view.bugs_line(run).startswith(f"{len(run.findings)} bugs in the 2 judged cases of 16: ")


def test_the_headline_is_no_good_news_in_colour() -> None:
    run = replace(CLEAN, cases=FEW)
    text = printed(run, 100, terminal=True)
    green = [line for line in text.splitlines() if "No bugs found" in line and ("[32m" in line or ";32m" in line)]
    assert "No bugs found" in text and green == []
    assert '<span class="tag wrap medium">No bugs found' in render_text(run, ".html")
    assert '<span class="tag wrap low">No bugs found' in render_text(CLEAN, ".html")


@pytest.mark.parametrize(("missing", "says"), [(10, False), (11, True)])
def test_a_tenth_is_the_limit(missing: int, says: bool) -> None:
    cases = CaseCounts(expected=100, judged=100 - missing, missing=missing, unrelated=0)
    assert bool(view.few_judged(replace(CLEAN, cases=cases))) is says


def test_one_judged_case_is_one() -> None:
    cases = CaseCounts(expected=3, judged=1, missing=2, unrelated=0)
    assert view.no_bugs(replace(CLEAN, cases=cases)) == "No bugs found in the one judged case of 3."
