"""What the consumers of a field make of one string, and what that depends on besides the string."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.decoding import Decoding
from auditor.model.finding import Location
from auditor.model.verdicts import NOT_RECORDED


@dataclass(frozen=True)
class Dependence:
    """What a decoding depends on besides the string.

    `decodings` are those that are not as in the base, each with its environment, of `tried` environments in which
    nothing but this factor differed. `components` are the parts of a value that come from the clock; `together` names
    factors that move it only jointly; `location` is the line whose clock alone moves it, where that is proven, and
    `candidates` are lines that read the clock, where it is not.
    """

    code: str
    decodings: tuple[Decoding, ...]
    tried: int
    cause: str
    components: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    location: Location | None = None
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What the consumers of a field make of one raw value; `keys` are equal where the consumers agree.

    `decodings` are those of the base environment, `keys` theirs. `dependences` say, by consumer, what they depend on
    besides the string, with the decodings of other environments; a consumer that is not in it reads the same in each
    of its `environments` (a count). `not_varied` says what could not be tried. Those three are empty without
    probes. `hints` are what the text of an SQL consumer suggests that it depends on, which is no proof.

    >>> Reading("total", '"1.0"', {}, {"billing": "1", "warehouse": "1"}).agree
    True
    """

    field: str
    raw: str  # JSON text of the value
    decodings: dict[str, Decoding]
    keys: dict[str, str | None]
    dependences: dict[str, tuple[Dependence, ...]] = dataclasses.field(default_factory=dict)
    environments: dict[str, int] = dataclasses.field(default_factory=dict)
    not_varied: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    hints: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def agree(self) -> bool:
        """Every consumer is known to take a value, and it is the same one."""
        return len(set(self.keys.values())) == 1 and None not in self.keys.values()

    @property
    def agreement(self) -> str:
        """Say how the consumers stand to each other, in a word or two; nothing where there is one."""
        if len(self.keys) < 2:
            return ""
        asked = [key for name, key in self.keys.items() if self.decodings[name].status != NOT_RECORDED]
        if not asked:
            return "recorded for none"
        unknown = len(self.keys) - len(asked)
        if not unknown:
            return _agreement(asked)
        known = f"{_agreement(asked)}, " if len(asked) > 1 else ""
        return f"{known}not recorded for {unknown}"


def _agreement(keys: Sequence[str | None]) -> str:
    """Say how consumers that were asked stand to each other."""
    readings = {key for key in keys if key is not None}
    if not readings:
        return "read by none"
    if len(readings) > 1:
        return "read differently"
    return "read by some only" if None in keys else "read alike"
