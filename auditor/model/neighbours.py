"""What a string's decoding depends on among the rows that are loaded with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from auditor.model.dependence import Answer

#: What moved a string: the order of the same rows, or rows that are there or not.
Moved = Literal["order-dependent", "neighbour-dependent"]

#: What a string was in some company, in words: ``alone``, ``after "13/03/2024"``.
Reading = tuple[str, Answer]


@dataclass(frozen=True)
class NeighbourMove:
    """A string that a batch reads otherwise in other company.

    `token` is the raw value, `units` its rows in the outcome table; `readings` are the base and what moved it.
    `smallest` are two readings of batches of one or two rows that differ, where such were found.
    """

    token: str
    units: tuple[int, ...]
    code: Moved
    readings: tuple[Reading, Reading]
    smallest: tuple[Reading, ...] = ()

    @property
    def shown(self) -> tuple[Reading, ...]:
        """The smallest two readings that differ."""
        return self.smallest or self.readings


@dataclass(frozen=True)
class NeighbourProbe:
    """What was tried with one batch, and what moved.

    `rows` of the `of_rows` in the batch were read again, `strings` distinct ones; `tried` names each company in words.
    `spoilers` fail alone too, and so fail the whole batch, without being anybody's neighbours. `not_varied` says why
    nothing was tried, or why nothing may be concluded from it.
    """

    field: str
    consumer: str
    role: Literal["prediction", "reference"]
    of_rows: int
    rows: int = 0
    strings: int = 0
    tried: tuple[str, ...] = ()
    moves: tuple[NeighbourMove, ...] = ()
    spoilers: tuple[str, ...] = ()
    not_varied: str = ""

    def moved(self, code: Moved) -> tuple[NeighbourMove, ...]:
        """Give the strings that moved for one reason."""
        return tuple(move for move in self.moves if move.code == code)
