"""Collecting mistakes: each gets the file, the line and the key, and the nearest right name."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from auditor.errors import Mistake
from auditor.spec.lines import KeyPath, dotted, line_of

#: `complain(what, hint, *subkeys)` notes a mistake in the key being read, or in a key below it.
Complain = Callable[..., None]


#: Characters of a name that is compared with others: the time for it grows with their square.
LONGEST_NAME = 200


class Mistakes:
    """The mistakes of one spec, in the order of its lines."""

    def __init__(self, file: Path, lines: Mapping[KeyPath, int]) -> None:
        self._file = _as_seen_from_here(file)
        self._lines = lines
        self._found: dict[Mistake, int] = {}
        self._versions: dict[str, tuple[str, frozenset[str]]] = {}

    def stands_for(self, version: str, consumer: str, own: frozenset[str]) -> None:
        """Say that a consumer is a version of one that is written; `own` are the keys that it has of its own."""
        self._versions[version] = consumer, own

    def _written(self, key: KeyPath) -> KeyPath:
        """Give the key as it is written: that of a version is one of its consumer, or in its list."""
        if key[:1] != ("consumers",) or len(key) < 2 or key[1] not in self._versions:
            return key
        consumer, own = self._versions[key[1]]
        return ("consumers", consumer, *(["versions"] if key[2:3] and key[2] in own else []), *key[2:])

    def add(self, key: KeyPath, what: str, hint: str = "") -> None:
        """Note that the value, or the absence, of `key` is a mistake."""
        key = self._written(key)
        line = line_of(key, self._lines)
        place = f"{self._file}:{line}" if line else self._file
        where = f"{place}: {dotted(key)}" if key else place
        mistake = Mistake(where, what, hint)
        self._found.setdefault(mistake, line)

    def at(self, *key: str) -> Complain:
        """Give a way to complain about `key` and what is below it."""
        return lambda what, hint="", *below: self.add((*key, *below), what, hint)

    def all(self) -> list[Mistake]:
        """Give all mistakes, those of a line before those of the next."""
        return sorted(self._found, key=self._found.__getitem__)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Give the known name that `name` most likely stands for, or None."""
    if len(name) > LONGEST_NAME:
        return None
    by_lower = {right.lower(): right for right in known if len(right) <= LONGEST_NAME}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def suggest(name: str, known: Iterable[str]) -> str:
    """Say which known name was meant, or which ones there are."""
    names = list(known)
    close = nearest(name, names)
    if close:
        return f"did you mean {close}?"
    return f"there are: {', '.join(names)}" if names else ""


def shown(value: object) -> str:
    """Show a TOML value as a reader of the spec would name it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value if len(value) <= 60 else value[:57] + "..."}"'
    if isinstance(value, int | float | Decimal):
        return f"the number {value}"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return f"a {type(value).__name__}"


def _as_seen_from_here(file: Path) -> str:
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
