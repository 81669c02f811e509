"""A finished run: the frozen objects that commands print, reports render and `run.json` holds.

The JSON names are public (schema 1): keys may be added, never renamed or removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from auditor.model.decoding import Decoding

Severity = Literal["high", "medium", "low", "info"]

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")

SCHEMA = 1


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a rate."""

    low: float
    high: float


@dataclass(frozen=True)
class Column:
    """One (field, consumer): counts of cases, and rates that are None where they are undefined or withheld."""

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
    `alike` is true when every consumer of the field reads every string of this shape, and reads it alike.
    """

    shape: str
    example: str
    rows: int
    strings: int
    accepted: dict[str, int]
    ok: dict[str, int]
    alike: bool


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
    """What holds for a field whichever consumer reads it."""

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


@dataclass(frozen=True)
class Witness:
    """One raw value that shows the bug: the shortest there is; `case_id` and `row` point at an example."""

    raw: str  # the raw value as JSON text: "2024-03-01" in quotes, 3.0, true
    decodings: dict[str, Decoding]
    case_id: str | None = None
    role: str = "prediction"  # prediction, reference or probe
    rows: int = 0
    note: str = ""


@dataclass(frozen=True)
class Location:
    """Where the bug is in the pipeline's own sources."""

    file: str
    line: int


@dataclass(frozen=True)
class Finding:
    """A bug of the pipeline. `affected` counts cases and `share` is their part of the field's support."""

    code: str
    severity: Severity
    field: str
    consumers: tuple[str, ...]
    owners: tuple[str, ...]
    title: str
    detail: str
    cause: str
    fixes: tuple[str, ...]
    affected: int
    share: float | None
    fingerprint: str
    witnesses: tuple[Witness, ...] = ()
    shapes: dict[str, dict[str, int]] = field(default_factory=dict)  # e.g. {"rejected": {"Mmmmm d, dddd": 12}}
    location: Location | None = None

    @property
    def anchor(self) -> str:
        """A stable fragment for links: the code and the start of the fingerprint."""
        return f"{self.code}-{self.fingerprint[:8]}"


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


@dataclass(frozen=True)
class CaseCounts:
    """Cases by outcome; `expected` is the number of ids with a reference row."""

    expected: int
    judged: int
    missing: int
    unrelated: int
    transport: int = 0
    truncated: int = 0
    refused: int = 0
    malformed: int = 0
    unknown: int = 0


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
    """One audit, bound to the manifest of its cases and to every consumer's version."""

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
    sources: tuple[dict[str, str], ...] = ()  # path, sha256, role of each input file
    notes: tuple[str, ...] = ()
    schema: int = SCHEMA

    def column(self, field_name: str, consumer: str) -> Column:
        """Give the column of a field and a consumer; KeyError names the columns there are."""
        for column in self.columns:
            if (column.field, column.consumer) == (field_name, consumer):
                return column
        known = ", ".join(f"{column.field}/{column.consumer}" for column in self.columns)
        raise KeyError(f"no column {field_name}/{consumer}; there are: {known}")
