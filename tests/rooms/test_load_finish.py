"""What a finish reason makes of a case. Expectations are what the providers' documents say that a reason means."""

from __future__ import annotations

import pyarrow
import pytest

from auditor.load.finish import outcome_of
from tests.rooms.load_workspace import Workspace

CLEAN = "stop end_turn stop_sequence STOP completed COMPLETE eos_token FINISH FINISHED endoftext"
CUT_OFF = "length max_tokens max_output_tokens model_length model_context_window_exceeded MAX_TOKENS LENGTH time_limit"
HELD_BACK = (
    "refusal content_filter content-filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY "
    "guardrail_intervened content_filtered MODEL_ARMOR sensitive blacklist"
)
NEVER_CAME = "error errored expired canceled cancelled failed error:TimeoutError network_error"
NOBODY_KNOWS = (
    "pause_turn MALFORMED_FUNCTION_CALL OTHER LANGUAGE unknown in_progress queued incomplete FINISH_REASON_UNSPECIFIED"
)

HALF = '{"day": "2024-03'
WHOLE = '{"day": "2024-03-01"}'


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def outcomes(workspace, rows, **cases):
    """Load completions by case, and give the outcome of each."""
    given = [{"case_id": str(number)} | row for number, row in enumerate(rows)]
    references = workspace.csv("r.csv", [{"case_id": row["case_id"], "day": row["case_id"]} for row in given])
    workspace.load(workspace.json_lines("c.jsonl", given), references, {"day": "date"}, **cases)
    found = {case: outcome for (case, _), (outcome, _, _) in workspace.by_case().items()}
    return [found[row["case_id"]] for row in given]


def test_every_reason_of_a_provider_means_what_it_says():
    said = {"judged": CLEAN, "truncated": CUT_OFF, "refused": HELD_BACK, "transport": NEVER_CAME}
    said["unknown"] = NOBODY_KNOWS
    assert {
        (reason, outcome): outcome_of(reason, None) for outcome, names in said.items() for reason in names.split()
    } == {(reason, outcome): outcome for outcome, names in said.items() for reason in names.split()}
    assert outcome_of(None, None) == outcome_of("", None) == "unknown"


def test_half_an_object_is_judged_by_its_reason_alone(workspace):
    rows = [{"completion": HALF, "finish": finish} for finish in ("length", "stop", None, "wat")]
    assert outcomes(workspace, rows) == ["truncated", "malformed", "unknown", "unknown"]


def test_a_spec_adds_reasons_and_says_others_otherwise_and_the_report_names_them(workspace):
    rows = [{"completion": WHOLE, "finish": finish} for finish in ("Natural_End", "pause_turn", "stop", "recitation")]
    more = {"natural_end": "judged", "PAUSE_TURN": "truncated", "recitation": "judged"}
    assert outcomes(workspace, rows) == ["unknown", "unknown", "judged", "refused"]
    assert outcomes(workspace, rows, finish_reasons=more) == ["judged", "truncated", "judged", "judged"]
    assert workspace.loaded.notes[0] == (
        "finish reasons met: Natural_End 1 (judged), pause_turn 1 (truncated), recitation 1 (judged), stop 1 (judged)"
    )


@pytest.mark.parametrize("form", ["jsonl", "csv", "columns"])
def test_a_status_is_an_error_from_400_on(workspace, form):
    statuses = [200, 204, 301, 399, 400, 429, 500, 599]
    rows = [{"case_id": str(number), "status": status, "finish": "stop"} for number, status in enumerate(statuses)]
    if form == "columns":
        given = [{**row, "status": str(row["status"]), "day": "x"} for row in rows]
    else:
        given = [{**row, "status": str(row["status"]) if form == "csv" else row["status"]} for row in rows]
        given = [{**row, "completion": WHOLE} for row in given]
    file = workspace.json_lines("c.jsonl", given) if form == "jsonl" else workspace.csv("c.csv", given)
    references = workspace.csv("r.csv", [{"case_id": row["case_id"], "day": row["case_id"]} for row in rows])
    workspace.load(file, references, {"day": "date"}, error="status", finish="finish")
    found = {case: outcome for (case, _), (outcome, _, _) in workspace.by_case().items()}
    assert list(found.values()) == ["judged"] * 4 + ["transport"] * 4


def test_the_reasons_met_say_what_became_of_their_completions(workspace):
    """No reason and an error is a transport failure, and a stop may be refused, or be no object, all the same."""
    rows = [
        {"completion": WHOLE, "finish": "stop"},
        {"completion": HALF, "finish": "stop"},
        {"completion": WHOLE, "finish": "stop", "refusal": "no"},
        {"completion": WHOLE, "finish": "stop"},
        *[{"completion": None, "error": "time-out"}] * 2,
        {"completion": WHOLE, "finish": "length"},
    ]
    expected = ["judged", "malformed", "refused", "judged", "transport", "transport", "truncated"]
    assert outcomes(workspace, rows) == expected
    assert workspace.loaded.notes[0] == (
        "finish reasons met: stop 4 (judged 2, malformed 1, refused 1), none 2 (transport), length 1 (truncated)"
    )


def test_what_is_not_graded_is_said_to_be_counted_where_it_is(workspace):
    given = [{"case_id": "1", "completion": reply, "finish": "stop"} for reply in (HALF, "Sorry?", WHOLE)]
    references = workspace.csv("r.csv", [{"case_id": "1", "day": "1"}])
    workspace.load(workspace.json_lines("c.jsonl", given), references, {"day": "date"}, attempts="last")
    assert workspace.loaded.notes[0] == "finish reasons met: stop 1 (judged)"
    assert workspace.loaded.notes[1].startswith("attempts: 2 completions of cases that have several")
    assert workspace.loaded.notes[2].startswith(
        "payload: of 3 completions that ended cleanly, graded or not, 1 are read by the strict reader (33.3 %)"
    )


def test_a_refusal_in_the_reply_counts_whatever_the_reason(workspace):
    refusals = ["I cannot help with that.", "", None, False]
    rows = [{"completion": WHOLE, "finish": "stop", "refusal": refusal} for refusal in refusals]
    assert outcomes(workspace, rows) == ["refused", "judged", "judged", "judged"]
    assert [one.text for one in workspace.loaded.blocked] == [
        "refused: 1 of 4 cases was refused by the model or a filter, and is not judged: "
        "a refusal in the reply (1); case 0"
    ]


def test_a_content_of_parts_is_its_texts_and_refused_where_a_part_is_a_refusal(workspace):
    half, other_half = {"type": "text", "text": WHOLE[:5]}, {"type": "output_text", "text": WHOLE[5:]}
    refusal = {"type": "refusal", "refusal": "I cannot help with that."}
    contents = [
        [half, other_half],
        [{"type": "thinking", "thinking": "{"}, {"type": "text", "text": WHOLE}],
        [refusal],
        [half, refusal],
        [{"type": "text", "text": "Sorry."}],
        [{"day": "2024-03-01"}],
        [1],
    ]
    rows = [{"completion": content, "finish": "stop"} for content in contents]
    rows += [{"completion": [refusal], "finish": "length"}, {"completion": [refusal], "error": "429"}]
    assert outcomes(workspace, rows) == [
        *("judged", "judged", "refused", "refused", "malformed", "malformed", "malformed"),
        *("refused", "transport"),
    ]
    assert {case: token for (case, _), (_, token, _) in workspace.by_case().items() if token} == {
        "0": '"2024-03-01"',
        "1": '"2024-03-01"',
    }


@pytest.mark.parametrize("name", ["finish_reason", "finish", "stop_reason", "finishReason", "stopReason"])
def test_every_providers_own_name_of_the_reason_is_known(workspace, name):
    rows = [{"completion": WHOLE, name: reason} for reason in ("stop", "max_tokens")]
    assert outcomes(workspace, rows) == ["judged", "truncated"]


def test_a_call_of_a_tool_is_judged_where_the_payload_is_its_input(workspace):
    replies = [WHOLE, "Let me look that up.", "", HALF]
    rows = [{"completion": reply, "finish": "tool_calls"} for reply in replies]
    assert outcomes(workspace, rows) == ["judged", "unknown", "unknown", "malformed"]


def test_columns_of_a_table_know_the_same_reasons_as_completions(workspace):
    names = [*CLEAN.split(), *CUT_OFF.split(), *HELD_BACK.split(), *NEVER_CAME.split(), *NOBODY_KNOWS.split(), "mine"]
    rows = [{"case_id": str(n), "day": "2024-03-01", "why": name} for n, name in enumerate(names)]
    references = workspace.csv("r.csv", [{"case_id": row["case_id"], "day": row["case_id"]} for row in rows])
    mine = {"mine": "refused"}
    for write in (workspace.csv, workspace.json_lines, workspace.parquet):
        predictions = write("p." + {"csv": "csv", "json_lines": "jsonl", "parquet": "parquet"}[write.__name__], rows)
        workspace.load(predictions, references, {"day": "date"}, finish="why", finish_reasons=mine)
        found = {case: outcome for (case, _), (outcome, _, _) in workspace.by_case().items()}
        assert [found[row["case_id"]] for row in rows] == [
            *(outcome_of(name, None) for name in names[:-1]),
            "refused",
        ]


@pytest.mark.parametrize("form", ["csv", "json_lines", "parquet", "long"])
def test_a_table_with_a_reason_that_nothing_reads_says_so(workspace, form):
    """Values of a table are judged, whatever stands beside them: a reply that was cut off would count as an answer."""
    rows = [{"case_id": "1", "day": "2024-03-01", "finishReason": "MAX_TOKENS"}]
    if form == "long":
        rows = [{"case_id": "1", "field": "day", "prediction": "2024-03-01", "finishReason": "MAX_TOKENS"}]
    write, suffix = (workspace.json_lines, "jsonl") if form in ("json_lines", "long") else (None, form)
    name = (write or getattr(workspace, form))(f"p.{suffix}", rows)
    references = workspace.csv("r.csv", [{"case_id": "1", "field": "day", "reference": "2024-03-01"}])
    workspace.load(name, references, {"day": "date"})
    [note] = [note for note in workspace.loaded.notes if "finishReason" in note]
    assert note.startswith("p.") and 'finish = "finishReason"' in note
    workspace.load(name, references, {"day": "date"}, finish="finishReason")
    assert not [note for note in workspace.loaded.notes if "not read" in note]
    assert [outcome for outcome, *_ in workspace.by_case().values()] == ["truncated"]


def outcomes_in(workspace, name, **named):
    """Give the outcome of each case of a file with a column per field."""
    references = workspace.csv("r.csv", [{"case_id": str(n), "day": f"2024-03-0{n + 1}"} for n in range(4)])
    workspace.load(name, references, {"day": "date"}, **named)
    return [outcome for _, (outcome, *_) in sorted(workspace.by_case().items())]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([False, None, False, True], pyarrow.bool_()),
        ([0, None, 0, 3], pyarrow.int64()),
        ([[], None, [], ["timeout"]], pyarrow.list_(pyarrow.string())),
        ([float("nan"), None, 0.0, 1.0], pyarrow.float64()),
        (["", None, "", "timeout"], pyarrow.string()),
    ],
)
@pytest.mark.parametrize(("role", "outcome"), [("error", "transport"), ("refusal", "refused")])
def test_what_says_that_nothing_failed_is_no_failure_in_any_format(workspace, given, kind, role, outcome):
    rows = [{"case_id": str(n), "day": "2024-03-01", "why": value} for n, value in enumerate(given)]
    completions = [row | {"completion": WHOLE, "finish": "stop"} for row in rows]
    for name in (
        workspace.json_lines("p.jsonl", rows),
        workspace.parquet("p.parquet", rows, why=kind),
        workspace.json_lines("c.jsonl", [{k: v for k, v in row.items() if k != "day"} for row in completions]),
        workspace.parquet("c.parquet", [{k: v for k, v in row.items() if k != "day"} for row in completions], why=kind),
    ):
        assert outcomes_in(workspace, name, **{role: "why"}) == ["judged", "judged", "judged", outcome], name
