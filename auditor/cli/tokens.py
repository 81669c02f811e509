"""`auditor token`: who may ask the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TokenFileOption = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="Where tokens are kept. Default: in .auditor of the workspace."),
]


def new(
    name: Annotated[str, typer.Argument(help="Who holds it.")],
    role: Annotated[str, typer.Option(metavar="<read|submit|admin>", help="What it allows.")] = "read",
    token_file: TokenFileOption = None,
) -> None:
    """Make a token and show it, once: only its hash is kept."""
    from datetime import UTC, datetime

    from auditor.errors import AuditorError
    from auditor.service.tokens import ROLES, new_token, read_tokens, write_tokens

    chosen = next((one for one in ROLES if one == role), None)
    if chosen is None:
        raise typer.BadParameter(f"there is no role {role!r}; choose {', '.join(ROLES)}")
    path = _file(token_file)
    kept = read_tokens(path)
    if name in {token.name for token in kept}:
        raise AuditorError(f"{path}: there is a token {name} already; `auditor token revoke {name}` takes it back")
    secret, token = new_token(name, chosen, datetime.now(UTC).isoformat(timespec="seconds"))
    write_tokens(path, (*kept, token))
    typer.echo(f"{name} may {chosen}; its hash is in {path}, and this is shown once:", err=True)
    typer.echo(secret)


def list_tokens(token_file: TokenFileOption = None) -> None:
    """List the tokens: who holds them, and what they allow."""
    from auditor.report.text import visible
    from auditor.service.tokens import read_tokens

    for token in read_tokens(_file(token_file)):
        typer.echo(f"{token.role:<7} {visible(token.created):<25}  {visible(token.name)}")


def revoke(
    name: Annotated[str, typer.Argument(help="Who holds it.")],
    token_file: TokenFileOption = None,
) -> None:
    """Take a token back: nobody gets in with it from now on."""
    from auditor.errors import AuditorError
    from auditor.service.tokens import read_tokens, write_tokens

    path = _file(token_file)
    kept = read_tokens(path)
    if name not in {token.name for token in kept}:
        raise AuditorError(f"{path}: there is no token {name}; `auditor token list` shows those there are")
    write_tokens(path, [token for token in kept if token.name != name])
    typer.echo(f"{name} is revoked; written: {path}")


def _file(token_file: Path | None) -> Path:
    from auditor.cli.workspace import runs_here
    from auditor.service.tokens import token_file as default_file

    return token_file or default_file(runs_here())
