"""A reply whose content is a list of parts, as chat messages have it: texts, refusals, and what is no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from auditor.load.json_lines import items, members
from auditor.load.rows import member
from auditor.load.tokens import content_of, string_token

#: Kinds of parts by their `type`; those of no text are there beside an answer.
_TEXTS: Final = ("text", "output_text")
_REFUSAL: Final = "refusal"
_OTHERS: Final = ("thinking", "redacted_thinking", "reasoning", "tool_use", "tool_call")


@dataclass(frozen=True)
class Content:
    """What a reply says: its text as JSON source, and the text of a refusal; None where there is none."""

    text: str | None
    refusal: str | None


def content_of_reply(source: str | None) -> Content:
    """Read a content: the texts of its parts one after the other; what is no list of parts is the text itself."""
    parts = _parts(source)
    if parts is None:
        return Content(source, None)
    texts = [text for kind, part in parts if kind in _TEXTS and (text := _text(part, "text")) is not None]
    refusals = [_text(part, _REFUSAL) or _REFUSAL for kind, part in parts if kind == _REFUSAL]
    return Content(string_token("".join(texts)) if texts else None, "".join(refusals) or None)


def _parts(source: str | None) -> list[tuple[str, list[tuple[str, str]]]] | None:
    """Give the kind and the members of each part; None where it is no list of parts that are known."""
    if source is None or source[:1] != "[":
        return None
    try:
        parts = [members(item) for item in items(source)]
    except (ValueError, RecursionError):  # an item that is no object
        return None
    kinds = [_text(part, "type") or "" for part in parts]
    is_content = parts and all(kind in (*_TEXTS, _REFUSAL, *_OTHERS) for kind in kinds)
    return list(zip(kinds, parts, strict=True)) if is_content else None


def _text(part: list[tuple[str, str]], key: str) -> str | None:
    found = member(part, key)
    return content_of(found) if found is not None and found[:1] == '"' else None
