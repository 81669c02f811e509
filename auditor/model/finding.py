"""A bug of the pipeline, with what shows it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from auditor.model.decoding import Decoding

Severity = Literal["high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")


@dataclass(frozen=True)
class Witness:
    """One raw value that shows the bug: the shortest there is; `case_id` points at an example.

    >>> Witness('"N/A"', {"billing": Decoding("rejected", error="ValueError: no date")}).decodings["billing"].status
    'rejected'
    """

    raw: str  # the raw value as JSON text: "2024-03-01" in quotes, 3.0, true
    decodings: dict[str, Decoding]
    case_id: str | None = None
    role: str = "prediction"  # prediction, reference or probe
    rows: int = 0
    note: str = ""


@dataclass(frozen=True)
class Location:
    """Where the bug is in the pipeline's own sources; line 0 of a compiled library, which has none.

    >>> Location("ingest.py", 4).place, Location("_duckdb.so", 0).place
    ('ingest.py:4', '_duckdb.so')
    """

    file: str
    line: int

    @property
    def place(self) -> str:
        """Give file and line as an editor takes them."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Finding:
    """A bug of the pipeline. `affected` counts cases in support, and `share` is their part of the field's support.

    Where all cases lie outside support (a broken reference has none), `affected` counts those and `share` is None.

    >>> finding = Finding(
    ...     code="value-disagreement", severity="high", field="total", consumers=("billing", "warehouse"),
    ...     owners=("billing", "data"), title="1,5 is read as 15 and as 1.5", detail="", cause="", fixes=(),
    ...     affected=3, share=0.01, fingerprint="5d41402abc4b2a76")
    >>> finding.anchor
    'value-disagreement-5d41402a'
    """

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
    shapes: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)  # {"rejected": {"dddd": 12}}
    location: Location | None = None
    affected_by_arm: dict[str, int] = dataclasses.field(default_factory=dict)  # where there are arms, and it is known

    @property
    def anchor(self) -> str:
        """A stable fragment for links: the code and the start of the fingerprint."""
        return f"{self.code}-{self.fingerprint[:8]}"
