"""Cases by what came of them, and those of one arm."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.gate import Gate


@dataclass(frozen=True)
class CaseCounts:
    """Cases by outcome; `expected` is the number of ids with a reference row, in a run of arms once for each arm."""

    expected: int
    judged: int
    missing: int
    unrelated: int
    transport: int = 0
    truncated: int = 0
    refused: int = 0
    malformed: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class ArmSummary:
    """The cases of one arm, each of which it is expected to answer, and whether its rates may be compared."""

    arm: str
    cases: CaseCounts
    finish_reasons: dict[str, int]
    gate: Gate
