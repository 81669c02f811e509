"""The raw outputs of a run, decoded again by other parsers: what `auditor redecode` prints and its reports render.

The JSON names are public (schema 1 of redecoding): keys may be added, never renamed or removed.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.drift import Change, ColumnKey, RunHead, Side

REDECODING_SCHEMA = 1


#: Raw values that each list of a column names; where there are more, those of the most cases.
MOST_LISTED = 100_000


@dataclass(frozen=True, slots=True)
class Rereading:
    """One raw value that is read otherwise than before.

    `old` and `new` are decoding statuses, `turns` counts its cases by how their verdict went (``ok to rejected``), and
    `why` says why it is listed where it is.
    """

    raw: str  # as JSON text
    role: str  # prediction, reference
    old: str
    old_value: str | None
    new: str
    new_value: str | None
    error: str | None
    count: int
    cases: tuple[str, ...]
    turns: dict[str, int]
    why: str


@dataclass(frozen=True)
class RedecodedColumn:
    """One (field, consumer): every raw value of the run as it was read before and as it is read now.

    `strings` counts the distinct raw values that the consumer is sent: predictions, and the references that it
    decodes. `same`; `finer`, the same value at the grain but not to the letter; `changed`; `lost`, accepted before
    only; `gained`, accepted now only; `never`, accepted neither time. `counts` has the distinct raw values of each of
    the three lists, `rows` its length, with a row for each role of a raw value, of which it names `MOST_LISTED` at
    most, and `turns` counts the cases of all of their predictions by how the verdict went.
    """

    field: str
    consumer: str
    old_version: str
    new_version: str
    old: Side
    new: Side
    suppressed: str
    difference: float | None
    half_width: float | None  # of the old rate's interval
    of_error_bar: float | None  # size of the difference as a part of the half-width
    strings: dict[str, int]
    counts: dict[str, int]
    rows: dict[str, int]
    turns: dict[str, int]
    regressions: tuple[Rereading, ...]
    intended: tuple[Rereading, ...]  # newly rejected junk
    newly_accepted: tuple[Rereading, ...]
    arm: str | None = None

    @property
    def key(self) -> ColumnKey:
        """What identifies the column."""
        return ColumnKey(self.field, self.consumer, arm=self.arm)

    @property
    def is_same(self) -> bool:
        """Whether every raw value is read as before."""
        return not any(self.counts.values())


@dataclass(frozen=True)
class Redecoding:
    """A run and the same raw outputs decoded again, which are a run of their own."""

    old: RunHead
    new: RunHead
    instrument: tuple[Change, ...]
    columns: tuple[RedecodedColumn, ...]
    only_old: tuple[ColumnKey, ...]
    only_new: tuple[ColumnKey, ...]
    notes: tuple[str, ...] = ()
    schema: int = REDECODING_SCHEMA

    @property
    def regressions(self) -> int:
        """Count the raw values that are no longer read as they were."""
        return sum(column.counts["regressions"] for column in self.columns)
