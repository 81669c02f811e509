"""A bug in a few lines of plain text, as a failing test says it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.model.figures import plural
from auditor.model.run import Finding, Run
from auditor.report.broken import BrokenGroup
from auditor.report.text import PROSE_LIMIT, visible
from auditor.report.witnesses import witness_views

WITNESSES = 3

#: Ids that are listed.
IDS = 30


def told(run: Run, finding: Finding) -> Iterator[str]:
    """Give the lines: what it is, whose, where, on which strings, and the choices for a fix."""
    yield visible(finding.detail, PROSE_LIMIT)
    yield f"owner: {visible(', '.join(finding.owners))}; {plural(finding.affected, 'case')} affected"
    if finding.location is not None:
        yield f"at {visible(finding.location.place)}"
    for witness in witness_views(run, finding)[:WITNESSES]:
        yield f"witness {visible(witness.raw)}"
    yield from (f"fix: {visible(fix, PROSE_LIMIT)}" for fix in finding.fixes)


def told_broken(group: BrokenGroup) -> tuple[str, str]:
    """Say which reference is not read, by whom and why; and of which cases it is."""
    first = group.first
    said = f"{first.decoder} does not read the reference {first.raw}: {first.status} {first.error}"
    return visible(said, PROSE_LIMIT), f"{group.count}: {visible(group.ids(IDS), PROSE_LIMIT)}"
