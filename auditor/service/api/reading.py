"""A few strings through every consumer of a field, in every environment."""

from __future__ import annotations

from typing import Annotated, Any, Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request

from auditor.model.document import plain
from auditor.model.reading import Reading
from auditor.service.api.asking import AuditPath, Submitter, Worked, configured
from auditor.service.api.bounded import BoundedRoute
from auditor.service.api.documented import documented
from auditor.service.api.reading_models import ReadAnswer, ReadRequest
from auditor.service.logs import VALUES
from auditor.service.problems import Refusal
from auditor.service.readers import Readers, TooSlow, readers


class _StringsRoute(BoundedRoute):
    """A path that takes as many strings as are allowed, each character of them written as six."""

    most = 2 * 1024 * 1024


router = APIRouter(prefix="/api/v1/audits", tags=["audits"], route_class=_StringsRoute)

#: Questions that are answered at once, and those that wait for that.
AT_ONCE: Final = 2
WAITING: Final = 8

_limiter = CapacityLimiter(AT_ONCE)


@router.post("/{audit:whole}/read", responses=documented(404, 413, 422, 429, 504))
async def read(
    request: Request,
    working: Worked,
    by: Submitter,
    them: Annotated[Readers, Depends(readers)],
    audit: AuditPath,
    body: ReadRequest,
) -> ReadAnswer:
    """Let every consumer of a field read some values, as `auditor read` does.

    It runs the consumers, and so it takes the role submit.
    """
    named = configured(working, audit)
    if body.field not in named.fields:
        raise Refusal(404, f"there is no field {body.field}; there are: {', '.join(named.fields)}")
    request.scope[VALUES] = [one if isinstance(one, str) else one.text for one in body.values]
    values = [(one, False) if isinstance(one, str) else (one.text, True) for one in body.values]
    if _limiter.statistics().tasks_waiting >= WAITING:
        raise Refusal(429, "too many such questions wait already; ask again later", {"Retry-After": "10"})
    try:
        tried = await to_thread.run_sync(
            them.read, named.name, named.file, body.field, values, body.probe, limiter=_limiter
        )
    except TooSlow as error:
        raise Refusal(504, str(error)) from error
    return ReadAnswer(audit=audit, readings=[_document(one) for one in tried.readings], left_out=list(tried.left_out))


def _document(reading: Reading) -> Any:
    return {**plain(reading), "agree": reading.agree, "agreement": reading.agreement}
