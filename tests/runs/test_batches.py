"""Consumers that read whole columns: what production's one call makes of them is the score."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import auditor

SPEC = """
name = "batches"

[cases]
predictions = "pairs.csv"
references = "pairs.csv"

[fields.d]
type = "{type}"
reference = "{reference}"

[consumers.loader]
adapter = "python"
batch = true
reads.d = "parsers:load"
{more}
"""


def workspace(
    folder: Path, rows: Sequence[tuple[str | None, str | None]], parser: str, *, more: str = "", **field: str
) -> Path:
    """Write a spec with one field and one consumer of batches, and pairs of predictions and references."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "pairs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case_id", "field", "prediction", "reference"])
        writer.writerows([f"c{number}", "d", *row] for number, row in enumerate(rows))
    (folder / "parsers.py").write_text(parser)
    spec = folder / "audit.toml"
    spec.write_text(SPEC.format(type=field.get("type", "date"), reference=field.get("reference", "typed"), more=more))
    return spec


def decodings(run: auditor.Run, role: str) -> dict[str, tuple[str, str | None]]:
    """Give status letter and value of each raw value of a role, straight from the stored run."""
    found = run.table("outcomes").filter(f"role_{role}").project("token, s0, v0").fetchall()
    return {token.strip('"'): (status, value) for token, status, value in found}


INFER = """
from datetime import datetime

def load(rows):
    "Infer the format from the first row, as many loaders do."
    order = "%d/%m/%Y" if rows and int(rows[0][:2]) > 12 else "%m/%d/%Y"
    out = []
    for row in rows:
        try:
            out.append(datetime.strptime(row, order).date())
        except ValueError:
            out.append(None)
    return out
"""


def test_predictions_and_references_are_batches_of_their_own(tmp_path):
    rows = [("13/03/2024", "03/01/2024"), ("01/03/2024", "01/03/2024")]
    run = auditor.run(workspace(tmp_path, rows, INFER, reference="loader"), probe="off")
    # 01/03/2024 is 1 March after 13/03/2024, and 3 January in the column that starts with 03/01/2024.
    assert decodings(run, "prediction")["01/03/2024"] == ("v", "date:2024-03-01")
    assert decodings(run, "reference")["01/03/2024"] == ("v", "date:2024-01-03")
    assert run.column("d", "loader").verdicts["ok"] == 0
    assert run.column("d", "loader").verdicts["wrong"] == 2


def test_a_batch_holds_the_rows_of_the_file_in_order_and_as_often(tmp_path):
    parser = "def load(rows): return ['|'.join(rows)] * len(rows)"
    rows = [("b", "x"), ("a", "x"), ("b", ""), (None, "x"), ("", "y")]
    run = auditor.run(workspace(tmp_path, rows, parser, type="identifier", reference="loader"), probe="off")
    assert {value for _, value in decodings(run, "prediction").values()} == {"text:b|a|b"}
    assert {value for _, value in decodings(run, "reference").values()} == {"text:x|x|x|y"}


def test_one_bad_row_rejects_the_whole_load_and_says_which(tmp_path):
    parser = "from datetime import date\ndef load(rows): return [date.fromisoformat(row) for row in rows]"
    rows = [("2024-03-01", "2024-03-01"), ("N/A", "2024-03-02"), ("2024-03-03", "2024-03-03")]
    run = auditor.run(workspace(tmp_path, rows, parser), probe="off")
    assert run.column("d", "loader").verdicts["rejected"] == 3
    errors = run.table("faults").filter("consumer = 0").project("error").distinct().fetchall()
    assert errors == [("the batch of 3 rows: ValueError: Invalid isoformat string: 'N/A'",)]


def test_a_string_that_one_batch_reads_in_two_ways_is_rejected(tmp_path):
    parser = "from datetime import date\ndef load(rows): return [date(2024, 3, n + 1) for n in range(len(rows))]"
    rows = [("1 March", "2024-03-01"), ("2 March", "2024-03-02"), ("1 March", "2024-03-01")]
    run = auditor.run(workspace(tmp_path, rows, parser), probe="off")
    assert decodings(run, "prediction") == {"1 March": ("r", None), "2 March": ("v", "date:2024-03-02")}
    errors = run.table("faults").filter("consumer = 0").project("error").distinct().fetchall()
    assert errors == [("read in two ways: date:2024-03-01 in row 1, date:2024-03-03 in row 3",)]


def test_unrelated_predictions_are_in_the_batch_and_not_in_the_score(tmp_path):
    (tmp_path / "parsers.py").write_text("def load(rows): return [str(len(rows))] * len(rows)")
    (tmp_path / "p.csv").write_text("case_id,d\na,1\nb,2\nz,3\n")
    (tmp_path / "r.csv").write_text("case_id,d\na,3\nb,3\n")
    spec = SPEC.format(type="identifier", reference="typed", more="")
    spec = spec.replace('predictions = "pairs.csv"', 'predictions = "p.csv"').replace('"pairs.csv"', '"r.csv"')
    (tmp_path / "audit.toml").write_text(spec)
    run = auditor.run(tmp_path / "audit.toml", probe="off")
    assert run.run.cases.unrelated == 1
    assert run.column("d", "loader").verdicts["ok"] == 2


def test_a_batch_beside_consumers_of_single_strings_counts_each_string_once(tmp_path):
    more = '[consumers.single]\nadapter = "python"\nreads.d = "parsers:one"'
    parser = INFER + (
        "\nasked = []\n"
        "def one(text):\n    assert text not in asked\n    asked.append(text)\n    return load([text])[0]\n"
    )
    rows = [("13/03/2024", "01/03/2024"), ("01/03/2024", "13/03/2024"), ("01/03/2024", "2024-03-01")]
    run = auditor.run(workspace(tmp_path, rows, parser, more=more), broken_references="report", probe="off")
    matrix = run.run.fields[0].disagreements[0]
    assert run.run.fields[0].distinct == 3
    assert matrix.strings == 3
    (shape,) = [shape for shape in run.run.fields[0].shapes if shape.shape == "dd/dd/dddd"]
    assert (shape.strings, shape.rows) == (2, 3)
    finding = next(one for one in run.findings if one.code == "value-disagreement")
    assert "1 distinct string" in finding.detail


def test_payloads_and_batches_of_one_field(tmp_path):
    (tmp_path / "parsers.py").write_text(
        "from pydantic import BaseModel\nclass M(BaseModel):\n    d: str\n    e: str\n"
        "def load(rows): return ['|'.join(rows)] * len(rows)"
    )
    (tmp_path / "p.csv").write_text("case_id,d,e\na,1,x\nb,2,y\nc,1,z\n")
    (tmp_path / "r.csv").write_text("case_id,d,e\na,1,x\nb,2,y\nc,1,z\n")
    more = '[consumers.api]\nadapter = "pydantic"\nmodel = "parsers:M"\nreads.d = "d"\n'
    spec = SPEC.format(type="identifier", reference="typed", more=more)
    spec = spec.replace('predictions = "pairs.csv"', 'predictions = "p.csv"').replace('"pairs.csv"', '"r.csv"')
    (tmp_path / "audit.toml").write_text(spec)
    run = auditor.run(tmp_path / "audit.toml", probe="quick")
    assert run.column("d", "api").verdicts["ok"] == 3
    assert {value for _, value in decodings(run, "prediction").values()} == {"text:1|2|1"}


def test_a_crash_of_the_load_is_a_finding_about_the_batch(tmp_path):
    parser = "import os\ndef load(rows):\n    if len(rows) > 1:\n        os._exit(7)\n    return rows"
    rows = [("b", "b"), ("a", "a")]
    run = auditor.run(workspace(tmp_path, rows, parser, type="identifier"), probe="quick")
    assert run.column("d", "loader").verdicts["crashed"] == 2
    (finding,) = [one for one in run.findings if one.code == "consumer-crashed"]
    assert finding.title == "loader dies on a batch of d"
    assert finding.affected == 2


def test_duplicates_stay_in_the_batch_so_that_sniffing_a_sample_shows(tmp_path):
    """After more than 100 whole numbers polars takes the column for whole numbers (bug case B43)."""
    parser = (
        "import io\nimport polars as pl\n"
        "def load(rows):\n"
        "    text = 'v\\n' + '\\n'.join(rows)\n"
        "    return pl.read_csv(io.StringIO(text), ignore_errors=True)['v'].to_list()\n"
    )
    rows = [("1", "1")] * 101 + [("2.1", "2.1")]
    run = auditor.run(workspace(tmp_path, rows, parser, type="decimal"), probe="off")
    assert decodings(run, "prediction")["2.1"] == ("n", None)
    assert run.column("d", "loader").verdicts["null"] == 1


@pytest.mark.parametrize("adapter", ["sql", "pydantic"])
def test_batch_is_for_python_consumers(tmp_path, adapter):
    rest = {
        "sql": 'engine = "duckdb"\nreads.d = "try_cast({value} as date)"',
        "pydantic": 'model = "parsers:M"\nreads.d = "d"',
    }
    text = f'[consumers.other]\nadapter = "{adapter}"\nbatch = true\n{rest[adapter]}\n'
    spec = workspace(tmp_path, [("a", "a")], "", more=text)
    with pytest.raises(auditor.AuditorError, match=r"consumers\.other\.batch.*makes no sense for a"):
        auditor.run(spec)


def test_reading_strings_gives_them_to_a_batch_together(tmp_path):
    spec = workspace(tmp_path, [("13/03/2024", "2024-03-13")], INFER)
    first, second = auditor.read("d", "13/03/2024", "01/03/2024", spec=spec)
    assert second.decodings["loader"].value == "date:2024-03-01"
    (alone,) = auditor.read("d", "01/03/2024", spec=spec)
    assert alone.decodings["loader"].value == "date:2024-01-03"
    assert first.decodings["loader"].value == "date:2024-03-13"


def test_strings_of_a_batch_are_read_together_in_other_environments_too(tmp_path):
    """The first of two rows decides between day and month, everywhere; besides the rows only the clock moves any."""
    parser = INFER.replace("import datetime", "import date, datetime").replace(
        "out.append(None)", "out.append(date.today() if row == 'today' else None)"
    )
    spec = workspace(tmp_path, [("13/03/2024", "2024-03-13")], parser)
    _, second, third = auditor.read("d", "13/03/2024", "01/03/2024", "today", spec=spec)
    assert second.decodings["loader"].value == "date:2024-03-01"
    assert {one.code for one in second.dependences["loader"]} == {"neighbour-dependent", "order-dependent"}
    assert third.decodings["loader"].value == "date:2024-03-08"
    (dependence,) = [one for one in third.dependences["loader"] if one.code == "clock-dependent"]
    assert {one.environment: one.value for one in dependence.decodings}["clock 2024-03-31 09:05"] == "date:2024-03-31"


def test_a_batch_holds_what_completions_gave_and_nothing_of_those_cut_off(tmp_path):
    (tmp_path / "parsers.py").write_text("def load(rows): return [repr(rows)] * len(rows)")
    replies = [
        ({"d": "a"}, "stop"),
        ({"d": 3.0}, "stop"),
        ({"d": "cut"}, "length"),
        ({"d": None}, "stop"),
        ({}, "stop"),
        ({"d": "a"}, "stop"),
    ]
    lines = [
        json.dumps({"case_id": f"c{number}", "completion": json.dumps(reply), "finish_reason": finish})
        for number, (reply, finish) in enumerate(replies)
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    (tmp_path / "r.csv").write_text("case_id,d\n" + "".join(f"c{number},x\n" for number in range(6)))
    for receives, seen in (("text", "text:['a', '3.0', 'a']"), ("python", "text:['a', 3.0, None, 'a']")):
        spec = SPEC.format(type="identifier", reference="typed", more=f'receives = "{receives}"')
        spec = spec.replace('predictions = "pairs.csv"', 'predictions = "p.jsonl"').replace('"pairs.csv"', '"r.csv"')
        (tmp_path / "audit.toml").write_text(spec)
        run = auditor.run(tmp_path / "audit.toml", probe="off")
        assert {value for _, value in decodings(run, "prediction").values()} - {None} == {seen}
        assert run.column("d", "loader").blocked_by == {"truncated": 1}


def test_production_batches_have_a_fate_each(tmp_path):
    parser = "from datetime import date\ndef load(rows): return [date.fromisoformat(row) for row in rows]"
    rows = [("2024-03-01", "2024-03-01"), ("N/A", "2024-03-02"), ("2024-03-03", "2024-03-03")]
    spec = workspace(tmp_path, rows, parser, more="batch_size = 2")
    run = auditor.run(spec, probe="off")
    # Python's own fromisoformat refuses N/A, which costs the row that is loaded with it and not the third.
    assert run.column("d", "loader").verdicts["rejected"] == 2
    assert run.column("d", "loader").verdicts["ok"] == 1
    errors = run.table("faults").filter("consumer = 0").project("error").distinct().fetchall()
    assert errors == [("the batch of 2 rows: ValueError: Invalid isoformat string: 'N/A'",)]
    [consumer] = run.run.consumers
    assert consumer.settings["batch_size"] == "2"


def test_each_production_batch_infers_for_itself(tmp_path):
    rows = [("13/03/2024", "2024-03-13"), ("01/03/2024", "2024-03-01"), ("02/03/2024", "2024-02-03")]
    run = auditor.run(workspace(tmp_path, rows, INFER, more="batch_size = 2"))
    # 13/03 makes the first two rows day first; the third is alone in its batch and month first.
    assert decodings(run, "prediction") == {
        "13/03/2024": ("v", "date:2024-03-13"),
        "01/03/2024": ("v", "date:2024-03-01"),
        "02/03/2024": ("v", "date:2024-02-03"),
    }
    assert run.column("d", "loader").verdicts["ok"] == 3
    assert "neighbour-dependent" in {finding.code for finding in run.findings}


def test_a_string_that_two_batches_read_otherwise_is_rejected(tmp_path):
    rows = [("13/03/2024", "2024-03-13"), ("01/03/2024", "2024-03-01"), ("01/03/2024", "2024-03-01")]
    run = auditor.run(workspace(tmp_path, rows, INFER, more="batch_size = 2"), probe="off")
    assert run.column("d", "loader").verdicts["rejected"] == 2
    errors = run.table("faults").filter("error LIKE 'read in%'").project("error").distinct().fetchall()
    assert errors == [("read in two ways: date:2024-03-01 in row 2, date:2024-01-03 in row 3",)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("batch_size = 0", "consumers.loader.batch_size"),
        ("batch_size = true", "must be a whole number"),
    ],
)
def test_a_batch_size_is_a_number_of_rows(tmp_path, more, said):
    with pytest.raises(auditor.AuditorError, match=said):
        auditor.run(workspace(tmp_path, [("a", "a")], INFER, more=more))


def test_a_batch_size_is_for_batches_only(tmp_path):
    spec = workspace(tmp_path, [("a", "a")], INFER, more="batch_size = 5")
    spec.write_text(spec.read_text().replace("batch = true\n", ""))
    with pytest.raises(auditor.AuditorError, match="add batch = true"):
        auditor.run(spec)
