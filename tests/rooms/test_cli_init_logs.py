"""`auditor init` on eval logs: what it writes is a workspace that can be audited, or it says what is missing."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app
from auditor.spec.read import read_spec

GOOD = {"day": "2024-03-01", "total": "12.50"}


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def openai(folder: Path) -> Path:
    def reply(number: int, content: str, finish: str, model: str) -> dict:
        choice = {"finish_reason": finish, "message": {"role": "assistant", "content": content}}
        body = {"object": "chat.completion", "model": model, "choices": [choice]}
        response = {"status_code": 200, "body": body}
        return {"id": f"b{number}", "custom_id": f"c{number}", "response": response, "error": None}

    replies = [reply(1, json.dumps(GOOD), "stop", "gpt"), reply(2, '{"day": "2024', "length", "gpt")]
    return lines(folder / "output.jsonl", replies)


def promptfoo(folder: Path, providers: int = 1) -> Path:
    rows = [
        {
            "testIdx": number,
            "promptIdx": 0,
            "provider": {"id": f"provider-{provider}"},
            "vars": {"day": "2024-03-01", "total": "12.50", "text": "…"},
            "response": {"output": json.dumps(GOOD), "finishReason": "stop"},
            "failureReason": 0,
        }
        for number in range(3)
        for provider in range(providers)
    ]
    document = {"evalId": "e", "results": {"version": 3, "results": rows}, "config": {}, "shareableUrl": None}
    (folder / "results.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    return folder / "results.json"


def inspect_ai(folder: Path) -> Path:
    samples = [
        {
            "id": name,
            "epoch": epoch,
            "input": "…",
            "target": json.dumps(GOOD),
            "output": {
                "model": "m",
                "choices": [{"message": {"role": "assistant", "content": json.dumps(GOOD)}, "stop_reason": "stop"}],
            },
        }
        for name in ("s1", "s2")
        for epoch in (1, 2)
    ]
    with zipfile.ZipFile(folder / "log.eval", "w") as packed:
        header = {"version": 2, "status": "success", "eval": {"model": "m", "config": {"epochs": 2}}}
        packed.writestr("header.json", json.dumps(header))
        for sample in samples:
            packed.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return folder / "log.eval"


def lm_eval(folder: Path) -> Path:
    fenced = f"```json\n{json.dumps(GOOD)}\n```"
    samples = [
        {
            "doc_id": number,
            "doc": {"text": "…"},
            "target": json.dumps(GOOD),
            "resps": [[fenced]],
            "filtered_resps": [fenced],
        }
        for number in range(3)
    ]
    return lines(folder / "samples.jsonl", samples)


def langfuse(folder: Path) -> Path:
    rows = [
        {
            "datasetItemId": f"i{number}",
            "output": {"role": "assistant", "content": json.dumps(GOOD)},
            "expectedOutput": GOOD,
            "metadata": {"finish_reason": "stop"},
        }
        for number in range(2)
    ]
    (folder / "items.json").write_text(json.dumps({"data": rows}), encoding="utf-8")
    return folder / "items.json"


def written(folder: Path, *arguments: Path) -> auditor.AuditedRun:
    """Run `init` and audit what it wrote."""
    said = CliRunner().invoke(app, ["init", *map(str, arguments), "--into", str(folder / "workspace")])
    assert said.exit_code == 0, said.output
    return auditor.run(folder / "workspace", probe="off")


@pytest.mark.parametrize(("make", "cases"), [(promptfoo, 3), (inspect_ai, 4), (lm_eval, 3), (langfuse, 2)])
def test_a_log_with_references_is_a_workspace_by_itself(tmp_path, make, cases):
    run = written(tmp_path, make(tmp_path))
    assert run.run.cases.judged == run.run.cases.expected == cases
    assert [(one.field, one.verdicts["ok"]) for one in run.columns] == [("day", cases), ("total", cases)]


def test_a_log_without_references_needs_a_file_of_them(tmp_path):
    log = openai(tmp_path)
    said = CliRunner().invoke(app, ["init", str(log), "--into", str(tmp_path / "workspace")])
    assert said.exit_code == 2
    assert "is a log of openai-batch, which holds no references" in said.stderr and "REFERENCES" in said.stderr
    assert not (tmp_path / "workspace").exists()
    references = tmp_path / "truth.csv"
    references.write_text("contract,day,total,note\nc1,2024-03-01,12.50,x\nc2,2024-03-02,1.00,y\n", encoding="utf-8")
    run = written(tmp_path, log, references)
    assert read_spec(tmp_path / "workspace").cases.id == "contract"
    assert (run.run.cases.judged, run.run.cases.truncated) == (1, 1)
    assert [(one.field, one.verdicts["ok"]) for one in run.columns] == [("day", 1), ("total", 1)]
    references.write_text("contract,day\nx1,2024-03-01\n", encoding="utf-8")
    said = CliRunner().invoke(app, ["init", str(log), str(references), "--into", str(tmp_path / "other")])
    assert said.exit_code == 2 and "no column holds the ids of" in said.stderr and "'c1'" in said.stderr


def test_who_answers_several_times_is_an_arm_and_readers_are_named(tmp_path):
    run = written(tmp_path, promptfoo(tmp_path, providers=2))
    assert {one.arm for one in run.columns} == {"provider-0, 0", "provider-1, 0"}
    (tmp_path / "fenced").mkdir()
    written(tmp_path / "fenced", lm_eval(tmp_path))
    spec = read_spec(tmp_path / "fenced" / "workspace")
    assert (spec.cases.payload, spec.cases.assume_finish) == ("fenced", "stop")
    text = (tmp_path / "fenced" / "workspace" / "audit.toml").read_text(encoding="utf-8")
    assert "Of 3 replies that ended cleanly 0 are a JSON object and no more" in text


def test_import_says_what_to_write_next(tmp_path):
    for log, rest in ((openai(tmp_path), " REFERENCES"), (promptfoo(tmp_path), "")):
        said = CliRunner().invoke(app, ["import", str(log)])
        assert f"next            auditor init {log.name}{rest}\n" in said.stdout
    assert "arm, by model   provider-0 3" in said.stdout
    assert "arm, by provider provider-0 3" in said.stdout


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_import_of_a_plain_file_says_which_ids_and_reasons_it_holds(tmp_path, form):
    rows = [("a", "stop"), ("b", "length"), ("c", None), ("a", "stop")]
    file = tmp_path / f"plain.{form}"
    if form == "jsonl":
        file.write_text("\n".join(json.dumps({"case_id": case, "finish": finish}) for case, finish in rows))
    elif form == "csv":
        file.write_text("\n".join(["case_id,finish", *(f"{case},{finish or ''}" for case, finish in rows)]))
    else:
        names = ["case_id", "finish"]
        pyarrow.parquet.write_table(pyarrow.table([list(each) for each in zip(*rows, strict=True)], names), file)
    said = CliRunner().invoke(app, ["import", str(file)]).stdout
    assert "rows            4\n" in said
    assert "ids             3: a, b, c\n" in said
    assert "finish reasons  stop 2, length 1, none 1\n" in said
    assert "outcomes        judged 2, truncated 1, unknown 1, by those reasons\n" in said
