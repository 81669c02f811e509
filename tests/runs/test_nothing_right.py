"""A column without one right answer is never called free of bugs: every report says what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import auditor
from auditor.api import AuditedRun

PARSERS = """
from datetime import date

def nothing(text):
    raise ValueError("wired to the wrong queue")

def iso(text):
    return date.fromisoformat(text)
"""

SPEC = """
name = "nothing"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
{path}
[consumers.billing]
adapter = "{adapter}"
{reads}
"""

PYTHON = {"adapter": "python", "path": ""}
#: Its own filter wants a status that no row of the mock has, so every row is dropped.
DROPPING = "select id, cast(day as date) as day from raw.records where cast(day as date) < date '1900-01-01'"


def audited(folder: Path, rows: str, **settings: str) -> AuditedRun:
    """Audit rows of `case_id,field,prediction,reference` with one consumer."""
    (folder / "parsers.py").write_text(PARSERS)
    (folder / "model.sql").write_text(DROPPING)
    (folder / "records.csv").write_text("case_id,field,prediction,reference\n" + rows)
    (folder / "audit.toml").write_text(SPEC.format(**settings))
    return auditor.run(folder, store=False, probe="quick")


def pages(run: AuditedRun, folder: Path) -> dict[str, str]:
    """Give every report that people read."""
    made = {suffix: run.write(folder / f"report{suffix}").read_text() for suffix in (".html", ".md", ".json")}
    made[".md"] = made[".md"].replace("\\", "")
    return made | {"notebook": run._repr_html_()}


ISO = "a,day,2024-03-01,2024-03-01\nb,day,2024-03-02,2024-03-02\n"


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({**PYTHON, "reads": 'reads.day = "parsers:nothing"'}, "rejected"),
        ({"adapter": "sql", "path": "", "reads": 'engine = "duckdb"\nmodel = "model.sql"'}, "dropped"),
        (
            {"adapter": "sql", "path": "", "reads": 'engine = "duckdb"\nreads.day = "nullif({value}, {value})::date"'},
            "null",
        ),
    ],
)
def test_a_consumer_that_takes_nothing_has_a_finding(tmp_path: Path, settings: dict[str, str], status: str) -> None:
    """It is the only reader of its field, so no other consumer shows what it refuses."""
    run = audited(tmp_path, ISO, **settings)
    [finding] = run.findings
    assert (finding.code, finding.severity, finding.consumers, finding.affected) == (
        "format-ceiling", "medium", ("billing",), 2
    )  # fmt: skip
    assert finding.title == "billing takes none of the 2 predictions of day"
    assert finding.witnesses[0].decodings["billing"].status == status
    for name, page in pages(run, tmp_path).items():
        assert f"billing takes none of the 2 predictions of day ({status} 2)" in page, name
        assert "No bugs found" not in page, name


def test_only_wrong_answers_are_no_clean_result(tmp_path: Path) -> None:
    run = audited(tmp_path, "a,day,2024-03-01,2024-03-09\n", **PYTHON, reads='reads.day = "parsers:iso"')
    assert run.findings == ()
    for name, page in pages(run, tmp_path).items():
        assert "the one value that billing takes from predictions of day does not equal its reference" in page, name
        assert "No bugs found" not in page, name


def test_only_absent_predictions_are_no_clean_result(tmp_path: Path) -> None:
    run = audited(tmp_path, "a,day,,2024-03-01\n", **PYTHON, reads='reads.day = "parsers:iso"')
    for name, page in pages(run, tmp_path).items():
        assert "no prediction of day was given in the one case that was judged" in page, name
        assert "No bugs found" not in page, name


def test_only_missing_references_are_no_clean_result(tmp_path: Path) -> None:
    run = audited(tmp_path, "a,day,2024-03-01,\n", **PYTHON, reads='reads.day = "parsers:iso"')
    for name, page in pages(run, tmp_path).items():
        assert "no case has a reference of day" in page, name
        assert "No bugs found" not in page, name


def test_one_right_answer_is_enough_to_say_that_no_bug_was_found(tmp_path: Path) -> None:
    rows = ISO + "c,day,soon,2024-03-01\nd,day,2024-03-05,2024-03-01\n"
    run = audited(tmp_path, rows, **PYTHON, reads='reads.day = "parsers:iso"')
    assert (run.findings, run.run.notes) == ((), ())
    made = {name: page for name, page in pages(run, tmp_path).items() if name != ".json"}
    assert all("No bugs found on these strings." in page for page in made.values())
