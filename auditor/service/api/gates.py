"""A gate for pipelines: may what was audited be deployed?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Body

from auditor.errors import StoreError
from auditor.model.baseline import Baseline, day_of
from auditor.model.run import Finding, Run
from auditor.report.view import worst_first
from auditor.service.api.asking import Asked, AuditPath, Worked, instant
from auditor.service.api.bounded import BoundedRoute
from auditor.service.api.documented import documented
from auditor.service.api.gate_models import FailingOut, GateRequest, GateVerdict, ReasonOut
from auditor.service.api.models import GateOut
from auditor.service.api.waiting import ended_within
from auditor.service.jobs.job import Standing
from auditor.service.jobs.working import Working
from auditor.service.pages import named_run
from auditor.service.problems import Refusal
from auditor.service.runs import Entry, Shelf
from auditor.service.verdict import Reason, Verdict, verdict_on
from auditor.service.workspace import Workspace

router = APIRouter(prefix="/api/v1/gates", tags=["gates"], route_class=BoundedRoute)


@router.post("/{audit:whole}", responses=documented(404, 409, 413, 422))
async def gate(
    asked: Asked, working: Worked, audit: AuditPath, body: Annotated[GateRequest | None, Body()] = None
) -> GateVerdict:
    """Say whether a run passes: that of a job, the one that is named, or the latest that is no redecoding.

    The verdict is that of the exit code of `auditor run` for the run and for what the team has said of its bugs; where
    `max_age` is given, also of its age; and no run passes in the place of a later one that cannot be read. A job that
    has no run does not pass.
    """
    wanted = body or GateRequest()
    if wanted.job is None:
        return await to_thread.run_sync(_of_run, asked, audit, wanted, wanted.run)
    standing = await _ended(working, audit, wanted.job, wanted.wait)
    assert standing.result is not None
    if wanted.run not in (None, standing.result.run_id):
        raise Refusal(409, f"the run of the job {wanted.job} is {standing.result.run_id}, not {wanted.run}")
    if standing.result.run_id is None:
        return _without_run(audit, standing)
    return await to_thread.run_sync(_of_run, asked, audit, wanted, standing.result.run_id)


async def _ended(working: Working, audit: str, job_id: str, seconds: int) -> Standing:
    job = working.queue.find(job_id)
    if job is None or job.audit != audit:
        raise Refusal(404, f"there is no job {job_id} of {audit}")
    found = await ended_within(job, seconds)
    if found.result is None:
        raise Refusal(409, f"the job {job_id} has not ended ({found.state}); ask again later", {"Retry-After": "5"})
    return found


def _of_run(asked: Workspace, audit: str, wanted: GateRequest, run_id: str | None) -> GateVerdict:
    said = asked.said()
    if said.mistake:
        raise Refusal(503, said.mistake)
    shelf = asked.runs.look()
    entry = _latest(shelf, audit) if run_id is None else named_run(shelf, run_id)
    if entry.record.name != audit:
        raise Refusal(404, f"the run {run_id} is one of {entry.record.name}, not of {audit}")
    try:
        run = asked.runs.figures(entry)
    except StoreError as error:
        raise Refusal(409, f"run {entry.run_id} is damaged: {error}") from error
    day = said.day if wanted.as_of == "today" else day_of(run)
    found = verdict_on(run, wanted.fail_on, said.baseline, day, said.day)
    age = _age(run)
    further = _too_old(age, wanted.max_age) + ([] if run_id else _damaged_since(shelf, entry))
    return _verdict_out(entry, run, found, further, age, wanted.job, said.baseline, day)


def _latest(shelf: Shelf, audit: str) -> Entry:
    if found := shelf.series(audit):
        return found[0]
    raise Refusal(404, f"there is no run of an audit {audit} that can be read")


def _damaged_since(shelf: Shelf, entry: Entry) -> list[Reason]:
    """Say what cannot be read and may be a later run of the audit: nobody knows whether it would pass."""
    later = [one.run_id for one in shelf.damaged if one.run_id > entry.run_id]
    told = "cannot be read, and may be a later run of this audit; remove it, or name the run that is meant"
    return [Reason("damaged", f"{name} {told}", True) for name in later]


def _too_old(age: int | None, most: int | None) -> list[Reason]:
    if most is None or (age is not None and age <= most):
        return []
    told = "nobody knows when the run was made" if age is None else f"the run is {age:,} s old"
    return [Reason("age", f"{told}; at most {most:,} s are asked for", True)]


def _age(run: Run) -> int | None:
    created = instant(run.created_at)
    return None if created is None else max(0, int((datetime.now(UTC) - created).total_seconds()))


def _verdict_out(
    entry: Entry,
    run: Run,
    found: Verdict,
    further: list[Reason],
    age: int | None,
    job_id: str | None,
    baseline: Baseline,
    day: date,
) -> GateVerdict:
    reasons = sorted((*found.reasons, *further), key=lambda one: not one.fails)
    return GateVerdict(
        audit=run.name,
        verdict="pass" if not any(one.fails for one in reasons) else "fail",
        exit_code=found.exit_code,
        run_id=entry.run_id,
        job_id=job_id,
        created_at=run.created_at,
        age=age,
        expected=run.cases.expected,
        judged=run.cases.judged,
        content_gate=GateOut(open=run.gate.open, reason=run.gate.reason) if run.gate else None,
        findings=[_failing_out(one, baseline, day) for one in worst_first(found.findings)],
        reasons=[ReasonOut(kind=one.kind, text=one.text, fails=one.fails) for one in reasons],
    )


def _failing_out(finding: Finding, baseline: Baseline, day: date) -> FailingOut:
    return FailingOut(
        fingerprint=finding.fingerprint,
        code=finding.code,
        severity=finding.severity,
        state=baseline.state_of(finding, day),
        field=finding.field,
        consumers=list(finding.consumers),
        owners=list(finding.owners),
        title=finding.title,
        affected=finding.affected,
    )


def _without_run(audit: str, standing: Standing) -> GateVerdict:
    """Say that a job did not come to a run: nobody knows whether its predictions are any good."""
    result = standing.result
    assert result is not None
    told = result.error or f"the job was {result.state}"
    return GateVerdict(
        audit=audit,
        verdict="fail",
        exit_code=result.exit_code or 2,
        run_id=None,
        job_id=standing.job.id,
        created_at=None,
        age=None,
        expected=None,
        judged=None,
        content_gate=None,
        findings=[],
        reasons=[ReasonOut(kind="no_run", text=told, fails=True)],
    )
