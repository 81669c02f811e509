"""`auditor read`: one string, every consumer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import readable_until_closed
from auditor.cli.probe import Probe, ProbeOption
from auditor.cli.raw_strings import unmarked

if TYPE_CHECKING:
    from auditor.model.reading import Reading


def read(
    field: Annotated[str, typer.Argument(help="A field of the spec.")],
    strings: Annotated[
        list[str],
        typer.Argument(
            metavar="STRING...",
            help="Raw values, as the model wrote them; after -- where one begins with a dash and a letter.",
        ),
    ],
    spec: Annotated[Path | None, typer.Option("--spec", help="The spec, or its folder.", show_default=False)] = None,
    is_json: Annotated[
        bool, typer.Option("--json", help="Each STRING is JSON text: true, 3.0, null, or a string in quotes.")
    ] = False,
    probe: ProbeOption = Probe.full.value,
) -> None:
    """Show what every consumer of a field makes of a string, in the base environment and where it is another."""
    from auditor.audit.reading import as_token, read_strings
    from auditor.spec.read import read_spec

    tokens = [as_token(text, is_json=is_json) for text in unmarked(strings)]
    level, audited = Probe(probe), read_spec(spec)
    readings = read_strings(audited, field, tokens, probe=level.value)
    with readable_until_closed():
        for reading in readings:
            _print(reading)
        _print_limits(readings, level)
        for one in audited.left_out:
            typer.echo(one.why)


def _print(reading: Reading) -> None:
    from auditor.report.reading import alike, headline, moved
    from auditor.report.text import visible
    from auditor.report.view import decoded

    typer.echo(f"{visible(reading.raw)}  {headline(reading)}".rstrip())
    width = max((len(consumer) for consumer in reading.decodings), default=0)
    for consumer, decoding in reading.decodings.items():
        same = alike(reading, consumer)
        typer.echo(f"  {consumer:<{width}}  {visible(decoded(decoding))}{f'  [{same}]' if same else ''}")
        if decoding.warning:
            typer.echo(f"  {'':<{width}}  warning: {visible(decoding.warning)}")
        for dependence in reading.dependences.get(consumer, ()):
            for line in moved(dependence):
                typer.echo(f"  {'':<{width}}  {line}")
        for hint in reading.hints.get(consumer, ()):
            typer.echo(f"  {'':<{width}}  hint, no proof: {visible(hint)}")


def _print_limits(readings: Sequence[Reading], probe: Probe) -> None:
    """Say what was not tried."""
    from auditor.report.reading import NOT_PROBED, limits

    if probe is Probe.off:
        typer.echo(f"not probed (--probe off): {NOT_PROBED}")
        return
    for line in limits(readings):
        typer.echo(line)
