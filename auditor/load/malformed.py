"""Why a completion is no answer: said in words that whoever prompts the model can act on.

Only what cannot be read comes here, so that it costs nothing elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from auditor.load.json_lines import members
from auditor.load.rows import RepeatedKeyError

_KINDS: Final = {list: "an array", str: "a string", bool: "true or false", int: "a number", float: "a number"}
_FENCE: Final = "```"


def why_malformed(text: str | None, read: Callable[[str], object]) -> str:
    """Say why `read` cannot take the fields from the text of a completion; None is a reply without text."""
    if text is None:
        return "no text"
    stripped = text.strip()
    if not stripped:
        return "an empty text"
    if _FENCE in stripped and not stripped.startswith("{"):
        return "a code fence around the JSON" if "{" in stripped else "a code fence without a JSON object"
    if not stripped.startswith("{"):
        return _no_object(stripped)
    try:
        members(text)
        read(text)
    except json.JSONDecodeError as error:
        return _broken(text, error)
    except RepeatedKeyError:
        return "a key occurs twice"
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return str(error)
    return "not read"


def why_no_text(token: str | None) -> str:
    """Say what a completion is that is neither a text nor an object; `token` is its JSON text, None where none came."""
    return "no text" if token is None or token == "null" else f"{_kind(json.loads(token))}, not an object"


def _no_object(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "text around the JSON" if "{" in text and "}" in text else "no JSON object in it"
    return "null, not an object" if value is None else f"{_kind(value)}, not an object"


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _broken(text: str, error: json.JSONDecodeError) -> str:
    before, rest = text[: error.pos].rstrip(), text[error.pos :].strip()
    comma_at_the_end = rest[1:].lstrip()[:1] in ("}", "]") if rest[:1] == "," else False
    if comma_at_the_end or (before.endswith(",") and rest[:1] in ("}", "]")):
        return "a trailing comma"
    if error.msg == "text follows the object":
        return "text after the JSON"
    if not rest or error.msg.startswith("Unterminated string"):
        return "it ends within the JSON"
    if rest.startswith("'"):
        return "single quotes in the JSON"
    if rest.startswith(("//", "/*", "#")):
        return "a comment in the JSON"
    return _word_or_mark(rest)


def _word_or_mark(rest: str) -> str:
    word = next((word for word in ("None", "True", "False", "undefined") if rest.startswith(word)), "")
    return f"{word} in the JSON" if word else "not valid JSON"
