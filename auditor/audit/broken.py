"""Broken references: every case whose reference its decoder does not turn into a value, with the decoder's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.model.run import BrokenReference
from auditor.model.verdicts import STATUS_OF
from auditor.score.verdict_table import TYPED
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
    found: list[BrokenReference] = []
    for name, field in spec.fields.items():
        decoders = readers[name] if field.reference == "each" else (field.reference,)
        for decoder in decoders:
            faults = _faults(connection, name, decoder, index)
            if faults:
                cases = cases_of(name, sorted({raw for raw, _ in faults}))
                found += _listed(name, decoder, faults, cases)
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


def _faults(connection: DuckDBPyConnection, field: str, decoder: str, index: Mapping[str, int]) -> _Faults:
    """Give status and error of each raw reference of the field, with its payload, that the decoder did not read."""
    number = TYPED if decoder == "typed" else str(index[decoder])
    consumer = -1 if decoder == "typed" else index[decoder]
    rows = connection.execute(
        f"SELECT o.token, o.payload, o.s{number}, f.error FROM outcomes o "
        "LEFT JOIN faults f ON f.unit = o.unit AND f.consumer = $consumer "
        f"WHERE o.field = $field AND o.role_reference AND o.k{number} IS NULL",
        {"field": field, "consumer": consumer},
    ).fetchall()
    return {
        (token, payload): (STATUS_OF[letter or "n"], error or "the parser returned no value (None, NaN or SQL NULL)")
        for token, payload, letter, error in rows
    }
