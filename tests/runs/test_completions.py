"""A whole audit of raw replies: the pipeline's own reader of them, abstentions, the content gate, the incident file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app

SOURCES = """
import json
import os


def reply(text):
    if text == "die":
        os._exit(3)
    if text == "list":
        return [1]
    found = json.loads(text[text.index("{"):])
    return found["answer"] if "answer" in found else found


def total(text):
    return float(text)


def day(text):
    import datetime
    return datetime.date.fromisoformat(text)
"""

CASES = {
    "c1": ('Sure: {"day": "2024-03-01", "total": 1.50}', "stop"),
    "c2": ('{"answer": {"day": "2024-03-02", "total": "N/A"}}', "stop"),
    "c3": ("die", "stop"),
    "c4": ("list", "stop"),
    "c5": ("no object", "stop"),
    "c6": ('{"day": "2024-0', "length"),
    "c7": ('{"day": "not stated", "total": "not stated"}', "stop"),
    "c8": ('{"total": 8}', "stop"),
    "c9": ('{"day": "2024-03-09", "expected": "x", "total": 9, "verdict": "ok"}', "stop"),
    "c10": ("", None),
}


def spec(folder: Path, **cases: object) -> dict[str, object]:
    (folder / "replies.py").write_text(SOURCES, encoding="utf-8")
    rows = [{"case_id": case, "completion": text, "finish_reason": finish} for case, (text, finish) in CASES.items()]
    (folder / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    days = "".join(f"{case},2024-03-{int(case[1:]):02},{case[1:]}\n" for case in CASES)
    (folder / "r.csv").write_text("case_id,day,total\n" + days, encoding="utf-8")
    reads = {"day": "replies:day", "total": "replies:total"}
    return {
        "name": "replies",
        "cases": {"predictions": str(folder / "c.jsonl"), "references": str(folder / "r.csv"), **cases},
        "fields": {"day": {"type": "date"}, "total": {"type": "decimal", "abstain": ["N/A", "not stated"]}},
        "consumers": {"billing": {"adapter": "python", "root": str(folder), "reads": reads}},
    }


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """One audit that several tests look at: replies are read by the pipeline's own function."""
    folder = tmp_path_factory.mktemp("replies")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield auditor.run(spec(folder, payload="replies:reply", payload_root=str(folder)), probe="off")


def verdicts(run, field):
    found = run.verdicts().filter(f"field = '{field}'").fetchall()
    return {row[0]: row[3] for row in found}


def test_the_pipelines_own_reader_takes_the_payload_and_its_death_costs_one_reply(audited):
    blocked = {**dict.fromkeys(("c3", "c4", "c5"), "malformed"), "c6": "truncated", "c10": "unknown"}
    assert verdicts(audited, "day") == {
        **blocked,
        "c1": "ok",
        "c2": "ok",
        "c7": "rejected",
        "c8": "absent",
        "c9": "ok",
    }
    notes = "\n".join(audited.run.notes)
    assert (
        "of 8 completions that ended cleanly, 5 are read by the replies:reply reader (62.5 %), 4 by a strict" in notes
    )
    assert "NoPayloadError: the reader gave list, neither an object nor a text" in notes
    assert "ValueError: substring not found" in notes


def test_declared_words_abstain_in_their_field_alone(audited):
    column = audited.column("total", "billing")
    assert (column.verdicts["abstained"], column.verdicts["rejected"]) == (2, 0)
    assert (column.verdicts["wrong"], column.verdicts["ok"], column.judged) == (1, 2, 5)
    assert audited.column("day", "billing").verdicts["rejected"] == 1
    assert verdicts(audited, "total")["c2"] == verdicts(audited, "total")["c7"] == "abstained"


def test_a_closed_gate_says_why_and_lists_what_was_not_judged(audited):
    gate = audited.run.gate
    assert (gate.open, gate.reason) == (False, "5 judged, fewer than 8")
    column = audited.column("day", "billing")
    assert (column.comparable, column.not_comparable) == (False, "5 judged, fewer than 8")
    lines = [json.loads(line) for line in (audited.folder / "incident.jsonl").read_text().splitlines()]
    assert [(one["case_id"], one["verdict"], one["finish_reason"], one["text"]) for one in lines] == [
        ("c3", "malformed", "stop", "die"),
        ("c4", "malformed", "stop", "list"),
        ("c5", "malformed", "stop", "no object"),
        ("c6", "truncated", "length", '{"day": "2024-0'),
        ("c10", "unknown", None, ""),
    ]
    assert auditor.load(audited.folder).run == audited.run
    for suffix in ("html", "md", "csv", "json"):
        text = audited.write(audited.folder.parent / f"report.{suffix}").read_text(encoding="utf-8")
        assert "5 judged, fewer than 8" in text, suffix
        if suffix != "csv":
            assert "finish reasons met" in text and "another reader would recover" in text, suffix


def test_the_gate_opens_by_the_specs_own_bounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = auditor.run(spec(tmp_path, payload="fenced", min_judged=4, max_blocked=0.4), probe="off")
    assert run.run.gate.reason == "6 of 10 blocked, more than 40 %"
    run = auditor.run(spec(tmp_path, payload="fenced", min_judged=4, max_blocked=0.6), probe="off")
    assert (run.run.gate.open, run.run.gate.reason) == (True, "")
    assert not (run.folder / "incident.jsonl").exists()
    with pytest.raises(auditor.AuditorError, match="must be a whole number from 4, not the number 3"):
        auditor.run(spec(tmp_path, min_judged=3))


def test_a_gate_that_is_closed_for_too_few_cases_has_an_incident_file_without_lines(tmp_path):
    days = "case_id,day\n" + "".join(f"c{number},2024-03-01\n" for number in range(3))
    for name in ("predictions.csv", "references.csv"):
        (tmp_path / name).write_text(days)
    (tmp_path / "parsers.py").write_text("from datetime import date\nday = date.fromisoformat\n")
    (tmp_path / "audit.toml").write_text(
        'name = "few"\n[cases]\npredictions = "predictions.csv"\nreferences = "references.csv"\n'
        '[fields.day]\ntype = "date"\nreference = "typed"\n'
        '[consumers.billing]\nadapter = "python"\nreads.day = "parsers:day"\n'
    )
    run = auditor.run(tmp_path / "audit.toml", probe="off")
    assert (run.run.gate.open, run.run.gate.reason) == (False, "3 judged, fewer than 8")
    assert (run.folder / "incident.jsonl").read_bytes() == b"", "every line is a case, and all three were judged"


def test_a_reader_that_cannot_be_imported_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(auditor.AuditorError, match=r"(?s)\[cases\] payload.*replies.py has no 'repyl'.*'reply'"):
        auditor.run(spec(tmp_path, payload="replies:repyl", payload_root=str(tmp_path)), probe="off")


def test_import_says_what_a_file_is(tmp_path):
    spec(tmp_path)
    content = {"id": "b", "custom_id": "o1", "error": None, "response": {"status_code": 200, "body": {"choices": [
        {"finish_reason": "length", "message": {"content": "{"}}]}}}  # fmt: skip
    good = json.loads(json.dumps(content).replace('"length"', '"stop"').replace('"{"', json.dumps('{"day": "x"}')))
    (tmp_path / "batch.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (content, good)))
    result = CliRunner().invoke(app, ["import", str(tmp_path / "batch.jsonl")])
    assert result.exit_code == 0, result.output
    assert [" ".join(line.split()) for line in result.output.splitlines()] == [
        "batch.jsonl: openai-batch (lines)",
        "replies 2 of 1 cases; 1 more of a case that has one: choose with [cases] attempts",
        "ids o1",
        "finish reasons length 1, stop 1",
        "outcomes truncated 1, judged 1",
        "payloads strict 1, fenced 1, the outermost braces 1 (by who can read them)",
        "fields day 1",
        "references none: join a file of references by the id",
        "next auditor init batch.jsonl REFERENCES",
    ]
    plain = CliRunner().invoke(app, ["import", str(tmp_path / "r.csv")])
    assert (
        " ".join(plain.output.split())
        == "r.csv: CSV, no eval log rows 10 ids 10: c1, c2, c3, … columns case_id, day, total"
    )
    wrong = CliRunner().invoke(app, ["import", str(tmp_path / "batch.jsonl"), "--format", "openai"])
    assert wrong.exit_code == 2 and "openai-batch" in wrong.output


def test_import_shows_a_log_with_several_answers_to_a_case_and_what_to_choose(tmp_path):
    """gsm8k writes two lines for each document by default, one for each filter."""
    lines = [
        {"doc_id": doc, "doc": {}, "target": "5", "resps": [[x]], "filtered_resps": ['{"total": 5}'], "filter": name}
        for doc in range(3)
        for name, x in (("strict-match", "a"), ("flexible-extract", "b"))
    ]
    (tmp_path / "samples_gsm8k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = CliRunner().invoke(app, ["import", str(tmp_path / "samples_gsm8k.jsonl")])
    assert shown.exit_code == 0, shown.output
    said = " ".join(shown.output.split())
    assert "samples_gsm8k.jsonl: lm-eval (lines) replies 6 of 3 cases ids 0, 1, 2" in said
    assert 'choose [cases] filter = "strict-match" or "flexible-extract"; or arm = ["filter"], a column of each' in said
    assert "outcomes unknown 6" in said and "fields total 6" in said, "a log without reasons shows its fields, too"
    one = CliRunner().invoke(app, ["import", str(tmp_path / "samples_gsm8k.jsonl"), "--filter", "strict-match"])
    assert "replies 3 of 3 cases" in " ".join(one.output.split()) and "choose" not in one.output
