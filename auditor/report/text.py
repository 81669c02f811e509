"""Data as text that shows what it holds: nothing invisible, nothing that steers a terminal, nothing endless.

The ranges are written out, not taken from `unicodedata`, so that a report has the same bytes on every Python version.
"""

from __future__ import annotations

import re
import sys
from typing import Final

#: Longest raw value or name that is shown whole; prose of findings may be longer.
DATA_LIMIT: Final = 240
PROSE_LIMIT: Final = 2000

#: No limit: a text that a program reads.
WHOLE: Final = sys.maxsize

#: Controls, spaces other than U+0020, joiners and fillers without width, bidi marks, surrogates, tags.
HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_character(character: str) -> str:
    r"""Name a character that would not show: ``\n``, ``\x1b``, ``\u202e``."""
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, limit: int = DATA_LIMIT) -> str:
    """Keep the start and the end of a long text and state its length; U+2026 marks the gap."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]}…{text[-tail:]} ({len(text):,} characters)"


def visible_lines(text: str) -> str:
    """Give a whole text in its lines, with every other character that would not show, or would act, as an escape."""
    return "\n".join(visible(line, WHOLE) for line in text.split("\n"))


def visible(text: str, limit: int = DATA_LIMIT) -> str:
    """Give `text` on one line with every character that would not show, or would act, as an escape."""
    return HIDDEN.sub(lambda match: escape_character(match[0]), shorten(text, limit))
