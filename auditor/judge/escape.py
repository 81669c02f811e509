"""Texts that no report and no database can hold, written so that no two of them become one."""

from __future__ import annotations

import re

#: What a rewritten text starts with: U+241B, the picture of ESC.
ESCAPED = "\u241b"

_SURROGATE = re.compile("[\ud800-\udfff]")


def escaped(content: str) -> str:
    r"""Write NUL and lone surrogates as JSON escapes, as workers do; any other text stays as it is.

    What is rewritten starts with ESCAPED, and what starts with it is rewritten, so that different texts stay apart.

    >>> escaped("A\\u0000"), escaped("A\0"), escaped("\u241bA")
    ('A\\u0000', '␛A\\u0000', '␛␛A')
    """
    if "\0" not in content and not content.startswith(ESCAPED) and _SURROGATE.search(content) is None:
        return content
    text = content.replace("\\", "\\\\").replace("\0", "\\u0000")
    return ESCAPED + _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
