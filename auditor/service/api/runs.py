"""Runs: listed, and one as its document."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from auditor.model.run import SEVERITIES
from auditor.service.api.asking import (
    Asked,
    Audit,
    Cursor,
    Instant,
    Limit,
    RunPath,
    cursor,
    instant,
    position,
)
from auditor.service.api.documented import documented
from auditor.service.api.models import DamagedOut, GateOut, RunDocument, RunOut, RunsPage
from auditor.service.pages import named_run
from auditor.service.problems import Refusal
from auditor.service.runs import Entry
from auditor.store.series import age

router = APIRouter(prefix="/api/v1", tags=["runs"])


@router.get("/runs", responses=documented(404, 422))
def runs(
    asked: Asked,
    audit: Audit = None,
    since: Instant | None = None,
    until: Instant | None = None,
    limit: Limit = 50,
    after: Cursor = None,
) -> RunsPage:
    """List the stored runs, newest first; `since` and `until` bound the time at which they were made."""
    shelf, place = asked.runs.look(), position(after, (str, int, str))
    entries = [
        entry for entry in shelf.entries if audit in (None, entry.record.name) and _is_within(entry, since, until)
    ]
    rest = [entry for entry in entries if place is None or age(entry) < place]
    shown = rest[:limit]
    more = cursor(*age(shown[-1])) if len(rest) > limit else None
    damaged = [DamagedOut(run_id=one.run_id, reason=one.reason) for one in shelf.damaged]
    return RunsPage(runs=[_run_out(entry) for entry in shown], next=more, damaged=damaged)


@router.get("/runs/{run_id}", responses=documented(404, 409, 422))
def run(asked: Asked, run_id: RunPath) -> RunOut:
    """Give one run without its evidence."""
    return _run_out(named_run(asked.runs.look(), run_id))


@router.get("/runs/{run_id}/run.json", response_model=RunDocument, responses=documented(404, 409, 422))
def run_document(asked: Asked, run_id: RunPath) -> Response:
    """Give the document of a run, byte by byte as it is stored."""
    entry = named_run(asked.runs.look(), run_id)
    try:
        return Response(entry.path.read_bytes(), media_type="application/json")
    except OSError as error:
        raise Refusal(409, f"run {run_id} cannot be read any more: {error.strerror or error}") from error


def _is_within(entry: Entry, since: str | None, until: str | None) -> bool:
    if since is None and until is None:
        return True
    created = instant(entry.record.created_at)
    first, last = instant(since) if since else None, instant(until) if until else None
    return created is not None and (first is None or first <= created) and (last is None or created <= last)


def _run_out(entry: Entry) -> RunOut:
    record = entry.record
    found = [one.severity for one in record.findings]
    return RunOut(
        run_id=entry.run_id,
        audit=record.name,
        created_at=record.created_at,
        manifest_sha256=record.manifest_sha256,
        expected=record.cases.expected,
        judged=record.cases.judged,
        findings={severity: found.count(severity) for severity in SEVERITIES},
        rates_withheld=record.rates_withheld,
        redecoded_of=record.redecoded_of or None,
        gate=GateOut(open=record.gate.open, reason=record.gate.reason) if record.gate else None,
    )
