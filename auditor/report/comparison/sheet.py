"""What a comparison shows, before it is set: facts, sections and tables of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "good", "bad", "note"]


class Data(str):
    """A text that comes from the data or the spec, not from us: set apart, and never markup."""

    __slots__ = ()


@dataclass(frozen=True)
class Fact:
    """A label and what it names."""

    label: str
    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Rows of texts under a head; `numbers` are the places of columns that are set flush right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Section:
    """A part with a title, facts and tables."""

    title: str
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """The whole: what it is, of what, and what it comes to in a line."""

    kind: str
    title: str
    headline: str
    tone: Tone
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    auditor_version: str


def listed(items: Sequence[str] | Iterable[str], count: int, limit: int) -> str:
    """Give the first of a list, and how many more there are: ``C-1, C-2 and 3 more``."""
    shown = list(items)[:limit]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more (all are in the json report)" if more > 0 else "")
