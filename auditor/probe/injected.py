"""The rows that a batch is read with: one of each form that decides how loaders take a column of a type.

A loader that infers takes its clue from the first row, from a sample, or from all rows, so that what shows its
inference is a row that has one reading only: a day above 12, a decimal point in a column of whole numbers, a word.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence

from auditor.judge.shapes import Shapes
from auditor.spec.models import FieldSpec, FieldType

#: A word for nothing, which loaders know, and a word that no loader knows.
WORDS = ("N/A", "zzqx")

_NUMBERS = ("1", "2.5", "1,234.5", "1.234,5", *WORDS)
_CODES = ("12345", "00123", "1.5", "2024-03-01", *WORDS)

#: Day first only, month first only, ISO.
_DATES = ("13/03/2024", "03/13/2024", "2024-03-01", *WORDS)

NEIGHBOURS: dict[FieldType, tuple[str, ...]] = {
    "date": _DATES,
    "datetime": (
        *("13/03/2024 10:20:30", "03/13/2024 10:20:30", "2024-03-01T10:20:30", "2024-03-01T10:20:30+02:00"),
        *_DATES,
    ),
    "money": (*_NUMBERS, "12.50 EUR"),
    "decimal": _NUMBERS,
    "quantity": (*_NUMBERS, "12.5 kg"),
    "integer": ("1", "2.5", "1,234", *WORDS),
    "ordinal": ("1", "2.5", *WORDS),
    "boolean": ("true", "no", "1", "0.5", *WORDS),
    "category": _CODES,
    "identifier": _CODES,
}

#: Rows of a block at least: more than the hundred that loaders take as their sample. It is more than the other rows
#: too, so that a share of the rows or their majority decides otherwise.
BLOCK = 128

#: What is put before the rows in such numbers, by type: each is read by another rule, or is nothing.
_MASSES: dict[FieldType, tuple[str, ...]] = {
    "date": ("13/03/2024", "03/13/2024", "2024-03-01", "N/A"),
    "datetime": ("13/03/2024 10:20:30", "03/13/2024 10:20:30", "2024-03-01T10:20:30", "N/A"),
    "boolean": ("true", "1", "N/A"),
    "category": ("12345", "N/A"),
    "identifier": ("12345", "N/A"),
}
_NUMBERS_IN_MASSES = ("1", "1.234,5", "N/A")

_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}(?![0-9])")


def neighbours(field: FieldSpec, receives: str) -> tuple[str, ...]:
    """Give the raw values to put beside a field's rows; numbers as numbers where the consumer receives JSON."""
    contents = NEIGHBOURS[field.type]
    if receives == "text":
        return tuple(json.dumps(content) for content in contents)
    numeric = field.type not in ("date", "datetime", "category", "identifier")
    tokens = [content if numeric and _is_number(content) else json.dumps(content) for content in contents]
    return (*tokens, "null")


def blocks(field: FieldSpec, tokens: Sequence[str], rows: int) -> list[tuple[str, int]]:
    """Choose the neighbours that are put before so many rows in numbers, and in what numbers."""
    contents = _MASSES.get(field.type, _NUMBERS_IN_MASSES)
    size = max(BLOCK, rows + 1)
    return [(token, size) for token in tokens if token.strip('"') in contents]


def _is_number(content: str) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return content not in ("true", "false", "null")


def by_form(field: FieldSpec, tokens: Sequence[str]) -> list[list[str]]:
    """Group raw values by what a loader can infer from them: shape, and which numbers can be no month."""
    groups: dict[tuple[str, tuple[bool, ...]], list[str]] = defaultdict(list)
    for token, (shape, _) in zip(tokens, Shapes(field, [tokens]).of(tokens), strict=True):
        groups[shape, tuple(int(number) > 12 for number in _DAY.findall(token[:40])[:2])].append(token)
    return list(groups.values())


def some_of_each(field: FieldSpec, tokens: Sequence[str], most: int) -> list[str]:
    """Choose at most so many distinct raw values, of every form as evenly as there are, in their order."""
    if len(tokens) <= most:
        return list(tokens)
    chosen: set[str] = set()
    groups = by_form(field, tokens)
    for depth in range(max(map(len, groups))):
        for group in groups:
            if depth < len(group) and len(chosen) < most:
                chosen.add(group[depth])
    return [token for token in tokens if token in chosen]
