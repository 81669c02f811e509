"""The content gate of a run: whether its content rates may be compared with those of others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """Whether content rates of a run may be compared with those of others; closed with too few or blocked cases."""

    open: bool
    reason: str
    min_judged: int
    max_blocked: float
