"""Two runs on a page, as `auditor drift` compares them: worked out by hand from the strings of both."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.services.serving import MARKUP, Served, audit, auditor, make_workspace, served

AUDIT = f"payments {MARKUP}"


def replace_in(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, list[str], Path]]:
    """Serve a run, one in which two dates are no dates, one whose gate is closed, and one with another reference."""
    folder = make_workspace(tmp_path_factory.mktemp("drift") / "workspace")
    audit(folder, 1)
    replace_in(
        folder / "predictions.csv",
        ("\n1,due,2024-03-02\n", "\n1,due,soon\n"),
        ("\n2,due,2024-03-03\n", "\n2,due,soon\n"),
    )
    audit(folder, 2)
    audit(make_workspace(folder, blocked=20), 3)
    make_workspace(folder)
    replace_in(folder / "references.csv", ("\n4,due,2024-03-05\n", "\n4,due,2024-03-06\n"))
    audit(folder, 4)
    with served(folder) as found:
        yield found, sorted(one.name for one in (folder / ".auditor" / "runs").iterdir()), folder


def drift(service: Served, old: str, new: str, more: str = "") -> str:
    answer = service.get(f"/drift?old={old}&new={new}{more}")
    assert answer.status == 200, answer.text
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.text))


def words(text: str) -> str:
    return " ".join(text.split())


def test_both_rates_the_flips_and_the_tests_stand_there(service: tuple[Served, list[str], Path]) -> None:
    """Twenty of thirty dates are right for billing, then eighteen: two discordant pairs, so p is 2 × ¼ and mid-p ¼."""
    served_at, runs, _ = service
    shown = words(drift(served_at, runs[0], runs[1]))
    assert "66.7 % → 60.0 % (20/30 → 18/30); over the 30 judged in both −6.7 points" in shown
    assert (
        "2 discordant pairs: 2 right in the old run only, 0 in the new one only; McNemar exact p 0.50, mid-p 0.25"
        in shown
    )
    assert "ok → rejected 2: 1, 2" in shown
    assert "4 verdicts flipped" in shown  # of each of two consumers two
    assert "the same consumers, versions, settings and environment" in shown


def test_it_says_what_the_command_says(service: tuple[Served, list[str], Path]) -> None:
    served_at, runs, folder = service
    done = auditor(folder, "drift", runs[0], runs[1], "-o", "drift.html")
    assert done.returncode == 0, done.stderr
    sections = re.findall(r'<section id="s\d.*?</section>', (folder / "drift.html").read_text(), re.DOTALL)
    page = served_at.get(f"/drift?old={runs[0]}&new={runs[1]}").text
    assert len(sections) >= 3
    assert all(section in page for section in sections)


def test_where_the_gate_is_closed_the_content_is_not_compared(service: tuple[Served, list[str], Path]) -> None:
    served_at, runs, _ = service
    shown = words(drift(served_at, runs[0], runs[2]))
    assert "the content of 4 columns is not compared" in shown
    assert "not compared: new run: 20 of 30 blocked, more than 20 %" in shown
    assert "McNemar" not in shown
    assert "missing 0 → 20" in shown


def test_other_references_are_refused_and_the_shared_cases_compared_where_that_is_chosen(
    service: tuple[Served, list[str], Path],
) -> None:
    served_at, runs, _ = service
    shown = words(drift(served_at, runs[0], runs[3]))
    assert "are not of the same cases" in shown
    assert "1 shared case has another reference (the first: " in shown
    assert "`--common` compares the 30 shared cases where the reference is the same" in shown
    assert "McNemar" not in shown
    shared = words(drift(served_at, runs[0], runs[3], "&common=1"))
    assert "compared are the 30 in both" in shared
    assert "no verdict flipped" in shared
    # Case 4, which billing reads right in both runs, is the one that is left out: 19 of 29 are left, and were 20 of 30.
    assert f"due, billing {MARKUP} 65.5 65.5" in shared


def test_causes_are_told_apart_by_what_is_decoded(service: tuple[Served, list[str], Path]) -> None:
    served_at, runs, _ = service
    shown = words(drift(served_at, runs[0], runs[1], "&split=1"))
    assert "Two causes, told apart" in shown
    assert "the predictions dominate in 2 columns" in shown


def test_runs_are_chosen_by_a_form(service: tuple[Served, list[str], Path]) -> None:
    served_at, runs, _ = service
    for path in (f"/drift?audit={quote(AUDIT)}", "/drift", f"/run?id={runs[1]}"):
        shown = served_at.get(path).text
        assert 'action="/drift"' in shown, path
        assert shown.count("<option") == 8, path
    # From a run's page it is held against the one before it.
    form = served_at.get(f"/run?id={runs[2]}").text.partition('action="/drift"')[2]
    assert re.findall(r'value="([^"]+)" selected', form) == [runs[1], runs[2]]


@pytest.mark.parametrize("wanted", ["old=nothing&new={0}", "old={0}&new=../../etc", "old={0}&new=half"])
def test_a_run_that_is_not_there_is_none(service: tuple[Served, list[str], Path], wanted: str) -> None:
    served_at, runs, folder = service
    (folder / ".auditor" / "runs" / "half").mkdir(exist_ok=True)
    assert served_at.get("/drift?" + wanted.format(runs[0])).status in (404, 409)


def test_a_run_whose_tables_were_changed_is_told(service: tuple[Served, list[str], Path]) -> None:
    served_at, runs, folder = service
    damaged = folder / ".auditor" / "runs" / "20240305T000000Z-damaged"
    shutil.copytree(folder / ".auditor" / "runs" / runs[0], damaged)
    (damaged / "pairs.parquet").unlink()
    answer = served_at.get(f"/drift?old={runs[0]}&new={damaged.name}")
    shutil.rmtree(damaged)
    assert (answer.status, "run that audit again" in answer.text) == (409, True)
