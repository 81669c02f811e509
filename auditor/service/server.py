"""The process: a socket, and the application behind it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import uvicorn

from auditor.errors import AuditorError
from auditor.service.access import is_loopback
from auditor.service.application import application
from auditor.service.jobs.audits import Allowed
from auditor.service.logs import log_to_stderr
from auditor.service.tokens import TokenFile
from auditor.service.workspace import Workspace

#: Seconds that requests have to end when the service does: uploads break off then, and clients ask for events anew.
GRACE: Final = 5


def serve(
    runs_folder: Path,
    baseline: Path,
    tokens: Path,
    *,
    host: str,
    port: int,
    names: Iterable[str] = (),
    allowed: Allowed | None = None,
    log_values: bool = False,
) -> None:
    """Serve a workspace until a signal comes; AuditorError where that would not be safe, or the port is taken.

    With `log_values` the log has what requests say of data, too.
    """
    known = TokenFile(tokens, needed=not is_loopback(host))
    if not is_loopback(host) and not known.read():
        raise AuditorError(
            f"--host {host}: others can reach that address, and {tokens} holds no token\n"
            "  next:  `auditor token new NAME --role read` makes one; or serve 127.0.0.1, for this machine alone"
        )
    log_to_stderr(values=log_values)
    allowed = allowed or Allowed()
    specs = {name: audit.file for name, audit in allowed.audits.items()}
    app = application(Workspace(runs_folder, baseline, specs), known, [host, *names], allowed, log_values=log_values)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )
    server = uvicorn.Server(config)
    try:
        server.run()
    except (KeyboardInterrupt, SystemExit) as ended:
        if not server.started:  # else it was stopped, as a service is
            raise AuditorError(
                f"{host}:{port} cannot be served: the address is not this machine's, or the port is taken\n"
                "  next:  the line above says what was seen; choose another --host or --port"
            ) from ended
