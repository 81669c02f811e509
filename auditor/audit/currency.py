"""A money field whose consumers differ in giving a currency must say whether it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.errors import Mistake, SpecError
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec


def check_currencies(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> None:
    """Raise SpecError for each money field that leaves open whether 12.50 and 12.50 EUR are the same value."""
    mistakes = []
    for name, field in spec.fields.items():
        if field.type != "money" or field.currency is not None:
            continue
        numbers = {consumer: str(index[consumer]) for consumer in readers[name]}
        if field.reference == "typed":
            numbers["the typed reference"] = TYPED
        gives = {consumer: _gives_currency(connection, name, number) for consumer, number in numbers.items()}
        with_currency = [consumer for consumer, kind in gives.items() if kind is True]
        without = [consumer for consumer, kind in gives.items() if kind is False]
        if with_currency and without:
            mistakes.append(
                Mistake(
                    f"{spec.file}: fields.{name}.currency",
                    f"{', '.join(with_currency)}: amount and currency; {', '.join(without)}: an amount alone",
                    'say which counts: currency = "compared" or currency = "ignored"',
                )
            )
    if mistakes:
        raise SpecError(mistakes)


def _gives_currency(connection: DuckDBPyConnection, field: str, number: str) -> bool | None:
    """Say whether the consumer's values carry a currency: always, never, or (None) both or none at all."""
    rows = connection.execute(
        f"SELECT DISTINCT starts_with(v{number}, 'money:') FROM outcomes WHERE field = $field AND s{number} = 'v'",
        {"field": field},
    ).fetchall()
    return rows[0][0] if len(rows) == 1 else None
