"""Witnesses as reports show them: what one string is to each consumer, and in which environment, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from auditor.model.decoding import Decoding
from auditor.model.run import Finding, Run, Witness
from auditor.report.movement import environment_name
from auditor.report.view import witness_place

#: The part of the base environment that stands beside a value which moved with it.
_PART_OF: Final = {
    "clock-dependent": "clock",
    "timezone-dependent": "zone",
    "locale-dependent": "locale",
    "hash-seed-dependent": "hash seed",
}


@dataclass(frozen=True)
class Reading:
    """What a consumer made of a string; `where` names the environment if the string is shown in several."""

    consumer: str
    decoding: Decoding
    where: str = ""


@dataclass(frozen=True)
class WitnessView:
    """One string of a finding with everything that is shown of it."""

    raw: str
    place: str
    readings: tuple[Reading, ...]

    @property
    def moves(self) -> bool:
        """Say whether the string is shown in more than one environment."""
        return any(reading.where for reading in self.readings)


def witness_views(run: Run, finding: Finding) -> tuple[WitnessView, ...]:
    """Give the witnesses of a finding, what moves first and beside its base value.

    Those of one string stand together where it is shown in several environments; else each is one of its own, as a
    prediction and a reference are.
    """
    moving = {witness.raw for witness in finding.witnesses if _is_elsewhere(witness)}
    by_string: dict[str | int, list[Witness]] = {}
    for position, witness in enumerate(finding.witnesses):
        by_string.setdefault(witness.raw if witness.raw in moving else position, []).append(witness)
    views = []
    for witnesses in by_string.values():
        decodings = [(consumer, decoding) for witness in witnesses for consumer, decoding in witness.decodings.items()]
        moved = {consumer for consumer, decoding in decodings if decoding.environment != "base"}
        names = list(dict.fromkeys(consumer for consumer, _ in decodings))
        decodings.sort(key=lambda item: (item[0] not in moved, names.index(item[0])))
        readings = [
            Reading(consumer, decoding, _where(run, finding, decoding) if consumer in moved else "")
            for consumer, decoding in decodings
        ]
        views.append(WitnessView(witnesses[0].raw, witness_place(witnesses[0]), tuple(dict.fromkeys(readings))))
    return tuple(views)


def _is_elsewhere(witness: Witness) -> bool:
    return any(decoding.environment != "base" for decoding in witness.decodings.values())


def _where(run: Run, finding: Finding, decoding: Decoding) -> str:
    if decoding.environment != "base":
        return environment_name(decoding.environment)
    part = _PART_OF.get(finding.code, "")
    value = {
        "clock": run.environment.clock[:16].replace("T", " "),
        "zone": run.environment.zone,
        "locale": run.environment.locale,
        "hash seed": str(run.environment.hash_seed),
    }.get(part)
    return f"base: {part} {value}" if value else "base"
