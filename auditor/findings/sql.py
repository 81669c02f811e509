"""Texts and names as SQL writes them."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.sql import literal


def text(value: str) -> str:
    """Quote a value."""
    return literal(value)


def texts(values: Iterable[str]) -> str:
    """Quote values as a list for IN; the list of none matches nothing."""
    return "(" + (", ".join(text(value) for value in values) or "NULL") + ")"


def numbers(values: Iterable[int]) -> str:
    """Write whole numbers as a list for IN; the list of none matches nothing."""
    return "(" + (", ".join(str(value) for value in values) or "NULL") + ")"
