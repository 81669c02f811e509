"""What a decoding may depend on besides the string."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

#: Friday 2024-03-08 09:05:07 UTC: an ordinary day, so that nothing is clamped to a month's end.
BASE_CLOCK = "2024-03-08T09:05:07+00:00"

#: The name of the environment that a run is scored in.
BASE = "base"

#: The parts of an environment that a probe varies; `network` and `elsewhere` (folder, HOME, umask) come last.
FACTORS = ("clock", "zone", "locale", "hash_seed", "order", "network", "elsewhere")


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
            positions = list(range(count))
            random.Random(int(self.order.removeprefix("shuffled-"))).shuffle(positions)
            return positions
        return range(count)
