"""What a decoding may depend on besides the string."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, islice
from itertools import count as count_up
from math import gcd, isqrt

#: Friday 2024-03-08 09:05:07 UTC: an ordinary day, so that nothing is clamped to a month's end.
BASE_CLOCK = "2024-03-08T09:05:07+00:00"

#: The name of the environment that a run is scored in.
BASE = "base"

#: The parts of an environment that a probe varies; `network` and `elsewhere` (folder, HOME, umask) come last.
FACTORS = ("clock", "zone", "locale", "hash_seed", "order", "network", "elsewhere")


#: So many strings are few: their shuffles are the best of so many candidates.
FEW, CANDIDATES = 12, 100

#: More strings than so many are shuffled by strides, in a tenth of the time.
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
        return _strided(count, seed, generator)
    positions = list(range(count))
    generator.shuffle(positions)
    return positions


def _strided(count: int, seed: int, generator: random.Random) -> list[int]:
    """Shuffle by strides: those of each start in turn, the starts shuffled, half of the strides backwards.

    Strings of one stride keep their order or are reversed; no two are of one in the next shuffle, nor in the one
    after it: the strides of successive shuffles have no common factor, and their product is greater than `count`.
    """
    stride = isqrt(count) + 1
    stride += next(islice(_coprime_steps(stride), seed, None))
    starts = list(range(stride))
    generator.shuffle(starts)
    backwards = generator.getrandbits(stride)
    strides = (range(start, count, stride)[:: -1 if backwards >> start & 1 else 1] for start in starts)
    return list(chain.from_iterable(strides))


def _coprime_steps(start: int) -> Iterator[int]:
    """Give what to add to a number for one after another that has no factor in common with any before it."""
    given: list[int] = []
    for step in count_up():
        if all(gcd(start + step, one) == 1 for one in given):
            given.append(start + step)
            yield step


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
