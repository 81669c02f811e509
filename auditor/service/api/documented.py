"""Problems as the API documents them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.responses import Response

from auditor.service.problems import MEDIA_TYPE, answer


class Problem(BaseModel):
    """Why a request was not answered."""

    type: str = Field(description="What kind of problem it is.", examples=["about:blank"])
    title: str = Field(description="The kind in words.", examples=["Not Found"])
    status: int = Field(description="The status of the answer.", examples=[404])
    detail: str = Field(description="What was seen, and what to do.", examples=["there is no run 2024-x"])
    request_id: str = Field(description="The id of the request, as in the logs.", examples=["5f0c1d"])


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Give the problems that a path of the API may answer with, besides those of every one."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({400, 401, 403, 421, 503, *statuses})
    }


async def invalid(request: Request, error: Exception) -> Response:
    """Answer a request whose parameters are not what the API documents."""
    assert isinstance(error, RequestValidationError)
    said = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return answer(request, 422, "; ".join(said))
