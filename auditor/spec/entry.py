"""A table of the spec as far as it could be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """The values of a table that could be read, and the keys that are written in it, readable or not."""

    values: dict[str, Any]
    written: frozenset[str]

    def get(self, key: str, default: Any = None) -> Any:
        """Give a value that could be read, or `default`."""
        return self.values.get(key, default)

    def has(self, key: str) -> bool:
        """Say whether the key is written, even with a value that could not be read."""
        return key in self.written
