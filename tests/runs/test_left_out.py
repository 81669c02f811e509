"""A consumer whose program is not installed is left out, and every report says so: nobody takes it for a clean one."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import auditor
from auditor.errors import AuditorError, SpecError
from auditor.spec.engines import lacking
from auditor.spec.models import ConsumerSpec
from auditor.spec.read import read_spec
from tests.command_line import call
from tests.engines.adapters import need

SPEC = """
name = "shop"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
{reference}
[consumers.billing]
adapter = "python"
reads.day = "parsers:day"
[consumers.portal]
owner = "web"
adapter = "process"
command = ["no-such-runtime", "read.mjs"]
needs = {needs}
reads = ["day"]
"""


def shop(folder: Path, needs: str = '["no-such-runtime"]', reference: str = "", billing: str = "") -> Path:
    (folder / "parsers.py").write_text("from datetime import date\nday = date.fromisoformat\n")
    (folder / "records.csv").write_text("case_id,field,prediction,reference\n1,day,2024-03-01,2024-03-01\n")
    text = SPEC.format(needs=needs, reference=reference).replace("[consumers.portal]", f"{billing}\n[consumers.portal]")
    (folder / "audit.toml").write_text(text)
    return folder


def test_it_has_no_column_and_every_report_says_why(tmp_path: Path) -> None:
    run = auditor.run(shop(tmp_path), probe="off")
    assert [column.consumer for column in run.columns] == ["billing"]
    assert [(one.name, one.owner, one.missing) for one in run.run.left_out] == [("portal", "web", ("no-such-runtime",))]
    said = "portal (web) is left out: no-such-runtime is not installed, or not on PATH"
    for suffix in ("json", "html", "md"):
        written = run.write(tmp_path / f"report.{suffix}").read_text(encoding="utf-8")
        assert said in written.replace("\\", "")
    stored = json.loads((run.folder / "run.json").read_text()) if run.folder else {}
    assert stored["left_out"] == [{"name": "portal", "owner": "web", "missing": ["no-such-runtime"]}]
    assert auditor.load(run.folder).run.left_out == run.run.left_out


def test_the_commands_say_so_too(tmp_path: Path) -> None:
    spec = shop(tmp_path)
    shown = call("run", "--probe", "off", spec)
    assert (shown.returncode, "portal (web) is left out" in " ".join(shown.stdout.split())) == (0, True)
    read = call("read", "day", "2024-03-01", "--probe", "off", "--spec", spec)
    assert (read.returncode, "portal (web) is left out" in read.stdout) == (0, True)
    checked = call("consumer", "check", "portal", spec)
    assert (checked.returncode, "no-such-runtime is not installed, or not on PATH" in checked.stderr) == (2, True)


def test_an_engine_that_is_not_installed_leaves_its_consumer_out(tmp_path: Path) -> None:
    """The name of its own engine stands for driver and server, wherever the engine looks for them."""
    mart = '[consumers.mart]\nowner = "bi"\nadapter = "sql"\nengine = "spark"\nneeds = ["spark"]\n'
    shop(tmp_path, billing=mart + 'reads.day = "cast({value} as date)"\n')
    left_out = {one.name: one.missing for one in read_spec(tmp_path / "audit.toml").left_out}
    is_there = importlib.util.find_spec("pyspark") is not None
    assert left_out.get("mart") == (None if is_there else ("pyspark (pip install 'fidelity-auditor[spark]')",))


@pytest.mark.parametrize("engine", ["postgres", "mariadb"])
def test_an_engine_that_is_installed_leaves_nobody_out(engine: str) -> None:
    need(engine)
    assert lacking(ConsumerSpec(name="mart", adapter="sql", engine=engine)) == ()  # type: ignore[arg-type]
    elsewhere = ConsumerSpec(name="mart", adapter="sql", engine=engine, connection="env:URL")  # type: ignore[arg-type]
    assert lacking(elsewhere) == (), "a server that runs elsewhere is not looked for here"


def test_what_is_installed_is_not_left_out(tmp_path: Path) -> None:
    # sh is there, the command is not: that is a mistake, and no reason to leave the consumer out.
    with pytest.raises(AuditorError, match="no such program on PATH"):
        auditor.run(shop(tmp_path, needs='"sh"'), probe="off")


def test_who_reads_references_cannot_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="the field would have no truth there"):
        auditor.run(shop(tmp_path, reference='reference = "portal"'))


def test_an_audit_of_nobody_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="every consumer needs a program that is not installed"):
        auditor.run(shop(tmp_path, billing='needs = ["no-such-python"]'))


@pytest.mark.parametrize("needs", ["[]", "[1]", "true", '""'])
def test_needs_are_names_of_programs(tmp_path: Path, needs: str) -> None:
    with pytest.raises(SpecError, match="must list programs"):
        auditor.run(shop(tmp_path, needs=needs))
