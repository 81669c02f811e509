"""One reply of a log, and how a value is found in JSON text without losing its source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.load.json_lines import items, members
from auditor.load.rows import member
from auditor.load.tokens import content_of, string_token


@dataclass(frozen=True)
class Reply:
    """What a log says of one case.

    `text` is the reply as JSON source: a string, or an object that was parsed before; `of_tool` says that it is the
    input of a tool that the reply calls. `references` are values that the log holds beside the reply, as JSON source
    by the name under which a spec may find them. `asked` names the arm: the `model`, and
    what else a log says of whom it asked.
    """

    id: str
    text: str | None = None
    finish: str | None = None
    error: str | None = None
    refusal: str | None = None
    of_tool: bool = False
    references: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str | None] = field(default_factory=dict)


def at(source: str | None, *path: str | int) -> str | None:
    """Give the source of what stands at a path of keys and positions; None where there is nothing, or null."""
    for step in path:
        if source is None:
            return None
        if isinstance(step, int):
            found = items(source) if source[:1] == "[" else []
            source = found[step] if step < len(found) else None
        else:
            source = member(members(source), step) if source[:1] == "{" else None
    return None if source == "null" else source


def at_dotted(source: str, path: str) -> str | None:
    """Give what stands at a dotted path; a key that is the whole path counts first."""
    exact = at(source, path)
    return exact if exact is not None or "." not in path else at(source, *path.split("."))


def text_at(source: str | None, *path: str | int) -> str | None:
    """Give the content of the string at a path, or the source of another scalar; None where there is none."""
    found = at(source, *path)
    return None if found is None or found[0] in "{[" else content_of(found)


def objects_of(source: str | None) -> Iterator[str]:
    """Give the items of an array that are objects; none where it is no array."""
    if source is not None and source[:1] == "[":
        yield from (item for item in items(source) if item[:1] == "{")


def joined_texts(parts: Sequence[str | None]) -> str | None:
    """Give the token of texts one after the other, None where there are none."""
    given = [part for part in parts if part is not None]
    return string_token("".join(given)) if given else None


def tool_input(calls: Sequence[tuple[str, str | None]], tool: str | None) -> str | None:
    """Choose the input of the tool that the spec names, or of the only one that is called."""
    chosen = [given for name, given in calls if tool is None or name == tool]
    return chosen[0] if len(chosen) == 1 else None


def reference_members(source: str | None) -> dict[str, str]:
    """Give the members of a reference that is an object, or a string that holds one; else nothing."""
    if source is None:
        return {}
    text = json.loads(source) if source[:1] == '"' else source
    try:
        return dict(members(text))
    except (ValueError, RecursionError):
        return {}
