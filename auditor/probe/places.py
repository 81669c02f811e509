"""Places of strings, packed: a data set may have millions that move."""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from auditor.model.dependence import Place

#: Strings of a field that are isolated one by one; those beyond are run through what moved these.
MOST_ISOLATED = 20_000


@dataclass
class Places:
    """Places by field and chunk, each chunk as ascending positions."""

    positions: dict[tuple[str, int], array[int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return any(self.positions.values())

    def __contains__(self, place: object) -> bool:
        """Say whether a place is one of them."""
        if not isinstance(place, tuple):
            return False
        name, chunk, position = place
        found = self.positions.get((name, chunk), ())
        at = bisect_left(found, position)
        return at < len(found) and found[at] == position

    def add(self, name: str, chunk: int, positions: Iterable[int]) -> None:
        """Take up positions of one chunk; those that are known already count once."""
        more = {*positions, *self.positions.get((name, chunk), ())}
        if more:
            self.positions[name, chunk] = array("q", sorted(more))

    def update(self, other: Places) -> None:
        """Take up those of another."""
        for (name, chunk), positions in other.positions.items():
            self.add(name, chunk, positions)

    @property
    def fields(self) -> tuple[str, ...]:
        """Name the fields, in the order of their names."""
        return tuple(sorted({name for name, _ in self.positions}))

    def count(self, name: str) -> int:
        """Count those of a field."""
        return sum(len(found) for (one, _), found in self.positions.items() if one == name)

    def of(self, name: str) -> Iterator[Place]:
        """Give those of a field, in order."""
        for chunk in sorted(chunk for one, chunk in self.positions if one == name):
            for position in self.positions[name, chunk]:
                yield name, chunk, position

    def beside(self, name: str, done: Container[Place]) -> list[Place]:
        """Give those of a field that are not among others, in order."""
        return [place for place in self.of(name) if place not in done]


def packed(places: Iterable[Place]) -> Places:
    """Pack places."""
    by_chunk: dict[tuple[str, int], list[int]] = {}
    for name, chunk, position in places:
        by_chunk.setdefault((name, chunk), []).append(position)
    found = Places()
    for (name, chunk), positions in by_chunk.items():
        found.add(name, chunk, positions)
    return found


def rank(place: Place) -> int:
    """Rank a place: the lowest so many of any data set lie evenly over it, and are the same whatever else moves.

    So a launch can keep the answers of those that are isolated before it is known what moves in other launches.
    """
    _, chunk, position = place
    return ((chunk << 18) + position) * 2_654_435_761 & 0xFFFFFFFF


def sample(places: Places) -> dict[str, list[Place]]:
    """Take at most MOST_ISOLATED of each field, those of the lowest rank."""
    return {name: sorted(heapq.nsmallest(MOST_ISOLATED, places.of(name), key=rank)) for name in places.fields}
