"""The life of a bug: what a team has said of findings that it knows, so that only news fails a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from auditor.model.run import Finding, Run

#: What a team says of a finding: it is known and waits, it is accepted as it is, or it has been fixed.
Said = Literal["known", "accepted", "fixed"]

#: What a finding of a run is then: `expired` was said until a day that is over, `returned` was said to be fixed.
State = Literal["new", "known", "accepted", "expired", "returned"]

SAID: tuple[Said, ...] = ("known", "accepted", "fixed")

#: The states in which a finding fails a run.
FAILING: tuple[State, ...] = ("new", "expired", "returned")


def day_of(run: Run) -> date:
    """Give the day of a run; of one that tells none the last of all, when nothing holds that has an end."""
    try:
        return date.fromisoformat(run.created_at[:10])
    except ValueError:
        return date.max


@dataclass(frozen=True)
class Entry:
    """What was said of one finding; `until` is the last day on which it holds, None for good.

    >>> Entry("5d41402abc4b2a76", "accepted", "waits for release 12", date(2024, 6, 30)).holds_on(date(2024, 7, 1))
    False
    """

    fingerprint: str
    said: Said
    reason: str
    until: date | None = None
    since: date | None = None
    code: str = ""
    title: str = ""

    def holds_on(self, day: date) -> bool:
        """Say whether it is still said on a day."""
        return self.until is None or day <= self.until


@dataclass(frozen=True)
class Baseline:
    """The entries of a workspace by fingerprint.

    >>> Baseline().state_of(Finding("value-disagreement", "high", "total", (), (), "", "", "", (), 1, None, "5d41"),
    ...     date(2024, 6, 30))
    'new'
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)

    def state_of(self, finding: Finding, day: date) -> State:
        """Give the state of a finding of a run of that day."""
        entry = self.entries.get(finding.fingerprint)
        if entry is None:
            return "new"
        if entry.said == "fixed":
            return "returned"
        return entry.said if entry.holds_on(day) else "expired"

    def failing(self, findings: Iterable[Finding], day: date) -> tuple[Finding, ...]:
        """Give the findings that fail a run of that day: those that nobody has said anything of that holds."""
        return tuple(finding for finding in findings if self.state_of(finding, day) in FAILING)

    def gone(self, findings: Iterable[Finding]) -> tuple[Entry, ...]:
        """Give the entries, but those said to be fixed, of findings that are not among these."""
        found = {finding.fingerprint for finding in findings}
        return tuple(
            one for fingerprint, one in self.entries.items() if fingerprint not in found and one.said != "fixed"
        )
