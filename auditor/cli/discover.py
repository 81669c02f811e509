"""`auditor discover`: the coercions in a warehouse's own SQL, and a spec to paste."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import FINDINGS, readable_until_closed

if TYPE_CHECKING:
    from auditor.discover import Discovery

_SUFFIXES = (".json", ".toml")


def discover(
    sql: Annotated[list[str], typer.Argument(metavar="SQL...", help="Files, folders or globs of SQL.")],
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="NAME", help="The dialect, as sqlglot names it: postgres, snowflake…")
    ] = "duckdb",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write .json, or the proposal as .toml. May repeat.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Find the coercions that each output column of SQL models passes through, and propose a spec.

    Nothing is run. Exit code 1: a file or a statement could not be read; 2: none could.
    """
    from auditor.discover import discover as search
    from auditor.discover.document import document
    from auditor.discover.proposal import propose

    _check(outputs or [])
    found = search(sql, dialect)
    fragment = propose(found)
    texts = {".json": json.dumps(document(found, fragment), ensure_ascii=False, indent=2) + "\n", ".toml": fragment}
    for output in outputs or []:
        _write(output, texts[output.suffix.lower()])
    with readable_until_closed():
        if as_json:
            typer.echo(texts[".json"], nl=False)
        else:
            _print(found, fragment)
    return FINDINGS if found.unread else 0


def _check(outputs: list[Path]) -> None:
    for output in outputs:
        if output.suffix.lower() not in _SUFFIXES:
            raise typer.BadParameter(f"-o {output}: its suffix picks no format; there are: {' '.join(_SUFFIXES)}")


def _write(output: Path, text: str) -> None:
    from auditor.errors import AuditorError

    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AuditorError(f"-o {output}: could not be written: {error.strerror or error}") from error


def _print(found: Discovery, fragment: str) -> None:
    from auditor.cli.discovery_text import lines_of

    for line in lines_of(found):
        typer.echo(line)
    typer.echo("\nA spec to paste:\n")
    typer.echo(fragment, nl=False)
