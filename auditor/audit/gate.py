"""The content gate: whether a content rate may be compared at all, and what happened where it may not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from auditor.load.blocked import Incident
from auditor.model.figures import plural
from auditor.model.gate import Gate, closed_because
from auditor.model.run import CaseCounts, Column
from auditor.model.verdicts import BLOCKED_VERDICTS
from auditor.spec.models import AuditSpec, CasesSpec

#: The file of a run whose gate is closed: a line per case that was not judged, and none where all were.
INCIDENT = "incident.jsonl"


def with_gate(columns: Iterable[Column], cases: CasesSpec) -> tuple[Column, ...]:
    """Say of each column whether its content rate may be compared, and if not why."""
    found = []
    for column in columns:
        reason = _reason(column.judged, column.blocked, column.support, cases)
        found.append(replace(column, comparable=not reason, not_comparable=reason))
    return tuple(found)


def gate_of(counts: CaseCounts, columns: Iterable[Column], spec: AuditSpec) -> Gate:
    """Give the gate of a run: closed where its cases, or those of any column, are too few or too often blocked."""
    cases = spec.cases
    blocked = sum(getattr(counts, name) for name in BLOCKED_VERDICTS)
    reason = _reason(counts.judged, blocked, counts.expected, cases)
    if not reason:
        closed = [column for column in columns if not column.comparable]
        reason = f"{closed[0].field} for {closed[0].consumer}: {closed[0].not_comparable}" if closed else ""
        if len(closed) > 1:
            reason += f", and {plural(len(closed) - 1, 'more column')}"
    return Gate(not reason, reason, cases.min_judged, cases.max_blocked)


def gates_of(
    counts: Mapping[str | None, CaseCounts], columns: Iterable[Column], spec: AuditSpec
) -> dict[str | None, Gate]:
    """Give the gate of each arm, from its own cases and columns."""
    found = list(columns)
    return {
        arm: gate_of(cases, [column for column in found if column.arm == arm], spec) for arm, cases in counts.items()
    }


def joint_gate(gates: Mapping[str | None, Gate]) -> Gate:
    """Give the gate of a run: closed where that of any arm is."""
    first = next(iter(gates.values()))
    closed = [
        gate.reason if arm is None else f"arm {arm}: {gate.reason}" for arm, gate in gates.items() if not gate.open
    ]
    return replace(first, open=not closed, reason="; ".join(closed))


def gate_note(gate: Gate, counts: CaseCounts, *, stored: bool) -> tuple[str, ...]:
    """Say that the gate is closed, and where the cases are that were not judged; too few cases say so themselves."""
    if gate.open or (counts.judged == counts.expected and "blocked" not in gate.reason):
        return ()
    is_listed = stored and counts.judged < counts.expected
    where = f"; {INCIDENT} in the run's folder lists what was not judged" if is_listed else ""
    return (f"content gate closed, so content rates are not to be compared: {gate.reason}{where}",)


def incident_text(incidents: Iterable[Incident]) -> str:
    """Give the lines of the incident file: what came of each case that was not judged, its text as it was."""
    lines = (
        {
            **({} if one.arm is None else {"arm": one.arm}),
            "case_id": one.case_id,
            "verdict": one.verdict,
            "finish_reason": one.finish,
            "error": one.error,
            "text": one.text,
        }
        for one in incidents
    )
    return "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)


def _reason(judged: int, blocked: int, support: int, cases: CasesSpec) -> str:
    return closed_because(judged, blocked, support, cases.min_judged, cases.max_blocked)
