"""The option `--probe`, the same for a run and for a string."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from auditor.cli.exits import one_of


class Probe(StrEnum):
    """How much is decoded again in other environments."""

    full = "full"
    quick = "quick"
    off = "off"


ProbeOption = Annotated[
    str,
    typer.Option(
        "--probe",
        metavar=f"<{'|'.join(Probe)}>",
        callback=one_of(Probe),
        help="How much is decoded again in other environments (clock, zone, locale, …).",
    ),
]
