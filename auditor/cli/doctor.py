"""`auditor doctor`: what this machine can vary, and what to do for the rest."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.cli.exits import readable_until_closed

if TYPE_CHECKING:
    from auditor.audit.machine import Ability

WIDTH = 28

#: Whether a part can be varied; what was not tried is neither.
_WORDS = {True: "yes", False: "no", None: "?"}


def doctor(
    spec: Annotated[
        Path | None,
        typer.Argument(help="The spec, or its folder; without one, that of this folder if there is any."),
    ] = None,
) -> None:
    """Try what this machine can vary around a parser: clock, time zones, locales, hash seed, network, folder.

    What cannot be varied is `not varied` in every report, never clean.
    """
    from auditor.audit.machine import abilities, abilities_of
    from auditor.spec.read import read_spec

    found = read_spec(spec) if spec is not None or _has_spec() else None
    with tempfile.TemporaryDirectory(prefix="auditor-doctor-") as folder, readable_until_closed():
        typer.echo(f"With {sys.executable} (Python {sys.version.split()[0]}):")
        tried = _print(abilities(Path(folder)))
        if found is not None:
            typer.echo(f"With the interpreters of {found.file}:")
            tried += _print(abilities_of(found))
        typer.echo(_sum_of(tried))


def _sum_of(tried: Iterable[Ability]) -> str:
    """Say what is missing, and what is not known."""
    missing = ", ".join(one.part for one in tried if one.is_there is False and one.is_needed)
    untried = ", ".join(one.part for one in tried if one.is_there is None)
    if missing:
        return f"Not everything can be varied here: {missing}." + (f" Not tried: {untried}." if untried else "")
    return f"All that was tried can be varied. Not tried: {untried}." if untried else "All can be varied."


def _has_spec() -> bool:
    """Say whether a spec is in use here; one with mistakes counts."""
    from auditor.errors import SpecError
    from auditor.spec.find import find_spec

    try:
        find_spec()
    except SpecError:
        return False
    return True


def _print(abilities: Iterable[Ability]) -> list[Ability]:
    """Print each as it is known, since some take seconds."""
    tried = []
    for one in abilities:
        tried.append(one)
        note = f"  {one.note}" if one.note else ""
        typer.echo(f"  {_WORDS[one.is_there]:<3}  {one.part:<{WIDTH}}{note}".rstrip())
        sys.stdout.flush()
    return tried
