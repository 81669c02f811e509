"""Broken references: every case whose reference its decoder does not turn into a value, with the decoder's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.model.run import BrokenReference
from auditor.model.verdicts import NOT_RECORDED, STATUS_LETTER, STATUS_OF
from auditor.score.verdict_table import number_of
from auditor.spec.models import AuditSpec

#: Gives the cases of a field whose reference is one of these raw values, in file order: case id, raw value, and the
#: payload that it came in where that is known.
CasesOf = Callable[[str, Sequence[str]], Sequence[tuple[str, str, str | None]]]

_Faults = dict[tuple[str, str | None], tuple[str, str]]


def broken_references(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    cases_of: CasesOf,
) -> tuple[BrokenReference, ...]:
    """List all broken references, field by field, in the order of the reference file."""
    decoders = {
        name: tuple(dict.fromkeys(field.decoder_for(consumer) for consumer in readers[name]))
        for name, field in spec.fields.items()
    }
    faults = {
        decoder: _faults(connection, decoder, index, [name for name in decoders if decoder in decoders[name]])
        for decoder in {decoder for names in decoders.values() for decoder in names}
    }
    found: list[BrokenReference] = []
    for name in spec.fields:
        for decoder in decoders[name]:
            reasons = faults[decoder].get(name, {})
            if reasons:
                cases = cases_of(name, sorted({raw for raw, _ in reasons}))
                found += _listed(name, decoder, reasons, cases)
    return tuple(found)


def _listed(
    field: str, decoder: str, faults: _Faults, cases: Sequence[tuple[str, str, str | None]]
) -> Iterator[BrokenReference]:
    """Give the cases with a fault; where their payload is not known, of the raw value in any payload."""
    by_raw = {raw: fault for (raw, _), fault in faults.items()}
    has_payloads = any(payload is not None for _, payload in faults)
    for case, raw, payload in cases:
        fault = faults.get((raw, payload)) if has_payloads and payload is not None else by_raw[raw]
        if fault is not None:
            yield BrokenReference(case, field, raw, decoder, *fault)


def _faults(
    connection: DuckDBPyConnection, decoder: str, index: Mapping[str, int], fields: Sequence[str]
) -> dict[str, _Faults]:
    """Give, for each of some fields, status and error of each raw reference, with its payload, that was not read."""
    number = number_of(decoder, index)
    consumer = -1 if decoder == "typed" else index[decoder]
    faults: dict[str, _Faults] = {}
    for name, token, payload, letter, error in connection.execute(
        f"SELECT o.field, o.token, o.payload, o.s{number}, f.error FROM outcomes o "
        "LEFT JOIN faults f ON f.unit = o.unit AND f.consumer = $consumer "
        f"WHERE list_contains($fields, o.field) AND o.role_reference AND o.k{number} IS NULL "
        f"AND o.s{number} IS DISTINCT FROM '{STATUS_LETTER[NOT_RECORDED]}'",
        {"fields": fields, "consumer": consumer},
    ).fetchall():
        reason = error or "the parser returned no value (None, NaN or SQL NULL)"
        faults.setdefault(name, {})[token, payload] = STATUS_OF[letter or "n"], reason
    return faults
