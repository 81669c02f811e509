"""Runs of one audit in a row: how a column moves, when a bug was seen, which versions a consumer had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.model.figures import NO_RATE, percent_of
from auditor.model.run import Interval
from auditor.report.view import of_arm
from auditor.service.runs import Entry
from auditor.store.records import ColumnRecord, RunRecord

#: Runs that a trend shows.
SHOWN: Final = 30

WITHHELD: Final = "rates are withheld: there are broken references"


@dataclass(frozen=True)
class Step:
    """A column in one run: a point of its trend, or an incident beside it; `changed` says what else is measured."""

    entry: Entry
    rate: str
    right_of: str
    share: float | None
    incident: str
    untrusted: str
    changed: str
    interval: Interval | None = None
    ceiling: float | None = None

    @property
    def is_point(self) -> bool:
        """Say whether it is a point of the trend."""
        return self.share is not None and not self.incident


@dataclass(frozen=True)
class Trend:
    """A column over its runs, oldest first."""

    steps: tuple[Step, ...]

    @property
    def points(self) -> tuple[Step, ...]:
        """Give the runs whose rates may be compared."""
        return tuple(step for step in self.steps if step.is_point)

    @property
    def incidents(self) -> tuple[Step, ...]:
        """Give the runs that stand beside it."""
        return tuple(step for step in self.steps if step.incident)

    @property
    def text(self) -> str:
        """Say it: ``64.1 → 62.5 over 12 runs, 1 incident``."""
        points = self.points
        if len(self.steps) < 2:
            return "first run" if self.steps else ""
        incidents = len(self.incidents)
        beside = f", {incidents} incident{'' if incidents == 1 else 's'}" if incidents else ""
        if not points:
            return f"no point in {len(self.steps)} runs{beside}"
        first, last = points[0].rate, points[-1].rate
        return f"{first} → {last} over {len(points)} run{'' if len(points) == 1 else 's'}{beside}"


def incident(record: RunRecord) -> str:
    """Say why the rates of a run are no points of a trend, or nothing."""
    if record.rates_withheld:
        return WITHHELD
    if record.gate is not None and not record.gate.open:
        return record.gate.reason or "the content gate is closed"
    return ""


def trends(entries: Sequence[Entry]) -> dict[tuple[str, str], Trend]:
    """Give the trend of each column over the latest runs of an audit, which are given newest first.

    It is by the field's name, with its arm where there are any, and by consumer.
    """
    steps: dict[tuple[str, str], list[Step]] = {}
    before: dict[tuple[str, str], tuple[str, str]] = {}
    for entry in reversed(entries[:SHOWN]):
        said = incident(entry.record)
        versions = {one.name: one.version for one in entry.record.consumers}
        for column in entry.record.columns:
            if column.split != "all":
                continue
            key = (of_arm(column.field, column.arm), column.consumer)
            measure = (entry.record.manifest_sha256, versions.get(column.consumer, ""))
            steps.setdefault(key, []).append(_step(entry, column, said, _changed(before.get(key), measure)))
            before[key] = measure
    return {key: Trend(tuple(found)) for key, found in steps.items()}


def _step(entry: Entry, column: ColumnRecord, said: str, changed: str) -> Step:
    closed = said or ("" if column.comparable else column.not_comparable or "not comparable")
    is_rated = column.content_rate is not None and column.judged
    rate = percent_of(column.ok, column.judged) if is_rated else NO_RATE
    right_of = f"{column.ok:,} of {column.judged:,}" if is_rated else NO_RATE
    share = column.ok / column.judged if is_rated else None
    bounds = Interval(*column.interval) if column.interval and is_rated else None
    untrusted, ceiling = ", ".join(column.untrusted), column.ceiling if is_rated else None
    return Step(entry, rate, right_of, share, closed, untrusted, changed, bounds, ceiling)


def _changed(before: tuple[str, str] | None, now: tuple[str, str]) -> str:
    if before is None or before == now:
        return ""
    names = ("cases or references", "parser")
    return " and ".join(name for name, old, new in zip(names, before, now, strict=True) if old != new)


@dataclass(frozen=True)
class Seen:
    """The runs of an audit in which a bug was found."""

    first: Entry
    last: Entry
    count: int
    of: int
    is_in_latest: bool


def seen(entries: Sequence[Entry]) -> dict[str, Seen]:
    """Give, by fingerprint, when each bug of an audit was seen; its runs are given newest first."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        for fingerprint in dict.fromkeys(one.fingerprint for one in entry.record.findings):
            found.setdefault(fingerprint, []).append(entry)
    return {
        fingerprint: Seen(where[-1], where[0], len(where), len(entries), where[0] is entries[0])
        for fingerprint, where in found.items()
    }


@dataclass(frozen=True)
class Version:
    """A version of a consumer with the runs in a row that it had."""

    version: str
    settings: dict[str, str]
    first: Entry
    last: Entry
    runs: int


def versions(entries: Iterable[Entry], consumer: str) -> tuple[Version, ...]:
    """Give the versions of a consumer, newest first, from the runs of an audit, newest first."""
    found: list[Version] = []
    for entry in entries:
        for one in entry.record.consumers:
            if one.name != consumer:
                continue
            if found and (found[-1].version, found[-1].settings) == (one.version, one.settings):
                found[-1] = Version(one.version, one.settings, entry, found[-1].last, found[-1].runs + 1)
            else:
                found.append(Version(one.version, one.settings, entry, entry, 1))
    return tuple(found)
