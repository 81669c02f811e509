"""Bugs as people read them: one cause that shows between many consumers on the same strings is one entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.model.figures import plural
from auditor.model.run import Finding
from auditor.report.movement import CODES
from auditor.report.view import severity_counts, worst_first


@dataclass(frozen=True)
class Group:
    """Findings that differ in their consumers alone; `lead` is the one that is shown whole."""

    lead: Finding
    others: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, in their order."""
        return (self.lead, *self.others)

    @property
    def owners(self) -> tuple[str, ...]:
        """Every owner once."""
        return tuple(dict.fromkeys(owner for finding in self.findings for owner in finding.owners))

    @property
    def who(self) -> str:
        """Say between whom: ``billing, ledger``, or ``3 pairs of consumers``."""
        if not self.others:
            return ", ".join(self.lead.consumers)
        if all(len(finding.consumers) == 2 for finding in self.findings):
            return f"{len(self.findings):,} pairs of consumers"
        return plural(
            len(self.findings), "consumer" if len(self.lead.consumers) == 1 else "set of consumers", self._many
        )

    @property
    def _many(self) -> str:
        return "consumers" if len(self.lead.consumers) == 1 else "sets of consumers"

    @property
    def title(self) -> str:
        """Give the title of the first, and how many more there are."""
        return f"{self.lead.title} (and {len(self.others):,} more alike)" if self.others else self.lead.title

    @property
    def listed(self) -> tuple[str, ...]:
        """List the consumers of each with its fingerprint, where there are several."""
        if not self.others:
            return ()
        return tuple(f"{', '.join(finding.consumers)} #{finding.fingerprint[:8]}" for finding in self.findings)


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Put together, worst first, the findings of one code, field and cause on the same strings of as many cases.

    What a consumer reads in other environments or in other company is its own: those findings stay apart.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in worst_first(findings):
        groups.setdefault(_key(finding), []).append(finding)
    return tuple(Group(first, tuple(others)) for first, *others in groups.values())


def entries_line(groups: Iterable[Group]) -> str:
    """Count bugs by severity, and the entries that list them where those are fewer: ``61 high (59 entries: …)``."""
    listed = tuple(groups)
    parts, is_said = [], False
    for severity, count in severity_counts(one for group in listed for one in group.findings).items():
        entries = sum(group.lead.severity == severity for group in listed)
        what = f"{entries:,} entries" if entries > 1 else "1 entry"
        said = f" ({what}{'' if is_said else ': alike ones are listed together'})" if entries < count else ""
        parts.append(f"{count:,} {severity}{said}")
        is_said = is_said or bool(said)
    return ", ".join(parts)


def _key(finding: Finding) -> tuple[object, ...]:
    # The shortest strings, the shapes and the number of cases together tell the affected strings.
    strings = tuple((witness.raw, witness.role, witness.rows) for witness in finding.witnesses)
    shapes = tuple((kind, *sorted(counts.items())) for kind, counts in sorted(finding.shapes.items()))
    is_shared = strings and finding.consumers and finding.code not in CODES
    who = () if is_shared else (finding.fingerprint,)
    where = (finding.field, finding.location)
    return (finding.code, finding.severity, where, finding.cause, finding.affected, shapes, strings, *who)
