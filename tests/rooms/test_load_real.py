"""Real records, as they were published: counts are taken from the files with Python's json."""

from __future__ import annotations

import collections
import json
import os
from pathlib import Path

import pytest

from auditor.errors import LoadError
from tests.rooms.load_workspace import Workspace

FOLDER = os.environ.get("AUDITOR_REAL_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="AUDITOR_REAL_DATA is not set")


@pytest.fixture
def workspace():
    return Workspace(Path(FOLDER))


def records(name):
    """Read lines with numbers as their source text, marked so that they differ from strings."""
    with (Path(FOLDER) / name).open(encoding="utf-8") as lines:
        return [json.loads(line, parse_float=Number, parse_int=Number) for line in lines]


class Number(str):
    """Source text of a number."""


def token(value):
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def expected_pairs(rows, fields):
    counts = collections.Counter()
    for row in rows:
        reference = row.get("reference")
        prediction = token(row["prediction"]) if "prediction" in row else None
        counts[row["field"], prediction, None if reference in (None, "") else token(reference)] += 1
    for field in fields:  # every case has a unit of every field
        if absent := len({row["case_id"] for row in rows}) - sum(row["field"] == field for row in rows):
            counts[field, None, None] += absent
    return dict(counts)


def test_real_extractions_load_as_they_were_written(workspace):
    rows = records("longlistbench.jsonl")
    types = {row["field"]: "date" if row["type"] == "date" else "category" for row in rows}
    loaded = workspace.load("longlistbench.jsonl", "longlistbench.jsonl", types)
    assert loaded.cases.expected == loaded.cases.judged == len({row["case_id"] for row in rows})
    assert loaded.rows_read == {"predictions": len(rows), "references": len(rows)}
    found = workspace.connection.execute(
        "SELECT field, prediction, reference, sum(n) FROM pairs GROUP BY ALL"
    ).fetchall()
    assert {tuple(row[:3]): row[3] for row in found} == expected_pairs(rows, types)
    places = {row[0] for row in workspace.connection.execute("SELECT DISTINCT place FROM pairs").fetchall()}
    assert places == {None, "en-US|US"}


def test_real_references_without_a_prediction_are_missing(workspace):
    rows = records("cuad_master_clauses.jsonl")
    fields = {row["field"]: "date" for row in rows}
    fields["Agreement Date"] = "date"
    with pytest.raises(LoadError, match="no column 'Agreement Date' for the prediction"):
        workspace.load("cuad_master_clauses.jsonl", "cuad_master_clauses.jsonl", fields)


def test_real_replies_have_outcomes_by_their_finish_reason(workspace):
    rows = records("finish_reasons.jsonl")
    with_reason = collections.Counter(row["finish"] for row in rows)
    workspace.load("finish_reasons.jsonl", "finish_reasons.jsonl", {"reference": "category"}, completion="prediction")
    assert workspace.loaded.finish_reasons == dict(with_reason)
    cases = workspace.loaded.cases
    assert cases.truncated == with_reason["max_tokens"]
    assert cases.refused == with_reason["refusal"] + with_reason["content_filter"]
    assert cases.transport == sum(count for reason, count in with_reason.items() if reason.startswith("error:"))
    assert cases.judged + cases.malformed == with_reason["stop"]
