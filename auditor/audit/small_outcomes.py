"""The outcome table of a small data set: all fields at once, judged here, since asking DuckDB would take longer.

It holds what `outcomes` makes field by field in SQL; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from auditor.audit.answers import Answers
from auditor.audit.outcomes import TYPED_NUMBER
from auditor.audit.transfer import Cells, shown
from auditor.audit.units import FieldUnits
from auditor.judge.keys import grain_key, unexpected_type
from auditor.judge.shapes import Shapes
from auditor.judge.typed import read_typed
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec, FieldSpec

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Up to so many distinct raw values a data set is small: each costs a few microseconds here and none there.
SMALL = 10_000

_KINDS: dict[str, type[str] | type[int] | type[bool]] = {
    "unit": int,
    "field": str,
    "token": str,
    "payload": str,
    "role_prediction": bool,
    "role_reference": bool,
    "shape": str,
    "json_type": str,
}


class _Reading(NamedTuple):
    """What one reader made of a field's raw values: letter and tagged text, both None where it was not asked."""

    letters: list[str | None]
    texts: list[str | None]
    errors: dict[int, str]


def create_small_outcomes(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    units: Mapping[str, FieldUnits],
    answers: Mapping[tuple[str, str], Answers],
    index: Mapping[str, int],
) -> None:
    """Create the table ``outcomes``, and add the non-values to ``faults``."""
    names = [*(str(number) for number in index.values()), TYPED]
    columns = {name: Cells(kind) for name, kind in _KINDS.items()}
    columns |= {f"{letter}{name}": Cells(str) for name in names for letter in "svk"}
    faults = {"unit": Cells(int), "consumer": Cells(int), "error": Cells(str)}
    for name, one in units.items():
        field = spec.fields[name]
        for column, values in _fixed(field, one):
            columns[column].extend(values)
        readings = _readings(field, one, answers, index)
        numbers = one.columns["unit"].values()
        for reader in names:
            reading = readings.get(reader) or _Reading([None] * len(one), [None] * len(one), {})
            columns[f"k{reader}"].extend(_judged(field, reading))
            columns[f"s{reader}"].extend(reading.letters)
            columns[f"v{reader}"].extend(reading.texts)
            faults["unit"].extend(numbers[row] for row in reading.errors)
            faults["consumer"].extend([TYPED_NUMBER if reader == TYPED else int(reader)] * len(reading.errors))
            faults["error"].extend(reading.errors.values())
    with shown(connection, "raw_outcomes", columns), shown(connection, "raw_faults", faults):
        connection.execute("CREATE OR REPLACE TABLE outcomes AS SELECT * FROM raw_outcomes")
        connection.execute("INSERT INTO faults SELECT * FROM raw_faults")


def _fixed(field: FieldSpec, units: FieldUnits) -> Iterator[tuple[str, list[object]]]:
    """Give the columns that no reader has a part in."""
    yield "field", [field.name] * len(units)
    for name, cells in units.columns.items():
        yield name, cells.values()
    tokens = units.columns["token"].values()
    shapes = Shapes(field, [tokens]).of(tokens)
    yield "shape", [shape for shape, _ in shapes]
    yield "json_type", [kind for _, kind in shapes]


def _readings(
    field: FieldSpec, units: FieldUnits, answers: Mapping[tuple[str, str], Answers], index: Mapping[str, int]
) -> dict[str, _Reading]:
    """Give what each reader of a field made of it, by the reader's name in columns."""
    found = {
        str(index[consumer]): _Reading(
            answer.letters.values(),
            answer.texts.values(),
            {row: fault.error for row, fault in answer.faults.items()},
        )
        for (name, consumer), answer in answers.items()
        if name == field.name
    }
    if field.reference == "typed":
        found[TYPED] = _typed(field, units)
    return found


def _typed(field: FieldSpec, units: FieldUnits) -> _Reading:
    """Give what the typed reader makes of the references."""
    reading = _Reading([None] * len(units), [None] * len(units), {})
    rows = zip(units.columns["token"].values(), units.columns["role_reference"].values(), strict=True)
    for row, (token, is_reference) in enumerate(rows):
        if is_reference:
            reading.texts[row], error = read_typed(field, token)
            reading.letters[row] = "v" if error is None else "r"
            if error is not None:
                reading.errors[row] = error
    return reading


def _judged(field: FieldSpec, reading: _Reading) -> list[str | None]:
    """Give the keys of a reading; what the field's type cannot hold is rejected there, never a value."""
    known = {text: grain_key(field, text) for text in set(reading.texts) if text is not None}
    keys: list[str | None] = []
    for row, text in enumerate(reading.texts):
        key = None if text is None else known[text]
        if text is not None and key is None:
            reading.letters[row], reading.texts[row] = "r", None
            reading.errors[row] = unexpected_type(field, text)
        keys.append(key)
    return keys
