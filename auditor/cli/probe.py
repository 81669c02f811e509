"""The option `--probe`, the same for a run and for a string."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Probe(StrEnum):
    """How much is decoded again in other environments."""

    full = "full"
    quick = "quick"
    off = "off"


ProbeOption = Annotated[
    Probe,
    typer.Option(
        "--probe",
        help="How much is decoded again in other environments (clock, zone, locale, …): full, quick, or off.",
    ),
]
