"""The audits that the operator configured: listed, and given predictions to be audited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import PurePath
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from auditor.service.api.asking import AuditPath, Submitter, Worked, configured, unwritable
from auditor.service.api.documented import documented
from auditor.service.api.job_models import AuditOut, AuditsOut, JobOut, SubmittedPath, job_out
from auditor.service.api.waiting import Wait, ended_within
from auditor.service.bodies import read_body
from auditor.service.jobs import submissions
from auditor.service.jobs.job import Job
from auditor.service.jobs.queue import Full, Incoming
from auditor.service.jobs.submissions import SUFFIX_OF_TYPE
from auditor.service.jobs.working import Working
from auditor.service.problems import Refusal

router = APIRouter(prefix="/api/v1/audits", tags=["audits"])

Again = Annotated[bool, Query(description="Audit them even if their run is there.", examples=[False])]

#: What may be sent; a client names no format that the auditor does not read.
_FILE: Final = {"schema": {"type": "string", "format": "binary"}}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A file of predictions as the spec's own is, up to --max-upload; or, as JSON, the path of one.",
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/SubmittedPath"}},
            **dict.fromkeys(SUFFIX_OF_TYPE, _FILE),
            "application/x-ndjson": {**_FILE, "example": '{"case_id": "c-01", "effective_date": "2024-03-01"}\n'},
            "text/csv": {**_FILE, "example": "case_id,field,prediction\nc-01,effective_date,2024-03-01\n"},
        },
    }
}

_LOCATION: Final = {
    "description": "Where the job is.",
    "schema": {"type": "string"},
    "example": "/api/v1/jobs/20240308T090507123456Z-35d46378",
}


@router.get("", responses=documented())
def audits(working: Worked) -> AuditsOut:
    """List the audits that the operator lets the service run."""
    found = working.allowed.audits.values()
    return AuditsOut(
        audits=[AuditOut(audit=one.name, fields=list(one.fields), consumers=list(one.consumers)) for one in found]
    )


@router.post(
    "/{audit:whole}/submissions",
    status_code=202,
    response_model=JobOut,
    openapi_extra=_BODY,
    responses={
        **documented(404, 413, 415, 422, 429, 507),
        200: {"model": JobOut, "description": "The job has ended meanwhile", "headers": {"Location": _LOCATION}},
        202: {"description": "The job waits or runs", "headers": {"Location": _LOCATION}},
    },
)
async def submit(
    request: Request,
    response: Response,
    working: Worked,
    by: Submitter,
    audit: AuditPath,
    again: Again = False,
    wait: Wait = 0,
) -> JobOut:
    """Submit predictions, as a stream of bytes or as the path of a file; it takes the role submit.

    They stand in the place of the spec's predictions; references stay those of the operator. What waits or runs already
    is not taken twice; what was audited already, with the same references, spec and consumer versions, ends with the
    run that is there.
    """
    configured(working, audit)
    job = await _submitted(request, working, audit, by.name, again=again)
    working.wake()
    found = await ended_within(job, wait)
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    response.status_code = 202 if found.result is None else 200
    return job_out(found)


async def _submitted(request: Request, working: Working, audit: str, by: str, *, again: bool) -> Job:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refusal(415, "send the file itself, not packed: there is to be no Content-Encoding")
    try:
        if kind == "application/json":
            return await _of_path(request, working, audit, by, again=again)
        if kind not in SUFFIX_OF_TYPE:
            known = ", ".join(SUFFIX_OF_TYPE)
            raise Refusal(415, f"the Content-Type {kind or '(none)'} is none of predictions: {known}, or JSON")
        return await _of_bytes(request, working, audit, by, SUFFIX_OF_TYPE[kind], again=again)
    except Full as error:
        raise Refusal(429, str(error), {"Retry-After": "30"}) from error
    except ClientDisconnect as error:
        raise Refusal(400, "the upload broke off; nothing of it was kept") from error
    except OSError as error:
        if submissions.is_no_room(error):
            raise Refusal(507, "the disk of the service is full; nothing of the upload was kept") from error
        raise unwritable(error) from error


async def _of_bytes(request: Request, working: Working, audit: str, by: str, suffix: str, *, again: bool) -> Job:
    most = working.allowed.most_bytes
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        raise _too_long(most)
    with working.queue.incoming(f"predictions{suffix}") as incoming:
        try:
            sha256 = await submissions.spool(_parts(request), incoming.path, most)
        except submissions.TooLong as error:
            raise _too_long(most) from error
        return await to_thread.run_sync(lambda: _put(working, incoming, audit, by, sha256, again=again))


async def _of_path(request: Request, working: Working, audit: str, by: str, *, again: bool) -> Job:
    try:
        named = SubmittedPath.model_validate_json(await read_body(request)).path
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors())
        raise Refusal(422, said) from error

    def copied() -> Job:
        with working.queue.incoming(f"predictions{PurePath(named).suffix}") as incoming:
            sha256 = submissions.copy_allowed(named, working.allowed.folders, incoming.path)
            return _put(working, incoming, audit, by, sha256, again=again)

    try:
        return await to_thread.run_sync(copied)
    except submissions.NotAllowed as error:
        raise Refusal(403, "path: it is not below a folder that the operator allows by --allow-path") from error
    except submissions.NoFile as error:
        raise Refusal(422, "path: there is no such file, or it may not be read") from error


def _put(working: Working, incoming: Incoming, audit: str, by: str, sha256: str, *, again: bool) -> Job:
    """Take what has come, unless the same bytes wait or run already."""
    same = None if again else working.queue.same(audit, sha256)
    return same or working.queue.put(incoming, audit, by, sha256, again=again)


async def _parts(request: Request) -> AsyncIterator[bytes]:
    async for part in request.stream():
        yield part


def _too_long(most: int) -> Refusal:
    return Refusal(413, f"it is longer than the {most:,} bytes that the operator allows by --max-upload")
