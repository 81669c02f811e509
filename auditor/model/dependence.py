"""What a parser's value depends on besides the string, as the probes found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from auditor.model.decoding import Decoding
from auditor.model.environment import Environment
from auditor.model.verdicts import STATUS_OF, DecodingStatus


@dataclass(frozen=True)
class Site:
    """A place in the consumer or its libraries that reads the wall clock; `reads` counts how often.

    `file`, `line` and `function` are of the nearest Python frame outside the standard library, also where the reader
    is compiled code. Where there is no such frame, `file` is the compiled library, `line` is 0 and `function` is
    empty. `at_import` says that it was read while a module was imported: the value then stays for the whole process.
    `proven` says that a run in which this place alone saw another instant gave another value.
    """

    file: str
    line: int
    function: str
    at_import: bool
    reads: int = 0
    proven: bool = False


@dataclass(frozen=True)
class Watch:
    """What to do about the consumer's clock reads: record them, or let those of one `site` see `clock` (ISO).

    All others see the environment's clock.
    """

    site: Site | None = None
    clock: str | None = None

    def __post_init__(self) -> None:
        if (self.site is None) is not (self.clock is None):
            raise ValueError("a watch has a site and a clock, or neither")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a consumer made of one string: status letter, tagged text, grain key, error."""

    letter: str
    text: str | None = None
    key: str | None = None
    error: str | None = None

    def is_as(self, other: Answer) -> bool:
        """Say whether two answers are the same outcome: the same value at the grain, or the same refusal."""
        return (self.letter, self.key) == (other.letter, other.key)

    def decoding(self, environment: str) -> Decoding:
        """Give the answer as a decoding in an environment."""
        return Decoding(cast(DecodingStatus, STATUS_OF[self.letter]), self.text, self.error, environment)


#: A string that a consumer was asked: field, chunk of its questions, position in the chunk.
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Mover:
    """One string that does not decode alike everywhere: why, and what it is in the environments that show it.

    `readings` are (environment's name, answer), the base first. `components` are the parts of the value that move
    with the clock; `together` names the factors where no single one moves it. `site` is the line whose clock alone
    moves it; where that cannot be proven, `candidates` are the lines that may read the clock.
    """

    place: Place
    string: str
    code: str
    readings: tuple[tuple[str, Answer], ...]
    components: tuple[str, ...] = ()
    site: Site | None = None
    together: tuple[str, ...] = ()
    candidates: tuple[Site, ...] = ()


@dataclass(frozen=True)
class Probed:
    """What the probes of one consumer did and found.

    `launched` are the environments that a process was started in, `in_force` the same as they were there, without what
    could not be set; `not_varied` are ``part: why``. `movers` were isolated one by one; `others` moved as well, with
    the code that is known without. `fixed` are the factors that no environment changes for it: its own `env` sets
    them, or it has no such thing.
    """

    consumer: str
    launched: tuple[Environment, ...]
    in_force: tuple[Environment, ...]
    not_varied: tuple[str, ...]
    movers: tuple[Mover, ...]
    others: tuple[tuple[Place, str], ...] = ()
    fixed: tuple[str, ...] = ()

    def varied(self, factor: str, value: object, base: Environment) -> bool:
        """Say whether a factor was changed for it, as far as it can be, and this value is not one that failed."""
        pairs = zip(self.launched, self.in_force, strict=True)
        failed = any(getattr(one, factor) == value != getattr(so, factor) for one, so in pairs)
        changed = any(getattr(so, factor) != getattr(base, factor) for so in self.in_force)
        return factor in self.fixed or (changed and not failed)


@dataclass(frozen=True)
class ProbedEnvironment:
    """An environment in which the strings of `consumers` were decoded again, as it was in force there.

    `varied` are the factors in which it is not the base; a part that could not be set is that of the base.
    """

    name: str
    varied: tuple[str, ...]
    clock: str
    zone: str
    locale: str
    hash_seed: int
    order: str
    network: bool
    elsewhere: bool
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class ProbeSummary:
    """How much of a run was decoded again in other environments: `level` is full, quick or off.

    >>> ProbeSummary("off").environments
    ()
    """

    level: str
    environments: tuple[ProbedEnvironment, ...] = ()
