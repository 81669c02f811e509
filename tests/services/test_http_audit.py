"""A whole audit with a service among its consumers: verdicts, what was not varied, and no trace of a secret."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

import auditor
from auditor.errors import ConsumerError
from tests.command_line import call
from tests.services.validator import serving

SECRET = "tok-9f8e7d6c5b4a3210"

SPEC = """
name = "shop"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
reference = "typed"
[fields.note]
type = "identifier"
reference = "typed"
[consumers.billing]
adapter = "python"
reads.day = "parsers:day"
[consumers.gate]
owner = "platform"
adapter = "http"
url = "{url}/validate/{{field}}"
headers = {{ Authorization = "Bearer {{env:API_TOKEN}}", X-Key = "env:API_TOKEN" }}
request = {{ value = "{{value}}" }}
value = "value"
message = "detail.0.msg"
version = "X-Version"
concurrency = 3
reads = {{ day = "day", note = "name" }}
"""

ROWS = [
    ("1", "day", "2024-03-01", "2024-03-01"),
    ("2", "day", "2024-03-02", "2024-03-03"),
    ("3", "day", "1 May 2024", "2024-05-01"),
    ("4", "note", "#500", "x"),
    ("5", "note", "#leak", "x"),
    ("6", "note", "#null", "x"),
    ("7", "note", "x", "x"),
    ("8", "note", "#echo", "x"),
]


def shop(folder: Path, url: str) -> Path:
    (folder / "parsers.py").write_text("from datetime import date\nday = date.fromisoformat\n")
    lines = ["case_id,field,prediction,reference", *(",".join(row) for row in ROWS)]
    (folder / "records.csv").write_text("\n".join(lines) + "\n")
    (folder / "audit.toml").write_text(SPEC.format(url=url))
    return folder


def test_its_answers_are_verdicts_and_the_secret_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    with serving(SECRET) as server:
        run = auditor.run(shop(tmp_path, server.url))
        assert server.headers_seen
        assert all(headers["X-Key"] == SECRET for headers in server.headers_seen)
        assert server.most_at_once <= 3
    gates = run.verdicts().filter("consumer = 'gate' AND verdict <> 'unreferenced'")
    verdicts = dict(gates.project("case_id, verdict").fetchall())
    expected = ("ok", "wrong", "rejected", "crashed", "rejected", "null", "ok", "crashed")
    assert verdicts == {str(number): verdict for number, verdict in enumerate(expected, 1)}
    assert run.folder is not None
    for suffix in ("json", "html", "md", "csv"):
        run.write(tmp_path / f"report.{suffix}")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
    tables = list(run.folder.rglob("*.parquet"))  # compressed, so they are read as well
    assert tables
    assert [path for path in tables if SECRET in str(duckdb.connect().read_parquet(str(path)).fetchall())] == []
    document = json.loads((run.folder / "run.json").read_text())
    (gate,) = [one for one in document["consumers"] if one["name"] == "gate"]
    assert gate["adapter"] == "http"
    assert gate["settings"]["service"] == "1.4.2"
    assert gate["not_fixed"] == ["clock", "zone", "locale", "hash seed"]
    why = "the audit does not start the service"
    parts = ("clock", "elsewhere", "hash seed", "locale", "network", "zone")
    assert gate["not_varied"] == [f"{part}: {why}" for part in parts]
    (crashed,) = [one for one in run.findings if one.code == "consumer-crashed"]
    assert crashed.title == "gate fails on some strings of note"
    assert crashed.cause.startswith("The service gives no whole answer")
    orders = [one for one in document["probe"]["environments"] if "gate" in one["consumers"]]
    assert {tuple(one["varied"]) for one in orders} == {("order",)}


def test_the_commands_show_what_was_not_varied_and_not_the_secret(tmp_path: Path) -> None:
    environment = os.environ | {"API_TOKEN": SECRET, "COLUMNS": "200"}
    with serving(SECRET) as server:
        spec = str(shop(tmp_path, server.url))
        commands = (["run", spec], ["read", "note", "#leak", "--spec", spec], ["doctor", spec])
        for words in commands:
            done = call(*words, variables=environment)
            said = " ".join((done.stdout + done.stderr).split())
            assert "gate" in said, said
            assert SECRET not in said
            assert "Traceback" not in said
            if words[0] == "run":
                assert "clock not varied" in said


def test_a_service_that_dies_in_the_middle_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    with serving(SECRET) as server:
        shop(tmp_path, server.url)
        rows = [
            "x,day,2024-03-01,2024-03-01",
            *(f"{number},note,order {number},order {number}" for number in range(400)),
        ]
        (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
        server.dies_after = 200
        with pytest.raises(ConsumerError) as caught:
            auditor.run(tmp_path, probe="off")
    assert "consumer gate: its service" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert list(tmp_path.rglob("run.json")) == []
