"""`auditor serve`: the stored runs as pages, an API, and figures for a monitor."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.cli.tokens import TokenFileOption


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on. One that others can reach needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8765,
    token_file: TokenFileOption = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name that it answers to, such as that of a proxy. May repeat."),
    ] = None,
) -> None:
    """Serve the stored runs: pages, an API under /api/v1, and /metrics."""
    from auditor.cli.workspace import baseline_here, runs_here
    from auditor.errors import AuditorError

    try:
        from auditor.service.server import serve as serve_runs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "auditor":
            raise
        raise AuditorError(
            f"auditor serve: {error.name} is not installed\n"
            "  next:  pip install 'fidelity-auditor[service]', in the auditor's own environment"
        ) from error
    from auditor.service.tokens import token_file as default_file

    runs = runs_here()
    names = allow_host or ()
    serve_runs(runs, baseline_here(), token_file or default_file(runs), host=host, port=port, names=names)
