"""Recorded replies of real models: 307, by finish reason as their source counts them."""

from __future__ import annotations

import collections
import json
import re

import pytest

from tests.realdata.plain import needs_real_data, records
from tests.rooms.load_workspace import Workspace

pytestmark = needs_real_data

BY_REASON = {"stop": 255, "max_tokens": 26, "refusal": 8, "content_filter": 2, "error": 16}
OUTCOMES = {"max_tokens": "truncated", "refusal": "refused", "content_filter": "refused", "error": "transport"}

FENCE = re.compile(r"```[a-z]*\n(.*?)\n?```", re.DOTALL)


def is_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    workspace = Workspace(tmp_path_factory.mktemp("replies"))
    rows = records("finish_reasons.jsonl")
    kept = [
        {"case_id": str(number), "reply": row["prediction"], "finish": row["finish"]} for number, row in enumerate(rows)
    ]
    references = workspace.json_lines("r.jsonl", [{"case_id": row["case_id"], "output": "x"} for row in kept])
    workspace.load(workspace.json_lines("c.jsonl", kept), references, {"output": "category"}, completion="reply")
    return workspace, kept


def test_every_reply_is_what_its_reason_says(loaded):
    workspace, rows = loaded
    reasons = collections.Counter(row["finish"].partition(":")[0] for row in rows)
    assert reasons == BY_REASON
    met = collections.Counter()
    for reason, count in workspace.loaded.finish_reasons.items():
        met[reason.partition(":")[0]] += count
    assert met == BY_REASON
    cases = workspace.loaded.cases
    strict = sum(row["finish"] == "stop" and is_object(row["reply"] or "") for row in rows)
    assert (cases.truncated, cases.refused, cases.transport, cases.unknown) == (26, 10, 16, 0)
    assert (cases.judged, cases.malformed) == (strict, 255 - strict)


def test_the_report_counts_what_a_fence_stripping_reader_would_recover(loaded):
    workspace, rows = loaded
    stopped = [row["reply"] or "" for row in rows if row["finish"] == "stop"]
    lost = [text for text in stopped if not is_object(text)]
    fenced = sum(len(found := FENCE.findall(text)) == 1 and is_object(found[0]) for text in lost)
    note = next(note for note in workspace.loaded.notes if note.startswith("payload: of"))
    assert "of 255 completions that ended cleanly" in note
    assert f"fenced {fenced}" in note
    assert fenced > 0
