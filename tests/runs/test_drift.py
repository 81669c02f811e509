"""Two stored runs compared, through the command line, with real parsers."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from scipy.stats import binom

from auditor.errors import Refused
from auditor.score.paired import paired_interval
from tests.comparisons import ISO, SPEC, Workspace, ids

CASES = ids(400)
GOOD = dict.fromkeys(CASES, "2024-03-01")
WRITTEN = dict.fromkeys(CASES[10:16], "1 March 2024")  # which the ISO parser refuses


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Give a workspace with two runs of 400 cases, six of which flip from ok to rejected."""
    workspace = Workspace(tmp_path_factory.mktemp("six"))
    workspace.table("references.csv", GOOD)
    wrong = dict.fromkeys(CASES[:4], "2024-03-02")
    old = workspace.run(GOOD | wrong)
    new = workspace.run(GOOD | wrong | WRITTEN)
    return workspace, old.run.run_id, new.run.run_id


def test_six_of_400_that_flip_from_ok_to_rejected(six):
    workspace, old, new = six
    found = workspace.document("drift", old, new)
    (column,) = found["columns"]
    assert (column["old"]["ok"], column["old"]["judged"], column["new"]["ok"]) == (396, 400, 390)
    paired = column["paired"]
    assert paired["difference"] == -0.015
    assert (paired["discordant"], paired["ok_in_old_only"], paired["ok_in_new_only"]) == (6, 6, 0)
    assert paired["exact_p"] == pytest.approx(2 * binom.cdf(0, 6, 0.5))
    assert paired["mid_p"] == pytest.approx(2 * binom.cdf(0, 6, 0.5) - binom.pmf(0, 6, 0.5))
    interval = paired_interval(390, 0, 6, 4)
    assert paired["interval"] == [interval.low, interval.high]
    assert interval.low < -0.015 < interval.high < 0
    assert column["flips"] == [{"old": "ok", "new": "rejected", "kind": "content", "count": 6, "cases": CASES[10:16]}]
    assert found["instrument"] == []
    assert column["drop"] is True


def test_the_terminal_and_every_report_say_it(six):
    workspace, old, new = six
    outputs = [part for suffix in ("html", "md", "csv") for part in ("-o", f"d.{suffix}")]
    done = workspace.auditor("drift", old, new, *outputs)
    assert done.exit_code == 0
    pages = [done.output, *((workspace.folder / f"d.{suffix}").read_text("utf-8") for suffix in ("html", "md"))]
    for page in pages:
        assert "−1.5 points" in page
        assert "6 discordant pairs" in page
        assert "exact p 0.031, mid-p 0.016" in page
        assert "ok → rejected" in page
        assert ", ".join(CASES[10:16]) in page
    assert "<script" not in pages[1]
    (row,) = csv.DictReader(io.StringIO((workspace.folder / "d.csv").read_text("utf-8")))
    assert (row["difference"], row["discordant"], row["drop"]) == ("-0.015", "6", "True")
    assert json.loads(row["flips"]) == {"ok to rejected": 6}


def test_exit_codes_of_a_drop_and_of_none(six):
    workspace, old, new = six
    assert workspace.auditor("drift", old, new).exit_code == 0
    assert workspace.auditor("drift", old, new, "--fail-on", "drop").exit_code == 1
    assert workspace.auditor("drift", new, old, "--fail-on", "drop").exit_code == 0, "a rise is no drop"
    assert workspace.auditor("drift", new, old, "--fail-on", "any").exit_code == 1
    same = workspace.auditor("drift", old, old, "--fail-on", "any")
    assert (same.exit_code, "both sides are the same run" in same.output) == (0, True)
    quiet = workspace.auditor("drift", old, new, "-q", "--fail-on", "drop")
    assert (quiet.exit_code, quiet.output) == (1, "")


def test_a_fall_of_one_case_is_no_drop(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", GOOD)
    old, new = workspace.run(GOOD), workspace.run(GOOD | {"C-007": "2024-03-07"})
    done = workspace.auditor("drift", old.run.run_id, new.run.run_id, "--fail-on", "drop")
    assert done.exit_code == 0
    assert "no drop in 1 column; 1 lower, not beyond chance; 1 verdict flipped" in done.output
    assert "ok → wrong   1: C-007" in done.output


def test_disjoint_cases_never_compare(tmp_path):
    workspace = Workspace(tmp_path)
    runs = []
    for letter in "AB":
        cases = {f"{letter}-{number}": "2024-03-01" for number in range(20)}
        workspace.table("references.csv", cases)
        runs.append(workspace.run(cases).run.run_id)
    for options in ((), ("--common",)):
        done = workspace.auditor("drift", *runs, *options, "-o", "none.json")
        assert done.exit_code == 4, done.output
        assert "20 cases of the old run only: A-0, A-1, A-10, A-11, A-12, …" in done.output
        assert "20 cases of the new run only: B-0" in done.output
        assert "no case is in both" in done.output
        assert not (tmp_path / "none.json").exists()


def test_cases_that_come_and_go_and_a_reference_that_changes(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", dict.fromkeys(CASES[:40], "2024-03-01"))
    old = workspace.run(dict.fromkeys(CASES[:40], "2024-03-01")).run.run_id
    references = dict.fromkeys(CASES[2:43], "2024-03-01") | {"C-005": "2024-03-05", "C-006": ""}
    workspace.table("references.csv", references)
    new = workspace.run(dict.fromkeys(CASES[2:43], "2024-03-01") | {"C-010": "none"}).run.run_id
    refused = workspace.auditor("drift", old, new)
    assert refused.exit_code == 4
    for said in (
        "2 cases of the old run only: C-001, C-002",
        "3 cases of the new run only: C-041, C-042, C-043",
        'day: 2 shared cases have another reference (the first: "2024-03-01" → "2024-03-05"): C-005, C-006',
        "`--common` compares the 38 shared cases",
    ):
        assert said in refused.output
    found = workspace.document("drift", old, new, "--common")
    (column,) = found["columns"]
    assert found["shared"] == 38
    assert [(one["field"], one["count"]) for one in found["dropped"]] == [("", 2), ("", 3), ("day", 2)]
    assert (column["old"]["judged"], column["new"]["judged"], column["old"]["ok"], column["new"]["ok"]) == (
        36,
        36,
        36,
        35,
    )
    assert [flip["cases"] for flip in column["flips"]] == [["C-010"]]
    shown = workspace.auditor("drift", old, new, "--common").output
    assert "compared are the 38 in both" in shown
    assert "2 cases of the old run only" in shown


def test_another_contract_is_refused_and_no_field_of_it_is_compared(tmp_path):
    spec = SPEC + 'reads.until = "parsers:day"\n[fields.until]\ntype = "date"\nreference = "typed"\n'
    workspace = Workspace(tmp_path, spec)
    rows = {case: {"day": "2024-03-01", "until": "2025-03-01"} for case in CASES[:30]}
    workspace.table("references.csv", rows)
    old = workspace.run(rows).run.run_id
    workspace.write(
        "audit.toml", spec.replace('[fields.until]\ntype = "date"', '[fields.until]\ntype = "date"\ngrain = "month"')
    )
    new = workspace.run(rows).run.run_id
    refused = workspace.auditor("drift", old, new)
    assert refused.exit_code == 4
    assert "until: its contract is another: grain day → month" in refused.output
    found = workspace.document("drift", old, new, "--common")
    assert [column["field"] for column in found["columns"]] == ["day"]
    assert found["dropped"][0]["field"] == "until"
    workspace.write("parsers.py", ISO + "until = day\n")
    workspace.write("audit.toml", SPEC.replace("day", "until"))
    only = workspace.run(rows).run.run_id
    assert "no field has the same contract in both" in workspace.auditor("drift", new, only, "--common").output
    assert workspace.auditor("drift", new, only, "--common").exit_code == 4


def test_three_rows_never_open_the_gate(tmp_path):
    workspace = Workspace(tmp_path)
    three = dict.fromkeys(ids(3), "2024-03-01")
    workspace.table("references.csv", three)
    old, new = workspace.run(three), workspace.run(three | {"C-002": "no"})
    found = workspace.document("drift", old.run.run_id, new.run.run_id)
    (column,) = found["columns"]
    assert "3 judged, fewer than 8" in column["suppressed"]
    assert (column["paired"], column["flips"], column["old"]["content_rate"], column["new"]["ok"]) == (
        None,
        [],
        None,
        None,
    )
    assert (column["old"]["judged"], column["new"]["judged"]) == (3, 3)
    shown = workspace.auditor("drift", old.run.run_id, new.run.run_id, "--fail-on", "drop")
    assert shown.exit_code == 1, "what could not be compared is not known to be as good as before"
    assert "the content of 1 column is not compared" in shown.output
    assert "%" not in shown.output.split("day, billing")[1].split("\n")[0].replace("95 %", "")


def test_few_shared_cases_of_two_large_runs_do_not_open_the_gate(tmp_path):
    workspace = Workspace(tmp_path)
    runs = []
    for part in (CASES[:40], CASES[35:75]):
        workspace.table("references.csv", dict.fromkeys(part, "2024-03-01"))
        runs.append(workspace.run(dict.fromkeys(part, "2024-03-01")).run.run_id)
    (column,) = workspace.document("drift", *runs, "--common")["columns"]
    assert column["suppressed"].startswith("old run: of the cases that are compared 5 judged, fewer than 8")


def test_operational_flips_are_compared_where_the_gate_is_closed(tmp_path):
    spec = SPEC.replace('"predictions.csv"', '"predictions.jsonl"').replace(
        "[fields.day]", 'completion = "text"\nfinish = "finish"\n[fields.day]'
    )
    workspace = Workspace(tmp_path, spec)
    cases = ids(20)
    workspace.table("references.csv", dict.fromkeys(cases, "2024-03-01"))

    def completions(cut: list[str]) -> None:
        lines = (
            {"case_id": case, "finish": "length" if case in cut else "stop", "text": '{"day": "2024-03-01"}'}
            for case in cases
        )
        workspace.write("predictions.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    completions([])
    old = workspace.run().run.run_id
    completions(cases[:8])
    new = workspace.run().run.run_id
    (column,) = workspace.document("drift", old, new)["columns"]
    assert column["suppressed"] == "new run: 8 of 20 blocked, more than 20 %"
    assert column["flips"] == [{"old": "ok", "new": "truncated", "kind": "operational", "count": 8, "cases": cases[:8]}]
    completions(cases[:3])
    few = workspace.run().run.run_id
    (column,) = workspace.document("drift", old, few)["columns"]
    assert (column["suppressed"], column["paired"]["judged_in_both"], column["paired"]["difference"]) == ("", 17, 0)
    assert [(flip["kind"], flip["count"]) for flip in column["flips"]] == [("operational", 3)]


def test_splits_are_compared_apart_and_a_case_that_changes_its_split_is_left_out(tmp_path):
    workspace = Workspace(tmp_path, SPEC.replace("[fields.day]", 'split = "split"\n[fields.day]'))
    cases = ids(40)

    def references(dev: list[str]) -> None:
        rows = {case: {"day": "2024-03-01", "split": "dev" if case in dev else "held-out"} for case in cases}
        workspace.table("references.csv", rows)

    references(cases[:20])
    old = workspace.run(dict.fromkeys(cases, "2024-03-01")).run.run_id
    references(cases[:19])
    new = workspace.run(dict.fromkeys(cases, "2024-03-01") | dict.fromkeys(cases[10:14], "2024-03-02")).run.run_id
    refused = workspace.auditor("drift", old, new)
    assert (refused.exit_code, "1 shared case is in another split" in refused.output) == (4, True)
    found = {column["split"]: column for column in workspace.document("drift", old, new, "--common")["columns"]}
    assert {
        name: (one["old"]["judged"], one["left_out"], one["paired"]["discordant"]) for name, one in found.items()
    } == {
        "all": (40, 0, 4),
        "dev": (19, 1, 4),
        "held-out": (20, 1, 0),
    }


def test_the_head_says_that_the_instrument_changed(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", dict.fromkeys(CASES[:20], "2024-03-01"))
    old = workspace.run(dict.fromkeys(CASES[:20], "2024-03-01")).run.run_id
    workspace.write("parsers.py", "from dateutil.parser import parse as day\n")
    workspace.write("audit.toml", SPEC + '[consumers.ledger]\nadapter = "python"\nreads.day = "parsers:day"\n')
    new = workspace.run(probe="quick").run.run_id
    found = workspace.document("drift", old, new)
    changed = {(one["of"], one["what"]) for one in found["instrument"]}
    assert changed >= {("billing", "version"), ("probes", "level")}
    assert all(
        of == "billing" and what.startswith("setting ")
        for of, what in changed - {("billing", "version"), ("probes", "level")}
    )
    assert found["only_new"] == [{"field": "day", "consumer": "ledger", "split": "all", "arm": None}]
    shown = workspace.auditor("drift", new, old, "--fail-on", "drop")
    assert "changed: billing: version" in shown.output
    assert "in the old run only: day, ledger" in shown.output
    assert shown.exit_code == 1, "a column that is gone is not known to be as good as before"


def test_withheld_rates_are_not_compared(tmp_path):
    workspace = Workspace(tmp_path)
    cases = dict.fromkeys(CASES[:20], "2024-03-01")
    workspace.write("audit.toml", SPEC.replace('"typed"', '"billing"'))
    workspace.table("references.csv", cases | {"C-001": "1 March 2024"})
    workspace.write("parsers.py", "from dateutil.parser import parse as day\n")
    old = workspace.run(cases).run.run_id
    workspace.write("parsers.py", "from datetime import date\nday = date.fromisoformat\n")
    new = workspace.run(cases).run.run_id
    (column,) = workspace.document("drift", old, new)["columns"]
    assert column["suppressed"] == "new run: rates are withheld, since there are broken references"
    assert column["flips"] == [
        {"old": "ok", "new": "broken_reference", "kind": "unsupported", "count": 1, "cases": ["C-001"]}
    ]


@pytest.mark.parametrize("damage", ["pairs.parquet", "outcomes.parquet", "sources", "sources/contract.json", "other"])
def test_a_damaged_run_is_an_error_that_names_it(six, tmp_path, damage):
    workspace, old, new = six
    folder = tmp_path / "damaged"
    shutil.copytree(workspace.folder / ".auditor" / "runs" / new, folder)
    if damage == "other":  # tables of another run, whole in themselves
        for name in ("pairs", "outcomes", "faults"):
            shutil.copy(workspace.folder / ".auditor" / "runs" / old / f"{name}.parquet", folder)
        shutil.rmtree(folder / "sources")
        shutil.copytree(workspace.folder / ".auditor" / "runs" / old / "sources", folder / "sources")
    elif damage == "sources":
        shutil.rmtree(folder / "sources")
    else:
        (folder / damage).write_bytes(b"PAR1")
    done = workspace.auditor("drift", old, folder)
    assert done.exit_code == 2, done.output
    assert new in done.output
    assert "next:  run that audit again" in done.output
    missing = workspace.auditor("drift", old, "1999")
    assert (missing.exit_code, "run 1999: neither a folder" in missing.output) == (2, True)


def test_ids_and_names_from_data_are_no_markup(tmp_path):
    workspace = Workspace(tmp_path)
    cases = [f"<b>{number}</b> @all |" for number in range(20)]
    workspace.table("references.csv", dict.fromkeys(cases, "2024-03-01"))
    old = workspace.run(dict.fromkeys(cases, "2024-03-01")).run.run_id
    new = workspace.run(dict.fromkeys(cases, "x")).run.run_id
    assert workspace.auditor("drift", old, new, "-o", "d.html", "-o", "d.md").exit_code == 0
    assert "<b>" not in (tmp_path / "d.html").read_text("utf-8")
    comment = (tmp_path / "d.md").read_text("utf-8")
    assert "<b>" not in comment
    assert "@all" not in comment


def test_inputs_that_changed_are_named(tmp_path):
    workspace = Workspace(tmp_path, SPEC.replace("[fields.day]", 'input = "prompt"\n[fields.day]'))
    cases = dict.fromkeys(CASES[:20], "2024-03-01")
    runs = []
    for version in ("a", "b"):
        asked = {
            case: {"day": "2024-03-01", "prompt": f"prompt {version if case == 'C-004' else ''}"} for case in cases
        }
        # Another reference makes the manifests differ, whether they bind prompts or not.
        asked["C-005"] |= {"day": "2024-03-01" if version == "a" else "2024-03-05"}
        workspace.table("references.csv", asked)
        runs.append(workspace.run(cases).run.run_id)
    refused = workspace.auditor("drift", *runs)
    assert refused.exit_code == 4
    assert "1 shared case has another input, with --common compared all the same: C-004" in refused.output
    (column,) = workspace.document("drift", *runs, "--common")["columns"]
    assert column["old"]["judged"] == 19


def test_a_field_with_another_contract_is_not_known_to_be_as_good(tmp_path):
    spec = SPEC + 'reads.until = "parsers:day"\n[fields.until]\ntype = "date"\nreference = "typed"\n'
    workspace = Workspace(tmp_path, spec)
    rows = {case: {"day": "2024-03-01", "until": "2025-03-01"} for case in CASES[:20]}
    workspace.table("references.csv", rows)
    old = workspace.run(rows).run.run_id
    workspace.write("audit.toml", spec.replace("[fields.until]", '[fields.until]\ngrain = "month"'))
    new = workspace.run(rows).run.run_id
    done = workspace.auditor("drift", old, new, "--common", "--fail-on", "drop")
    assert done.exit_code == 1
    assert "1 more column with another contract" in done.output


def test_in_python_runs_of_other_cases_are_refused_too(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", dict.fromkeys(CASES[:20], "2024-03-01"))
    old = workspace.run(dict.fromkeys(CASES[:20], "2024-03-01"))
    workspace.table("references.csv", dict.fromkeys(CASES[1:21], "2024-03-01"))
    new = workspace.run(dict.fromkeys(CASES[1:21], "2024-03-01"))
    with pytest.raises(Refused, match="1 case of the old run only: C-001"):
        old.drift(new)
    found = old.drift(new, common=True)
    assert (found.shared, found.columns[0].new.judged, found.dropped[0].count) == (19, 19, 1)
