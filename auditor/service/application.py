"""The application: pages, API and figures of one workspace, behind its door."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

from anyio import to_thread
from starlette.applications import Starlette
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from auditor.errors import AuditorError
from auditor.service import bug_page, drift_page, exchange_page, health, pages, problems, try_page
from auditor.service.access import Access
from auditor.service.forms import Seals
from auditor.service.jobs.audits import Allowed
from auditor.service.jobs.queue import JOBS, Queue
from auditor.service.jobs.working import Working
from auditor.service.readers import Readers
from auditor.service.tokens import TokenFile
from auditor.service.workspace import Workspace


def application(
    workspace: Workspace,
    tokens: TokenFile,
    names: Iterable[str] = (),
    allowed: Allowed | None = None,
    *,
    log_values: bool = False,
) -> Access:
    """Give the ASGI application of a workspace; `names` are those that it answers to besides this machine's own.

    `allowed` says which audits it runs, and how; none by default. `log_values` is for the log of requests.
    """
    return Access(Parts(workspace, allowed or Allowed()), tokens, names, log_values=log_values)


class Parts:
    """Pages at once; the API is loaded when it is first asked: its framework takes longer than a page to be shown."""

    def __init__(self, workspace: Workspace, allowed: Allowed) -> None:
        self._pages = _pages(workspace, allowed, self._living)
        self._api: ASGIApp | None = None
        self._loading = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or live as long as the server does."""
        if scope["type"] == "http" and is_of_api(scope["path"]):
            api = await to_thread.run_sync(self._loaded_api) if self._api is None else self._api
            await api(scope, receive, send)
        else:
            await self._pages(scope, receive, send)

    def _loaded_api(self) -> ASGIApp:
        from auditor.service.api import api_of

        with self._loading:
            if self._api is None:
                self._api = api_of(self._pages.state)
            return self._api

    @asynccontextmanager
    async def _living(self, app: Starlette) -> AsyncIterator[None]:
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
    with suppress(AuditorError):  # whoever asks for a page is told why
        pages.overview_of(workspace)


def is_of_api(path: str) -> bool:
    """Say whether a path is answered by what programs ask, and not by what has to answer at once."""
    return not problems.is_page(path) and path not in (one.path for one in health.ROUTES)


def _pages(workspace: Workspace, allowed: Allowed, living: Lifespan[Starlette]) -> Starlette:
    """Give what people look at, and what a monitor asks."""
    routes = [route for one in (pages, bug_page, drift_page, exchange_page, try_page, health) for route in one.ROUTES]
    app = Starlette(routes=routes, exception_handlers=problems.HANDLERS, lifespan=living)
    app.router.redirect_slashes = False
    app.state.workspace = workspace
    app.state.seals, app.state.readers = Seals(), Readers()
    runs = workspace.runs.folder
    app.state.working = Working(Queue(runs.parent / JOBS), runs, allowed)
    return app
