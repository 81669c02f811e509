"""Comparisons of consumers that are no plain parsers: recorded, emulated, and such as receive JSON null as nothing."""

from __future__ import annotations

import csv
import json

from auditor.decode.records import contract_of
from auditor.spec.read import read_spec
from tests.comparisons import SPEC, Workspace, ids

CASES = ids(20)

WAREHOUSE = """name = "totals"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.total]
type = "decimal"
reference = "typed"
[consumers.books]
adapter = "sql"
engine = "duckdb"
reads.total = "try_cast({value} as decimal(18, 2))"
[consumers.warehouse]
engine = "snowflake"
reads.total = "try_cast(replace({value}, ',', '') as decimal(18, 2))"
"""


def record(workspace, answers):
    """Write what the warehouse gave for some strings."""
    consumer = read_spec(workspace.folder).consumers["warehouse"]
    about = {"engine": "snowflake", "version": "8.40.1", "recorded_at": "2026-11-30 10:00:00"}
    about["contract.total"] = contract_of(consumer, "total")
    with (workspace.folder / "warehouse.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("field", "raw_json", "status", "value", "type"))
        rows.writerows(("", name, "about", value, "") for name, value in about.items())
        for raw, value in answers.items():
            rows.writerow(("total", json.dumps(raw), "null" if value is None else "value", value, "NUMBER(18,2)"))


def test_what_is_not_recorded_is_blocked_and_flips_so(tmp_path):
    spec = WAREHOUSE + 'adapter = "recorded"\nresults = "warehouse.csv"\n'
    workspace = Workspace(tmp_path, spec)
    record(workspace, {"7": "7.00", "1,000": "1000.00", "N/A": None})
    workspace.table("references.csv", dict.fromkeys(CASES, "7"), "total")
    predicted = dict.fromkeys(CASES, "7") | {"C-001": "N/A"}
    workspace.table("predictions.csv", predicted, "total")
    old = workspace.run().run.run_id
    workspace.table("predictions.csv", predicted | {"C-002": "8", "C-003": "8", "C-004": "1,000"}, "total")
    new = workspace.run().run.run_id
    found = {one["consumer"]: one for one in workspace.document("drift", old, new)["columns"]}
    assert [(flip["old"], flip["new"], flip["kind"], flip["cases"]) for flip in found["warehouse"]["flips"]] == [
        ("ok", "wrong", "content", ["C-004"]),
        ("ok", "not_recorded", "operational", ["C-002", "C-003"]),
    ]
    assert found["warehouse"]["new"]["blocked_by"] == {"not_recorded": 2}
    assert found["books"]["paired"]["discordant"] == 3

    record(workspace, {"7": "7.00", "1,000": "1000.00", "8": "8.00", "N/A": None})
    again = workspace.run().run.run_id
    (tmp_path / "audit.toml").rename(tmp_path / "none.toml")
    split = {one["consumer"]: one for one in workspace.document("drift", old, again, "--split")["split"]}
    # The old run never asked its records for "8", nor for "1,000": three cases are unknown under them.
    assert [(cell["ok"], cell["judged"], cell["unknown_cases"]) for cell in split["warehouse"]["cells"]] == [
        (19, 20, 0),
        (19, 20, 0),
        (16, 20, 3),
        (16, 20, 0),
    ]


def test_an_emulation_is_compared_in_its_own_columns(tmp_path):
    workspace = Workspace(tmp_path, WAREHOUSE + 'adapter = "sql"\nemulate = true\n')
    workspace.table("references.csv", dict.fromkeys(CASES, "1000"), "total")
    workspace.table("predictions.csv", dict.fromkeys(CASES, "1000"), "total")
    old = workspace.run().run.run_id
    workspace.table("predictions.csv", dict.fromkeys(CASES, "1000") | {"C-009": "1,000"}, "total")
    new = workspace.run().run.run_id
    found = {one["consumer"]: one for one in workspace.document("drift", old, new)["columns"]}
    assert {name: (one["new"]["ok"], one["untrusted"]) for name, one in found.items()} == {
        "books": (19, []),
        "warehouse": (20, ["emulated"]),
    }
    assert [flip["cases"] for flip in found["books"]["flips"]] == [["C-009"]]
    again = workspace.document("redecode", new, "--probe", "off")
    assert [column["strings"]["same"] for column in again["columns"]] == [1, 2]


def test_a_json_null_is_nothing_for_a_parser_of_texts_whoever_it_is(tmp_path):
    spec = SPEC.replace('"predictions.csv"', '"predictions.jsonl"')
    workspace = Workspace(tmp_path, spec)
    workspace.table("references.csv", dict.fromkeys(CASES, "2024-03-01"))

    def predict(none):
        rows = ({"case_id": case, "day": None if case in none else "2024-03-01"} for case in CASES)
        workspace.write("predictions.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    predict([])
    old = workspace.run().run.run_id
    predict(CASES[:3])
    workspace.write("parsers.py", "from dateutil.parser import parse as day\n")
    new = workspace.run().run.run_id
    (tmp_path / "audit.toml").rename(tmp_path / "none.toml")
    (column,) = workspace.document("drift", old, new, "--split")["split"]
    assert [(cell["ok"], cell["unknown_cases"]) for cell in column["cells"]] == [(20, 0), (20, 0), (17, 0), (17, 0)]
    assert column["dominates"] == "prediction"
