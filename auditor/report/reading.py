"""What consumers make of a string, in words: for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.model.figures import plural
from auditor.model.reading import Dependence, Reading
from auditor.report.environments import unvaried_texts
from auditor.report.movement import environment_name
from auditor.report.text import visible
from auditor.report.view import decoded

NOT_PROBED = "read in the base environment only"


def headline(reading: Reading) -> str:
    """Say how the consumers stand to each other, and for whom that is not all: what moves is alike in the base only."""
    if not reading.dependences:
        return reading.agreement
    moves = f"moves for {', '.join(reading.dependences)}"
    here = f"{reading.agreement} in the base environment" if reading.agree else reading.agreement
    return f"{here}; {moves}" if reading.agreement else moves


def alike(reading: Reading, consumer: str) -> str:
    """Say in how many other environments a consumer reads the same; nothing where it does not, or none was tried."""
    count = reading.environments.get(consumer, 0)
    is_alike = count and consumer not in reading.dependences
    return f"the same in {plural(count, 'other environment')}" if is_alike else ""


def moved(dependence: Dependence) -> Iterator[str]:
    """Give a line per other value with its environments, then what it depends on and why."""
    where: dict[str, list[str]] = {}
    for decoding in dependence.decodings:
        where.setdefault(visible(decoded(decoding)), []).append(environment_name(decoding.environment))
    for said, names in where.items():
        yield f"{said}  [{', '.join(names)}]"
    same = dependence.tried - len(dependence.decodings)
    parts = f" ({', '.join(dependence.components)})" if dependence.components else ""
    together = f" Only together: {', '.join(dependence.together)}." if dependence.together else ""
    at = f" At {dependence.location.place}." if dependence.location else ""
    if dependence.candidates:
        at = f" Candidate lines: {', '.join(visible(line) for line in dependence.candidates[:3])}."
    rest = f" As in the base in {same} of {dependence.tried} others." if same > 0 else ""
    yield f"{dependence.code}{parts}: {dependence.cause}{together}{at}{rest}"


def limits(readings: Sequence[Reading]) -> Iterator[str]:
    """Say what was not tried, and for whom; the readings are of one field."""
    by_text: dict[str, list[str]] = {}
    for reading in readings[:1]:
        for consumer, notes in reading.not_varied.items():
            for text in unvaried_texts(notes):
                by_text.setdefault(text, []).append(consumer)
    for text, consumers in by_text.items():
        yield visible(f"{', '.join(consumers)}: {text}")
