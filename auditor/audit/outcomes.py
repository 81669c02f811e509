"""The wide outcome table: a row per distinct raw value, and for each consumer its status, value and grain key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from duckdb import DuckDBPyConnection

from auditor.audit.consumers import Answers
from auditor.audit.units import FieldUnits
from auditor.judge.keys import fast_key_sql, grain_key, unexpected_type
from auditor.judge.shapes import Shapes
from auditor.judge.typed import fast_typed_sql, read_typed
from auditor.score.verdict_table import TYPED
from auditor.spec.models import AuditSpec, FieldSpec


def create_outcomes(connection: DuckDBPyConnection, consumers: Sequence[str]) -> None:
    """Create ``outcomes`` and ``faults``, empty; consumer number i of the spec owns s{i}, v{i} and k{i}."""
    names = [str(i) for i in range(len(consumers))] + [TYPED]
    columns = "".join(f", s{i} VARCHAR, v{i} VARCHAR, k{i} VARCHAR" for i in names)
    connection.execute(
        "CREATE OR REPLACE TABLE outcomes (unit BIGINT, field VARCHAR, token VARCHAR, payload VARCHAR, "
        f"role_prediction BOOLEAN, role_reference BOOLEAN, shape VARCHAR, json_type VARCHAR{columns})"
    )
    connection.execute("CREATE OR REPLACE TABLE faults (unit BIGINT, consumer INTEGER, error VARCHAR)")


def add_field(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    units: FieldUnits,
    answers: Mapping[tuple[str, str], Answers],
    index: Mapping[str, int],
) -> None:
    """Add one field's rows to ``outcomes`` and its non-values to ``faults``."""
    field = spec.fields[units.field]
    readers = {name: index[name] for name in spec.consumers if (units.field, name) in answers}
    raw = _raw_table(field, units, {number: answers[units.field, name] for name, number in readers.items()})
    names = [str(number) for number in readers.values()]
    with _registered(connection, "raw_outcomes", raw):
        keys = "".join(f", {fast_key_sql(field, f'r.v{i}')} AS k{i}" for i in names)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE keyed AS SELECT r.*{keys} FROM raw_outcomes r")
    slow = _slow_keys(connection, field, names)
    _insert_outcomes(connection, field, names, slow, typed=field.reference == "typed")
    for name, number in readers.items():
        _add_faults(connection, units, number, answers[units.field, name])
    connection.execute("DROP TABLE keyed")


class _registered:
    """Show an Arrow table to DuckDB under a name while the block runs."""

    def __init__(self, connection: DuckDBPyConnection, name: str, table: pa.Table) -> None:
        self._connection, self._name, self._table = connection, name, table

    def __enter__(self) -> None:
        self._connection.register(self._name, self._table)

    def __exit__(self, *_: object) -> None:
        self._connection.unregister(self._name)


def _raw_table(field: FieldSpec, units: FieldUnits, answers: Mapping[int, Answers]) -> pa.Table:
    shapes = Shapes(field)
    shape_chunks, type_chunks = [], []
    for start, count in units.chunks():
        found = shapes.of(units.tokens.slice(start, count).to_pylist())
        shape_chunks.append(pa.array([shape for shape, _ in found], pa.string()))
        type_chunks.append(pa.array([kind for _, kind in found], pa.string()))
    columns: dict[str, pa.ChunkedArray] = {
        "unit": units.units,
        "shape": pa.chunked_array(shape_chunks, pa.string()),
        "json_type": pa.chunked_array(type_chunks, pa.string()),
    }
    for number, answer in answers.items():
        columns[f"s{number}"] = pa.chunked_array(answer.letters, pa.string())
        columns[f"v{number}"] = pa.chunked_array(answer.texts, pa.string())
    return pa.table(columns)


def _slow_keys(connection: DuckDBPyConnection, field: FieldSpec, names: Sequence[str]) -> pa.Table:
    """Ask the judge for the keys that SQL did not give, once per distinct value."""
    if not names:
        return pa.table(
            {"v": pa.array([], pa.string()), "k": pa.array([], pa.string()), "e": pa.array([], pa.string())}
        )
    open_values = " UNION ".join(f"SELECT v{i} AS v FROM keyed WHERE v{i} IS NOT NULL AND k{i} IS NULL" for i in names)
    values = connection.sql(open_values).to_arrow_table()["v"].to_pylist()
    keys = [grain_key(field, value) for value in values]
    errors = [unexpected_type(field, v) if k is None else None for v, k in zip(values, keys, strict=True)]
    return pa.table(
        {"v": pa.array(values, pa.string()), "k": pa.array(keys, pa.string()), "e": pa.array(errors, pa.string())}
    )


def _insert_outcomes(
    connection: DuckDBPyConnection, field: FieldSpec, names: Sequence[str], slow: pa.Table, *, typed: bool
) -> None:
    with _registered(connection, "slow_keys", slow):
        looked_up = [] if slow.num_rows == 0 else list(names)
        joins = "".join(f" LEFT JOIN slow_keys x{i} ON r.k{i} IS NULL AND x{i}.v = r.v{i}" for i in looked_up)
        columns, values = [], []
        for i in names:
            key = f"coalesce(r.k{i}, x{i}.k)" if i in looked_up else f"r.k{i}"
            refused = f"r.v{i} IS NOT NULL AND {key} IS NULL"
            columns += [f"s{i}", f"v{i}", f"k{i}"]
            values += [
                f"CASE WHEN {refused} THEN 'r' ELSE r.s{i} END",
                f"CASE WHEN {refused} THEN NULL ELSE r.v{i} END",
                key,
            ]
        fixed = "unit, field, token, payload, role_prediction, role_reference, shape, json_type"
        connection.execute(
            f"INSERT INTO outcomes ({', '.join([fixed, *columns])}) "
            "SELECT u.unit, u.field, u.token, u.payload, u.role_prediction, u.role_reference, "
            f"{', '.join(['r.shape', 'r.json_type', *values])} "
            f"FROM keyed r JOIN units u USING (unit){joins}"
        )
        for i in looked_up:
            connection.execute(
                f"INSERT INTO faults SELECT r.unit, {i}, x.e FROM keyed r JOIN slow_keys x ON x.v = r.v{i} "
                f"WHERE r.k{i} IS NULL AND x.e IS NOT NULL"
            )
    if typed:
        _read_typed_references(connection, field)


def _read_typed_references(connection: DuckDBPyConnection, field: FieldSpec) -> None:
    """Read the references that are to be in canonical form already, by SQL where no judgement is needed."""
    tagged = fast_typed_sql(field, "token")
    key = fast_key_sql(field, "tagged")
    connection.execute(
        f"UPDATE outcomes SET s{TYPED} = 'v', v{TYPED} = fast.tagged, k{TYPED} = fast.key FROM ("
        f"SELECT unit, tagged, {key} AS key FROM (SELECT unit, {tagged} AS tagged FROM outcomes "
        "WHERE field = $field AND role_reference) WHERE tagged IS NOT NULL) fast "
        "WHERE outcomes.unit = fast.unit AND fast.key IS NOT NULL",
        {"field": field.name},
    )
    rows = connection.execute(
        f"SELECT unit, token FROM outcomes WHERE field = $field AND role_reference AND k{TYPED} IS NULL",
        {"field": field.name},
    ).fetchall()
    readings = [(unit, *read_typed(field, token)) for unit, token in rows]
    table = pa.table(
        {
            "unit": pa.array([unit for unit, _, _ in readings], pa.int64()),
            "v": pa.array([text for _, text, _ in readings], pa.string()),
            "k": pa.array([text and grain_key(field, text) for _, text, _ in readings], pa.string()),
            "e": pa.array([error for _, _, error in readings], pa.string()),
        }
    )
    with _registered(connection, "typed_readings", table):
        connection.execute(
            f"UPDATE outcomes SET s{TYPED} = CASE WHEN t.k IS NULL THEN 'r' ELSE 'v' END, v{TYPED} = t.v, "
            f"k{TYPED} = t.k FROM typed_readings t WHERE outcomes.unit = t.unit"
        )
        connection.execute("INSERT INTO faults SELECT unit, -1, e FROM typed_readings WHERE e IS NOT NULL")


def _add_faults(connection: DuckDBPyConnection, units: FieldUnits, number: int, answers: Answers) -> None:
    if not answers.faults:
        return
    positions = pa.array(list(answers.faults), pa.int64())
    table = pa.table(
        {
            "unit": units.units.take(positions),
            "error": pa.array([fault.error for fault in answers.faults.values()], pa.string()),
        }
    )
    with _registered(connection, "new_faults", table):
        connection.execute(f"INSERT INTO faults SELECT unit, {number}, error FROM new_faults")
