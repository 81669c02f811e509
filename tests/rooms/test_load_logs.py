"""Logs of batch services and eval tools, written anew in the form that each documents or was seen to write."""

from __future__ import annotations

import json
import zipfile
import zlib

import pyarrow
import pytest

from auditor.errors import LoadError
from tests.rooms.load_workspace import Workspace

FIELDS = {"day": "date", "total": "decimal"}
GOOD = '{"day": "2024-03-01", "total": 12.50}'


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def references_of(workspace, *ids):
    return workspace.json_lines("r.jsonl", [{"case_id": case, "day": case, "total": case} for case in ids])


def days(workspace):
    """Give the token of the day by case, or the outcome where the case was not judged."""
    found = workspace.by_case()
    return {
        case: prediction if outcome == "judged" else outcome
        for (case, field), (outcome, prediction, _) in found.items()
        if field == "day"
    }


def reasons(workspace):
    return {reason: count for one in workspace.loaded.blocked for reason, count in one.reasons.items()}


def chat(case, finish, content=None, **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": case, "response": response, "error": None}


def responses(case, status, *output, reason=None):
    body = {"object": "response", "status": status, "output": list(output), "error": None}
    body["incomplete_details"] = {"reason": reason} if reason else None
    return {"id": "b", "custom_id": case, "response": {"status_code": 200, "body": body}, "error": None}


def message(*parts):
    return {"type": "message", "role": "assistant", "content": list(parts)}


def call(arguments, name="extract"):
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_openai_batches_of_both_apis_with_the_error_file(workspace):
    output = [
        chat("c1", "stop", GOOD),
        chat("c2", "length", '{"day": "2024-03'),
        chat("c3", "stop", None, refusal="I cannot help with that."),
        chat("c4", "content_filter", ""),
        chat("c5", "tool_calls", None, tool_calls=[call(GOOD)]),
        chat("c6", "tool_calls", None, tool_calls=[call(GOOD), call(GOOD, "other")]),
        chat("c7", "stop", None, tool_calls=[call(GOOD)]),  # a forced call ends with stop
        chat("c8", None, GOOD),
        chat("c9", "stop", [{"type": "text", "text": GOOD}]),
        chat("c10", "stop", [{"type": "refusal", "refusal": "no"}]),
        {
            **chat("c11", "stop"),
            "response": {"status_code": 200, "body": {"choices": [{"text": GOOD, "finish_reason": "stop"}]}},
        },
        responses("r1", "completed", {"type": "reasoning"}, message({"type": "output_text", "text": GOOD})),
        responses("r2", "incomplete", message({"type": "output_text", "text": "{"}), reason="max_output_tokens"),
        responses("r3", "completed", message({"type": "refusal", "refusal": "no"})),
        responses("r4", "completed", {"type": "function_call", "name": "extract", "arguments": GOOD}),
        responses("r5", "incomplete", reason="steered"),
        responses("r6", "failed"),
    ]
    errors = [
        {"id": "b", "custom_id": "e1", "response": None, "error": {"code": "batch_expired", "message": "too late"}},
        {
            "id": "b",
            "custom_id": "e2",
            "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}},
            "error": None,
        },
    ]
    files = [workspace.json_lines("errors.jsonl", errors), workspace.json_lines("output.jsonl", output)]
    ids = [row["custom_id"] for row in (*output, *errors)]
    workspace.load(files, references_of(workspace, *ids, "gone"), FIELDS)
    day = '"2024-03-01"'
    assert days(workspace) == {
        **dict.fromkeys(("c1", "c5", "c7", "c9", "c11", "r1", "r4"), day),
        **dict.fromkeys(("c2", "r2"), "truncated"),
        **dict.fromkeys(("c3", "c4", "c10", "r3"), "refused"),
        **dict.fromkeys(("c6", "c8", "r5"), "unknown"),
        **dict.fromkeys(("r6", "e1", "e2"), "transport"),
        "gone": "missing",
    }
    assert {token for (case, name), (_, token, _) in workspace.by_case().items() if name == "total" and token} == {
        "12.50"
    }
    assert {"batch_expired: too late": 1, "status 429: slow down": 1}.items() <= reasons(workspace).items()
    workspace.load(files, references_of(workspace, *ids), FIELDS, tool="extract")
    assert days(workspace)["c6"] == day


def test_anthropic_results(workspace):
    def succeeded(case, stop, *content):
        return {
            "custom_id": case,
            "result": {"type": "succeeded", "message": {"content": content, "stop_reason": stop}},
        }

    text = {"type": "text", "text": GOOD}
    tool = {"type": "tool_use", "name": "x", "input": {"day": "d"}}
    failed = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
    rows = [
        succeeded("a1", "end_turn", text),
        succeeded("a2", "max_tokens", {"type": "text", "text": "{"}),
        succeeded("a3", "tool_use", {"type": "text", "text": "Let me."}, tool),
        succeeded("a4", "refusal"),
        succeeded("a5", "pause_turn", text),
        succeeded("a6", "model_context_window_exceeded", text),
        succeeded("a7", "end_turn", {"type": "text", "text": '{"day": '}, {"type": "text", "text": '"two"}'}),
        {"custom_id": "a8", "result": {"type": "errored", "error": failed}},
        {"custom_id": "a9", "result": {"type": "expired"}},
        {"custom_id": "a10", "result": {"type": "canceled"}},
    ]  # fmt: skip
    ids = [row["custom_id"] for row in rows]
    workspace.load(workspace.json_lines("results.jsonl", rows), references_of(workspace, *ids), FIELDS)
    assert days(workspace) == {
        "a1": '"2024-03-01"',
        "a3": '"d"',
        "a7": '"two"',
        "a2": "truncated",
        "a4": "refused",
        "a5": "unknown",
        "a6": "truncated",
        **dict.fromkeys(("a8", "a9", "a10"), "transport"),
    }
    assert reasons(workspace)["errored: invalid_request_error: too long"] == 1


def sample(case, epoch, completion, stop, **more):
    message = {"role": "assistant", "content": completion}
    output = {"model": "m", "choices": [{"message": message, "stop_reason": stop}], "completion": completion}
    return {"id": case, "epoch": epoch, "input": "?", "target": '{"day": "t", "total": 3}', "output": output, **more}


SAMPLES = [
    sample("K1", 1, GOOD, "stop"),
    sample("K1", 2, "{", "max_tokens"),
    sample(7, 1, [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": GOOD}], "stop"),
    sample(7, 2, "", "content_filter", scores={"exact": {"value": float("nan")}}),
    {"id": "K3", "epoch": 1, "target": "x", "error": {"message": "timed out"}, "output": {"choices": []}},
]
LOG = {"version": 2, "status": "success", "eval": {"task": "t", "config": {"epochs": 2}}, "samples": SAMPLES}


def eval_file(path, samples, header):
    """Write a log as Inspect AI does: members of method 93, which Python's own zipfile does not write."""
    with zipfile.ZipFile(path, "w") as packed:
        members = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples} | {"header.json": header}
        for name, content in members.items():
            plain = json.dumps(content).encode()
            packed.writestr(name, pyarrow.compress(plain, codec="zstd", asbytes=True))
            entry = packed.filelist[-1]
            entry.compress_type, entry.file_size, entry.CRC = 93, len(plain), zlib.crc32(plain)
    return path.name


@pytest.mark.parametrize("form", ["indented", "one line", "eval"])
def test_inspect_logs_have_a_case_per_epoch(workspace, form):
    if form == "eval":
        header = {key: value for key, value in LOG.items() if key != "samples"}
        name = eval_file(workspace.folder / "log.eval", SAMPLES, header)
    else:
        name = workspace.write("log.json", json.dumps(LOG, indent=2 if form == "indented" else None))
    expected = {
        "K1#1": '"2024-03-01"',
        "K1#2": "truncated",
        "7#1": '"2024-03-01"',
        "7#2": "refused",
        "K3#1": "transport",
        "K3#2": "missing",
    }
    workspace.load(name, references_of(workspace, "K1", "7", "K3"), FIELDS)
    cases = workspace.loaded.cases
    assert (cases.expected, cases.judged, cases.truncated, cases.refused) == (6, 2, 1, 1)
    assert (cases.transport, cases.missing) == (1, 1)
    assert workspace.loaded.sources[1]["rows"] == 3
    workspace.load(name, references_of(workspace, *expected), FIELDS)
    assert days(workspace) == expected
    workspace.load(name, name, FIELDS)  # its own targets
    assert {row[3] for row in workspace.pairs() if row[0] == "total"} == {"3", None}


def test_a_damaged_eval_file_is_named_with_its_member(workspace):
    header = {key: value for key, value in LOG.items() if key != "samples"}
    name = eval_file(workspace.folder / "log.eval", SAMPLES, header)
    content = (workspace.folder / name).read_bytes()
    at = content.index(b"samples/K1_epoch_2.json") + 40
    workspace.write(name, content[:at] + b"\0\0\0" + content[at + 3 :])
    with pytest.raises(LoadError, match=r"log\.eval, record 1: cannot be read: the member samples/K1_epoch_2\.json"):
        workspace.load(name, references_of(workspace, "K1"), FIELDS)


def test_promptfoo_rows_fail_on_the_way_only_where_they_say_so(workspace):
    def row(number, output, failure=0, error=None, finish=None, response_error=None, **response):
        said = {"output": output, "finishReason": finish, "error": response_error} | response
        return {
            "testIdx": number,
            "promptIdx": 0,
            "vars": {"contract": f"C{number}", "day": "2024-03-01"},
            "testCase": {"assert": [{"type": "equals", "value": {"day": "x", "total": number}}]},
            "response": said,
            "failureReason": failure,
            "error": error,
        }

    rows = [
        row(0, GOOD, finish="stop"),
        row(1, {"day": "2024-03-02", "total": 1.10}, 1, "Expected output to equal …", "stop"),
        row(2, None, 2, "API error: 500"),
        row(3, None, 1, "x", response_error="timeout"),
        row(4, "{", finish="length"),
        row(5, "no", finish="stop", isRefusal=True),
        row(6, GOOD),
    ]
    expected = {
        "0": '"2024-03-01"',
        "1": '"2024-03-02"',
        "2": "transport",
        "3": "transport",
        "4": "truncated",
        "5": "refused",
        "6": "unknown",
    }
    document = {"evalId": "e", "results": {"version": 3, "results": rows}, "config": {}, "metadata": {}}
    files = [workspace.write("out.json", json.dumps(document, indent=2)), workspace.json_lines("out.jsonl", rows)]
    for name in files:
        workspace.load(name, references_of(workspace, *expected), FIELDS)
        assert days(workspace) == expected, name
        workspace.load(name, name, {"day": {"type": "date", "reference_path": "vars.day"}}, id="vars.contract")
        assert workspace.loaded.cases.expected == 7
        assert {row[3] for row in workspace.pairs()} == {'"2024-03-01"'}
        workspace.load(name, name, FIELDS)
        assert {row[3] for row in workspace.pairs() if row[0] == "total"} == {str(number) for number in range(7)}


def test_a_tool_that_a_promptfoo_row_calls_is_its_payload(workspace):
    """OpenAI's calls stand as a list, or in their message; Anthropic's blocks as JSON among the texts of a reply."""
    block = json.dumps({"type": "tool_use", "id": "t", "name": "extract", "input": json.loads(GOOD)})
    other = json.dumps({"type": "tool_use", "id": "u", "name": "log", "input": {}})
    outputs = [
        ([call(GOOD)], "tool_calls"),
        ({"role": "assistant", "content": "I call it.", "tool_calls": [call(GOOD)]}, "tool_calls"),
        ({"name": "extract", "arguments": GOOD}, "function_call"),
        (f"I call it.\n\n{block}", "tool_calls"),
        (block, "tool_use"),
        (f"{block}\n\n{other}", "tool_calls"),
        ([call(GOOD), call(GOOD)], "tool_calls"),
        ("I call it.", "tool_calls"),
        ([call(GOOD)], "length"),
        (block, None),
    ]
    rows = [
        {"testIdx": n, "promptIdx": 0, "vars": {}, "failureReason": 0, "response": {"output": o, "finishReason": f}}
        for n, (o, f) in enumerate(outputs)
    ]
    name = workspace.json_lines("out.jsonl", rows)
    ids = [str(n) for n in range(len(rows))]
    workspace.load(name, references_of(workspace, *ids), FIELDS)
    day = '"2024-03-01"'
    expected = [day, day, day, day, day, "unknown", "unknown", "unknown", "truncated", "unknown"]
    assert days(workspace) == dict(zip(ids, expected, strict=True))
    workspace.load(name, references_of(workspace, *ids), FIELDS, tool="extract")
    assert days(workspace)["5"] == day


def test_providers_and_prompts_of_promptfoo_are_never_mixed(workspace):
    rows = [
        {
            "testIdx": number,
            "promptIdx": prompt,
            "provider": {"id": provider},
            "vars": {},
            "failureReason": 0,
            "response": {"output": {"day": f"{provider} {prompt}"}, "finishReason": "stop"},
        }
        for number in (0, 1)
        for provider, prompt in (("echo", 0), ("echo", 1), ("openai:gpt", 0))
    ]
    name = workspace.json_lines("out.jsonl", rows)
    for attempts in (None, "last"):
        with pytest.raises(LoadError, match="3 of them: 'echo, prompt 0', 'echo, prompt 1', 'openai:gpt, prompt 0'"):
            workspace.load(name, references_of(workspace, "0", "1"), FIELDS, attempts=attempts)
    workspace.load(name, references_of(workspace, "0", "1"), FIELDS, filter="echo, prompt 1")
    assert days(workspace) == {"0": '"echo 1"', "1": '"echo 1"'}


def test_lm_eval_samples_need_a_filter_and_have_no_reason(workspace):
    def line(number, name, answer):
        return {
            "doc_id": number,
            "doc": {"gold": f"D{number}"},
            "target": json.dumps({"day": "t"}),
            "resps": [["Long thought. " + GOOD]],
            "filtered_resps": [answer],
            "filter": name,
        }

    rows = [line(n, name, answer) for n in (0, 1) for name, answer in (("strict", "[invalid]"), ("json", GOOD))]
    name = workspace.json_lines("samples_task_2026.jsonl", rows)
    with pytest.raises(LoadError, match=r"per filter, and 2 of them: 'strict', 'json'\s+choose one"):
        workspace.load(name, references_of(workspace, "0", "1"), FIELDS)
    with pytest.raises(LoadError, match="no answer of the filter 'jsn'"):
        workspace.load(name, references_of(workspace, "0", "1"), FIELDS, filter="jsn")
    workspace.load(name, references_of(workspace, "0", "1"), FIELDS, filter="json")
    assert days(workspace) == {"0": "unknown", "1": "unknown"}
    workspace.load(name, references_of(workspace, "0", "1"), FIELDS, filter="json", assume_finish="stop")
    assert days(workspace) == {"0": '"2024-03-01"', "1": '"2024-03-01"'}
    workspace.load(name, references_of(workspace, "0", "1"), FIELDS, filter="strict", assume_finish="stop")
    assert days(workspace) == {"0": "malformed", "1": "malformed"}
    gold = {"day": {"type": "date", "reference_path": "doc.gold"}}
    workspace.load(name, name, gold, filter="json", assume_finish="stop")
    assert [row[3] for row in workspace.pairs()] == ['"D0"', '"D1"']


def test_langfuse_items(workspace):
    def item(case, output, finish=None, **more):
        expected = {"day": "t", "total": 9}
        metadata = {"finish_reason": finish} if finish else {}
        return {"id": f"row-{case}", "experimentItemId": case, "output": output, "expectedOutput": expected,
                "metadata": metadata, **more}  # fmt: skip

    rows = [
        item("L1", json.loads(GOOD), "stop"),
        item("L2", {"role": "assistant", "content": GOOD}, "stop"),
        item("L3", GOOD),
        item("L4", None, level="ERROR", statusMessage="429"),
        item("L5", "{", "length"),
        item("L6", {"role": "assistant", "content": None, "tool_calls": [call(GOOD)]}, "tool_calls"),
        item("L7", {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, "stop"),
    ]
    expected = {"L1": '"2024-03-01"', "L2": '"2024-03-01"', "L3": "unknown", "L4": "transport", "L5": "truncated"}
    expected |= {"L6": '"2024-03-01"', "L7": "refused"}
    files = [
        workspace.json_lines("lines.jsonl", rows),
        workspace.write("array.json", json.dumps(rows, indent=1)),
        workspace.write("page.json", json.dumps({"data": rows, "meta": {"page": 1}})),
    ]
    for name in files:
        workspace.load(name, references_of(workspace, *expected), FIELDS)
        assert days(workspace) == expected, name
        workspace.load(name, name, FIELDS)
        assert {row[3] for row in workspace.pairs() if row[0] == "total"} == {"9"}


def test_a_retry_is_no_new_case(workspace):
    first = workspace.json_lines("one.jsonl", [chat("a", "length", "{"), chat("b", "stop", GOOD)])
    again = workspace.json_lines("two.jsonl", [chat("a", "stop", '{"day": "2"}'), chat("b", "length", "{")])
    references = references_of(workspace, "a", "b")
    with pytest.raises(LoadError, match="2 ids occur more than once"):
        workspace.load([first, again], references, FIELDS)
    workspace.load([first, again], references, FIELDS, attempts="last")
    assert days(workspace) == {"a": '"2"', "b": "truncated"}
    assert workspace.loaded.finish_reasons == {"length": 1, "stop": 1}
    assert "attempts: 2 completions of cases that have several are counted, and not graded" in workspace.loaded.notes
    workspace.load([first, again], references, FIELDS, attempts="first")
    assert days(workspace) == {"a": "truncated", "b": '"2024-03-01"'}
    plain = workspace.csv("p.csv", [{"case_id": case, "day": day, "total": "1"} for case, day in ("ax", "ay", "bz")])
    workspace.load(plain, references, FIELDS, attempts="last")
    assert days(workspace) == {"a": '"y"', "b": '"z"'}


def test_a_retry_in_a_log_repeats_the_reference_and_must_repeat_the_same(workspace):
    """Two lines of one test: promptfoo's vars hold the reference beside each answer."""

    def row(output, day="2024-03-01"):
        return {"testIdx": 0, "promptIdx": 0, "vars": {"day": day}, "failureReason": 0,
                "response": {"output": output, "finishReason": "stop"}}  # fmt: skip

    fields = {"day": {"type": "date", "reference_path": "vars.day"}}
    name = workspace.json_lines("out.jsonl", [row({"day": "first"}), row({"day": "last"})])
    for attempts in ("first", "last"):
        workspace.load(name, name, fields, attempts=attempts)
        assert days(workspace) == {"0": f'"{attempts}"'}
        assert [row[3] for row in workspace.pairs()] == ['"2024-03-01"']
        assert workspace.loaded.cases.expected == 1
    with pytest.raises(LoadError, match="the id '0' occurs 2 times"):
        workspace.load(name, name, fields)
    other = workspace.json_lines("other.jsonl", [row({"day": "first"}), row({"day": "last"}, "2024-03-02")])
    with pytest.raises(LoadError, match="case 0: the references differ"):
        workspace.load(other, other, fields, attempts="last")
    table = workspace.csv("both.csv", [{"case_id": "0", "day": "2024-03-0" + n, "gold": "2024-03-01"} for n in "12"])
    workspace.load(table, table, {"day": {"type": "date", "reference_path": "gold"}}, attempts="last")
    assert days(workspace) == {"0": '"2024-03-02"'}
    repeated = workspace.csv("r.csv", [{"case_id": "0", "day": "2024-03-01"}] * 2)
    with pytest.raises(LoadError, match=r"r\.csv.*: the id '0' occurs 2 times in the references"):
        workspace.load(table, repeated, {"day": "date"}, attempts="last")


def test_a_broken_log_is_named_with_the_record(workspace):
    name = workspace.write(
        "o.jsonl", json.dumps(chat("a", "stop", GOOD)) + '\n{"custom_id": "b", "response": {"body"\n'
    )
    with pytest.raises(LoadError, match=r"o\.jsonl, line 2: cannot be read"):
        workspace.load(name, references_of(workspace, "a"), FIELDS)
    twice = '{"custom_id": "b", "custom_id": "c", "response": {}, "error": null}\n'
    with pytest.raises(LoadError, match="line 1: cannot be read: the key 'custom_id' occurs 2 times"):
        workspace.load(workspace.write("t.jsonl", twice), references_of(workspace, "a"), FIELDS)


def test_a_plain_file_whose_columns_the_spec_names_is_no_log(workspace):
    rows = [{"custom_id": "a", "response": GOOD, "error": None, "finish": "stop"}]
    name = workspace.json_lines("p.jsonl", rows)
    references = workspace.json_lines("r.jsonl", [{"custom_id": "a", "day": "1", "total": 1}])
    workspace.load(name, references, FIELDS, completion="response", id="custom_id")
    assert days(workspace) == {"a": '"2024-03-01"'}
