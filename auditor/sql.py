"""Texts as SQL writes them."""

from __future__ import annotations


def literal(text: str) -> str:
    """Quote a text.

    >>> literal("o'clock")
    "'o''clock'"
    """
    return "'" + text.replace("'", "''") + "'"
