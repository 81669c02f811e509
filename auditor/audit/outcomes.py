"""The wide outcome table: a row per distinct raw value, and for each consumer its status, value and grain key.

Each field has a table of its own, with columns for the consumers that read it; the view ``outcomes`` shows them as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
from duckdb import DuckDBPyConnection

from auditor.audit.consumers import Answers
from auditor.audit.units import FieldUnits
from auditor.judge.keys import fast_key_sql, grain_key, unexpected_type
from auditor.judge.shapes import Shapes
from auditor.judge.typed import fast_typed_sql, read_typed
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec, FieldSpec

_FIXED = ("unit", "field", "token", "payload", "role_prediction", "role_reference", "shape", "json_type")

#: Number of the typed reader in the column ``consumer`` of ``faults``.
TYPED_NUMBER = -1


def create_faults(connection: DuckDBPyConnection) -> None:
    """Create ``faults``, empty: why a consumer took no value from a raw value."""
    connection.execute("CREATE OR REPLACE TABLE faults (unit BIGINT, consumer INTEGER, error VARCHAR)")


def create_outcomes(connection: DuckDBPyConnection, spec: AuditSpec, index: Mapping[str, int]) -> None:
    """Create the view ``outcomes`` over the tables of all fields; consumer number i owns s{i}, v{i} and k{i}."""
    names = [*(str(number) for number in index.values()), TYPED]
    columns = [*_FIXED, *(f"{letter}{name}" for name in names for letter in "svk")]
    selects = []
    for position in range(len(spec.fields)):
        known = {row[0] for row in connection.execute(f"DESCRIBE {_table(position)}").fetchall()}
        listed = (name if name in known else f"NULL::VARCHAR AS {name}" for name in columns)
        selects.append(f"SELECT {', '.join(listed)} FROM {_table(position)}")
    connection.execute(f"CREATE OR REPLACE VIEW outcomes AS {' UNION ALL '.join(selects)}")


def _table(position: int) -> str:
    return f"outcomes_of_field_{position}"


def add_field(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    units: FieldUnits,
    answers: Mapping[tuple[str, str], Answers],
    index: Mapping[str, int],
) -> None:
    """Create one field's outcome table and add its non-values to ``faults``."""
    field = spec.fields[units.field]
    readers = {index[name]: answers[units.field, name] for name in spec.consumers if (units.field, name) in answers}
    names = [str(number) for number in readers]
    raw = _raw_table(field, units, readers)
    if field.reference == "typed":
        names.append(TYPED)
        raw = _with_typed_references(connection, field, raw)
    with _registered(connection, "raw_outcomes", raw):
        slow = _slow_keys(connection, field, names)
        with _registered(connection, "slow_keys", slow):
            looked_up = names if slow.num_rows else []
            position = list(spec.fields).index(field.name)
            _create_table(connection, field, _table(position), names, looked_up)
            _add_unexpected_types(connection, field, looked_up)
    for number, answer in readers.items():
        _add_faults(connection, number, units.units.take(pa.array(list(answer.faults), pa.int64())), answer)


@contextmanager
def _registered(connection: DuckDBPyConnection, name: str, table: pa.Table) -> Iterator[None]:
    """Show an Arrow table to DuckDB under a name while the block runs."""
    connection.register(name, table)
    try:
        yield
    finally:
        connection.unregister(name)


def _raw_table(field: FieldSpec, units: FieldUnits, readers: Mapping[int, Answers]) -> pa.Table:
    shapes = Shapes(field)
    shape_chunks, type_chunks = [], []
    for start, count in units.chunks():
        found = shapes.of(units.tokens.slice(start, count).to_pylist())
        shape_chunks.append(pa.array([shape for shape, _ in found], pa.string()))
        type_chunks.append(pa.array([kind for _, kind in found], pa.string()))
    table = units.table.append_column("shape", pa.chunked_array(shape_chunks, pa.string()))
    table = table.append_column("json_type", pa.chunked_array(type_chunks, pa.string()))
    for number, answer in readers.items():
        table = table.append_column(f"s{number}", pa.chunked_array(answer.letters, pa.string()))
        table = table.append_column(f"v{number}", pa.chunked_array(answer.texts, pa.string()))
    return table


def _slow_keys(connection: DuckDBPyConnection, field: FieldSpec, names: Sequence[str]) -> pa.Table:
    """Ask the judge for the keys that SQL does not give, once per distinct value."""
    asked = " UNION ".join(
        f"SELECT v{i} AS v FROM raw_outcomes WHERE v{i} IS NOT NULL AND {fast_key_sql(field, f'v{i}')} IS NULL"
        for i in names
    )
    values = connection.sql(asked).to_arrow_table()["v"].to_pylist() if asked else []
    keys = [grain_key(field, value) for value in values]
    errors = [unexpected_type(field, v) if k is None else None for v, k in zip(values, keys, strict=True)]
    columns = {"v": values, "k": keys, "e": errors}
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def _create_table(
    connection: DuckDBPyConnection, field: FieldSpec, table: str, names: Sequence[str], looked_up: Sequence[str]
) -> None:
    """Create the table of a field; what the field's type cannot hold is rejected, never a value."""
    columns = []
    for i in names:
        key = fast_key_sql(field, f"r.v{i}")
        key = f"coalesce({key}, x{i}.k)" if i in looked_up else key
        refused = f"x{i}.e IS NOT NULL" if i in looked_up else "false"
        columns += [
            f"CASE WHEN {refused} THEN 'r' ELSE r.s{i} END AS s{i}",
            f"CASE WHEN {refused} THEN NULL ELSE r.v{i} END AS v{i}",
            f"{key} AS k{i}",
        ]
    fixed = [f"r.{name}" if name != "field" else "$field::VARCHAR AS field" for name in _FIXED]
    joins = "".join(f" LEFT JOIN slow_keys x{i} ON x{i}.v = r.v{i}" for i in looked_up)
    connection.execute(
        f"CREATE OR REPLACE TABLE {table} AS SELECT {', '.join([*fixed, *columns])} FROM raw_outcomes r{joins}",
        {"field": field.name},
    )


def _add_unexpected_types(connection: DuckDBPyConnection, field: FieldSpec, names: Sequence[str]) -> None:
    for i in names:
        number = TYPED_NUMBER if i == TYPED else int(i)
        connection.execute(
            f"INSERT INTO faults SELECT r.unit, {number}, x.e FROM raw_outcomes r JOIN slow_keys x ON x.v = r.v{i} "
            "WHERE x.e IS NOT NULL"
        )


def _with_typed_references(connection: DuckDBPyConnection, field: FieldSpec, raw: pa.Table) -> pa.Table:
    """Append what the typed reader makes of the references, by SQL where no judgement is needed."""
    with _registered(connection, "raw_references", raw):
        values = connection.sql(
            f"SELECT CASE WHEN role_reference THEN {fast_typed_sql(field, 'token')} END AS v FROM raw_references"
        ).to_arrow_table()["v"].to_pylist()  # fmt: skip
    letters = ["v" if value is not None else None for value in values]
    errors: dict[int, str] = {}
    tokens, is_reference = raw["token"], raw["role_reference"].to_pylist()
    for row, value in enumerate(values):
        if value is None and is_reference[row]:
            values[row], error = read_typed(field, tokens[row].as_py())
            letters[row] = "v" if error is None else "r"
            if error is not None:
                errors[row] = error
    _add_errors(connection, TYPED_NUMBER, raw["unit"].take(pa.array(list(errors), pa.int64())), list(errors.values()))
    raw = raw.append_column(f"s{TYPED}", pa.array(letters, pa.string()))
    return raw.append_column(f"v{TYPED}", pa.array(values, pa.string()))


def _add_faults(connection: DuckDBPyConnection, number: int, units: pa.ChunkedArray, answers: Answers) -> None:
    _add_errors(connection, number, units, [fault.error for fault in answers.faults.values()])


def _add_errors(connection: DuckDBPyConnection, number: int, units: pa.ChunkedArray, errors: Sequence[str]) -> None:
    if errors:
        with _registered(connection, "new_faults", pa.table({"unit": units, "error": pa.array(errors, pa.string())})):
            connection.execute(f"INSERT INTO faults SELECT unit, {number}, error FROM new_faults")
