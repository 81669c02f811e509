"""What a listener of an audit hears; the last event of an audit is `RunFinished`."""

from __future__ import annotations

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
    """A consumer has decoded `done` of its `total` distinct raw values."""

    consumer: str
    done: int
    total: int


@dataclass(frozen=True)
class RunFinished:
    """The audit is done; `folder` is where the run is stored, None when it was not to be stored."""

    run: Run
    folder: Path | None


Event = CasesLoaded | ConsumerReady | Progress | RunFinished
