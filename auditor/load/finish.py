"""What a finish reason says about a completion, before any field is looked at.

One row a reason, in lower case: providers differ in case only where they mean the same. A reason that is neither here
nor in the spec's `finish_reasons` is `unknown`, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from auditor.sql import literal

#: Finish reason (lower case) → case outcome; `judged` means that the model stopped by itself.
OUTCOME_OF_FINISH: Final[dict[str, str]] = {
    # a clean stop
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "completed"), "judged"),
    **dict.fromkeys(("complete", "finish", "finished", "eos", "eos_token", "endoftext"), "judged"),
    "stop_criteria_met": "judged",
    # a call of a tool, whose input may be the payload
    **dict.fromkeys(("tool_calls", "tool_use", "function_call", "tool_call", "tool-calls"), "judged"),
    # cut off
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_length", "token_limit"), "truncated"),
    **dict.fromkeys(
        ("model_length", "model_context_window_exceeded", "context_length_exceeded", "error_limit", "time_limit"),
        "truncated",
    ),
    # held back by the model or by a filter
    **dict.fromkeys(("refusal", "refused", "guardrail_intervened", "error_toxic"), "refused"),
    **dict.fromkeys(("content_filter", "content_filtered", "content-filter"), "refused"),
    **dict.fromkeys(("model_armor", "sensitive", "blacklist"), "refused"),
    **dict.fromkeys(("safety", "recitation", "blocklist", "prohibited_content", "spii"), "refused"),
    **dict.fromkeys(("image_safety", "image_prohibited_content", "image_recitation"), "refused"),
    # never arrived
    **dict.fromkeys(("error", "errored", "failed", "expired", "timeout", "network_error"), "transport"),
    **dict.fromkeys(("canceled", "cancelled", "user_cancel", "abort", "insufficient_system_resource"), "transport"),
}

#: Reasons that say that the reply calls a tool: judged only where the payload is the tool's input.
TOOL_REASONS: Final = frozenset(("tool_calls", "tool_use", "function_call", "tool_call", "tool-calls"))

#: What stands where an error or a refusal would and says that there is none, as JSON text: flags, counts, empty boxes.
NO_ERROR: Final = ("null", '""', "false", "{}", "[]", "0", "0.0", "NaN")

#: Regular expression of an HTTP status that is no failure, where it stands in the place of an error.
NO_ERROR_STATUS: Final = '"?[123][0-9]{2}"?'

#: A failure that names its error after a colon, as in `error:TimeoutError`.
_NAMED_ERROR: Final = "error:"


def outcomes_by_reason(added: Mapping[str, str]) -> dict[str, str]:
    """Give the outcome of every known reason: those here, and those that a spec adds or says otherwise."""
    return OUTCOME_OF_FINISH | {reason.lower(): outcome for reason, outcome in added.items()}


def outcome_of(finish: str | None, assumed: str | None, outcomes: Mapping[str, str] = OUTCOME_OF_FINISH) -> str:
    """Give the case outcome of a finish reason; `assumed` stands in where a completion has none."""
    reason = (finish or assumed or "").lower()
    return outcomes.get(reason) or ("transport" if reason.startswith(_NAMED_ERROR) else "unknown")


def outcome_sql(finish: str, assumed: str | None, outcomes: Mapping[str, str] = OUTCOME_OF_FINISH) -> str:
    """Give the SQL expression that says for the column `finish` what `outcome_of` says."""
    reason = f"lower(coalesce(nullif({finish}, ''), {literal(assumed or '')}))"
    cases = " ".join(f"WHEN {literal(name)} THEN {literal(outcome)}" for name, outcome in outcomes.items())
    named = f"CASE WHEN starts_with({reason}, {literal(_NAMED_ERROR)}) THEN 'transport' ELSE 'unknown' END"
    return f"CASE {reason} {cases} ELSE {named} END"
