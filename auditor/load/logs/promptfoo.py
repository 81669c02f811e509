"""promptfoo's results, from `-o` with a name in `.json` or `.jsonl`: a row per test, prompt and provider.

A row's `error` is set where an assertion fails, too: only `failureReason` 2, or an error of the response, says that
there was no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.load.finish import TOOL_REASONS
from auditor.load.logs.openai_batch import calls_of, with_tool
from auditor.load.logs.reply import Reply, at, objects_of, reference_members, text_at
from auditor.load.tokens import content_of

_ERROR = "2"


def is_promptfoo_document(keys: set[str]) -> bool:
    """Say whether a document with these keys is an output file."""
    return {"evalId", "results"} <= keys or {"results", "config", "shareableUrl"} <= keys


def is_promptfoo_row(keys: set[str]) -> bool:
    """Say whether a line with these keys is one of an output file."""
    return {"testIdx", "promptIdx"} <= keys


def arm_of(row: str) -> str:
    """Name who was asked, and with which prompt: each answers every test."""
    return f"{_provider(row) or ''}, prompt {text_at(row, 'promptIdx') or '0'}".removeprefix(", ")


def _provider(row: str) -> str | None:
    return text_at(row, "provider", "label") or text_at(row, "provider", "id") or text_at(row, "provider")


def promptfoo_replies(rows: Iterator[str], chosen: str | None, tool: str | None = None) -> Iterator[Reply]:
    """Give the reply of each row of the chosen provider and prompt, or of the only ones there are."""
    for row in rows:
        if chosen is not None and arm_of(row) != chosen:
            continue
        response = at(row, "response")
        asked = {"model": _provider(row), "provider": _provider(row), "prompt": text_at(row, "promptIdx") or "0"}
        reply = Reply(text_at(row, "testIdx") or "", references=_references(row), asked=asked)
        error = text_at(response, "error")
        if error is not None or text_at(row, "failureReason") == _ERROR:
            yield replace(reply, error=error or text_at(row, "error") or "failure reason 2")
            continue
        finish = text_at(response, "finishReason") or text_at(row, "finishReason")
        refusal = "refusal" if at(response, "isRefusal") == "true" else None
        output = at(response, "output")
        calls = _calls(output, finish)
        text = None if calls else output
        yield with_tool(replace(reply, finish=finish, text=text, refusal=refusal), calls, tool)


def _calls(output: str | None, finish: str | None) -> list[tuple[str, str | None]]:
    """Give name and input of each tool that an output calls, as the providers of promptfoo write it."""
    if output is None:
        return []
    if output[0] == '"':  # Anthropic's blocks are JSON, each a paragraph of the text
        paragraphs = [part for part in content_of(output).split("\n\n") if part.startswith("{") and part.endswith("}")]
        return [call for part in paragraphs if (call := _block(part)) is not None]
    if output[0] == "[":
        return calls_of(f'{{"tool_calls":{output}}}') if any(at(one, "function") for one in objects_of(output)) else []
    if text_at(output, "role") == "assistant":
        return calls_of(output)
    block = _block(output)
    if block is None and finish in TOOL_REASONS and at(output, "arguments") is not None:
        block = (text_at(output, "name") or "", at(output, "arguments"))
    return [] if block is None else [block]


def _block(source: str) -> tuple[str, str | None] | None:
    try:
        is_call = text_at(source, "type") == "tool_use" and (at(source, "input") or "")[:1] == "{"
    except (ValueError, RecursionError):  # a paragraph that only looks like an object
        return None
    return (text_at(source, "name") or "", at(source, "input")) if is_call else None


def _references(row: str) -> dict[str, str]:
    """Give the row's variables and metadata, and what an assertion of equality expects."""
    expected = [
        value
        for one in objects_of(at(row, "testCase", "assert"))
        if text_at(one, "type") == "equals" and (value := at(one, "value")) is not None
    ]
    named = {
        "vars": at(row, "vars") or at(row, "testCase", "vars"),
        "metadata": at(row, "testCase", "metadata"),
        "expected": expected[0] if len(expected) == 1 else None,
    }
    found = {name: value for name, value in named.items() if value is not None}
    return found | reference_members(named["expected"])
