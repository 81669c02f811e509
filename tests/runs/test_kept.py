"""What consumers had decoded when an audit failed is taken by the next audit, as long as nothing of it differs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import auditor
from auditor.errors import AuditorError
from tests.command_line import call
from tests.engines.adapters import need

COUNT = 600

SPEC = """
name = "shop"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
[consumers.billing]
adapter = "python"
root = "billing"
reads.day = "parsers:day"
[consumers.portal]
owner = "web"
adapter = "process"
command = ["{python}", "portal.py", "{folder}"]
reads = ["day"]
"""

PARSERS = """
import os
from datetime import date
CALLS = os.open("{folder}/calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def day(text):
    os.write(CALLS, b".")
    if os.path.exists("{folder}/shifted"):
        return date(2020, 1, 1)
    return date.fromisoformat(text)
"""

#: While the file `broken` is there, it says what is no answer, once billing has been asked for everything.
PORTAL = """
import json, os, sys, time
folder = sys.argv[1]
for line in sys.stdin:
    told = json.loads(line)
    if "start" in told:
        answer = {"ready": 1, "version": "1", "reads": ["day"]}
    elif "stop" in told:
        break
    else:
        answer = {"id": told["id"], "values": told["values"]}
        if os.path.exists(folder + "/broken") and len(told["values"]) > 10:
            while os.path.getsize(folder + "/calls") < COUNT:
                time.sleep(0.02)
            time.sleep(0.7)
            print("no answer", flush=True)
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An audit that has failed."""
    (tmp_path / "billing").mkdir()
    (tmp_path / "billing" / "parsers.py").write_text(PARSERS.replace("{folder}", str(tmp_path)))
    (tmp_path / "portal.py").write_text(PORTAL.replace("COUNT", str(COUNT)))
    (tmp_path / "audit.toml").write_text(SPEC.format(python=sys.executable, folder=tmp_path))
    days = [f"20{at // 28:02}-05-{at % 28 + 1:02}" for at in range(COUNT)]
    rows = [f"C-{at},day,{day},{day}" for at, day in enumerate(days)]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
    (tmp_path / "broken").touch()
    (tmp_path / "calls").touch()
    with pytest.raises(AuditorError, match="portal"):
        auditor.run(tmp_path, probe="off")
    assert calls(tmp_path) >= COUNT
    assert len(list(tmp_path.glob(".auditor/kept/*/*"))) == 1, "what billing had decoded, and not the portal"
    assert not list(tmp_path.glob(".auditor/runs/*"))
    (tmp_path / "broken").unlink()
    return tmp_path


def calls(folder: Path) -> int:
    """Count the strings that billing was asked for since the last time."""
    count = (folder / "calls").stat().st_size
    (folder / "calls").write_bytes(b"")
    return count


def test_the_next_audit_takes_it_and_says_so(shop: Path) -> None:
    calls(shop)
    done = call("run", "--probe", "off", folder=shop)
    assert done.returncode == 0, done.stderr
    assert 0 < calls(shop) < COUNT, "some are asked again, to see whether they are the same"
    assert f"billing: {COUNT} raw values as the audit that failed before had decoded them" in done.stderr
    assert "audit which failed had kept" in " ".join(done.stdout.split())
    run = auditor.load("latest", runs=shop / ".auditor" / "runs")
    assert run.column("day", "billing").verdicts["ok"] == COUNT
    assert not list(shop.glob(".auditor/kept/*")), "a run that is done needs it no more"
    auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT


def test_the_audit_that_fails_says_what_is_kept(shop: Path) -> None:
    (shop / "broken").touch()
    (shop / "calls").write_bytes(b"." * COUNT)
    done = call("run", "--probe", "off", folder=shop)
    assert done.returncode == 2
    assert "this audit fails; what billing decoded is kept for the next one of these cases" in done.stderr
    assert list(shop.glob(".auditor/kept/*/*")), "what had been kept is kept again"


def test_another_version_of_the_consumer_is_asked(shop: Path) -> None:
    parsers = shop / "billing" / "parsers.py"
    parsers.write_text(parsers.read_text().replace("return date.fromisoformat(text)", "return date(2020, 1, 1)"))
    run = auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT
    assert run.column("day", "billing").verdicts["wrong"] == COUNT, "one day for everything, in which nothing is due"
    assert "constant-output" in {one.code for one in run.findings}


@pytest.mark.parametrize("change", ["strings", "environment", "field"])
def test_other_strings_environments_and_fields_are_asked(shop: Path, change: str) -> None:
    file, old, new = {
        "strings": ("records.csv", "C-1,day,2000-05-02,2000-05-02", "C-1,day,2000-06-02,2000-05-02"),
        "environment": ("audit.toml", "[fields.day]", '[environment]\nzone = "Europe/Berlin"\n[fields.day]'),
        "field": ("audit.toml", 'type = "date"', 'type = "date"\ngrain = "month"'),
    }[change]
    text = (shop / file).read_text()
    assert old in text
    (shop / file).write_text(text.replace(old, new))
    auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT


def test_a_parser_that_answers_otherwise_is_asked_for_everything(shop: Path) -> None:
    """What it depends on besides its version, such as a file, is no part of any key."""
    (shop / "shifted").touch()
    run = auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT
    assert "constant-output" in {one.code for one in run.findings}


def test_a_file_of_the_root_that_changes_has_everything_asked(shop: Path) -> None:
    (shop / "billing" / "rates.json").write_text("{}")
    auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT


def test_what_somebody_else_runs_is_not_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("sqlalchemy")
    monkeypatch.setenv("WAREHOUSE_URL", f"sqlite:///{shop}/warehouse.db")
    warehouse = (
        '[consumers.warehouse]\nadapter = "sql"\nengine = "sqlalchemy"\nconnection = "env:WAREHOUSE_URL"\n'
        'reads.day = "date({value})"\n'
    )
    spec = (shop / "audit.toml").read_text()
    (shop / "audit.toml").write_text(spec.replace("[consumers.portal]", f"{warehouse}[consumers.portal]"))
    (shop / "broken").touch()
    (shop / "calls").write_bytes(b"." * COUNT)
    with pytest.raises(AuditorError, match="portal"):
        auditor.run(shop, probe="off")
    assert len(list(shop.glob(".auditor/kept/*/*"))) == 1, "billing's alone: a warehouse may be another one meanwhile"


def test_a_file_that_is_not_whole_is_none(shop: Path) -> None:
    kept = next(shop.glob(".auditor/kept/*/*"))
    kept.write_bytes(kept.read_bytes()[:-20])
    auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT


def test_what_is_not_stored_keeps_nothing(shop: Path) -> None:
    (shop / "broken").touch()
    for file in shop.glob(".auditor/kept/*/*"):
        file.unlink()
    with pytest.raises(AuditorError, match="portal"):
        auditor.run(shop, probe="off", store=False)
    assert not list(shop.glob(".auditor/kept/*/*"))


def test_a_consumer_without_a_root_has_the_files_of_the_spec_looked_at(shop: Path) -> None:
    (shop / "parsers.py").write_text((shop / "billing" / "parsers.py").read_text())
    spec = (shop / "audit.toml").read_text().replace('root = "billing"\n', "")
    (shop / "audit.toml").write_text(spec)
    (shop / "broken").touch()
    (shop / "calls").write_bytes(b"")
    with pytest.raises(AuditorError, match="portal"):
        auditor.run(shop, probe="off")
    (shop / "broken").unlink()
    (shop / "table.json").write_text("{}")  # which the parser may read, for all that is known
    calls(shop)
    auditor.run(shop, probe="off")
    assert calls(shop) >= COUNT
