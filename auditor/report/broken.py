"""Broken references as people mend them: those with one raw value, one decoder and one error are one entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.model.figures import plural
from auditor.model.run import BrokenReference


@dataclass(frozen=True)
class BrokenGroup:
    """The cases of one broken raw value; `first` says what is wrong with it."""

    first: BrokenReference
    cases: tuple[str, ...]

    @property
    def count(self) -> str:
        """Say how many cases have it: ``30 cases``."""
        return plural(len(self.cases), "case")

    def ids(self, most: int) -> str:
        """List the ids, at most so many, and how many more there are."""
        more = f" and {len(self.cases) - most:,} more" if len(self.cases) > most else ""
        return ", ".join(self.cases[:most]) + more


def broken_groups(broken: Iterable[BrokenReference]) -> tuple[BrokenGroup, ...]:
    """Put equal ones together, each where the first of them is; those of most cases come first within a field."""
    found: dict[tuple[str, str, str, str, str], list[BrokenReference]] = {}
    for item in broken:
        found.setdefault((item.field, item.decoder, item.raw, item.status, item.error), []).append(item)
    groups = [BrokenGroup(items[0], tuple(item.case_id for item in items)) for items in found.values()]
    places = {(group.first.field, group.first.decoder): place for place, group in reversed(list(enumerate(groups)))}
    return tuple(sorted(groups, key=lambda one: (places[one.first.field, one.first.decoder], -len(one.cases))))
