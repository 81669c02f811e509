"""A consumer died on a string, or gave no answer in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import Census, status_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.witnesses import probe_witness


@dataclass(frozen=True)
class _Kind:
    status: str
    code: str
    does: str
    cause: str


_KINDS = (
    _Kind(
        "c",
        "consumer-crashed",
        "dies on",
        "The parser ends its process on some strings: by sys.exit, a fault in native code, or memory without end.",
    ),
    _Kind(
        "t",
        "consumer-timed-out",
        "does not finish with",
        "The parser needs unbounded time for some strings: a pattern that backtracks, a wait, an endless loop.",
    ),
)

_FIXES = (
    "Make the parser refuse such strings with an error.",
    "Bound the length of what is handed to the parser.",
    "Run the parser where one string cannot take the rest down with it.",
)


def find_poison(census: Census) -> Iterator[Draft]:
    """Give one draft per column whose consumer crashed, and one whose consumer timed out."""
    index = census.context.index
    seen = census.query("SELECT DISTINCT field, statuses FROM f_groups WHERE regexp_matches(statuses, '[ct]')")
    for kind in _KINDS:
        of_data = {
            (field, consumer)
            for field, statuses in seen
            for consumer in census.readers(field)
            if statuses[index[consumer]] == kind.status
        }
        of_probes = {(probe.field, probe.consumer) for probe in census.context.probes if probe.status == kind.status}
        for field, consumer in sorted(of_data | of_probes):
            yield _draft(census, field, consumer, kind)


def _draft(census: Census, field: str, consumer: str, kind: _Kind) -> Draft:
    title = f"{consumer} {kind.does} some strings of {field}"
    detail = f"{consumer} {kind.does} the strings shown, each alone; every other string was decoded."
    if census.context.spec.consumers[consumer].batch:
        title = f"{consumer} {kind.does} a batch of {field}"
        detail = f"{consumer} {kind.does} a batch that has these strings, which costs production all of its rows."
    return Draft(
        code=kind.code,
        severity="high",
        field=field,
        consumers=(consumer,),
        title=title,
        detail=detail,
        cause=kind.cause,
        fixes=_FIXES,
        fingerprint=fingerprint(kind.code, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND {status_of(census.context.index[consumer])} = {sql.text(kind.status)}",
        witnesses=tuple(
            probe_witness([probe])
            for probe in census.context.probes
            if (probe.field, probe.consumer, probe.status) == (field, consumer, kind.status)
        ),
        shapes_as="poison",
    )
