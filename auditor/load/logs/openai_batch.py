"""OpenAI's batch output: a line per request, of the chat completions or of the responses API.

Failed requests are in a file of their own, in the same form: name both files, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.load.content_parts import content_of_reply
from auditor.load.logs.reply import Reply, at, joined_texts, objects_of, text_at, tool_input

_FIRST_ERROR_STATUS = 400


def is_openai_batch(keys: set[str]) -> bool:
    """Say whether a line with these keys is one of a batch's output or error file."""
    return {"custom_id", "response"} <= keys or {"custom_id", "error", "id"} <= keys


def openai_replies(records: Iterator[str], tool: str | None) -> Iterator[Reply]:
    """Give the reply of each line."""
    for record in records:
        yield _reply(record, tool)


def _reply(record: str, tool: str | None) -> Reply:
    reply = Reply(text_at(record, "custom_id") or "", asked={"model": text_at(record, "response", "body", "model")})
    if (error := _failure(record)) is not None:
        return replace(reply, error=error)
    body = at(record, "response", "body")
    if at(body, "choices") is not None:
        return _of_chat(reply, body, tool)
    return _of_responses(reply, body, tool)


def _failure(record: str) -> str | None:
    """Say what kept a request from an answer; None where it got one."""
    error, status = at(record, "error"), text_at(record, "response", "status_code")
    of_body = text_at(record, "response", "body", "error", "message")
    if error is not None:
        code, message = text_at(error, "code"), text_at(error, "message")
        return ": ".join(filter(None, (code, message))) or error
    if status is not None and status.isdigit() and int(status) >= _FIRST_ERROR_STATUS:
        return ": ".join(filter(None, (f"status {status}", of_body)))
    if of_body is not None:
        return of_body
    return "no response" if at(record, "response", "body") is None else None


def calls_of(message: str | None) -> list[tuple[str, str | None]]:
    """Give name and input of each tool that a chat message calls."""
    calls = [
        (text_at(call, "function", "name") or "", at(call, "function", "arguments"))
        for call in objects_of(at(message, "tool_calls"))
    ]
    if (call := at(message, "function_call")) is not None:
        calls.append((text_at(call, "name") or "", at(call, "arguments")))
    return calls


def _of_chat(reply: Reply, body: str | None, tool: str | None) -> Reply:
    choice = at(body, "choices", 0)
    message = at(choice, "message")
    # The older completions API has a text for a message.
    content = content_of_reply(at(message, "content") if message is not None else at(choice, "text"))
    refusal = text_at(message, "refusal") or content.refusal
    finish = text_at(choice, "finish_reason")
    return with_tool(replace(reply, finish=finish, refusal=refusal, text=content.text), calls_of(message), tool)


def _of_responses(reply: Reply, body: str | None, tool: str | None) -> Reply:
    status = text_at(body, "status")
    if status == "incomplete":
        status = text_at(body, "incomplete_details", "reason") or status
    texts, refusals, calls = [], [], []
    for item in objects_of(at(body, "output")):
        if text_at(item, "type") == "function_call":
            calls.append((text_at(item, "name") or "", at(item, "arguments")))
        for part in objects_of(at(item, "content")):
            kind = text_at(part, "type")
            if kind == "output_text":
                texts.append(text_at(part, "text"))
            elif kind == "refusal":
                refusals.append(text_at(part, "refusal") or "refusal")
    found = replace(reply, finish=status, refusal="".join(refusals) or None, text=joined_texts(texts))
    return with_tool(found, calls, tool)


def with_tool(reply: Reply, calls: list[tuple[str, str | None]], tool: str | None) -> Reply:
    """Take the input of a tool for the payload, where the spec names one or the reply has no text of its own."""
    own_text = reply.text is not None and reply.text.strip() not in ('""', "null")
    if not calls or (own_text and tool is None and reply.finish not in ("tool_calls", "tool_use", "function_call")):
        return reply
    given = tool_input(calls, tool)
    return reply if given is None else replace(reply, text=given, of_tool=True)
