"""What a run says of its completions: finish reasons, who reads their payloads, and what those hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from auditor.load.census import Census
from auditor.load.contract import Contract
from auditor.load.parts import RoleTable
from auditor.model.figures import plural

_SHOWN: Final = 6
_LONGEST: Final = 40


def load_notes(predictions: RoleTable, finishes: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """Say which finish reasons were met and what became of their completions, and how payloads were read."""
    layout = predictions.layout
    notes = []
    if finishes:
        said = []
        for reason, outcomes in sorted(finishes.items(), key=lambda item: (-sum(item[1].values()), item[0])):
            assumed = f" taken for {layout.assume_finish[:_LONGEST]}" if not reason and layout.assume_finish else ""
            became = [f"{name} {count:,}" if len(outcomes) > 1 else name for name, count in outcomes.items()]
            count = sum(outcomes.values())
            said.append(f"{reason[:_LONGEST] or 'none'}{assumed} {count:,} ({', '.join(became)})")
        more = f" and {len(said) - 2 * _SHOWN} more" if len(said) > 2 * _SHOWN else ""
        notes.append(f"finish reasons met: {', '.join(said[: 2 * _SHOWN])}{more}")
    notes += _unread_notes(predictions)
    if others := sum(part.left_out for part in predictions.parts):
        notes.append(f"attempts: {plural(others, 'completion')} of cases that have several are counted, and not graded")
    census = Census()
    for part in predictions.parts:
        for own in part.censuses.values():
            census.add(own)
    return (*notes, *_census_notes(census, layout.contract, ", graded or not" if others else ""))


def _unread_notes(predictions: RoleTable) -> list[str]:
    """Say of a table of values that nothing reads the finish reasons in it: a reply that was cut off counts, too."""
    return [
        f"{part.file.name}: the column {name!r} is not read, so every row is judged, whatever it says: "
        f'finish = "{name}" in [cases] reads it'
        for part in predictions.parts
        for name in part.layout.unread[:1]
    ]


def _census_notes(census: Census, contract: Contract, whose: str = "") -> tuple[str, ...]:
    """Say in a sentence who read the payloads and what another reader would recover; in another what they held.

    `whose` says of what is counted that more completions are in it than those of the cases.
    """
    if not census.ended:
        return ()
    said = f"payload: of {plural(census.ended, 'completion')} that ended cleanly{whose}, {census.taken:,} are read by "
    said += f"the {contract.payload} reader ({100 * census.taken / census.ended:.1f} %)"
    if contract.payload != "strict":
        said += f", {census.strict:,} by a strict one"
    said += f"; another reader would recover {census.recovered['any']:,}"
    others = [f"{name} {count:,}" for name, count in census.recovered.items() if name != "any" and count]
    # Where the strictest reader reads everything there is nothing to say.
    is_plain = census.taken == census.ended and contract.payload == "strict"
    notes = [] if is_plain else [said + (f" ({', '.join(others)})" if others else "")]
    for kind, names in sorted(census.kinds.items()):
        listed = ", ".join(f"{name[:_LONGEST]} {count:,}" for name, count in names.most_common(_SHOWN))
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        notes.append(f"payload: {kind}, in what was read{whose}: {listed}{more}")
    return tuple(notes)
