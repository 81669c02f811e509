"""Splits: a column each, none that overlaps another, and references that stand in what the model was given."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import auditor

ROWS = [  # id, split, input, prediction, reference
    ("d1", "dev", "Invoice of 1 March, 25.10 EUR", "25.10", "25.10"),
    ("d2", "dev", "Invoice over ten euros", "10", "11"),
    ("h1", "held-out", "Total: 300.00", "300.00", "300.00"),
    ("h2", "held-out", "Please pay 77", "78", "77"),
    ("h3", "held-out", "Nothing due", "", "5.55"),
    ("n1", "", "No split of its own", "1.25", "1.25"),
]


def write(folder: Path, name: str, header: str, rows: list[tuple[str, ...]]) -> str:
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return str(folder / name)


def spec(folder: Path, rows: list[tuple[str, ...]], *, on_references: bool) -> dict[str, object]:
    (folder / "parsers.py").write_text("from decimal import Decimal as total\n", encoding="utf-8")
    traits, plain = "case_id,split,text,total", "case_id,total"
    left, right = [(row[0], row[3]) for row in rows], [(*row[:3], row[4]) for row in rows]
    if not on_references:
        left, right = [(*row[:3], row[3]) for row in rows], [(row[0], row[4]) for row in rows]
    files = {
        "predictions": write(folder, "p.csv", plain if on_references else traits, left),
        "references": write(folder, "r.csv", traits if on_references else plain, right),
    }
    return {
        "name": "splits",
        "cases": {**files, "split": "split", "input": "text"},
        "fields": {"total": {"type": "decimal"}},
        "consumers": {"ledger": {"adapter": "python", "root": str(folder), "reads": {"total": "parsers:total"}}},
    }


@pytest.mark.parametrize("on_references", [True, False])
def test_every_split_has_columns_of_its_own_beside_the_whole(tmp_path, monkeypatch, on_references):
    monkeypatch.chdir(tmp_path)
    run = auditor.run(spec(tmp_path, ROWS, on_references=on_references), probe="off")
    assert [
        (one.split, one.support, one.judged, one.verdicts["ok"], one.verdicts["wrong"], one.verdicts["absent"])
        for one in run.columns
    ] == [("all", 6, 6, 3, 2, 1), ("dev", 2, 2, 1, 1, 0), ("held-out", 3, 3, 1, 1, 1)]
    assert [one.content_rate for one in run.columns] == [0.5, 0.5, 1 / 3]
    assert run.column("total", "ledger").split == "all"
    assert run.run.gold_in_input == {"total": 2}  # 25.10 and 300.00; 77 is too short to mean anything
    note = "gold_in_input: total: the reference stands as it is in the input of 2 of 6 cases"
    assert note in run.run.notes
    assert auditor.load(run.folder).run == run.run
    assert len(run.verdicts().fetchall()) == 6
    for suffix in ("html", "md", "csv"):
        text = run.write(tmp_path / f"report.{suffix}").read_text(encoding="utf-8")
        assert "held-out" in text or "held\\-out" in text, suffix


def test_splits_must_not_overlap(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shared = [*ROWS, ("h4", "held-out", ROWS[0][2], "1", "1")]
    with pytest.raises(auditor.AuditorError) as caught:
        auditor.run(spec(tmp_path, shared, on_references=True), probe="off")
    assert "splits overlap in 1 place" in str(caught.value)
    assert "cases d1, h4: have one input in the splits dev and held-out: 'Invoice of 1 March" in str(caught.value)
    within = [*ROWS, ("d3", "dev", ROWS[0][2], "1", "1")]
    assert auditor.run(spec(tmp_path, within, on_references=True), probe="off").column("total", "ledger").judged == 7
    wrong = spec(tmp_path, ROWS, on_references=True)
    wrong["cases"] = {**wrong["cases"], "split": "splt"}
    with pytest.raises(auditor.AuditorError, match="no file has the column 'splt'"):
        auditor.run(wrong, probe="off")


@pytest.mark.parametrize("attempts", ["first", "last"])
def test_an_attempt_that_is_not_graded_does_not_hide_that_splits_overlap(tmp_path, monkeypatch, attempts):
    monkeypatch.chdir(tmp_path)
    rows = [*ROWS, ("d1", "held-out", "Another text", "25.10", "25.10")]
    again = spec(tmp_path, rows, on_references=False)
    write(tmp_path, "r.csv", "case_id,total", [(row[0], row[4]) for row in ROWS])
    again["cases"] = {**again["cases"], "attempts": attempts}
    with pytest.raises(auditor.AuditorError, match=r"case d1: is in the splits dev and held-out"):
        auditor.run(again, probe="off")


def test_a_dev_case_without_a_reference_still_shows_what_was_held_out(tmp_path, monkeypatch):
    """References of the held-out split alone: what was tuned on is in the predictions, and must not be in it."""
    monkeypatch.chdir(tmp_path)
    leaked = spec(tmp_path, [*ROWS, ("d9", "dev", ROWS[2][2], "1", "1")], on_references=False)
    write(tmp_path, "r.csv", "case_id,total", [(row[0], row[4]) for row in ROWS if row[1] == "held-out"])
    with pytest.raises(auditor.AuditorError, match="cases d9, h1: have one input in the splits dev and held-out"):
        auditor.run(leaked, probe="off")


def test_a_split_is_not_called_like_the_columns_of_all_cases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(row[0], "all" if row[1] == "dev" else row[1], *row[2:]) for row in ROWS]
    with pytest.raises(auditor.AuditorError, match=r"cases? of a split named 'all'"):
        auditor.run(spec(tmp_path, rows, on_references=True), probe="off")


def test_splits_of_more_json_lines_than_are_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parsers.py").write_text("from decimal import Decimal as total\n", encoding="utf-8")
    cases = [(f"c{n}", "dev" if n % 3 else "held-out", str(n % 7)) for n in range(60_000)]
    predictions = [{"case_id": case, "split": split, "text": f"Pay {case}", "total": "3"} for case, split, _ in cases]
    references = [{"case_id": case, "total": total} for case, _, total in cases]
    for name, rows in (("p.jsonl", predictions), ("r.jsonl", references)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = auditor.run(
        {
            "name": "splits",
            "cases": {"predictions": "p.jsonl", "references": "r.jsonl", "split": "split", "input": "text"},
            "fields": {"total": {"type": "decimal"}},
            "consumers": {"ledger": {"adapter": "python", "reads": {"total": "parsers:total"}}},
        },
        probe="off",
        store=False,
    )
    assert [(one.split, one.judged, one.verdicts["ok"]) for one in run.columns] == [
        (name, len(totals), totals.count("3"))
        for name, totals in (
            ("all", [total for *_, total in cases]),
            ("dev", [total for _, split, total in cases if split == "dev"]),
            ("held-out", [total for _, split, total in cases if split == "held-out"]),
        )
    ]
