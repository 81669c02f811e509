"""What a finish reason says about a completion, before any field is looked at.

One row a reason, in lower case: providers differ in case only where they mean the same. A reason that is not here is
`unknown`, never guessed.
"""

from __future__ import annotations

from typing import Final

from auditor.sql import literal

#: Finish reason (lower case) → case outcome; `judged` means that the model stopped by itself.
OUTCOME_OF_FINISH: Final[dict[str, str]] = {
    # a clean stop
    "stop": "judged",
    "end_turn": "judged",
    "stop_sequence": "judged",
    "completed": "judged",
    "complete": "judged",
    "eos": "judged",
    "eos_token": "judged",
    "tool_calls": "judged",
    "tool_use": "judged",
    "function_call": "judged",
    # cut off
    "length": "truncated",
    "max_tokens": "truncated",
    "max_output_tokens": "truncated",
    "model_length": "truncated",
    "model_context_window_exceeded": "truncated",
    # held back by the model or by a filter
    "refusal": "refused",
    "content_filter": "refused",
    "content_filtered": "refused",
    "guardrail_intervened": "refused",
    "safety": "refused",
    "recitation": "refused",
    "blocklist": "refused",
    "prohibited_content": "refused",
    "spii": "refused",
    # never arrived
    "error": "transport",
}


def outcome_of(finish: str | None, assumed: str | None) -> str:
    """Give the case outcome of a finish reason; `assumed` stands in where a completion has none."""
    reason = finish or assumed or ""
    return OUTCOME_OF_FINISH.get(reason.lower(), "unknown")


def outcome_sql(finish: str, assumed: str | None) -> str:
    """Give the SQL expression that says for the column `finish` what `outcome_of` says."""
    reason = f"lower(coalesce(nullif({finish}, ''), {literal(assumed or '')}))"
    cases = " ".join(f"WHEN {literal(name)} THEN {literal(outcome)}" for name, outcome in OUTCOME_OF_FINISH.items())
    return f"CASE {reason} {cases} ELSE 'unknown' END"
