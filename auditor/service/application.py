"""The application: pages, API and figures of one workspace, behind its door."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from auditor.errors import AuditorError
from auditor.service import api, bug_page, drift_page, exchange_page, pages, problems, try_page
from auditor.service.access import Access
from auditor.service.forms import Seals
from auditor.service.readers import Readers
from auditor.service.tokens import TokenFile
from auditor.service.workspace import Workspace
from auditor.version import VERSION


def application(workspace: Workspace, tokens: TokenFile, names: Iterable[str] = ()) -> Access:
    """Give the ASGI application of a workspace; `names` are those that it answers to besides this machine's own."""
    app = FastAPI(
        title="fidelity-auditor",
        summary="One column per consumer: the stored runs of a workspace.",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        lifespan=_warming,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.workspace = workspace
    app.state.seals, app.state.readers = Seals(), Readers()
    for one in (pages, bug_page, drift_page, exchange_page, try_page):
        app.include_router(one.router)
    api.include_in(app)
    app.add_exception_handler(HTTPException, problems.refused)
    app.add_exception_handler(RequestValidationError, problems.invalid)
    app.add_exception_handler(AuditorError, problems.failed)
    app.add_exception_handler(Exception, problems.crashed)
    return Access(app, tokens, names)


@asynccontextmanager
async def _warming(app: FastAPI) -> AsyncIterator[None]:
    """Read the runs, and compile the first page, at once; who asks for it meanwhile waits for what it needs of them."""
    threading.Thread(target=_warm, args=(app.state.workspace,), daemon=True).start()
    yield
    app.state.readers.close()


def _warm(workspace: Workspace) -> None:
    try:
        pages.overview(workspace)
    except AuditorError:
        return  # whoever asks for a page is told why
