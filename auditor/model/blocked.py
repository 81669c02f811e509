"""Cases that were not judged, by what blocked them, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from auditor.model.figures import plural

#: Reasons that are told one by one.
REASONS: Final = 6

#: What happened to one case, and to several.
_WHAT: Final = {
    "missing": ("has no prediction", "have no prediction"),
    "transport": ("failed on the way", "failed on the way"),
    "truncated": ("was cut off", "were cut off"),
    "refused": ("was refused by the model or a filter", "were refused by the model or a filter"),
    "malformed": ("holds no JSON object that can be read", "hold no JSON object that can be read"),
    "unknown": ("has no finish reason that is known", "have no finish reason that is known"),
}


@dataclass(frozen=True)
class Blocked:
    """The cases of one blocked class: how many of how many expected ones, why, and the first ids in file order.

    >>> Blocked("truncated", 3, 16, {"finish reason length": 3}, ("K1", "K2", "K8")).text
    'truncated: 3 of 16 cases were cut off, and are not judged: finish reason length (3); cases K1, K2, K8'
    """

    outcome: str  # of BLOCKED_VERDICTS
    count: int
    of: int
    reasons: Mapping[str, int]
    first: tuple[str, ...]

    @property
    def text(self) -> str:
        """Say it in one sentence."""
        one, many = _WHAT[self.outcome]
        what, are = (one, "is") if self.count == 1 else (many, "are")
        said = f"{self.outcome}: {self.count:,} of {plural(self.of, 'case')} {what}, and {are} not judged"
        return f"{said}{self._why}; {self._cases}"

    @property
    def _why(self) -> str:
        ordered = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        listed = [f"{reason} ({count:,})" for reason, count in ordered[:REASONS]]
        if len(ordered) > REASONS:
            rest = sum(count for _, count in ordered[REASONS:])
            listed.append(f"{plural(len(ordered) - REASONS, 'other reason')} ({rest:,})")
        return f": {', '.join(listed)}" if listed else ""

    @property
    def _cases(self) -> str:
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return f"{'case' if self.count == 1 else 'cases'} {', '.join(self.first)}{more}"
