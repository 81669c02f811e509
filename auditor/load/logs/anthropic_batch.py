"""Anthropic's batch results: a line per request, with a message, an error, or word that it was canceled or expired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.load.logs.openai_batch import with_tool
from auditor.load.logs.reply import Reply, at, joined_texts, objects_of, text_at


def is_anthropic_batch(keys: set[str]) -> bool:
    """Say whether a line with these keys is one of a batch's results."""
    return {"custom_id", "result"} <= keys


def anthropic_replies(records: Iterator[str], tool: str | None) -> Iterator[Reply]:
    """Give the reply of each line."""
    for record in records:
        result = at(record, "result")
        reply = Reply(text_at(record, "custom_id") or "", asked={"model": text_at(result, "message", "model")})
        kind = text_at(result, "type")
        yield (
            _of_message(reply, at(result, "message"), tool)
            if kind == "succeeded"
            else replace(reply, finish=kind, error=_failure(result, kind))
        )


def _failure(result: str | None, kind: str | None) -> str:
    error = at(result, "error")
    inner = at(error, "error") or error
    return ": ".join(filter(None, (kind or "no result", text_at(inner, "type"), text_at(inner, "message"))))


def _of_message(reply: Reply, message: str | None, tool: str | None) -> Reply:
    blocks = list(objects_of(at(message, "content")))
    texts = [text_at(block, "text") for block in blocks if text_at(block, "type") == "text"]
    calls = [
        (text_at(block, "name") or "", at(block, "input")) for block in blocks if text_at(block, "type") == "tool_use"
    ]
    finish = text_at(message, "stop_reason")
    found = replace(reply, finish=finish, text=joined_texts(texts))
    return with_tool(found, calls, tool)
