"""Audits in which a warehouse is emulated: it decides nothing, unless its own records show no difference."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app
from auditor.decode.records import contract_of
from auditor.errors import ConsumerError, SpecError
from auditor.model.run import Run
from auditor.spec.read import read_spec

NATIVE = """
name = "contracts"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.total]
type = "decimal"
[consumers.app]
adapter = "sql"
engine = "sqlite"
reads.total = "cast({value} as decimal(18, 2))"
[consumers.books]
adapter = "sql"
engine = "duckdb"
reads.total = "try_cast({value} as decimal(18, 2))"
"""

EMULATED = """
[consumers.warehouse]
owner = "data-platform"
adapter = "sql"
engine = "snowflake"
emulate = true
reads.total = "try_cast(replace({value}, ',', '') as decimal(18, 2))"
"""

#: What Snowflake's documentation says of TRY_CAST: rounded half away from zero, NULL where it is no number.
RECORDED = {"1,234.50": "1234.50", "12.505": "12.51", "N/A": None, "7": "7.00"}


def write(folder: Path, spec: str) -> None:
    (folder / "audit.toml").write_text(spec)
    rows = {"1": "1,234.50", "2": "12.5", "3": "N/A", "4": "7"}
    for name, values in (("predictions", rows), ("references", rows | {"1": "1234.5", "3": "3"})):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("case_id", "total"), *values.items()])


def record(folder: Path, answers: Mapping[str, str | None], file: str = "warehouse.csv") -> None:
    """Write records of the warehouse."""
    consumer = read_spec(folder).consumers["warehouse"]
    about = {"engine": "snowflake", "version": "8.40.1", "recorded_at": "2026-11-30 10:00:00"}
    about["contract.total"] = contract_of(consumer, "total")
    with open(folder / file, "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("field", "raw_json", "status", "value", "type"))
        rows.writerows(("", name, "about", value, "") for name, value in about.items())
        for raw, value in answers.items():
            rows.writerow(("total", json.dumps(raw), "null" if value is None else "value", value, "NUMBER(18,2)"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write an audit of two engines that run and a warehouse that is emulated."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, NATIVE + EMULATED)
    return tmp_path


def said_of_others(run: Run) -> object:
    """Give all that a run says but of the warehouse."""
    columns = [one for one in run.columns if one.consumer != "warehouse"]
    return columns, run.findings, run.broken_references, run.fields, run.rates_withheld


def test_nothing_of_the_others_is_changed_by_an_emulated_column(workspace: Path) -> None:
    with_it = auditor.run(workspace / "audit.toml").run
    write(workspace, NATIVE.replace("[consumers.app]", EMULATED + "[consumers.app]"))
    first = auditor.run(workspace / "audit.toml").run
    write(workspace, NATIVE)
    without = auditor.run(workspace / "audit.toml").run
    assert with_it.findings
    assert said_of_others(with_it) == said_of_others(without) == said_of_others(first)


def test_its_column_says_what_it_is_and_is_struck_through(workspace: Path) -> None:
    told = CliRunner().invoke(app, ["run", "-o", "r.md", "-o", "r.html", "-o", "r.csv", "-o", "r.json"])
    assert told.exit_code in (0, 1), told.output
    column = auditor.load("latest", runs=workspace / ".auditor" / "runs").column("total", "warehouse")
    assert (column.label, column.untrusted) == ("emulated", ("emulated",))
    assert column.label_note.startswith("snowflake's text by sqlglot ")
    assert column.label_note.endswith("not calibrated: decides nothing")
    assert {name: n for name, n in column.verdicts.items() if n} == {"ok": 3, "null": 1}
    for name in ("r.md", "r.html", "r.csv", "r.json"):
        assert "not calibrated: decides nothing" in (workspace / name).read_text()
    assert "emulated: snowflake's text" in told.output
    assert told.output.count("the rate decides nothing") == 1
    assert "<s>" in (workspace / "r.html").read_text()
    consumer = next(one for one in auditor.load("latest").run.consumers if one.name == "warehouse")
    assert consumer.settings["original.total"] == "try_cast(replace({value}, ',', '') as decimal(18, 2))"


def test_the_stored_verdicts_are_those_of_the_columns(workspace: Path) -> None:
    run = auditor.run(workspace / "audit.toml", probe="off")
    rows = run.verdicts().fetchall()
    names = [name for name, *_ in run.verdicts().description]
    of = [dict(zip(names, row, strict=True)) for row in rows]
    for column in run.columns:
        counts = [one["verdict"] for one in of if one["consumer"] == column.consumer]
        assert {name: counts.count(name) for name in column.verdicts} == column.verdicts


def test_an_emulation_without_a_difference_counts_and_says_on_how_many_strings(workspace: Path) -> None:
    spec = (NATIVE + EMULATED).replace("emulate = true", 'emulate = true\ncalibrate = "warehouse.csv"')
    write(workspace, spec)
    record(workspace, RECORDED)
    run = auditor.run(workspace / "audit.toml").run
    column = run.column("total", "warehouse")
    assert column.label_note.endswith("calibrated on 4 strings")
    assert column.untrusted == ()
    assert (run.fields[0].usable_everywhere.count, run.fields[0].usable_everywhere.of) == (2, 4), "12.5 and 7"
    assert any("warehouse" in finding.consumers for finding in run.findings)


def test_an_emulation_that_differs_decides_nothing_and_shows_where(workspace: Path) -> None:
    spec = (NATIVE + EMULATED).replace("emulate = true", 'emulate = true\ncalibrate = "warehouse.csv"')
    write(workspace, spec)
    record(workspace, RECORDED | {"1,5": "1.50", "(3)": "-3.00"})
    run = auditor.run(workspace / "audit.toml").run
    column = run.column("total", "warehouse")
    assert column.label_note.endswith("differs from the warehouse on 2 of 6 strings: decides nothing")
    assert column.untrusted == ("emulated",)
    (note,) = [one for one in run.notes if "the emulation differs" in one]
    assert '"(3)" (recorded and emulated: decimal:-3.00 and null)' in note
    assert '"1,5" (recorded and emulated: decimal:1.50 and decimal:15.00)' in note
    assert not any("warehouse" in finding.consumers for finding in run.findings)


def test_records_of_another_expression_calibrate_nothing(workspace: Path) -> None:
    spec = (NATIVE + EMULATED).replace("emulate = true", 'emulate = true\ncalibrate = "warehouse.csv"')
    write(workspace, spec)
    record(workspace, RECORDED)
    write(workspace, spec.replace('18, 2))"\n', '18, 3))"\n', 3))
    with pytest.raises(ConsumerError, match="are not what was recorded"):
        auditor.run(workspace / "audit.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("try_to_decimal_of_mine({value})", "try_to_decimal_of_mine"),
        ("try_cast({value} as", "transpile reads.total"),
    ],
)
def test_what_duckdb_cannot_run_is_an_error_at_the_start(workspace: Path, text: str, says: str) -> None:
    write(workspace, NATIVE + EMULATED.replace("try_cast(replace({value}, ',', '') as decimal(18, 2))", text))
    with pytest.raises(ConsumerError) as caught:
        auditor.run(workspace / "audit.toml")
    assert "consumer warehouse" in str(caught.value)
    assert says in str(caught.value).lower()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("emulate = true\n", "", "snowflake cannot be run here"),
        ('engine = "snowflake"', 'engine = "postgres"', "makes no sense for postgres"),
        ('type = "decimal"', 'type = "decimal"\nreference = "warehouse"', "every column would rest on"),
        ("emulate = true", 'emulate = false\ncalibrate = "w.csv"', "makes no sense without emulate"),
        ("emulate = true", 'emulate = true\nstatement = "insert"', "where expressions are emulated"),
    ],
)
def test_mistakes_of_the_spec_name_the_ways(workspace: Path, old: str, new: str, says: str) -> None:
    write(workspace, (NATIVE + EMULATED).replace(old, new))
    with pytest.raises(SpecError) as caught:
        read_spec(workspace)
    assert says in str(caught.value)


def test_a_field_that_only_an_emulation_reads_has_a_column_and_nothing_else(workspace: Path) -> None:
    spec = NATIVE.replace("[consumers.app]", '[fields.fee]\ntype = "decimal"\n[consumers.app]') + EMULATED
    write(workspace, spec + 'reads.fee = "try_cast({value} as decimal(18, 2))"\n')
    for name in ("predictions", "references"):
        text = (workspace / f"{name}.csv").read_text().replace("total", "total,fee").splitlines()
        (workspace / f"{name}.csv").write_text("\n".join([text[0], *(f"{line},1.5" for line in text[1:])]) + "\n")
    run = auditor.run(workspace / "audit.toml").run
    assert run.column("fee", "warehouse").verdicts["ok"] == 4
    assert not [finding for finding in run.findings if finding.field == "fee"]


def test_one_string_is_read_and_called_emulated(workspace: Path) -> None:
    told = CliRunner().invoke(app, ["read", "total", "1,234.50"])
    lines = told.output.splitlines()
    assert lines[0] == '"1,234.50"  read by some only', "SQLite reads 1 and DuckDB nothing; the emulation has no say"
    said = "hint, no proof: it is emulated: the warehouse itself may read another value"
    assert said in [line.strip() for line in lines]


def test_an_audit_of_an_emulation_alone_has_its_column_and_no_finding(workspace: Path) -> None:
    alone = NATIVE[: NATIVE.index("[consumers.app]")] + EMULATED
    write(workspace, alone)
    run = auditor.run(workspace / "audit.toml", probe="off", broken_references="report").run
    column = run.column("total", "warehouse")
    # 1,234.50 is 1234.5 by the text of the expression, 12.5 and 7 are themselves, and N/A is no number.
    assert (column.verdicts["ok"], column.label, run.findings) == (3, "emulated", ())
