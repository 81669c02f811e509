"""The life of a bug: what a team has said of findings that it knows, so that only news fails a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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


def last_day(text: str, today: date) -> date:
    """Give the last day on which something holds; ValueError says why a text names none.

    >>> last_day("2030-12-31", date(2024, 6, 30))
    datetime.date(2030, 12, 31)
    """
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{error}; write it as 2030-12-31") from error
    if day < today:
        raise ValueError("that day is over")
    return day


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

    def saying(self, entry: Entry, findings: Iterable[Finding]) -> Baseline:
        """Say of findings what an entry says, each under its own fingerprint, code and title."""
        said = {
            one.fingerprint: replace(entry, fingerprint=one.fingerprint, code=one.code, title=one.title)
            for one in findings
        }
        return Baseline({**self.entries, **said})

    def without(self, fingerprints: Iterable[str]) -> Baseline:
        """Take back what was said of findings."""
        taken = set(fingerprints)
        return Baseline({name: entry for name, entry in self.entries.items() if name not in taken})

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
