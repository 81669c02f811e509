"""Booleans, categories and identifiers: exact, and never equal across types (True is not 1, "1" is not 1)."""

from __future__ import annotations

import re
from typing import Final

from auditor.spec.models import FieldSpec

#: Texts that are members of another kind where members are mixed: references write 1 and "1" alike in a CSV file.
_INTEGER: Final = re.compile(r"-?[0-9]+")
_TRUTHS: Final = ("true", "false")


def boolean_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a boolean field: the consumer's own mapping gives a real boolean, or the value is not one."""
    return text if tag == "bool" and text in ("true", "false") else None


def category_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a category: text, integer or boolean members, each apart from the others.

    Beside references in canonical form it has members of their kind: no other could ever be right.
    """
    if tag not in _kinds(field, ("text", "int", "bool")):
        return None
    if is_mixed(field) and tag == "text" and mixed_member(text) != f"text:{text}":
        return None
    return f"{tag}:{text}"


def is_mixed(field: FieldSpec) -> bool:
    """Say whether the references of a field are texts, whole numbers and truths, told apart by how they are written."""
    return field.type == "category" and field.members == "mixed" and field.reference == "typed"


def mixed_member(content: str) -> str:
    """Give the member, as tagged text, that a reference names where members are mixed.

    >>> mixed_member("1"), mixed_member("true"), mixed_member("one")
    ('int:1', 'bool:true', 'text:one')
    """
    if content in _TRUTHS:
        return f"bool:{content}"
    return f"int:{int(content)}" if _INTEGER.fullmatch(content) and len(content) < 4000 else f"text:{content}"


def identifier_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of an identifier: leading zeros and case kept; a number is no text, nor one beside references that are."""
    return f"{tag}:{text}" if tag in _kinds(field, ("text", "int")) else None


def _kinds(field: FieldSpec, known: tuple[str, ...]) -> tuple[str, ...]:
    if field.reference != "typed":
        return known
    if field.type == "category" and field.members == "mixed":
        return known
    return ("int",) if field.members == "integer" else ("text",)
