"""Whether the process lives, and whether it can read the folder of runs: asked while the rest still starts."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auditor.service.pages import workspace

_WELL: Final = {"status": "ok"}


def healthz(request: Request) -> Response:
    """Say that the process answers."""
    return JSONResponse(_WELL)


def readyz(request: Request) -> Response:
    """Say that the runs have been read; 503 where their folder cannot be."""
    workspace(request).runs.look()
    return JSONResponse(_WELL)


ROUTES: Final = (Route("/healthz", healthz), Route("/readyz", readyz))
