"""A finding before its cases are counted and its witnesses are chosen."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from auditor.model.run import Location, Severity, Witness

Role = Literal["prediction", "reference", "either"]


def fingerprint(code: str, field_name: str, consumers: Sequence[str], cause: str = "") -> str:
    """Name a finding by what it is, never by how much of it there is; the order of consumers does not count."""
    named = json.dumps([code, field_name, sorted(consumers), cause], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True)
class Draft:
    """What a finding says, and which strings and cases it is about.

    The strings are those of the groups of the census that satisfy the SQL condition `groups`; they count where a case
    has one in the given `role` and satisfies the SQL condition `cases` on its row of `judged`. A finding about other
    strings names up to a few of them in `units`, shortest first, and brings its own number of `affected` cases. With
    `groups`, `cases` is about the pattern alone, and `units` are the witnesses.
    """

    code: str
    severity: Severity
    field: str
    consumers: tuple[str, ...]
    title: str
    detail: str
    cause: str
    fixes: tuple[str, ...]
    fingerprint: str
    groups: str | None = None
    role: Role = "either"
    cases: str = "true"
    units: tuple[int, ...] = ()
    affected: int = 0
    affected_outside: int = 0  # of `affected`, the cases outside support
    strings: int | None = None
    witnesses: tuple[Witness, ...] = ()  # of probes, shown after those of the data
    shapes: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    shapes_as: str = ""  # list the shapes of the strings under this name
    listed: Literal["shape", "form"] = "shape"  # or their JSON types
    location: Location | None = None
    by_prediction: bool = False  # references are counted beside the cases, and affect none: no consumer is sent them
    notes: dict[int, str] = dataclasses.field(default_factory=dict)  # of a unit as a witness
