"""What changed between two runs: the frozen objects that `auditor drift` prints and its reports render.

The JSON names are public (schema 1 of drift): keys may be added, never renamed or removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from auditor.model.run import Column, Interval, Run

DRIFT_SCHEMA = 1

#: A flip between verdicts of a judged case; one into or out of a blocked class; one outside support on either side.
FlipKind = Literal["content", "operational", "unsupported"]


@dataclass(frozen=True)
class ColumnKey:
    """What makes a column the same one in two runs.

    >>> str(ColumnKey("total", "billing")), str(ColumnKey("total", "billing", "dev"))
    ('total, billing', 'total, billing, split dev')
    """

    field: str
    consumer: str
    split: str = "all"
    arm: str | None = None

    def __str__(self) -> str:
        """Name the column."""
        arm = "" if self.arm is None else f", arm {self.arm}"
        return f"{self.field}, {self.consumer}{arm}" + ("" if self.is_whole else f", split {self.split}")

    @property
    def is_whole(self) -> bool:
        """Whether it is of all cases."""
        return self.split == "all"


def key_of(column: Column) -> ColumnKey:
    """Give what identifies a column: the one place that says so."""
    return ColumnKey(column.field, column.consumer, column.split, column.arm)


@dataclass(frozen=True)
class RunHead:
    """Which run a side of the comparison is; `expected` counts a case once for each of its `arms`, if it has any."""

    run_id: str
    name: str
    created_at: str
    auditor_version: str
    manifest_sha256: str
    expected: int
    redecoded_of: str = ""
    arms: int = 0

    @property
    def cases(self) -> int:
        """Cases of the run, each of which every arm answers."""
        return self.expected // max(1, self.arms)

    @classmethod
    def of(cls, run: Run) -> RunHead:
        """Give the head of a run."""
        return cls(
            run.run_id,
            run.name,
            run.created_at,
            run.auditor_version,
            run.manifest_sha256,
            run.cases.expected,
            run.redecoded_of,
            len(run.arms),
        )


@dataclass(frozen=True)
class Change:
    """One thing that is another in the new run, and no prediction: part of the measuring instrument.

    >>> str(Change("billing", "version", "python:1", "python:2"))
    'billing: version python:1 → python:2'
    """

    of: str
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.of}: {self.what} {self.old or 'none'} → {self.new or 'none'}"


@dataclass(frozen=True)
class Side:
    """The counts of one column in one run, over the cases that are compared; `ok` and rates are None if suppressed."""

    support: int
    judged: int
    blocked: int
    blocked_by: dict[str, int]
    broken_references: int
    ok: int | None
    content_rate: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Paired:
    """The cases judged in both runs: how many are right where, the tests, and the difference new minus old.

    `difference` and its interval are parts of 1: -0.015 is a fall of 1.5 points.
    """

    judged_in_both: int
    ok_in_both: int
    ok_in_old_only: int
    ok_in_new_only: int
    ok_in_neither: int
    discordant: int
    exact_p: float
    mid_p: float
    difference: float
    interval: Interval


@dataclass(frozen=True)
class Flip:
    """Cases whose verdict is another one: all their ids, in order."""

    old: str
    new: str
    kind: FlipKind
    count: int
    cases: tuple[str, ...]


@dataclass(frozen=True)
class ColumnDrift:
    """One column in both runs; `suppressed` says why its content is not compared, if it is not."""

    field: str
    consumer: str
    split: str
    old: Side
    new: Side
    suppressed: str
    untrusted: tuple[str, ...]
    paired: Paired | None
    flips: tuple[Flip, ...]
    left_out: int = 0  # cases of the column in one run that are in another split in the other
    arm: str | None = None

    @property
    def key(self) -> ColumnKey:
        """What identifies the column."""
        return ColumnKey(self.field, self.consumer, self.split, self.arm)

    @property
    def flipped(self) -> int:
        """Cases whose verdict is another one."""
        return sum(flip.count for flip in self.flips)

    @property
    def is_drop(self) -> bool:
        """Whether the fall of the rate is more than chance: fewer right answers, and an exact p below 0.05."""
        return self.paired is not None and self.paired.difference < 0 and self.paired.exact_p < SIGNIFICANT


#: An exact p-value below this is a drop, or a rise.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Dropped:
    """Cases of a field, or of all fields (field ""), that are not compared: why, how many, and the first ids."""

    field: str
    why: str
    count: int
    cases: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in a line."""
        where = f"{self.field}: " if self.field else ""
        if not self.cases:
            return f"{where}{self.why}"
        more = ", …" if self.count > len(self.cases) else ""
        return f"{where}{self.count:,} {self.why}: {', '.join(self.cases)}{more}"


@dataclass(frozen=True)
class Effect:
    """A part of the difference of two rates: an exact fraction, and what it lies between where strings are unknown.

    `exact` is "numerator/denominator"; where some strings are unknown it is None, and low and high are bounds.
    """

    exact: str | None
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """One set of predictions read by one set of parsers: right answers of judged ones, and how many are not known."""

    predictions: Literal["old", "new"]
    parser: Literal["old", "new"]
    source: str  # the run that holds the decodings, or "strings that the other run had decoded"
    judged: int
    ok: int
    unknown_cases: int
    unknown_strings: int


@dataclass(frozen=True)
class ColumnSplit:
    """The difference of a column's rates told apart: what the parsers did, what the predictions did, and the rest."""

    field: str
    consumer: str
    split: str
    cells: tuple[Cell, ...]
    difference: Effect
    parser: Effect
    prediction: Effect
    interaction: Effect
    dominates: str  # parser, prediction, interaction, neither, unknown
    arm: str | None = None

    @property
    def key(self) -> ColumnKey:
        """What identifies the column."""
        return ColumnKey(self.field, self.consumer, self.split, self.arm)


@dataclass(frozen=True)
class Drift:
    """Two runs compared."""

    old: RunHead
    new: RunHead
    same_manifest: bool
    shared: int  # cases that are in both, whatever the number of arms that answer them
    dropped: tuple[Dropped, ...]
    instrument: tuple[Change, ...]
    columns: tuple[ColumnDrift, ...]
    only_old: tuple[ColumnKey, ...]
    only_new: tuple[ColumnKey, ...]
    not_compared: tuple[ColumnKey, ...] = ()  # of fields whose contract is another
    notes: tuple[str, ...] = ()
    split: tuple[ColumnSplit, ...] = field(default=())
    schema: int = DRIFT_SCHEMA
