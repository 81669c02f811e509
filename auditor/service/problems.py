"""What a request is told that cannot be answered: a problem document (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from auditor.errors import AuditorError
from auditor.report.text import WHOLE, visible

MEDIA_TYPE: Final = "application/problem+json"


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]


class Refusal(HTTPException):
    """A request that is refused, with its reason."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)


def problem(request_id: str, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Give the document of a problem."""
    known = {one.value: one.phrase for one in HTTPStatus}
    title = known.get(status, "Error")
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "request_id": request_id}
    return JSONResponse(body, status, headers, MEDIA_TYPE)


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


async def failed(request: Request, error: Exception) -> Response:
    """Answer what cannot be read from the disk right now."""
    assert isinstance(error, AuditorError)
    return answer(request, 503, str(error))


async def crashed(request: Request, error: Exception) -> Response:
    """Answer a bug of ours, whose place is in the log."""
    return answer(request, 500, "this is a bug of the auditor; its log has the place under the id of this request")


#: What answers an error that nothing else did.
HANDLERS: Final[dict[int | type[Exception], Handler]] = {
    HTTPException: refused,
    AuditorError: failed,
    Exception: crashed,
}
