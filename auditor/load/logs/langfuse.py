"""Langfuse's experiment items: the rows of its API or of an export, as lines, as an array or below `data`.

The finish reason is there only where an integration put it into the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.load.content_parts import content_of_reply
from auditor.load.logs.openai_batch import calls_of, with_tool
from auditor.load.logs.reply import Reply, at, reference_members, text_at

_IDS = ("experimentItemId", "datasetItemId", "id")


def is_langfuse_item(keys: set[str]) -> bool:
    """Say whether a row with these keys is an experiment's item."""
    return {"output", "expectedOutput"} <= keys or {"experimentId", "output"} <= keys


def langfuse_replies(rows: Iterator[str], tool: str | None) -> Iterator[Reply]:
    """Give the reply of each row."""
    for row in rows:
        expected = at(row, "expectedOutput")
        named = {"expectedOutput": expected, "input": at(row, "input")}
        named |= {name: at(row, name) for name in ("metadata", "experimentItemMetadata")}
        references = {name: value for name, value in named.items() if value is not None} | reference_members(expected)
        case = next((found for name in _IDS if (found := text_at(row, name)) is not None), "")
        asked = {"model": text_at(row, "metadata", "model") or text_at(row, "model")}
        reply = Reply(case, references=references, asked=asked)
        if text_at(row, "level") == "ERROR":
            yield replace(reply, error=text_at(row, "statusMessage") or "level ERROR")
            continue
        finish = text_at(row, "metadata", "finish_reason") or text_at(row, "finish_reason")
        yield _of_output(replace(reply, finish=finish), at(row, "output"), tool)


def _of_output(reply: Reply, output: str | None, tool: str | None) -> Reply:
    """Read an output that is a chat message as one, and take any other as it is."""
    if text_at(output, "role") != "assistant":
        return replace(reply, text=output)
    content = content_of_reply(at(output, "content"))
    refusal = text_at(output, "refusal") or content.refusal
    return with_tool(replace(reply, text=content.text, refusal=refusal), calls_of(output), tool)
