"""Why cases were not judged: the classes, reasons in words, and the first ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.model.blocked import Blocked
from tests.rooms.load_workspace import Workspace

DAY = '{"day": "2024-03-01"}'
NESTED = "[" * 100_000

#: What models send in place of a JSON object, and what it is.
REPLIES = {
    f"```json\n{DAY}\n```": "a code fence around the JSON",
    f"Here is the JSON:\n```\n{DAY}\n```\nHope this helps!": "a code fence around the JSON",
    f"```json\n{DAY}\n```\n```json\n{DAY}\n```": "a code fence around the JSON",
    f"Here it is: {DAY}": "text around the JSON",
    f'<think>{{"day": "1999-01-01"}}</think>{DAY}': "text around the JSON",
    f"{DAY}\nHope this helps!": "text after the JSON",
    f"{DAY}{DAY}": "text after the JSON",
    '{"day": "2024-03-05", "day": "2024-03-06"}': "a key occurs twice",
    '{"day": "2024-03-08",}': "a trailing comma",
    '{"day": "2024-03-08", "lines": [1, 2,]}': "a trailing comma",
    f"[{DAY}]": "an array, not an object",
    '"2024-03-01"': "a string, not an object",
    "null": "null, not an object",
    "12": "a number, not an object",
    "I'm sorry, I cannot help with that.": "no JSON object in it",
    '{"day": "2024-03': "it ends within the JSON",
    '{"day": ': "it ends within the JSON",
    "{'day': '2024-03-01'}": "single quotes in the JSON",
    '{"day": None}': "None in the JSON",
    '{"day": "2024-03-01" // the start\n}': "a comment in the JSON",
    '{day: "2024-03-01"}': "not valid JSON",
    f'{{"day": {NESTED}': "nested too deeply",
    "": "an empty text",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def writer(workspace: Workspace, suffix: str) -> Callable[..., str]:
    return {"jsonl": workspace.json_lines, "csv": workspace.csv, "parquet": workspace.parquet}[suffix]


def blocked(
    workspace: Workspace, rows: list[dict[str, object]], suffix: str, expected: list[str]
) -> tuple[Blocked, ...]:
    predictions = writer(workspace, suffix)(f"c.{suffix}", rows)
    references = workspace.csv("r.csv", [{"case_id": case, "day": "2024-03-01"} for case in expected])
    return workspace.load(predictions, references, {"day": "date"}).blocked


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_a_malformed_reply_says_what_is_wrong_with_it(workspace: Workspace, suffix: str) -> None:
    texts = {f"K{number}": text for number, text in enumerate(REPLIES)}
    rows = [{"case_id": case, "completion": text, "finish": "stop"} for case, text in texts.items()]
    rows.append({"case_id": "fine", "completion": DAY, "finish": "stop"})
    [found] = blocked(workspace, rows, suffix, [*texts, "fine"])
    wanted: dict[str, int] = {}
    for reason in REPLIES.values():
        wanted[reason] = wanted.get(reason, 0) + 1
    assert (found.outcome, found.count, found.of) == ("malformed", len(REPLIES), len(REPLIES) + 1)
    assert dict(found.reasons) == wanted
    assert found.first == ("K0", "K1", "K2", "K3", "K4")


def test_a_reply_that_is_no_text_says_what_it_is(workspace: Workspace) -> None:
    values = {"none": None, "list": [{"day": "2024-03-01"}], "number": 12, "object": {"day": "2024-03-01"}}
    rows = [{"case_id": case, "completion": value, "finish": "stop"} for case, value in values.items()]
    [found] = blocked(workspace, rows, "jsonl", list(values))
    assert dict(found.reasons) == {"no text": 1, "an array, not an object": 1, "a number, not an object": 1}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_every_class_says_why_and_where(workspace: Workspace, suffix: str) -> None:
    rows = [
        {"case_id": "a", "completion": DAY, "finish": "length", "error": None},
        {"case_id": "b", "completion": DAY, "finish": "max_tokens", "error": None},
        {"case_id": "c", "completion": None, "finish": "error", "error": "HTTP 500"},
        {"case_id": "d", "completion": None, "finish": "error", "error": None},
        {"case_id": "e", "completion": "", "finish": "content_filter", "error": None},
        {"case_id": "f", "completion": DAY, "finish": None, "error": None},
        {"case_id": "g", "completion": DAY, "finish": "because", "error": None},
        {"case_id": "h", "completion": DAY, "finish": "stop", "error": None},
        {"case_id": "unrelated", "completion": "[]", "finish": "stop", "error": None},
    ]
    found = blocked(workspace, rows, suffix, ["y", *"hgfedcba", "z"])
    assert [(one.outcome, one.count, dict(one.reasons), one.first) for one in found] == [
        ("missing", 2, {}, ("y", "z")),
        ("transport", 2, {"HTTP 500": 1, "finish reason error": 1}, ("c", "d")),
        ("truncated", 2, {"finish reason length": 1, "finish reason max_tokens": 1}, ("a", "b")),
        ("refused", 1, {"finish reason content_filter": 1}, ("e",)),
        ("unknown", 2, {"no finish reason": 1, "finish reason because": 1}, ("f", "g")),
    ]
    assert {one.of for one in found} == {10}


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_file_of_values_with_errors_says_them(workspace: Workspace, suffix: str) -> None:
    rows = [
        {"case_id": "a", "day": "2024-03-01", "stop": "length", "fault": None},
        {"case_id": "b", "day": None, "stop": "stop", "fault": "timed out"},
    ]
    predictions = writer(workspace, suffix)(f"c.{suffix}", rows)
    references = workspace.csv("r.csv", [{"case_id": case, "day": "2024-03-01"} for case in "ab"])
    loaded = workspace.load(predictions, references, {"day": "date"}, finish="stop", error="fault")
    assert [(one.outcome, dict(one.reasons)) for one in loaded.blocked] == [
        ("transport", {"timed out": 1}),
        ("truncated", {"finish reason length": 1}),
    ]


def test_rows_of_one_case_are_one_blocked_case(workspace: Workspace) -> None:
    rows = [
        {"case_id": case, "field": field, "prediction": "1", "stop": "length"} for case in "ab" for field in ("x", "y")
    ]
    references = [{"case_id": case, "field": field, "reference": "1"} for case in "abc" for field in ("x", "y")]
    loaded = workspace.load(
        workspace.csv("p.csv", rows),
        workspace.csv("r.csv", references),
        {"x": "integer", "y": "integer"},
        finish="stop",
    )
    assert [(one.outcome, one.count, dict(one.reasons), one.first) for one in loaded.blocked] == [
        ("missing", 1, {}, ("c",)),
        ("truncated", 2, {"finish reason length": 2}, ("a", "b")),
    ]


def test_a_page_of_an_error_is_cut(workspace: Workspace) -> None:
    rows = [{"case_id": case, "completion": None, "error": json.dumps({"at": "x" * 500})} for case in "ab"]
    rows.append({"case_id": "c", "completion": DAY, "error": None})
    [found] = [one for one in blocked(workspace, rows, "jsonl", ["a", "b", "c"]) if one.outcome == "transport"]
    assert all(len(reason) <= 80 for reason in found.reasons)


def test_the_sentence_tells_the_commonest_reasons_and_counts_the_rest() -> None:
    reasons = {f"reason {number}": number for number in range(1, 10)}
    text = Blocked("transport", 45, 1_045, reasons, ("a", "b")).text
    assert text == (
        "transport: 45 of 1,045 cases failed on the way, and are not judged: reason 9 (9), reason 8 (8), "
        "reason 7 (7), reason 6 (6), reason 5 (5), reason 4 (4), 3 other reasons (6); cases a, b and 43 more"
    )
