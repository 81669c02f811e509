"""What a listener of an audit hears; the last event of an audit is `RunFinished`.

`Launches` come from other threads while the audit is in a phase, and so are told to a callback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from auditor.model.decoding import Readiness
    from auditor.model.run import CaseCounts, Run


@dataclass(frozen=True)
class CasesLoaded:
    """Completions and references are read."""

    cases: CaseCounts


@dataclass(frozen=True)
class ConsumerReady:
    """A consumer's worker has started."""

    readiness: Readiness


@dataclass(frozen=True)
class Progress:
    """A consumer has decoded `done` of its `total` raw values: distinct by field, and by payload if it reads those."""

    consumer: str
    done: int
    total: int


@dataclass(frozen=True)
class Reused:
    """A consumer is not asked: its decodings of all raw values are those that an audit which failed had kept."""

    consumer: str
    total: int


@dataclass(frozen=True)
class Phase:
    """A part of the audit begins, in which no consumer's `Progress` comes; `text` says which, for people."""

    text: str


@dataclass(frozen=True)
class Launches:
    """A consumer has been asked in `done` processes of other environments, of `known` that are planned so far.

    What moves in the first ones decides how many more there will be.
    """

    consumer: str
    done: int
    known: int


@dataclass(frozen=True)
class RunFinished:
    """The audit is done; `folder` is where the run is stored, None when it was not to be stored."""

    run: Run
    folder: Path | None


#: Told of launches while they happen, from any thread.
Tell = Callable[[Launches], None]


def nobody(event: Launches) -> None:
    """Listen to nothing."""


Event = CasesLoaded | ConsumerReady | Progress | Reused | Phase | RunFinished
