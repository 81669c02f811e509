"""`auditor read`: one string, every consumer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import readable_until_closed
from auditor.cli.probe import Probe, ProbeOption
from auditor.cli.raw_strings import unmarked

if TYPE_CHECKING:
    from auditor.audit.reading import Reading
    from auditor.audit.reading_probes import Dependence


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
    from auditor.model.figures import plural
    from auditor.report.text import visible
    from auditor.report.view import decoded

    typer.echo(f"{visible(reading.raw)}  {_headline(reading)}".rstrip())
    width = max((len(consumer) for consumer in reading.decodings), default=0)
    for consumer, decoding in reading.decodings.items():
        count = reading.environments.get(consumer, 0)
        is_alike = count and consumer not in reading.dependences
        alike = f"  [the same in {plural(count, 'other environment')}]" if is_alike else ""
        typer.echo(f"  {consumer:<{width}}  {visible(decoded(decoding))}{alike}")
        if decoding.warning:
            typer.echo(f"  {'':<{width}}  warning: {visible(decoding.warning)}")
        for dependence in reading.dependences.get(consumer, ()):
            for line in _moved(dependence):
                typer.echo(f"  {'':<{width}}  {line}")
        for hint in reading.hints.get(consumer, ()):
            typer.echo(f"  {'':<{width}}  hint, no proof: {visible(hint)}")


def _headline(reading: Reading) -> str:
    """Say how the consumers stand to each other, and for whom that is not all: what moves is alike in the base only."""
    if not reading.dependences:
        return reading.agreement
    moves = f"moves for {', '.join(reading.dependences)}"
    here = f"{reading.agreement} in the base environment" if reading.agree else reading.agreement
    return f"{here}; {moves}" if reading.agreement else moves


def _moved(dependence: Dependence) -> Iterator[str]:
    """Give a line per other value with its environments, then what it depends on and why."""
    from auditor.report.movement import environment_name
    from auditor.report.text import visible
    from auditor.report.view import decoded

    where: dict[str, list[str]] = {}
    for decoding in dependence.decodings:
        where.setdefault(visible(decoded(decoding)), []).append(environment_name(decoding.environment))
    for said, names in where.items():
        yield f"{said}  [{', '.join(names)}]"
    same = dependence.tried - len(dependence.decodings)
    parts = f" ({', '.join(dependence.components)})" if dependence.components else ""
    together = f" Only together: {', '.join(dependence.together)}." if dependence.together else ""
    at = f" At {dependence.location.file}:{dependence.location.line}." if dependence.location else ""
    if dependence.candidates:
        at = f" Candidate lines: {', '.join(visible(line) for line in dependence.candidates[:3])}."
    rest = f" As in the base in {same} of {dependence.tried} others." if same > 0 else ""
    yield f"{dependence.code}{parts}: {dependence.cause}{together}{at}{rest}"


def _print_limits(readings: Sequence[Reading], probe: Probe) -> None:
    """Say what was not tried."""
    from auditor.report.environments import unvaried_texts
    from auditor.report.text import visible

    if probe is Probe.off:
        typer.echo("not probed (--probe off): read in the base environment only")
        return
    by_text: dict[str, list[str]] = {}
    for reading in readings[:1]:
        for consumer, notes in reading.not_varied.items():
            for text in unvaried_texts(notes):
                by_text.setdefault(text, []).append(consumer)
    for text, consumers in by_text.items():
        typer.echo(visible(f"{', '.join(consumers)}: {text}"))
