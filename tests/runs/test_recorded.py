"""Whole audits in which a warehouse answers from records: what they lack is blocked, and never guessed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app
from auditor.decode.records import contract_of
from auditor.spec.read import read_spec

SPEC = """
name = "contracts"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.effective_date]
type = "date"
reference = "%s"
[consumers.warehouse]
owner = "data-platform"
adapter = "recorded"
engine = "snowflake"
results = "recorded/warehouse.csv"
reads.effective_date = "try_to_date({value})"
[consumers.app]
adapter = "sql"
engine = "duckdb"
reads.effective_date = "try_cast({value} as date)"
"""

#: What Snowflake's documentation says of AUTO: slashes are month first; a text that is no date is NULL.
RECORDED = {"2024-03-01": "2024-03-01", "03/01/2024": "2024-03-01", "March 1, 2024": None, "2024-03-04": "2024-03-04"}


def write(folder: Path, reference: str, predictions: dict[str, str], references: dict[str, str]) -> None:
    """Write a workspace whose warehouse was recorded for four strings."""
    (folder / "audit.toml").write_text(SPEC % reference)
    for name, values in (("predictions", predictions), ("references", references)):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("case_id", "effective_date"), *values.items()])
    spec = read_spec(folder)
    about = {"engine": "snowflake", "version": "8.40.1", "recorded_at": "2026-11-30 10:00:00"}
    about["contract.effective_date"] = contract_of(spec.consumers["warehouse"], "effective_date")
    (folder / "recorded").mkdir(exist_ok=True)
    with open(folder / "recorded" / "warehouse.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("FIELD", "RAW", "STATUS", "VALUE", "TYPE"))
        out.writerows(("", name, "about", value, "") for name, value in about.items())
        for raw, value in RECORDED.items():
            out.writerow(("effective_date", json.dumps(raw), "null" if value is None else "value", value, "DATE[SB4]"))


PREDICTIONS = {"1": "2024-03-01", "2": "03/01/2024", "3": "March 1, 2024", "4": "2024-03-05", "5": "2024-03-05"}
REFERENCES = {"1": "2024-03-01", "2": "2024-03-01", "3": "2024-03-01", "4": "2024-03-04", "5": "2024-03-05"}
REFERENCES |= {"6": "2024-03-05"}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write an audit whose references are in canonical form; case 6 has no prediction."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "typed", PREDICTIONS, REFERENCES)
    return tmp_path


def test_what_the_records_lack_blocks_the_column_of_the_warehouse_alone(workspace: Path) -> None:
    run = auditor.run(workspace / "audit.toml")
    warehouse, app_column = (run.column("effective_date", name) for name in ("warehouse", "app"))
    assert (warehouse.judged, warehouse.blocked, warehouse.support) == (3, 3, 6)
    assert warehouse.blocked_by == {"missing": 1, "not_recorded": 2}
    assert {name: n for name, n in warehouse.verdicts.items() if n} == {"ok": 2, "null": 1}
    assert sum(warehouse.verdicts.values()) == warehouse.judged
    assert warehouse.content_rate == 2 / 3
    assert warehouse.recoverable == 0
    assert (app_column.judged, app_column.blocked_by) == (5, {"missing": 1})
    assert app_column.recoverable == 1
    (field,) = run.run.fields
    assert (field.usable_everywhere.count, field.usable_everywhere.of) == (1, 3), "cases 4 and 5 are not known"
    (matrix,) = field.disagreements
    assert (matrix.strings, matrix.same, matrix.only_left, matrix.neither) == (4, 2, 1, 1)


def test_nothing_is_found_in_strings_that_the_records_lack(workspace: Path) -> None:
    write(workspace, "typed", {"1": "2024-03-05", "2": "2024-03-06"}, {"1": "2024-03-05", "2": "2024-03-06"})
    run = auditor.run(workspace / "audit.toml")
    assert not run.findings
    column = run.column("effective_date", "warehouse")
    assert (column.judged, column.blocked_by, column.content_rate) == (0, {"not_recorded": 2}, None)


def test_no_shape_is_called_split_or_common_for_want_of_records(workspace: Path) -> None:
    codes = {finding.code for finding in auditor.run(workspace / "audit.toml").findings}
    assert codes == {"acceptance-disagreement", "format-ceiling"}, "whether ISO dates are read alike is not known"
    known = {case: text for case, text in PREDICTIONS.items() if case < "4"}
    write(workspace, "typed", known, {case: REFERENCES[case] for case in known})
    codes = {finding.code for finding in auditor.run(workspace / "audit.toml").findings}
    assert codes == {"acceptance-disagreement", "format-ceiling", "common-shape"}


@pytest.mark.parametrize("reference", ["warehouse", "each"])
def test_a_reference_that_is_not_recorded_is_not_broken_and_blocks(workspace: Path, reference: str) -> None:
    write(workspace, reference, PREDICTIONS, REFERENCES | {"3": "March 1, 2024"})
    run = auditor.run(workspace / "audit.toml", broken_references="report")
    warehouse, app_column = (run.column("effective_date", name) for name in ("warehouse", "app"))
    # Case 3: the reference is null in the record. Cases 5 and 6: it is not recorded; case 6 is missing before that.
    assert (warehouse.broken_references, warehouse.blocked_by) == (1, {"missing": 1, "not_recorded": 2})
    broken = {(one.case_id, one.decoder) for one in run.run.broken_references}
    if reference == "warehouse":
        assert broken == {("3", "warehouse")}
        assert (app_column.broken_references, app_column.blocked_by) == (1, {"missing": 1, "not_recorded": 1})
        assert app_column.judged == 3
    else:
        assert broken == {("3", "warehouse"), ("3", "app")}
        assert app_column.blocked_by == {"missing": 1}


def test_nothing_is_varied_and_every_report_says_so_and_as_of_when(workspace: Path) -> None:
    outputs = [f"r.{suffix}" for suffix in ("md", "html", "csv", "json")]
    told = CliRunner().invoke(app, ["run", *(part for name in outputs for part in ("-o", name))])
    assert told.exit_code == 1, told.output
    words = "native as of 2026-11-30, snowflake 8.40.1"
    for text in (told.output.replace("\n      ", " "), *((workspace / name).read_text() for name in outputs)):
        assert words in text
    for text in (told.output, (workspace / "r.md").read_text(), (workspace / "r.html").read_text()):
        assert "not recorded 2" in " ".join(text.split())
        assert "environment not varied" in " ".join(text.split())
    again = CliRunner().invoke(app, ["report", "latest"])
    assert words in again.output.replace("\n      ", " ")
    assert '<td class="muted">not recorded</td>' not in (workspace / "r.html").read_text()
    document = json.loads((workspace / "r.json").read_text())
    column = next(one for one in document["columns"] if one["consumer"] == "warehouse")
    assert (column["label"], column["label_note"]) == ("recorded", words)
    rows = list(csv.DictReader((workspace / "r.csv").open()))
    assert [row["blocked_not_recorded"] for row in rows] == ["2", "0"]


def test_one_string_is_read_from_the_records_or_not_recorded(workspace: Path) -> None:
    told = CliRunner().invoke(app, ["read", "effective_date", "03/01/2024", "2024-03-05"])
    assert told.exit_code == 0, told.output
    lines = told.output.splitlines()
    assert lines[0] == '"03/01/2024"  read by some only'
    assert lines[3] == '"2024-03-05"  not recorded for 1'
    assert lines[4].startswith("  warehouse  not recorded: the records hold no answer for it")


def test_the_doctor_says_of_which_day_the_records_are(workspace: Path) -> None:
    told = CliRunner().invoke(app, ["doctor", "audit.toml"])
    assert "consumer warehouse" in told.output
    assert "records, native as of 2026-11-30, snowflake 8.40.1, in which nothing can be varied" in told.output


def test_the_version_is_that_of_the_file_and_the_manifest_that_of_the_cases(workspace: Path) -> None:
    first = auditor.run(workspace / "audit.toml", probe="off").run
    file = workspace / "recorded" / "warehouse.csv"
    file.write_text(file.read_text() + 'effective_date,"""2024-03-05""",value,2024-03-05,DATE[SB4]\n')
    second = auditor.run(workspace / "audit.toml", probe="off").run
    assert first.manifest_sha256 == second.manifest_sha256
    assert first.consumers[0].version != second.consumers[0].version
    assert second.column("effective_date", "warehouse").blocked_by == {"missing": 1}


def test_a_shape_of_which_nothing_is_recorded_is_not_shown_as_refused(workspace: Path) -> None:
    write(workspace, "typed", PREDICTIONS | {"5": "5.3.2024", "4": "2024-03-06"}, REFERENCES)
    run = auditor.run(workspace / "audit.toml", probe="off")
    shapes = {row.shape: row for row in run.run.fields[0].shapes}
    assert shapes["d.d.dddd"].not_recorded == {"warehouse": 1}
    assert (shapes["dddd-dd-dd"].rows, shapes["dddd-dd-dd"].not_recorded) == (2, {"warehouse": 1})
    page = run.write(workspace / "r.html").read_text()
    assert page.count('<td class="muted">not recorded</td>') == 1
    assert "1/1<small>1 right</small>" in page


def test_a_reference_without_a_record_blocks_in_every_environment(workspace: Path) -> None:
    """Case 2 is right on the 1st of March alone; of case 1 nobody knows, whatever the day."""
    moving = '[consumers.app]\nadapter = "python"\nreads.effective_date = "parsers:read"\n'
    write(workspace, "warehouse", {"1": "today", "2": "today"}, {"1": "2024-03-05", "2": "2024-03-01"})
    spec = (workspace / "audit.toml").read_text()
    (workspace / "audit.toml").write_text(spec.split("[consumers.app]")[0] + moving)
    today = "datetime.date.today() if text == 'today' else datetime.date.fromisoformat(text)"
    (workspace / "parsers.py").write_text(f"import datetime\n\n\ndef read(text):\n    return {today}\n")
    column = auditor.run(workspace / "audit.toml").column("effective_date", "app")
    assert (column.judged, column.blocked_by) == (1, {"not_recorded": 1})
    assert column.flips["clock"] == 1
    assert {entry["judged"] for entry in column.by_environment} == {1}


def test_findings_that_differ_in_what_is_not_recorded_have_names_of_their_own(workspace: Path) -> None:
    lax = '[consumers.lax]\nadapter = "python"\nreads.effective_date = "parsers:day"\n'
    (workspace / "audit.toml").write_text((workspace / "audit.toml").read_text() + lax)
    (workspace / "parsers.py").write_text(
        "from dateutil import parser\n\ndef day(text):\n    return parser.parse(text).date()\n"
    )
    rows = {"1": "March 1, 2024", "2": "March 4, 2024"}  # the first is recorded as NULL, the second is not recorded
    with open(workspace / "predictions.csv", "w", newline="") as file:
        csv.writer(file).writerows([("case_id", "effective_date"), *rows.items()])
    run = auditor.run(workspace / "audit.toml", probe="off")
    found = [one for one in run.findings if one.code == "acceptance-disagreement"]
    assert {frozenset(one.consumers) for one in found} == {
        frozenset({"lax", "app", "warehouse"}),
        frozenset({"lax", "app"}),
    }
    assert len({one.fingerprint for one in found}) == len(found)


def test_a_shape_of_which_some_strings_are_not_recorded_is_read_alike_as_far_as_is_known(workspace: Path) -> None:
    run = auditor.run(workspace / "audit.toml", probe="off")
    [field] = run.run.fields
    alike = {row.shape: row.alike for row in field.shapes}
    # 2024-03-01 and 2024-03-05 have one shape; of the second nobody knows what the warehouse makes.
    assert alike["dddd-dd-dd"] is True
    assert alike["dd/dd/dddd"] is False


def test_a_shape_of_which_nobody_has_a_whole_record_is_not_known_to_be_read_alike(workspace: Path) -> None:
    write(workspace, "typed", dict.fromkeys(REFERENCES, "2024-03-05"), REFERENCES)
    spec = (workspace / "audit.toml").read_text().replace('engine = "duckdb"', 'engine = "snowflake"')
    (workspace / "audit.toml").write_text(spec.replace('"sql"', '"recorded"\nresults = "recorded/warehouse.csv"'))
    text = (workspace / "audit.toml").read_text().replace("try_cast({value} as date)", "try_to_date({value})")
    (workspace / "audit.toml").write_text(text)
    run = auditor.run(workspace / "audit.toml", probe="off")
    [row] = run.run.fields[0].shapes
    assert (row.not_recorded, row.alike) == ({"warehouse": 6, "app": 6}, None)
    assert json.loads(run.write(workspace / "r.json").read_text())["fields"][0]["shapes"][0]["alike"] is None
    assert auditor.load(run.folder).run == run.run
    assert "<td>not known</td>" in run.write(workspace / "r.html").read_text()


def test_a_file_written_by_hand_as_the_readme_shows_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme[readme.index("  field,raw_json,status,value,type,error\n") :].partition("  ```")[0]
    (tmp_path / "warehouse.csv").write_text("\n".join(line[2:] for line in shown.splitlines()), encoding="utf-8")
    (tmp_path / "p.csv").write_text("case_id,total\n1,12.50\n2,n/a\n3,twelve\n4,13\n", encoding="utf-8")
    (tmp_path / "r.csv").write_text("case_id,total\n1,12.5\n2,1\n3,12\n4,13\n", encoding="utf-8")
    spec = {
        "name": "by hand",
        "cases": {"predictions": "p.csv", "references": "r.csv"},
        "fields": {"total": {"type": "decimal"}},
        "consumers": {
            "warehouse": {
                "adapter": "recorded",
                "engine": "snowflake",
                "results": "warehouse.csv",
                "reads": {"total": "{value}::number(18, 2)"},
            }
        },
    }
    run = auditor.run(spec, probe="off")
    found = dict(run.verdicts().project("case_id, verdict").fetchall())
    assert found == {"1": "ok", "2": "null", "3": "rejected", "4": "not_recorded"}
    assert run.column("total", "warehouse").label_note == "native as of 2026-11-30, snowflake 8.40.1"
    spec["consumers"]["warehouse"]["reads"]["total"] = "{value}::number(38, 2)"
    with pytest.raises(auditor.ConsumerError, match=r"not what was recorded \(d4cc7005b834dff8, now [0-9a-f]{16}\)"):
        auditor.run(spec, probe="off")
