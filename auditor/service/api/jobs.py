"""Jobs: listed, followed and cancelled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Final

import anyio
from anyio import to_thread
from fastapi import APIRouter, Header, Path, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from auditor.errors import StoreError
from auditor.service.api.asking import Audit, Cursor, Limit, Submitter, Worked, cursor, position, unwritable
from auditor.service.api.documented import documented
from auditor.service.api.job_models import JobOut, JobsPage, job_out
from auditor.service.jobs.event_log import Event, Follower
from auditor.service.jobs.job import Job, State, read_job, read_result, standing
from auditor.service.jobs.working import Working
from auditor.service.problems import Refusal

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"])

#: Seconds between two looks at the events of a job, and between two signs of life.
LOOK: Final = 0.2
HEARTBEAT: Final = 5

JobPath = Annotated[
    str, Path(max_length=100, description="The id of a job.", examples=["20240308T090507123456Z-35d46378"])
]

#: One event of a stream.
_EVENT: Final = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$", "description": "The number of the event."},
        "event": {
            "enum": ["queued", "started", "cases", "phase", "progress", "environments", "done", "failed", "cancelled"]
        },
        "data": {"type": "string", "contentMediaType": "application/json", "description": "A JSON object."},
    },
    "required": ["id", "event", "data"],
}
_EXAMPLE: Final = {"id": "4", "event": "progress", "data": '{"consumer": "billing", "done": 120, "total": 240}'}


@router.get("", responses=documented(404, 422))
def jobs(
    working: Worked,
    audit: Audit = None,
    state: Annotated[State | None, Query(description="Only in this state.")] = None,
    limit: Limit = 50,
    after: Cursor = None,
) -> JobsPage:
    """List the jobs, newest first: those that wait or run, and the last thousand that have ended."""
    place, found, more = position(after, (str,)), list[JobOut](), None
    for name in reversed(working.queue.ids()):
        if place is not None and name >= place[0]:
            continue
        try:
            one = standing(read_job(working.queue.folder / name))
        except StoreError:  # removed meanwhile, or damaged: the one of that id says so
            continue
        if audit in (None, one.job.audit) and state in (None, one.state):
            if len(found) == limit:
                more = cursor(found[-1].job_id)
                break
            found.append(job_out(one))
    return JobsPage(jobs=found, next=more)


@router.get("/{job_id}", responses=documented(404, 409, 422))
def job(working: Worked, job_id: JobPath) -> JobOut:
    """Give one job."""
    try:
        return job_out(standing(_named(working, job_id)))
    except StoreError as error:
        raise Refusal(409, f"job {job_id} is damaged: {error}") from error


@router.post(
    "/{job_id}/cancel",
    status_code=202,
    response_model=JobOut,
    responses={**documented(404, 409, 422), 200: {"model": JobOut, "description": "The job waited, and has ended"}},
)
def cancel(working: Worked, by: Submitter, job_id: JobPath, response: Response) -> JobOut:
    """Tell a job to end; what it was stays to be asked for.

    It takes the role submit for a job of one's own, and admin for another's.
    """
    found = _named(working, job_id)
    if found.by != by.name and not by.allows("admin"):
        raise Refusal(403, f"the job was submitted by {found.by}; the role {by.role} may end its own jobs only")
    if read_result(found.folder) is not None:
        raise Refusal(409, f"the job {job_id} has ended already")
    try:
        now = working.queue.cancel(found)
    except OSError as error:
        raise unwritable(error) from error
    working.wake()
    response.status_code = 202 if now.result is None else 200
    return job_out(now)


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses={
        **documented(404, 409, 422),
        200: {
            "description": "Events, each with its number; a comment every few seconds; the last one is the end",
            "content": {"text/event-stream": {"schema": _EVENT, "example": _EXAMPLE}},
        },
        204: {"description": "There is nothing after that number, and there will be nothing"},
    },
)
async def events(
    working: Worked,
    job_id: JobPath,
    last_event_id: Annotated[
        int, Header(ge=0, le=2**53, description="The number of the last event that was seen.", examples=[0])
    ] = 0,
) -> Response:
    """Follow a job: queued, started, cases, phase, progress and environments by consumer, and how it ended."""
    found = await to_thread.run_sync(_named, working, job_id)
    follower = Follower(found.folder, last_event_id)
    seen, has_ended = await to_thread.run_sync(_news, found, follower)
    if has_ended and not seen:
        return Response(status_code=204)
    stream = _stream(found, follower, seen, has_ended)
    return EventSourceResponse(stream, ping=HEARTBEAT, ping_message_factory=_alive)


def _alive() -> ServerSentEvent:
    return ServerSentEvent(comment="alive", sep="\n")


async def _stream(job: Job, follower: Follower, seen: list[Event], has_ended: bool) -> AsyncIterator[ServerSentEvent]:
    while True:
        for event in seen:
            yield ServerSentEvent(event.text, event=event.name, id=str(event.id), sep="\n")
        if has_ended:
            return
        await anyio.sleep(LOOK)
        seen, has_ended = await to_thread.run_sync(_news, job, follower)


def _news(job: Job, follower: Follower) -> tuple[list[Event], bool]:
    """Give what has happened since the last time, and whether that is all."""
    result = read_result(job.folder)  # before its events are: none comes after it
    events = list(follower.new())
    if result is None:
        return events, not job.folder.is_dir()
    last = follower.end(result)
    return ([*events, last] if last else events), True


def _named(working: Working, job_id: str) -> Job:
    found = working.queue.find(job_id)
    if found is None:
        raise Refusal(404, f"there is no job {job_id}")
    return found
