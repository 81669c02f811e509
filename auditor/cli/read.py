"""`auditor read`: one string, every consumer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import readable_until_closed

if TYPE_CHECKING:
    from auditor.audit.reading import Reading


def read(
    field: Annotated[str, typer.Argument(help="A field of the spec.")],
    strings: Annotated[list[str], typer.Argument(metavar="STRING...", help="Raw values, as the model wrote them.")],
    spec: Annotated[Path | None, typer.Option("--spec", help="The spec, or its folder.", show_default=False)] = None,
    is_json: Annotated[
        bool, typer.Option("--json", help="Each STRING is JSON text: true, 3.0, null, or a string in quotes.")
    ] = False,
) -> None:
    """Show what every consumer of a field makes of a string."""
    from auditor.audit.reading import as_token, read_strings
    from auditor.spec.read import read_spec

    readings = read_strings(read_spec(spec), field, [as_token(text, is_json=is_json) for text in strings])
    with readable_until_closed():
        for reading in readings:
            _print(reading)


def _print(reading: Reading) -> None:
    from auditor.report.text import visible
    from auditor.report.view import decoded

    typer.echo(f"{visible(reading.raw)}  {reading.agreement}".rstrip())
    width = max((len(consumer) for consumer in reading.decodings), default=0)
    for consumer, decoding in reading.decodings.items():
        typer.echo(f"  {consumer:<{width}}  {visible(decoded(decoding))}")
