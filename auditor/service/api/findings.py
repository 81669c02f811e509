"""Findings: the bugs of the pipeline, each with its state and its life."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from auditor.model.baseline import State
from auditor.model.run import SEVERITIES, Severity
from auditor.service.api.asking import Asked, Audit, Cursor, Limit, RunId, chosen_runs, cursor, position
from auditor.service.api.documented import documented
from auditor.service.api.models import FindingOut, FindingsPage
from auditor.service.problems import Refusal
from auditor.service.runs import Entry
from auditor.service.workspace import BugRow, Said, bug_rows

router = APIRouter(prefix="/api/v1", tags=["findings"])


@router.get("/findings", responses=documented(404, 409, 422))
def findings(
    asked: Asked,
    audit: Audit = None,
    run: RunId = None,
    field: Annotated[str | None, Query(description="Only of this field.", examples=["effective_date"])] = None,
    consumer: Annotated[str | None, Query(description="Only where it has a part.", examples=["billing"])] = None,
    code: Annotated[str | None, Query(description="Only of this code.", examples=["value-disagreement"])] = None,
    severity: Annotated[Severity | None, Query(description="Only of this severity.")] = None,
    state: Annotated[State | None, Query(description="Only in this state.")] = None,
    arm: Annotated[str | None, Query(description="Only where it affects this arm.", examples=["gpt-5"])] = None,
    limit: Limit = 50,
    after: Cursor = None,
) -> FindingsPage:
    """Give the bugs in the latest run of each audit, or in the run that is named, with what the team says today."""
    place, said = position(after, (int, str, str)), asked.said()
    if said.mistake:
        raise Refusal(503, said.mistake)
    found = [
        (_place(entry, row), _finding_out(entry, row, said))
        for entry, document, entries in chosen_runs(asked, audit, run)
        for row in bug_rows(document.findings, entries, said)
        if field in (None, row.finding.field)
        and (consumer is None or consumer in row.finding.consumers)
        and code in (None, row.finding.code)
        and severity in (None, row.finding.severity)
        and state in (None, row.state)
        and (arm is None or row.finding.affected_by_arm.get(arm, 0) > 0)
    ]
    rest = sorted((one for one in found if place is None or one[0] > place), key=lambda one: one[0])
    more = cursor(*rest[limit - 1][0]) if len(rest) > limit else None
    return FindingsPage(findings=[one for _, one in rest[:limit]], next=more)


def _place(entry: Entry, row: BugRow) -> tuple[int, str, str]:
    return SEVERITIES.index(row.finding.severity), entry.record.name, row.finding.fingerprint


def _finding_out(entry: Entry, row: BugRow, said: Said) -> FindingOut:
    finding, told = row.finding, said.entry(row.finding.fingerprint)
    return FindingOut(
        audit=entry.record.name,
        run_id=entry.run_id,
        fingerprint=finding.fingerprint,
        code=finding.code,
        severity=finding.severity,
        state=said.baseline.state_of(finding, said.day),
        field=finding.field,
        consumers=list(finding.consumers),
        owners=list(finding.owners),
        title=finding.title,
        detail=finding.detail,
        cause=finding.cause,
        fixes=list(finding.fixes),
        affected=finding.affected,
        share=finding.share,
        first_seen=row.seen.first.run_id,
        last_seen=row.seen.last.run_id,
        reason=told.reason if told else "",
        until=told.until.isoformat() if told and told.until else None,
    )
