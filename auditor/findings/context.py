"""What findings are made from: the outcome tables of a run, its spec, its columns and its probe outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from auditor.findings.probes import ProbeOutcome
from auditor.model.dependence import Place, Probed
from auditor.model.neighbours import NeighbourProbe
from auditor.model.run import Column
from auditor.spec.models import AuditSpec


@dataclass(frozen=True)
class Context:
    """The outcome tables behind `connection`, and how to read them.

    `readers` gives the consumers of each field in the order of the letters in `judged.pattern`; `index` gives the
    number i of each consumer in the columns `s{i}`, `v{i}` and `k{i}`; `case_ids` turns first rows into case ids and
    costs a scan, so it is called once. `probed` is what moved in other environments, and `units_of_movers` gives the
    rows of ``outcomes`` of (consumer, place).
    """

    connection: duckdb.DuckDBPyConnection
    spec: AuditSpec
    readers: dict[str, tuple[str, ...]]
    index: dict[str, int]
    columns: Sequence[Column]
    probes: tuple[ProbeOutcome, ...]
    case_ids: Callable[[Sequence[int]], dict[int, str]]
    probed: tuple[Probed, ...] = ()
    units_of_movers: Mapping[tuple[str, Place], Sequence[int]] = field(default_factory=dict)
    neighbours: tuple[NeighbourProbe, ...] = ()
    pooled: Sequence[Column] = ()  # the columns over all arms, where there are any: counts only, no rate is shown
    made_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # the parts of each consumer, in words

    def column(self, field: str, consumer: str) -> Column:
        """Give the column of a field and a consumer, over all arms: a parser is asked whoever wrote the string."""
        found = self.pooled or self.columns
        return next(one for one in found if (one.field, one.consumer) == (field, consumer))

    def arm_columns(self, field: str, consumer: str) -> list[Column]:
        """Give the columns of a field and a consumer: one of each arm, or the one there is."""
        return [one for one in self.columns if (one.field, one.consumer) == (field, consumer)]

    def owners(self, consumers: Sequence[str]) -> tuple[str, ...]:
        """Give the owner of each consumer, or its name where the spec names none; each once, in order."""
        known = self.spec.consumers
        names = (known[name].owner or name for name in consumers if name in known)
        return tuple(dict.fromkeys(names))

    def position(self, field: str, consumer: str) -> int:
        """Give the place of a consumer among the readers of a field, from 0."""
        return self.readers[field].index(consumer)
