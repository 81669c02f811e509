"""All findings of a run, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from auditor.findings.acceptance_disagreement import find_acceptance_disagreements
from auditor.findings.ambiguous_dates import find_ambiguous_dates
from auditor.findings.broken_reference import find_broken_references
from auditor.findings.census import Census, census_of
from auditor.findings.common_shape import find_common_shape
from auditor.findings.complete import complete
from auditor.findings.context import Context
from auditor.findings.dependence import find_dependences
from auditor.findings.draft import Draft
from auditor.findings.format_ceiling import find_format_ceilings
from auditor.findings.lax_coercion import find_lax_coercions
from auditor.findings.neighbour_dependent import find_neighbour_dependence
from auditor.findings.poison import find_poison
from auditor.findings.sentinel import find_sentinels
from auditor.findings.siblings import find_sibling_losses
from auditor.findings.value_disagreement import find_value_disagreements
from auditor.findings.version_drift import find_version_drift
from auditor.model.run import SEVERITIES, Finding

FINDERS: tuple[Callable[[Census], Iterator[Draft]], ...] = (
    find_broken_references,
    find_value_disagreements,
    find_version_drift,
    find_dependences,
    find_poison,
    find_sentinels,
    find_neighbour_dependence,
    find_format_ceilings,
    find_sibling_losses,
    find_acceptance_disagreements,
    find_common_shape,
    find_lax_coercions,
    find_ambiguous_dates,
)

#: Findings that make the rate of a column meaningless.
UNTRUSTED_CODES = ("constant-output", "sentinel-collapse", "unstable")


def find(context: Context) -> tuple[Finding, ...]:
    """Give all findings: by severity, then by affected cases, then by name."""
    if not context.index:  # nobody who decides anything
        return ()
    with census_of(context) as census:
        drafts = [draft for finder in FINDERS for draft in finder(census)]
        findings = complete(census, drafts)
    return tuple(sorted(findings, key=_rank))


def untrusted_by(findings: Sequence[Finding]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Give, for each (field, consumer) whose rate means nothing, the codes that say so."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for code in UNTRUSTED_CODES:
        for finding in findings:
            for consumer in finding.consumers if finding.code == code else ():
                place = finding.field, consumer
                found[place] = tuple(dict.fromkeys((*found.get(place, ()), code)))
    return found


def _rank(finding: Finding) -> tuple[int, int, str, str, tuple[str, ...], str]:
    worst_first = SEVERITIES.index(finding.severity)
    return worst_first, -finding.affected, finding.code, finding.field, finding.consumers, finding.fingerprint
