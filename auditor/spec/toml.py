"""Names, texts and comments as TOML writes them: nothing in them ends a string or a line, or acts on a terminal."""

from __future__ import annotations

import re

from auditor.spec import lines


def key(name: str) -> str:
    """Write one part of a key, whole.

    >>> key("a.b"), key("plain")
    ('"a.b"', 'plain')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(text: str) -> str:
    r"""Write a text on one line; what does not show is an escape.

    >>> print(quoted("a\n\x9b\u202e"))
    "a\n\u009b\u202e"
    """
    written = lines.quoted(text)
    return "".join(one if one.isprintable() else _escape(one) for one in written)


def block(text: str) -> str:
    """Write a text over several lines as it is, where TOML can hold it so."""
    plain = "\n" in text and "'''" not in text and not text.endswith("'")
    if plain and all(character in "\n\t" or character.isprintable() for character in text):
        return f"'''\n{text}'''"
    return quoted(text)


def comment(text: str) -> str:
    r"""Write a comment on one line, whatever is in the text.

    >>> comment("two\nlines")
    '# two lines'
    """
    return "# " + "".join(one if one.isprintable() else _escape(one) for one in " ".join(text.split()))


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
