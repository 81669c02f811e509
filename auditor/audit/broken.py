"""Broken references: every case whose reference its decoder does not turn into a value, with the decoder's error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.model.run import BrokenReference
from auditor.model.verdicts import STATUS_OF
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec

#: Gives the cases of a field whose reference is one of these raw values: (case id, raw value), in file order.
CasesOf = Callable[[str, Sequence[str]], Sequence[tuple[str, str]]]


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
                cases = cases_of(name, sorted(faults))
                found += [BrokenReference(case, name, raw, decoder, *faults[raw]) for case, raw in cases]
    return tuple(found)


def _faults(
    connection: DuckDBPyConnection, field: str, decoder: str, index: Mapping[str, int]
) -> dict[str, tuple[str, str]]:
    """Give status and error of each raw reference of the field that the decoder did not read."""
    number = TYPED if decoder == "typed" else str(index[decoder])
    consumer = -1 if decoder == "typed" else index[decoder]
    rows = connection.execute(
        f"SELECT o.token, o.s{number}, f.error FROM outcomes o "
        "LEFT JOIN faults f ON f.unit = o.unit AND f.consumer = $consumer "
        f"WHERE o.field = $field AND o.role_reference AND o.k{number} IS NULL",
        {"field": field, "consumer": consumer},
    ).fetchall()
    return {
        token: (STATUS_OF[letter or "n"], error or "the parser returned no value (None, NaN or SQL NULL)")
        for token, letter, error in rows
    }
