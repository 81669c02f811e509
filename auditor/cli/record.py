"""`auditor record`: the SQL with which a warehouse out of reach says what it makes of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.cli.exits import readable_until_closed


def record(
    consumer: Annotated[str, typer.Argument(help="A consumer of the spec with an SQL engine.")],
    spec: Annotated[
        Path | None, typer.Argument(help="The spec, or its folder; by default that of this folder.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the SQL to a file, not to the terminal."),
    ] = None,
) -> None:
    """Write the SQL that asks a warehouse what it makes of every string: run it there, and replay its result here.

    It has the strings of the data as a table, the consumer's own text tried on each alone, the engine's text of what
    that gives, and the engine's version and settings. The result is a consumer: adapter = "recorded".
    """
    from auditor.errors import AuditorError
    from auditor.record.script import make_script
    from auditor.record.strings import strings_of
    from auditor.spec.mistakes import nearest
    from auditor.spec.read import read_spec

    audited = read_spec(spec)
    if consumer not in audited.consumers:
        near = nearest(consumer, audited.consumers)
        hint = f"\n  next:  did you mean {near!r}?" if near else ""
        raise AuditorError(f"{audited.file}: no consumer {consumer!r}; there are: {', '.join(audited.consumers)}{hint}")
    described = audited.consumers[consumer]
    script = make_script(described, strings_of(audited, described) if described.reads else {})
    if output is None:
        with readable_until_closed():
            typer.echo(script.text, nl=False)
    else:
        _write(output, script.text)
    for one in script.left_out:
        typer.echo(f"not asked: {one}", err=True)
    saved = described.results or f"recorded/{consumer}.csv"
    typer.echo(f"{script.strings:,} strings for {script.engine}; save what it gives as {saved}", err=True)


def _write(path: Path, text: str) -> None:
    from auditor.errors import AuditorError

    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        raise AuditorError(f"{path} cannot be written: {error.strerror}") from error
