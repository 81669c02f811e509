"""Arms: the predictions of several models over the same cases, a column each, and never mixed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import auditor

REFERENCES = {"c1": "1.00", "c2": "2.00", "c3": "3.00", "c4": "4.00"}
#: What each model answers: large is right on three of four, small on one of two that it gives.
ANSWERS = {
    "large": {"c1": "1", "c2": "2.0", "c3": "3", "c4": "44"},
    "small": {"c1": "1", "c2": "twenty"},
}


def write(path: Path, header: str, rows: list[tuple[str, ...]]) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return str(path)


def spec(folder: Path, **cases: object) -> dict[str, object]:
    (folder / "parsers.py").write_text("from decimal import Decimal as total\n", encoding="utf-8")
    return {
        "name": "arms",
        "cases": {
            "references": write(folder / "r.csv", "case_id,total", list(REFERENCES.items())),
            "min_judged": 4,
            **cases,
        },
        "fields": {"total": {"type": "decimal"}},
        "consumers": {"ledger": {"adapter": "python", "root": str(folder), "reads": {"total": "parsers:total"}}},
    }


def rows_of(answers: dict[str, dict[str, str]]) -> list[tuple[str, ...]]:
    return [(case, arm, value) for arm, given in answers.items() for case, value in given.items()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def columns_of(run: auditor.AuditedRun) -> list[tuple[object, ...]]:
    return [
        (one.arm, one.split, one.support, one.judged, one.blocked_by, one.verdicts["ok"], one.content_rate)
        for one in run.columns
    ]


LARGE = ("large", "all", 4, 4, {}, 3, 0.75)
SMALL = ("small", "all", 4, 2, {"missing": 2}, 1, 0.5)


def plain_rows(folder: Path) -> str:
    return write(folder / "p.csv", "case_id,model,total", rows_of(ANSWERS))


def json_rows(folder: Path) -> str:
    lines = [json.dumps({"case_id": case, "model": arm, "total": value}) for case, arm, value in rows_of(ANSWERS)]
    (folder / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return str(folder / "p.jsonl")


def long_rows(folder: Path) -> str:
    rows = [(case, arm, "total", value) for case, arm, value in rows_of(ANSWERS)]
    return write(folder / "l.csv", "case_id,model,field,prediction", rows)


def replies(folder: Path) -> str:
    rows = [(case, arm, json.dumps({"total": value}), "stop") for case, arm, value in rows_of(ANSWERS)]
    return write(folder / "c.csv", "case_id,model,completion,finish_reason", rows)


def a_file_each(folder: Path) -> list[str]:
    return [
        write(folder / f"{arm}.csv", "model,case_id,total", [(arm, *item) for item in given.items()])
        for arm, given in ANSWERS.items()
    ]


@pytest.mark.parametrize("predictions", [plain_rows, json_rows, long_rows, replies, a_file_each])
def test_every_arm_has_columns_of_its_own_and_is_expected_to_answer_every_case(folder, predictions):
    run = auditor.run(spec(folder, predictions=predictions(folder), arm="model"), probe="off")
    assert columns_of(run) == [LARGE, SMALL]
    assert run.column("total", "ledger", "small").blocked == 2
    with pytest.raises(KeyError, match="no column total/ledger; there are: total/ledger/large, total/ledger/small"):
        run.column("total", "ledger")
    assert [(one.arm, one.cases.expected, one.cases.judged, one.cases.missing) for one in run.run.arms] == [
        ("large", 4, 4, 0),
        ("small", 4, 2, 2),
    ]
    assert [(one.arm, one.gate.open) for one in run.run.arms] == [("large", True), ("small", False)]
    assert run.run.gate.reason == "arm small: 2 judged, fewer than 4"
    assert [one.comparable for one in run.columns] == [True, False]
    fields = [(one.arm, one.usable_everywhere.count, one.usable_everywhere.of, one.string_equality.count) for one in
              run.run.fields]  # fmt: skip
    assert fields == [("large", 3, 4, 0), ("small", 1, 2, 0)]
    assert [sum(shape.rows for shape in one.shapes) for one in run.run.fields] == [4, 2]
    assert "arm small: missing: 2 of 4 cases have no prediction, and are not judged; cases c3, c4" in run.run.notes
    assert auditor.load(run.folder).run == run.run


def test_the_list_of_verdicts_has_a_row_per_arm(folder):
    run = auditor.run(spec(folder, predictions=plain_rows(folder), arm="model"), probe="off")
    found = run.verdicts().order("arm, case_id").project("arm, case_id, verdict, prediction").fetchall()
    assert found == [
        ("large", "c1", "ok", '"1"'),
        ("large", "c2", "ok", '"2.0"'),
        ("large", "c3", "ok", '"3"'),
        ("large", "c4", "wrong", '"44"'),
        ("small", "c1", "ok", '"1"'),
        ("small", "c2", "rejected", '"twenty"'),
        ("small", "c3", "missing", None),
        ("small", "c4", "missing", None),
    ]
    incidents = [json.loads(line) for line in (run.folder / "incident.jsonl").read_text().splitlines()]
    assert [(one["arm"], one["case_id"]) for one in incidents] == [("small", "c3"), ("small", "c4")]


def test_arms_do_not_change_the_manifest_and_agree_with_an_audit_of_each(folder):
    both = auditor.run(spec(folder, predictions=plain_rows(folder), arm="model"), probe="off")
    for arm, path in zip(ANSWERS, a_file_each(folder), strict=True):
        alone = auditor.run(spec(folder, predictions=path), probe="off")
        assert alone.run.manifest_sha256 == both.run.manifest_sha256
        assert columns_of(alone)[0][1:] == {"large": LARGE, "small": SMALL}[arm][1:]
        mine = next(one for one in both.run.fields if one.arm == arm)
        assert mine.string_equality == alone.run.fields[0].string_equality
        assert mine.json_types == alone.run.fields[0].json_types


def test_every_report_names_the_arm_of_a_rate(folder):
    run = auditor.run(spec(folder, predictions=plain_rows(folder), arm="model"), probe="off")
    for suffix in ("html", "md"):
        text = run.write(folder / f"report.{suffix}").read_text(encoding="utf-8")
        assert "total · arm large" in text and "total · arm small" in text, suffix
    rows = list(csv.DictReader(run.write(folder / "report.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["arm"], row["content_rate"]) for row in rows] == [("large", "0.75"), ("small", "0.5")]
    document = json.loads(run.write(folder / "report.json").read_text(encoding="utf-8"))
    assert [column["arm"] for column in document["columns"]] == ["large", "small"]
    assert "total · arm large" in run._repr_html_()
    without = auditor.run(spec(folder, predictions=a_file_each(folder)[0]), probe="off")
    assert [column.arm for column in without.columns] == [None]


def test_several_columns_name_an_arm_and_no_two_arms_have_one_name(folder):
    models = [("a", "b, c"), ("a, b", "c"), ("a", ""), ("a", "none"), ("", "a")]
    rows = [("c1", *model, "1") for model in models]
    path = write(folder / "p.csv", "case_id,model,model_version,total", rows)
    run = auditor.run(spec(folder, predictions=path, arm=["model", "model_version"]), probe="off")
    assert [one.arm for one in run.columns] == ['"a, b", c', 'a, "b, c"', 'a, "none"', "a, none", "none, a"]
    assert {one.judged for one in run.columns} == {1}


def test_the_same_case_is_answered_once_by_each_arm(folder):
    rows = [*rows_of(ANSWERS), ("c1", "small", "7")]
    path = write(folder / "p.csv", "case_id,model,total", rows)
    with pytest.raises(auditor.AuditorError, match="1 id occurs more than once"):
        auditor.run(spec(folder, predictions=path, arm="model"), probe="off")
    for attempts, right in (("last", 0), ("first", 1)):
        run = auditor.run(spec(folder, predictions=path, arm="model", attempts=attempts), probe="off")
        assert [one.verdicts["ok"] for one in run.columns] == [3, right]
        assert [note for note in run.run.notes if "attempts" in note] == [
            "arm small: attempts: 1 completion of cases that have several are counted, and not graded"
        ]


def test_a_row_without_an_arm_is_an_error(folder):
    path = write(folder / "p.csv", "case_id,model,total", [*rows_of(ANSWERS), ("c3", "", "3")])
    with pytest.raises(auditor.AuditorError, match=r"p.csv, row 7 .*: 1 row without an arm in 'model'"):
        auditor.run(spec(folder, predictions=path, arm="model"), probe="off")
    with pytest.raises(auditor.AuditorError, match=r"no column 'modell' for the arm(.|\n)*did you mean 'model'"):
        auditor.run(spec(folder, predictions=path, arm="modell"), probe="off")


def test_references_that_stand_beside_the_predictions_of_each_arm_are_one(folder):
    rows = [(case, arm, value, REFERENCES[case]) for case, arm, value in rows_of(ANSWERS)]
    path = write(folder / "both.csv", "case_id,model,total,truth", rows)
    wanted = spec(folder, predictions=path, references=path, arm="model")
    wanted["fields"]["total"]["reference_path"] = "truth"
    run = auditor.run(wanted, probe="off")
    assert columns_of(run) == [LARGE, SMALL]
    write(folder / "both.csv", "case_id,model,total,truth", [*rows[:-1], ("c2", "small", "twenty", "2.5")])
    with pytest.raises(auditor.AuditorError, match="1 case with one reference, or split, for one arm and another"):
        auditor.run(wanted, probe="off")
    write(folder / "both.csv", "case_id,model,total,truth", [*rows, rows[0]])
    with pytest.raises(auditor.AuditorError, match="1 id occurs more than once"):
        auditor.run(wanted, probe="off")


def test_arms_and_splits_together(folder):
    split = {"c1": "dev", "c2": "dev", "c3": "held-out", "c4": "held-out"}
    rows = [(case, arm, split[case], value) for case, arm, value in rows_of(ANSWERS)]
    path = write(folder / "p.csv", "case_id,model,split,total", rows)
    run = auditor.run(spec(folder, predictions=path, arm="model", split="split"), probe="off")
    # What small leaves out is in the split that the rows of large say it is in.
    assert columns_of(run) == [
        LARGE,
        SMALL,
        ("large", "dev", 2, 2, {}, 2, 1.0),
        ("small", "dev", 2, 2, {}, 1, 0.5),
        ("large", "held-out", 2, 2, {}, 1, 0.5),
        ("small", "held-out", 2, 0, {"missing": 2}, 0, None),
    ]
    moved = [row if row[:2] != ("c1", "small") else ("c1", "small", "held-out", "1") for row in rows]
    write(folder / "p.csv", "case_id,model,split,total", moved)
    with pytest.raises(auditor.AuditorError, match="case c1: is in the splits dev and held-out"):
        auditor.run(spec(folder, predictions=path, arm="model", split="split"), probe="off")


def test_a_missing_case_whose_split_only_its_prediction_would_say_is_told(folder):
    path = write(folder / "p.csv", "case_id,split,total", [("c1", "dev", "1"), ("c2", "", "2")])
    run = auditor.run(spec(folder, predictions=path, split="split"), probe="off")
    note = (
        "split: 3 of 4 cases are in no split, and so in the columns of no split: 2 of them have no prediction, and "
        "only predictions say which split a case is in"
    )
    assert note in run.run.notes


def test_findings_are_about_parsers_and_say_which_arm_has_how_many(folder):
    wanted = spec(folder, predictions=plain_rows(folder), arm="model")
    (folder / "parsers.py").write_text(
        "from decimal import Decimal as total\ndef words(text): return 20 if text == 'twenty' else total(text)\n",
        encoding="utf-8",
    )
    wanted["consumers"]["desk"] = {"adapter": "python", "root": str(folder), "reads": {"total": "parsers:words"}}
    run = auditor.run(wanted, probe="off")
    (ceiling,) = [one for one in run.findings if one.code == "format-ceiling"]
    assert "at most 100.0 % for large and 50.0 % for small of the time" in ceiling.title
    assert ceiling.affected_by_arm == {"small": 1}
    assert ceiling.detail.endswith("Cases by arm: small 1.")


def test_a_batch_would_mix_arms_and_is_refused(folder):
    wanted = spec(folder, predictions=plain_rows(folder), arm="model")
    wanted["consumers"]["ledger"]["batch"] = True
    with pytest.raises(auditor.AuditorError, match="a batch would hold the rows of several arms"):
        auditor.run(wanted, probe="off")


def test_what_moves_with_the_clock_is_told_of_each_arm(folder):
    wanted = spec(folder, predictions=plain_rows(folder), arm="model")
    (folder / "parsers.py").write_text(
        "import datetime\nfrom decimal import Decimal\n"
        "def total(text):\n"
        "    late = datetime.date.today().year > 2030 and text == '3'\n"
        "    return Decimal(4 if late else text)\n",
        encoding="utf-8",
    )
    run = auditor.run(wanted)
    large, small = run.columns
    assert sorted({one["content_rate"] for one in large.by_environment}) == [0.5, 0.75]
    assert large.flips == {"clock": 1}
    assert {one["content_rate"] for one in small.by_environment} == {0.5}
    assert small.flips == {"clock": 0}
    (found,) = [one for one in run.findings if one.code == "clock-dependent"]
    assert "The column of large reads 75.0 % in the base and 50.0 % to 75.0 % over what was tried" in found.detail
    assert "No verdict of small flips on these cases" in found.detail


def promptfoo(folder: Path) -> str:
    """Write what promptfoo gives for two providers, one prompt: a row per test and provider."""
    rows = [
        {
            "testIdx": number,
            "promptIdx": number_of_arm,
            "provider": {"id": f"openai:{arm}"},
            "vars": {"total": truth},
            "response": {"output": json.dumps({"total": ANSWERS[arm].get(case, "0")}), "finishReason": "stop"},
            "failureReason": 0,
        }
        for number, (case, truth) in enumerate(REFERENCES.items())
        for number_of_arm, arm in enumerate(ANSWERS)
    ]
    document = {"evalId": "eval-1", "results": {"version": 3, "results": rows}, "config": {}, "shareableUrl": None}
    (folder / "promptfoo.json").write_text(json.dumps(document), encoding="utf-8")
    return str(folder / "promptfoo.json")


def test_each_provider_of_a_log_is_an_arm_where_the_spec_says_so(folder):
    path = promptfoo(folder)
    wanted = spec(folder, predictions=path, references=path)
    wanted["fields"]["total"]["reference_path"] = "vars.total"
    with pytest.raises(auditor.AuditorError, match=r'score each by itself: arm = \["provider", "prompt"\]'):
        auditor.run(wanted, probe="off")
    by_both = {"openai:large, 0": 3, "openai:small, 1": 1}
    for arm, right in (("model", {"openai:large": 3, "openai:small": 1}), (["provider", "prompt"], by_both)):
        wanted["cases"]["arm"] = arm
        run = auditor.run(wanted, probe="off")
        assert {one.arm: one.verdicts["ok"] for one in run.columns} == right
        assert {one.judged for one in run.columns} == {4}


def openai_lines(folder: Path, model: str, answers: dict[str, str]) -> str:
    lines = [
        {
            "id": f"batch_req_{case}",
            "custom_id": case,
            "response": {
                "status_code": 200,
                "body": {
                    "model": model,
                    "choices": [{"message": {"content": json.dumps({"total": value})}, "finish_reason": "stop"}],
                },
            },
            "error": None,
        }
        for case, value in answers.items()
    ]
    lines.append({"id": "batch_req_x", "custom_id": "c4", "response": None, "error": {"code": "batch_expired"}})
    path = folder / f"{model}.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def test_a_failure_that_names_no_model_is_of_the_only_model_of_its_log(folder):
    paths = [openai_lines(folder, "large", {"c1": "1", "c2": "2"}), openai_lines(folder, "small", {"c1": "9"})]
    run = auditor.run(spec(folder, predictions=paths, arm="model"), probe="off")
    assert [(one.arm, one.judged, one.blocked_by, one.verdicts["ok"]) for one in run.columns] == [
        ("large", 2, {"missing": 1, "transport": 1}, 2),
        ("small", 1, {"missing": 2, "transport": 1}, 0),
    ]
    assert [one.finish_reasons for one in run.run.arms] == [{"": 1, "stop": 2}, {"": 1, "stop": 1}]
    mixed = folder / "mixed.jsonl"
    mixed.write_text("\n".join(Path(path).read_text() for path in paths), encoding="utf-8")
    with pytest.raises(auditor.AuditorError, match="2 rows without an arm in 'model'; arms here: 'large', 'small'"):
        auditor.run(spec(folder, predictions=str(mixed), arm="model"), probe="off")


def test_payloads_are_told_by_arm(folder):
    rows = [("c1", "large", '{"total": "1", "note": 1}', "stop"), ("c1", "small", "so: 1", "stop")]
    path = write(folder / "c.csv", "case_id,model,completion,finish_reason", rows)
    run = auditor.run(spec(folder, predictions=path, arm="model"), probe="off")
    assert "arm large: payload: a key of no field, in what was read: note 1" in run.run.notes
    assert [note for note in run.run.notes if note.startswith("arm small: payload: of 1 completion that")]
    assert not [note for note in run.run.notes if note.startswith("arm large: payload: of")]
