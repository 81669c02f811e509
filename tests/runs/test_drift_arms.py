"""Runs of several arms compared: each arm with itself."""

from __future__ import annotations

import csv

from tests.comparisons import SPEC, Workspace, ids

CASES = ids(20)


def predict(workspace, wrong):
    """Write what two arms say, of which one is wrong in some cases."""
    with (workspace.folder / "predictions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["case_id", "model", "day"])
        for case in CASES:
            rows.writerow([case, "small", "soon" if case in wrong else "2024-03-01"])
            rows.writerow([case, "large", "2024-03-01"])


def test_each_arm_is_compared_with_itself(tmp_path):
    workspace = Workspace(tmp_path, SPEC.replace("[fields.day]", 'arm = "model"\n[fields.day]'))
    workspace.table("references.csv", dict.fromkeys(CASES, "2024-03-01"))
    predict(workspace, CASES[:1])
    old = workspace.run().run.run_id
    predict(workspace, CASES[:7])
    new = workspace.run().run.run_id
    found = workspace.document("drift", old, new, "--split")
    assert (found["shared"], found["old"]["expected"], found["old"]["arms"]) == (20, 40, 2)
    said = workspace.auditor("drift", old, new).output
    assert "20 cases, the same in both runs" in said
    assert said.count("20 cases in each of 2 arms") == 2
    assert "40" not in said.replace(old, "").replace(new, "")
    columns = {one["arm"]: one for one in found["columns"]}
    assert {arm: (one["old"]["ok"], one["new"]["ok"], one["new"]["judged"]) for arm, one in columns.items()} == {
        "large": (20, 20, 20),
        "small": (19, 13, 20),
    }
    assert [flip["cases"] for flip in columns["small"]["flips"]] == [CASES[1:7]]
    assert columns["large"]["flips"] == []
    assert {one["arm"]: one["prediction"]["exact"] for one in found["split"]} == {"large": "0/1", "small": "-3/10"}
    workspace.write("parsers.py", "from datetime import date\ndef day(text):\n    return date(2024, 3, 1)\n")
    again = workspace.document("redecode", new, "--probe", "off")
    assert {
        one["arm"]: [(read["raw"], read["count"]) for read in one["newly_accepted"]] for one in again["columns"]
    } == {
        "large": [],
        "small": [('"soon"', 7)],
    }
