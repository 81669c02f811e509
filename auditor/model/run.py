"""A finished run: the frozen objects that commands print, reports render and `run.json` holds.

The JSON names are public (schema 1): keys may be added, never renamed or removed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from auditor.model.agreement import Agreement
from auditor.model.cases import ArmSummary as ArmSummary
from auditor.model.cases import CaseCounts as CaseCounts
from auditor.model.dependence import ProbeSummary
from auditor.model.finding import SEVERITIES as SEVERITIES
from auditor.model.finding import Finding as Finding
from auditor.model.finding import Location as Location
from auditor.model.finding import Severity as Severity
from auditor.model.finding import Witness as Witness
from auditor.model.gate import Gate
from auditor.model.left_out import LeftOut
from auditor.model.lock import Locked
from auditor.model.spec_place import SpecPlace

SCHEMA = 1


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a rate.

    >>> Interval(low=0.866, high=0.94).low
    0.866
    """

    low: float
    high: float


@dataclass(frozen=True)
class Column:
    """One (field, consumer), of one arm where there are any: counts of cases, and rates.

    A rate is None where it is undefined or withheld.

    >>> verdicts = {"ok": 2, "wrong": 1, "rejected": 1, "null": 0, "dropped": 0, "crashed": 0, "timed_out": 0}
    >>> column = Column(
    ...     field="total", consumer="billing", label="native", support=5, judged=4, blocked=1,
    ...     blocked_by={"missing": 1}, verdicts=verdicts, unreferenced=0, unexpected=0, broken_references=0,
    ...     coverage=0.8, content_rate=0.5, usable_rate=0.4, interval=None, ceiling=0.75, ceiling_interval=None,
    ...     recoverable=1)
    >>> column.accepted, column.lost_to_shape, column.lost_to_value
    (3, 1, 1)
    """

    field: str
    consumer: str
    label: str  # native, reference, emulated, recorded, planned
    support: int
    judged: int
    blocked: int
    blocked_by: dict[str, int]
    verdicts: dict[str, int]  # every name of FIELD_VERDICTS
    unreferenced: int
    unexpected: int
    broken_references: int
    coverage: float | None
    content_rate: float | None
    usable_rate: float | None
    interval: Interval | None
    ceiling: float | None
    ceiling_interval: Interval | None
    recoverable: int
    split: str = "all"
    scope: str = ""  # pydantic: payload or field
    scope_note: str = ""
    untrusted: tuple[str, ...] = ()
    by_environment: tuple[dict[str, Any], ...] = ()
    flips: dict[str, int] = dataclasses.field(default_factory=dict)  # factor: cases whose verdict is another somewhere
    hints: tuple[str, ...] = ()  # what its text alone suggests that it depends on; no proof
    label_note: str = ""  # what the label comes to: as of when, or what stands for what
    comparable: bool = True  # whether the content gate is open for this column
    not_comparable: str = ""  # why it is not
    at_least: float | None = None  # the content rate that its team asks for
    arm: str | None = None  # whose predictions; None where the run has no arms
    agreement: Agreement | None = None  # where the spec asks for it, and the field's type has one

    @property
    def accepted(self) -> int:
        """Predictions that the consumer took a value from, right or wrong."""
        return self.verdicts["ok"] + self.verdicts["wrong"]

    @property
    def lost_to_shape(self) -> int:
        """Judged predictions that the consumer did not accept although one was given."""
        return sum(self.verdicts[name] for name in ("rejected", "null", "dropped", "crashed", "timed_out"))

    @property
    def lost_to_value(self) -> int:
        """Judged predictions that were accepted and are wrong."""
        return self.verdicts["wrong"]


@dataclass(frozen=True)
class Share:
    """`count` of `of` cases, with rate and interval (None when `of` is 0)."""

    count: int
    of: int
    rate: float | None
    interval: Interval | None


@dataclass(frozen=True)
class ShapeRow:
    """One written shape of a field's predictions, and what each consumer makes of it.

    `rows` counts cases, `strings` distinct raw values; `accepted` and `ok` map each consumer to a count of rows;
    `alike` is true when every consumer of the field reads every string of this shape, as far as is known, and reads it
    alike; None where of no string it is known what all of them make of it.
    """

    shape: str
    example: str
    rows: int
    strings: int
    accepted: dict[str, int]
    ok: dict[str, int]
    alike: bool | None
    not_recorded: dict[str, int] = dataclasses.field(default_factory=dict)  # cases on which a consumer has no verdict


@dataclass(frozen=True)
class Disagreement:
    """Two consumers of a field over all distinct predictions and references; counts are distinct strings."""

    left: str
    right: str
    strings: int
    same: int
    different: int
    only_left: int
    only_right: int
    neither: int


@dataclass(frozen=True)
class FieldSummary:
    """What holds for a field, of one arm where there are any, whichever consumer reads it.

    `disagreements` and `distinct` are over the strings of all arms: they are about the parsers.
    """

    field: str
    type: str
    grain: str
    reference: str
    usable_everywhere: Share
    string_equality: Share
    json_types: dict[str, Share]
    shapes: tuple[ShapeRow, ...]
    disagreements: tuple[Disagreement, ...]
    distinct: int
    arm: str | None = None


@dataclass(frozen=True)
class ConsumerSummary:
    """A consumer as it ran: its version and settings bind every later comparison."""

    name: str
    owner: str
    adapter: str
    label: str
    version: str
    settings: dict[str, str]
    not_varied: tuple[str, ...] = ()
    not_fixed: tuple[str, ...] = ()
    label_note: str = ""


@dataclass(frozen=True)
class BrokenReference:
    """A reference that its decoder does not turn into a value."""

    case_id: str
    field: str
    raw: str
    decoder: str
    status: str
    error: str


@dataclass(frozen=True)
class RunEnvironment:
    """The base environment of the run; `not_fixed` are ``consumer: part`` entries that could not be set."""

    clock: str
    zone: str
    locale: str
    hash_seed: int
    not_fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One audit, bound to the manifest of its cases and to every consumer's version.

    >>> cases = CaseCounts(expected=0, judged=0, missing=0, unrelated=0)
    >>> base = RunEnvironment("2024-03-08T09:05:07+00:00", "UTC", "C.UTF-8", 0)
    >>> run = Run("r1", "contracts", "", "", "0.1.0", base, cases, {}, (), (), (), (), ())
    >>> run.column("total", "billing")
    Traceback (most recent call last):
    KeyError: 'no column total/billing; there are: '
    """

    run_id: str
    name: str
    manifest_sha256: str
    created_at: str
    auditor_version: str
    environment: RunEnvironment
    cases: CaseCounts
    finish_reasons: dict[str, int]
    consumers: tuple[ConsumerSummary, ...]
    fields: tuple[FieldSummary, ...]
    columns: tuple[Column, ...]
    findings: tuple[Finding, ...]
    broken_references: tuple[BrokenReference, ...]
    rates_withheld: bool = False  # broken references and not told to report them: all rates are None
    spec: str = ""
    sources: tuple[dict[str, Any], ...] = ()  # path, sha256, role of each input file
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    probe: ProbeSummary | None = None  # None: stored before there were probes
    gate: Gate | None = None  # None: stored before there was one
    gold_in_input: dict[str, int] = dataclasses.field(default_factory=dict)  # by field, where inputs are known
    spec_place: SpecPlace | None = None  # None: stored before it was told
    redecoded_of: str = ""  # the run whose raw outputs were decoded again
    arms: tuple[ArmSummary, ...] = ()
    locked: Locked | None = None  # the lock that the run was held against, None where it was not
    schema: int = SCHEMA

    @property
    def environment_key(self) -> tuple[str, str, str, int]:
        """What the base environment of two runs is compared by."""
        base = self.environment
        return base.clock, base.zone, base.locale, base.hash_seed

    def column(self, field_name: str, consumer: str, arm: str | None = None) -> Column:
        """Give the column of a field, a consumer and, in a run of arms, an arm; KeyError names the columns there are.

        It is the one of all cases, not of a split.
        """
        for column in self.columns:
            if (column.field, column.consumer, column.arm) == (field_name, consumer, arm):
                return column
        known = ", ".join(dict.fromkeys("/".join(_place(column)) for column in self.columns))
        raise KeyError(f"no column {'/'.join(filter(None, (field_name, consumer, arm)))}; there are: {known}")


def _place(column: Column) -> tuple[str, ...]:
    return (column.field, column.consumer, *(() if column.arm is None else (column.arm,)))
