"""What a decoding may depend on besides the string."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

#: Friday 2024-03-08 09:05:07 UTC: an ordinary day, so that nothing is clamped to a month's end.
BASE_CLOCK = "2024-03-08T09:05:07+00:00"

#: The name of the environment that a run is scored in.
BASE = "base"

#: The parts of an environment that a probe varies; `network` and `elsewhere` (folder, HOME, umask) come last.
FACTORS = ("clock", "zone", "locale", "hash_seed", "order", "network", "elsewhere")


#: So many strings are few: their shuffles are the best of so many candidates.
FEW, CANDIDATES = 12, 100

#: More strings than so many are shuffled by sorting random numbers, in half the time.
MANY = 10_000


@dataclass(frozen=True)
class Environment:
    """One fixed environment: `clock` is an ISO instant with offset, `zone` an IANA name, `locale` a POSIX name.

    `order` is that in which the distinct strings are decoded: given, reversed, or shuffled-N with a seed.
    `elsewhere` is another working folder, HOME and umask than the base has.
    """

    name: str = BASE
    clock: str = BASE_CLOCK
    zone: str = "UTC"
    locale: str = "C.UTF-8"
    hash_seed: int = 0
    order: str = "given"
    network: bool = True
    elsewhere: bool = False

    def differs_in(self, other: Environment) -> tuple[str, ...]:
        """Name the factors in which two environments differ, in the order of FACTORS."""
        return tuple(factor for factor in FACTORS if getattr(self, factor) != getattr(other, factor))

    def ordered(self, count: int) -> Sequence[int]:
        """Give the positions of `count` strings in the order in which this environment decodes them."""
        if self.order == "reversed":
            return list(range(count - 1, -1, -1))
        if self.order.startswith("shuffled-"):
            number = int(self.order.removeprefix("shuffled-"))
            few = _shuffles_of_few(count) if count <= FEW else ()
            return few[number - 1] if number <= len(few) else _shuffled(count, number)
        return range(count)


def _shuffled(count: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    if count > MANY:
        import pyarrow.compute

        keys = pyarrow.py_buffer(generator.randbytes(8 * count))
        shuffled = pyarrow.Array.from_buffers(pyarrow.uint64(), count, [None, keys])
        order: list[int] = pyarrow.compute.array_sort_indices(shuffled).to_pylist()
        return order
    positions = list(range(count))
    generator.shuffle(positions)
    return positions


@cache
def _shuffles_of_few(count: int) -> tuple[list[int], ...]:
    """Give three orders in which as many strings as can be come after any two others, one before and one behind them.

    A parser may need two strings to move a third one. As they are given, and reversed, the one between two others
    never comes after both.
    """
    left = set(combinations(range(count), 3))
    candidates = [_shuffled(count, seed) for seed in range(1, 1 + CANDIDATES)]
    chosen = []
    for _ in range(3):
        best = max(candidates, key=lambda order: len(_middle_last(order, left)))
        left -= _middle_last(best, left)
        chosen.append(best)
    return tuple(chosen)


def _middle_last(order: Sequence[int], triples: Iterable[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
    """Give the triples of positions whose middle one comes last in an order."""
    at = {position: place for place, position in enumerate(order)}
    return {(low, middle, high) for low, middle, high in triples if at[middle] > max(at[low], at[high])}
