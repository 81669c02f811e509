"""What a request is told that cannot be answered: a problem document (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from auditor.errors import AuditorError
from auditor.report.text import WHOLE, visible

MEDIA_TYPE: Final = "application/problem+json"


class Problem(BaseModel):
    """Why a request was not answered."""

    type: str = Field(description="What kind of problem it is.", examples=["about:blank"])
    title: str = Field(description="The kind in words.", examples=["Not Found"])
    status: int = Field(description="The status of the answer.", examples=[404])
    detail: str = Field(description="What was seen, and what to do.", examples=["there is no run 2024-x"])
    request_id: str = Field(description="The id of the request, as in the logs.", examples=["5f0c1d"])


class Refusal(HTTPException):
    """A request that is refused, with its reason."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Give the problems that a path of the API may answer with, besides those of every one."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({400, 401, 403, 421, 503, *statuses})
    }


def problem(request_id: str, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Give the document of a problem."""
    known = {one.value: one.phrase for one in HTTPStatus}
    body = Problem(
        type="about:blank", title=known.get(status, "Error"), status=status, detail=detail, request_id=request_id
    )
    return JSONResponse(body.model_dump(), status, headers, MEDIA_TYPE)


def answer(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Say it to whoever asks: a page for the path of a page."""
    request_id = request.scope.get("auditor.request_id", "")
    if is_page(request.url.path):
        from auditor.service.rendering import error_page

        return error_page(status, detail, request_id, headers)
    return problem(request_id, status, visible(detail, WHOLE), headers)


def is_page(path: str) -> bool:
    """Say whether a path is looked at by people."""
    return not path.startswith(("/api/", "/metrics", "/healthz", "/readyz", "/openapi.json"))


async def refused(request: Request, error: Exception) -> Response:
    """Answer what is refused: no such path, no such method, no such run."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
    return answer(request, error.status_code, str(error.detail), headers)


def _methods(request: Request) -> list[str]:
    """Name the methods of a path: the framework names those of the first of its routes alone."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)


async def invalid(request: Request, error: Exception) -> Response:
    """Answer a request whose parameters are not what the API documents."""
    assert isinstance(error, RequestValidationError)
    said = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return answer(request, 422, "; ".join(said))


async def failed(request: Request, error: Exception) -> Response:
    """Answer what cannot be read from the disk right now."""
    assert isinstance(error, AuditorError)
    return answer(request, 503, str(error))


async def crashed(request: Request, error: Exception) -> Response:
    """Answer a bug of ours, whose place is in the log."""
    return answer(request, 500, "this is a bug of the auditor; its log has the place under the id of this request")
