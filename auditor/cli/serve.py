"""`auditor serve`: the stored runs as pages, an API, and figures for a monitor."""

from __future__ import annotations

from importlib.util import find_spec as find_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from auditor.cli.probe import Probe, ProbeOption
from auditor.cli.run import BrokenReferences, BrokenReferencesOption
from auditor.cli.tokens import TokenFileOption

if TYPE_CHECKING:
    from auditor.service.jobs.audits import ConfiguredAudit

#: What the service loads when its API is first asked: who starts it is told at once where one is missing.
LOADED_LATER: Final = ("fastapi", "prometheus_client", "sse_starlette")


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
    audit: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SPEC",
            help="A spec that clients may have run, by its name. May repeat. Default: the one found from here, if any.",
        ),
    ] = None,
    allow_path: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="A folder from which clients may name files of predictions. May repeat."),
    ] = None,
    max_upload: Annotated[str, typer.Option(metavar="SIZE", help="The longest upload.")] = "1 GiB",
    jobs: Annotated[int, typer.Option(min=1, help="Submitted audits that run at once.")] = 1,
    probe: ProbeOption = Probe.full.value,
    broken_references: BrokenReferencesOption = BrokenReferences.stop.value,
    log_values: Annotated[
        bool, typer.Option("--log-values", help="Log paths, queries, values and messages of errors, too.")
    ] = False,
) -> None:
    """Serve the stored runs, and audit what is submitted: pages, an API under /api/v1, and /metrics."""
    from auditor.cli.workspace import baseline_here, runs_here
    from auditor.errors import AuditorError

    try:
        for name in LOADED_LATER:
            if find_module(name) is None:
                raise ModuleNotFoundError(name=name)
        from auditor.service.jobs.audits import Allowed, HowToAudit
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
    allowed = Allowed(
        _audits(audit),
        _folders(allow_path or []),
        _bytes(max_upload),
        jobs,
        HowToAudit(Probe(probe).value, BrokenReferences(broken_references).value),
    )
    serve_runs(
        runs,
        baseline_here(),
        token_file or default_file(runs),
        host=host,
        port=port,
        names=allow_host or (),
        allowed=allowed,
        log_values=log_values,
    )


def _audits(specs: list[Path] | None) -> dict[str, ConfiguredAudit]:
    """Read the specs that clients may have run; one that nobody named may be missing, or have mistakes."""
    from auditor.errors import SpecError
    from auditor.service.jobs.audits import configured_audits
    from auditor.spec.find import find_spec

    if specs is not None:
        return configured_audits([find_spec(spec) for spec in specs])
    try:
        return configured_audits([find_spec()])
    except SpecError as error:
        typer.echo(f"no audit can be submitted to: {error}", err=True)
        return {}


def _folders(folders: list[Path]) -> tuple[Path, ...]:
    from auditor.errors import AuditorError

    for folder in folders:
        if not folder.is_dir():
            raise AuditorError(f"--allow-path {folder}: there is no such folder")
    return tuple(folder.resolve() for folder in folders)


def _bytes(size: str) -> int:
    from auditor.errors import AuditorError
    from auditor.spec.kinds import BYTES, size_of

    found = size_of(size)
    if found is None:
        raise AuditorError(f"--max-upload {size!r}: write bytes, or a number with {', '.join(BYTES)}")
    return found
