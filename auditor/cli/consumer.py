"""`auditor consumer check`: does a program speak the protocol?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import FINDINGS, readable_until_closed

if TYPE_CHECKING:
    from auditor.decode.conformance import Conformance
    from auditor.spec.models import AuditSpec, ConsumerSpec


def check(
    name: Annotated[str | None, typer.Argument(help="A process consumer of the spec.", show_default=False)] = None,
    spec: Annotated[Path | None, typer.Argument(help="The spec, or its folder.", show_default=False)] = None,
    command: Annotated[
        str, typer.Option("--command", metavar="TEXT", help='A program instead: "perl read.pl".', show_default=False)
    ] = "",
) -> int:
    """Check that a program reads and answers as the protocol says; exit code 1 where it does not."""
    from auditor.decode.conformance import check_program

    if bool(name) == bool(command):
        raise typer.BadParameter("give the NAME of a consumer, or a program with --command, and not both")
    found = check_program(*(of_command(command) if command else of_spec(str(name), spec)))
    with readable_until_closed():
        _print(found)
    return 0 if found.ok else FINDINGS


def of_spec(name: str, spec: Path | None) -> tuple[AuditSpec, ConsumerSpec]:
    """Give a spec and its consumer of a name."""
    from auditor.errors import AuditorError
    from auditor.spec.mistakes import nearest
    from auditor.spec.read import read_spec

    read = read_spec(spec)
    if name in read.consumers:
        return read, read.consumers[name]
    for one in read.left_out:
        if one.name == name:
            raise AuditorError(f"{read.file}: {one.why}\n  next:  install what is missing, or remove `needs`")
    near = nearest(name, read.consumers)
    next_step = f"\n  next:  did you mean {near!r}?" if near else ""
    raise AuditorError(f"{read.file}: no consumer {name!r}; there are: {', '.join(read.consumers)}{next_step}")


def of_command(command: str) -> tuple[AuditSpec, ConsumerSpec]:
    """Give a spec of nothing but a program, which runs in this folder."""
    from auditor.errors import AuditorError
    from auditor.spec.consumer_rules import PROGRAM_MEMORY
    from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise AuditorError(f"--command {command!r}: {error}") from error
    if not words:
        raise AuditorError("--command names no program")
    consumer = ConsumerSpec(name=words[0], adapter="process", command=words, memory=PROGRAM_MEMORY)
    here, cases = Path.cwd(), CasesSpec(predictions=(), references=())
    spec = AuditSpec(
        name="check", file=here / "audit.toml", folder=here, cases=cases, fields={}, consumers={consumer.name: consumer}
    )
    return spec, consumer


def _print(found: Conformance) -> None:
    from auditor.model.figures import plural
    from auditor.report.text import visible

    width = max(len(check.case) for check in found.checks)
    for check in found.checks:
        mark = "ok   " if check.ok else "WRONG"
        typer.echo(f"{mark}  {check.case:<{width}}  {visible(check.seen or check.note)}".rstrip())
        if not check.ok:
            typer.echo(f"       {'':<{width}}  to do: {check.note}")
    wrong = sum(not check.ok for check in found.checks)
    where = "" if found.ok else "; consumers/protocol/PROTOCOL.md"
    typer.echo(f"{plural(len(found.checks), 'case')}, {wrong} wrong{where}")
    if wrong and found.printed:
        typer.echo(f"on stderr it printed: {visible(found.printed[-500:])}")
