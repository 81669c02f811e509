"""The content gate of a run: whether its content rates may be compared with those of others."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Gate:
    """Whether content rates of a run may be compared with those of others; closed with too few or blocked cases."""

    open: bool
    reason: str
    min_judged: int
    max_blocked: float


def closed_because(judged: int, blocked: int, support: int, min_judged: int, max_blocked: float) -> str:
    """Say why a content rate of so many cases is not to be compared; nothing where it may be.

    >>> closed_because(3, 0, 3, 8, 0.2), closed_because(8, 2, 10, 8, 0.2)
    ('3 judged, fewer than 8', '')
    """
    if judged < min_judged:
        return f"{judged:,} judged, fewer than {min_judged:,}"
    if support and blocked > Decimal(str(max_blocked)) * support:
        return f"{blocked:,} of {support:,} blocked, more than {100 * max_blocked:g} %"
    return ""
