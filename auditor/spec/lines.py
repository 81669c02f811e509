"""The line on which a key of a TOML text stands, so that an editor can jump to a mistake.

A scan, not a parser: keys inside inline tables fall back to the line of the key that holds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

KeyPath = tuple[str, ...]

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_KEY})[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*({_KEY})[ \t]*=")
#: Parts of a key whose line is looked for: more than any known key has.
_DEEPEST = 16

#: Characters of a key's part that a message shows.
_LONGEST = 80

_MULTILINE = re.compile("\"\"\"|'''")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Map each key path to the line, from 1, on which it first stands."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    closing: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if closing is None:
            table, key = _key_on(line, table)
            for length in range(1, min(len(key), _DEEPEST) + 1):
                lines.setdefault(key[:length], number)
        closing = _open_string(line, closing)
    return lines


def line_of(key: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    """Give the line of `key`, or of the nearest key that holds it; 0 when nothing is known."""
    for length in range(len(key), 0, -1):
        if key[:length] in lines:
            return lines[key[:length]]
    return 0


def dotted(key: KeyPath) -> str:
    """Write a key path as TOML does: parts with other characters in quotes, and long ones cut."""
    parts = (part if len(part) <= _LONGEST else part[:_LONGEST] + "…" for part in key)
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else quoted(part) for part in parts)


def quoted(text: str) -> str:
    """Write a text as a TOML string on one line."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key_on(line: str, table: KeyPath) -> tuple[KeyPath, KeyPath]:
    if header := _HEADER.match(line):
        return _parts(header[1]), _parts(header[1])
    if assignment := _ASSIGNMENT.match(line):
        return table, table + _parts(assignment[1])
    return table, ()


def _open_string(line: str, closing: str | None) -> str | None:
    """Give the quotes that the next line is still inside of."""
    for quotes in _MULTILINE.findall(line):
        if closing is None:
            closing = quotes
        elif closing == quotes:
            closing = None
    return closing


def _parts(key: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))
