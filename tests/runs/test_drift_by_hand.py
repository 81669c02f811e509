"""A comparison of many random cases, held against what is counted one by one from verdicts and real parsers."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import pytest
from dateutil.parser import parse

import auditor
from auditor.model.verdicts import BLOCKING, FIELD_VERDICTS
from auditor.score.paired import mcnemar
from tests.comparisons import Workspace, ids

CASES = ids(300)
DAYS = ["2024-03-01", "2024-03-02", "1 March 2024", "March 2, 2024", "N/A", "03/01/2024", "2024-13-01", "soon"]
TOTALS = ["10.50", "10.5", "1,000", "1000", "ten", "1e3", "0", "-3"]
FINISHES = ["stop"] * 8 + ["length", "content_filter"]

SPEC = """name = "random"
[cases]
predictions = "replies.jsonl"
references = "references.csv"
completion = "text"
finish = "finish"
split = "split"
max_blocked = 0.5
[fields.day]
type = "date"
reference = "typed"
[fields.total]
type = "decimal"
reference = "typed"
[consumers.billing]
adapter = "python"
reads = { day = "parsers:day", total = "parsers:total" }
[consumers.books]
adapter = "sql"
engine = "duckdb"
reads = { day = "try_cast({value} as date)", total = "try_cast({value} as decimal(18, 2))" }
"""
OLD = "from datetime import date\nfrom decimal import Decimal as total\nday = date.fromisoformat\n"
NEW = "from dateutil.parser import parse as day\ndef total(text):\n    return float(text.replace(',', ''))\n"


def write_replies(workspace, rng, missing):
    """Write random replies; gives what each case sent, None where it is blocked."""
    sent, lines = {}, []
    for case in CASES:
        if rng.random() < missing:
            sent[case] = None
            continue
        finish = rng.choice(FINISHES)
        payload = {"day": rng.choice(DAYS), "total": rng.choice(TOTALS)}
        for name in ("day", "total"):
            if rng.random() < 0.05:
                payload[name] = None
        sent[case] = payload if finish == "stop" else None
        lines.append({"case_id": case, "finish": finish, "text": json.dumps(payload)})
    workspace.write("replies.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return sent


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Give the workspace, what each run sent, the references, both runs, and the comparison with both causes."""
    folder = tmp_path_factory.mktemp("random")
    workspace, rng = Workspace(folder / "now", SPEC, OLD), random.Random(20)
    references = {
        case: {
            "day": rng.choice(["2024-03-01", "2024-03-02", ""]),
            "total": rng.choice(["10.50", "1000", "0"]),
            "split": rng.choice(["dev", "held-out", ""]),
        }
        for case in CASES
    }
    workspace.table("references.csv", references)
    sent = {"old": write_replies(workspace, rng, 0.02)}
    runs = {"old": workspace.run()}
    shutil.copytree(folder / "now", folder / "then", ignore=shutil.ignore_patterns(".auditor"))
    workspace.write("parsers.py", NEW)
    sent["new"] = write_replies(workspace, rng, 0.05)
    runs["new"] = workspace.run()
    names = [runs[name].run.run_id for name in ("old", "new")]
    found = workspace.document("drift", *names, "--split", "--old-spec", folder / "then")
    return workspace, sent, references, runs, found


def by_case(run: auditor.AuditedRun):
    return {(field, consumer, case): verdict for case, field, consumer, verdict, *_ in run.verdicts().fetchall()}


def test_counts_flips_and_tests_are_those_of_the_verdicts_one_by_one(compared):
    _, _, references, runs, found = compared
    old, new = by_case(runs["old"]), by_case(runs["new"])
    assert len(found["columns"]) == 12, "two fields, two consumers, all cases and two splits"
    for column in found["columns"]:
        cases = [case for case in CASES if column["split"] in ("all", references[case]["split"])]
        before, after = (
            {case: verdicts[column["field"], column["consumer"], case] for case in cases} for verdicts in (old, new)
        )
        for side, verdicts in ((column["old"], before), (column["new"], after)):
            counts = Counter(verdicts.values())
            assert side["judged"] == sum(counts[name] for name in FIELD_VERDICTS)
            assert side["blocked_by"] == {name: counts[name] for name in BLOCKING if counts[name]}
            assert side["ok"] == counts["ok"]
        flips = {(one, other): [] for one, other in zip(before.values(), after.values(), strict=True) if one != other}
        for case in cases:
            if before[case] != after[case]:
                flips[before[case], after[case]].append(case)
        assert {(flip["old"], flip["new"]): flip["cases"] for flip in column["flips"]} == flips
        judged = [case for case in cases if before[case] in FIELD_VERDICTS and after[case] in FIELD_VERDICTS]
        only_old = sum(before[case] == "ok" != after[case] for case in judged)
        only_new = sum(after[case] == "ok" != before[case] for case in judged)
        paired = column["paired"]
        assert (paired["judged_in_both"], paired["ok_in_old_only"], paired["ok_in_new_only"]) == (
            len(judged),
            only_old,
            only_new,
        )
        assert (paired["exact_p"], paired["mid_p"]) == tuple(vars(mcnemar(only_old, only_new)).values())
        assert paired["difference"] == (only_new - only_old) / len(judged)


def old_day(text):
    return date.fromisoformat(text)


def new_day(text):
    return parse(text, default=parse("2024-03-08")).date()


def old_total(text):
    return Decimal(text)


def new_total(text):
    return Decimal(repr(float(text.replace(",", ""))))


PARSERS = {("day", "old"): old_day, ("day", "new"): new_day, ("total", "old"): old_total, ("total", "new"): new_total}
TYPED = {"day": date.fromisoformat, "total": Decimal}


def is_right(field, parser, text, reference):
    try:
        return PARSERS[field, parser](text) == TYPED[field](reference)
    except (ValueError, InvalidOperation):
        return False


def test_the_four_cells_are_what_the_real_parsers_make_of_both_outputs(compared):
    _, sent, references, _, found = compared
    split = {(one["field"], one["consumer"], one["split"]): one for one in found["split"]}
    for field in ("day", "total"):
        for part in ("all", "dev", "held-out"):
            one = split[field, "billing", part]
            rates = {}
            for cell in one["cells"]:
                answers = sent[cell["predictions"]]
                judged = [
                    case
                    for case in CASES
                    if answers[case] and references[case][field] and part in ("all", references[case]["split"])
                ]
                right = sum(
                    answers[case][field] is not None
                    and is_right(field, cell["parser"], answers[case][field], references[case][field])
                    for case in judged
                )
                assert (cell["ok"], cell["judged"], cell["unknown_cases"]) == (right, len(judged), 0)
                rates[cell["predictions"], cell["parser"]] = Fraction(right, len(judged))
            start = rates["old", "old"]
            assert Fraction(one["parser"]["exact"]) == rates["old", "new"] - start
            assert Fraction(one["prediction"]["exact"]) == rates["new", "old"] - start
            parts = (Fraction(one[name]["exact"]) for name in ("parser", "prediction", "interaction"))
            assert sum(parts) == Fraction(one["difference"]["exact"]) == rates["new", "new"] - start


def test_without_the_old_parser_its_cells_are_within_the_bounds(compared, tmp_path):
    workspace, _, _, runs, found = compared
    stored = tmp_path / ".auditor" / "runs"
    for run in runs.values():
        shutil.copytree(run.folder, stored / run.run.run_id)
    workspace = Workspace(tmp_path, SPEC, NEW)
    bounded = workspace.document("drift", runs["old"].run.run_id, runs["new"].run.run_id, "--split")["split"]
    for one, exact in zip(bounded, found["split"], strict=True):
        for cell, known in zip(one["cells"], exact["cells"], strict=True):
            assert cell["judged"] == known["judged"]
            assert cell["ok"] <= known["ok"] <= cell["ok"] + cell["unknown_cases"]
        for name in ("parser", "prediction", "interaction"):
            value = Fraction(exact[name]["exact"])
            assert one[name]["low"] - 1e-12 <= value <= one[name]["high"] + 1e-12


def test_a_redecoding_lists_what_the_real_parsers_read_otherwise(compared):
    workspace, sent, _, runs, _ = compared
    found = workspace.document("redecode", runs["old"].run.run_id, "--probe", "off", code=0)
    columns = {(one["field"], one["consumer"]): one for one in found["columns"]}
    for field in ("day", "total"):
        gained = set()
        for answer in sent["old"].values():
            text = answer[field] if answer else None
            if text is not None:
                read = []
                for parser in ("old", "new"):
                    try:
                        read.append(PARSERS[field, parser](text))
                    except (ValueError, InvalidOperation):
                        read.append(None)
                assert read[0] is None or read[0] == read[1], "the new parsers read all that the old ones did"
                if read[0] is None and read[1] is not None:
                    gained.add(json.dumps(text))
        assert {one["raw"] for one in columns[field, "billing"]["newly_accepted"]} == gained
        assert columns[field, "billing"]["regressions"] == []
        assert columns[field, "books"]["strings"]["changed"] == columns[field, "books"]["strings"]["lost"] == 0
