"""The application: pages, API and figures of one workspace, behind its door."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from auditor.errors import AuditorError
from auditor.service import api, bug_page, drift_page, exchange_page, pages, problems, try_page
from auditor.service.access import Access
from auditor.service.forms import Seals
from auditor.service.jobs.audits import Allowed
from auditor.service.jobs.queue import JOBS, Queue
from auditor.service.jobs.working import Working
from auditor.service.readers import Readers
from auditor.service.tokens import TokenFile
from auditor.service.workspace import Workspace
from auditor.version import VERSION


def application(
    workspace: Workspace, tokens: TokenFile, names: Iterable[str] = (), allowed: Allowed | None = None
) -> Access:
    """Give the ASGI application of a workspace; `names` are those that it answers to besides this machine's own.

    `allowed` says which audits it runs, and how; none by default.
    """
    app = FastAPI(
        title="fidelity-auditor",
        summary="One column per consumer: the stored runs of a workspace.",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        lifespan=_living,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.workspace = workspace
    app.state.seals, app.state.readers = Seals(), Readers()
    runs = workspace.runs.folder
    app.state.working = Working(Queue(runs.parent / JOBS), runs, allowed or Allowed())
    for one in (pages, bug_page, drift_page, exchange_page, try_page):
        app.include_router(one.router)
    api.include_in(app)
    app.add_exception_handler(HTTPException, problems.refused)
    app.add_exception_handler(RequestValidationError, problems.invalid)
    app.add_exception_handler(AuditorError, problems.failed)
    app.add_exception_handler(Exception, problems.crashed)
    return Access(app, tokens, names)


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    """Work on the queue as long as the service is there.

    Read the runs, and compile the first page, at once; who asks for it meanwhile waits for what it needs of them.
    """
    threading.Thread(target=_warm, args=(app.state.workspace,), daemon=True).start()
    working: Working = app.state.working
    working.start()
    try:
        yield
    finally:
        app.state.readers.close()
        await to_thread.run_sync(working.stop)


def _warm(workspace: Workspace) -> None:
    try:
        pages.overview(workspace)
    except AuditorError:
        return  # whoever asks for a page is told why
