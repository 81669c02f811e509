"""What completions were, counted: how many a reader takes, others would take, and what they hold beside the fields."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Census:
    """What the completions that ended cleanly were: how many a reader took, others would take, and what they held."""

    ended: int = 0
    taken: int = 0
    strict: int = 0
    recovered: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, other: Census) -> None:
        """Add what another file held."""
        self.ended, self.taken, self.strict = (
            self.ended + other.ended,
            self.taken + other.taken,
            self.strict + other.strict,
        )
        self.recovered.update(other.recovered)
        for kind, names in other.kinds.items():
            self.kinds.setdefault(kind, Counter()).update(names)

    def count(self, kind: str, name: str) -> None:
        """Count something that a payload holds."""
        self.kinds.setdefault(kind, Counter())[name] += 1
