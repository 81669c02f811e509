"""Seven runs of models over the same insurance schedules, in one file: each scored by itself."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

import auditor
from tests.realdata.plain import needs_real_data, records

pytestmark = needs_real_data

FIELD = "policy_number"


@pytest.fixture(scope="module")
def answers():
    """Give (prediction, reference) by model and case; the ids of the data set hold the model."""
    found: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for row in records("longlistbench.jsonl"):
        if row["field"] == FIELD:
            case = row["case_id"].replace(f"/{row['model']}/", "/")
            found[row["model"]][case] = row["prediction"], row["reference"]
    return found


def test_each_model_is_scored_by_itself_on_every_case(answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"case_id": case, "model": model, FIELD: given, "truth": truth}
        for model, some in answers.items()
        for case, (given, truth) in some.items()
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "parsers.py").write_text("def same(text):\n    return text\n", encoding="utf-8")
    run = auditor.run(
        {
            "name": "schedules",
            "cases": {"predictions": "rows.jsonl", "references": "rows.jsonl", "arm": "model"},
            "fields": {FIELD: {"type": "identifier", "reference_path": "truth"}},
            "consumers": {"desk": {"adapter": "python", "reads": {FIELD: "parsers:same"}}},
        },
        probe="off",
    )
    cases = {case for some in answers.values() for case in some}
    assert (len(answers), len(cases)) == (7, 49)
    assert {
        one.arm: (one.support, one.judged, one.blocked_by.get("missing", 0), one.verdicts["ok"]) for one in run.columns
    } == {
        model: (49, len(some), 49 - len(some), sum(given == truth for given, truth in some.values()))
        for model, some in answers.items()
    }
    assert {one.arm: one.string_equality.count for one in run.run.fields} == {
        model: sum(given == truth for given, truth in some.values()) for model, some in answers.items()
    }
    assert run.verdicts().aggregate("count(*)").fetchall() == [(7 * 49,)]
