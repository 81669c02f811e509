"""Money whose currency is given on one side only is never the same value: the spec must say whether it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from auditor.errors import Mistake, SpecError
from auditor.score.verdict_table import number_of
from auditor.spec.models import AuditSpec, FieldSpec

_WRITE = "write the currency in every reference (1234.50 EUR)"
_IGNORE = 'set currency = "ignored", if the amount alone counts'


@dataclass(frozen=True)
class _Values:
    """The distinct strings that somebody reads as money, with a currency and without."""

    reader: str
    with_currency: int
    without: int

    @property
    def always(self) -> bool:
        return self.with_currency > 0 and not self.without

    @property
    def never(self) -> bool:
        return self.without > 0 and not self.with_currency

    @property
    def mixed(self) -> bool:
        return self.with_currency > 0 and self.without > 0

    def says(self, noun: str) -> str:
        """Say what there is: ``billing: amount and currency``."""
        if self.mixed:
            every = self.with_currency + self.without
            return f"{self.reader}: no currency in {self.without:,} of {every:,} distinct {noun}"
        return f"{self.reader}: {'amount and currency' if self.always else 'an amount alone'}"


def check_currencies(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> tuple[str, ...]:
    """Raise SpecError where 12.50 and 12.50 EUR may be one value or not, or where no answer can be right.

    Gives notes on what the spec compares on purpose although one side has no currency.
    """
    mistakes, notes = [], []
    for name, field in spec.fields.items():
        if field.type != "money" or field.currency == "ignored":
            continue
        given = [_values(connection, name, consumer, index) for consumer in readers[name]]
        truth = _truth(connection, field, index)
        said = _conflict(given, truth)
        if not said:
            continue
        is_hopeless = truth is not None and truth.never and any(one.always for one in given)
        if field.currency is None or is_hopeless:
            hint = f"{_WRITE}, or {_IGNORE}" if is_hopeless else _choice(truth)
            mistakes.append(Mistake(f"{spec.file}: fields.{name}.currency", said, hint))
        else:
            notes.append(
                f"{name}: the currency is compared, and not everybody has one: {said}. An amount without a currency"
                f" equals none with one. To have them equal, {_IGNORE}"
            )
    if mistakes:
        raise SpecError(mistakes)
    return tuple(notes)


def _choice(truth: _Values | None) -> str:
    if truth is not None and truth.mixed:
        return f'{_WRITE}, or {_IGNORE}, or currency = "compared": those without one are then never right'
    return f'say which counts: currency = "compared" (an amount alone is then never right), or {_IGNORE}'


def _conflict(given: Sequence[_Values], truth: _Values | None) -> str:
    """Say who has a currency and who has none, where the two can never be equal; else nothing."""
    always, never = [one for one in given if one.always], [one for one in given if one.never]
    if truth is not None:
        always += [truth] if truth.always else []
        never += [truth] if truth.never else []
        if truth.mixed and [one for one in given if one.always]:
            return "; ".join([truth.says("references"), *(one.says("predictions") for one in given if one.always)])
        if truth.never and not always and (mixed := [one for one in given if one.mixed]):
            return "; ".join([truth.says("references"), *(one.says("predictions") for one in mixed)])
    if not (always and never):
        return ""
    return "; ".join(
        f"{', '.join(one.reader for one in some)}: {what}"
        for some, what in ((always, "amount and currency"), (never, "an amount alone"))
    )


def _truth(connection: DuckDBPyConnection, field: FieldSpec, index: Mapping[str, int]) -> _Values | None:
    """Give what the reader of the references makes of them; None where every consumer reads them its own way."""
    if field.reference == "each":
        return None
    number = number_of(field.reference, index)
    reader = "the typed reference" if field.reference == "typed" else f"{field.reference}, of a reference"
    return _count(connection, field.name, number, "role_reference", reader)


def _values(connection: DuckDBPyConnection, field: str, consumer: str, index: Mapping[str, int]) -> _Values:
    return _count(connection, field, str(index[consumer]), "role_prediction", consumer)


def _count(connection: DuckDBPyConnection, field: str, number: str, role: str, reader: str) -> _Values:
    ((with_currency, without),) = connection.execute(
        f"SELECT count(DISTINCT token) FILTER (starts_with(v{number}, 'money:')),"
        f" count(DISTINCT token) FILTER (NOT starts_with(v{number}, 'money:'))"
        f" FROM outcomes WHERE field = $field AND s{number} = 'v' AND {role}",
        {"field": field},
    ).fetchall()
    return _Values(reader, int(with_currency), int(without))
