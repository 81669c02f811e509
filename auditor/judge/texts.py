"""Booleans, categories and identifiers: exact, and never equal across types (True is not 1, "1" is not 1)."""

from __future__ import annotations

from auditor.spec.models import FieldSpec


def boolean_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a boolean field: the consumer's own mapping gives a real boolean, or the value is not one."""
    return text if tag == "bool" and text in ("true", "false") else None


def category_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a category: text, integer or boolean members, each apart from the others.

    Beside references in canonical form it has members of their kind: no other could ever be right.
    """
    return f"{tag}:{text}" if tag in _kinds(field, ("text", "int", "bool")) else None


def identifier_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of an identifier: leading zeros and case kept; a number is no text."""
    return f"{tag}:{text}" if tag in ("text", "int") else None


def _kinds(field: FieldSpec, known: tuple[str, ...]) -> tuple[str, ...]:
    if field.reference != "typed":
        return known
    return ("int",) if field.members == "integer" else ("text",)
