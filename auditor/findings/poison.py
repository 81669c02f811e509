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
    fixes: tuple[str, ...]


_FIXES = (
    "Make the parser refuse such strings with an error.",
    "Bound the length of what is handed to the parser.",
    "Run the parser where one string cannot take the rest down with it.",
)

_SERVICE_FIXES = (
    "Make the service refuse such strings with a status of `rejected` and a message.",
    "Look at its log for the strings shown; where it means a rejection by that answer, say so in the spec.",
)

_KINDS = (
    _Kind(
        "c",
        "consumer-crashed",
        "dies on",
        "The parser ends its process on some strings: by sys.exit, a fault in native code, or memory without end.",
        _FIXES,
    ),
    _Kind(
        "t",
        "consumer-timed-out",
        "does not finish with",
        "The parser needs unbounded time for some strings: a pattern that backtracks, a wait, an endless loop.",
        _FIXES,
    ),
)

#: The same of a service, by status: what ends there is a request, not a process.
_OF_SERVICES = {
    "c": _Kind(
        "c",
        "consumer-crashed",
        "fails on",
        "The service gives no whole answer, an error of its own (5xx), or one that is neither a value nor a rejection.",
        _SERVICE_FIXES,
    ),
    "t": _Kind(
        "t",
        "consumer-timed-out",
        "gives no answer in time to",
        "The service needs longer than `timeout` for some strings, while it answers others.",
        _SERVICE_FIXES,
    ),
}


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
            is_service = census.context.spec.consumers[consumer].adapter == "http"
            yield _draft(census, field, consumer, _OF_SERVICES[kind.status] if is_service else kind)


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
        fixes=kind.fixes,
        fingerprint=fingerprint(kind.code, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND {status_of(census.context.index[consumer])} = {sql.text(kind.status)}",
        witnesses=tuple(
            probe_witness([probe])
            for probe in census.context.probes
            if (probe.field, probe.consumer, probe.status) == (field, consumer, kind.status)
        ),
        shapes_as="poison",
    )
