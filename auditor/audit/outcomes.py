"""The wide outcome table: a row per distinct raw value, and for each consumer its status, value and grain key.

Each field has a table of its own, with columns for the consumers that read it; the view ``outcomes`` shows them as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.audit.answers import Answers
from auditor.audit.transfer import SHORT, SHORT_TEXT, Cells, fetched, shown
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
    kind = "TABLE" if _are_small(connection, [_table(position) for position in range(len(spec.fields))]) else "VIEW"
    connection.execute(f"CREATE OR REPLACE {kind} outcomes AS {' UNION ALL '.join(selects)}")


def _are_small(connection: DuckDBPyConnection, tables: Sequence[str]) -> bool:
    """Say whether tables are cheap to copy once: DuckDB plans a view of many wide ones anew for every question."""
    length = "coalesce(sum(strlen(token) + coalesce(strlen(payload), 0)), 0)::BIGINT"
    rows, characters = 0, 0
    for table in tables:
        rows += _number(connection, f"SELECT count(*) FROM {table}")
        if rows > SHORT:
            return False
        characters += _number(connection, f"SELECT {length} FROM {table}")
    return characters <= SHORT_TEXT


def _number(connection: DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])


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
    raw = _raw_columns(field, units, readers)
    if field.reference == "typed":
        names.append(TYPED)
        raw |= _typed_references(connection, field, units)
    table = _table(list(spec.fields).index(field.name))
    with shown(connection, "raw_outcomes", raw):
        _create_table(connection, field, table, names)
    _ask_the_judge(connection, field, table, names)
    for number, answer in readers.items():
        _add_errors(connection, number, {row: fault.error for row, fault in answer.faults.items()}, units)


def _raw_columns(field: FieldSpec, units: FieldUnits, readers: Mapping[int, Answers]) -> dict[str, Cells]:
    shapes = Shapes(field, (tokens for (tokens,) in units.chunks("token")))
    shape, kind = Cells(str), Cells(str)
    for (tokens,) in units.chunks("token"):
        found = shapes.of(tokens)
        shape.extend([one for one, _ in found])
        kind.extend([one for _, one in found])
    columns = {**units.columns, "shape": shape, "json_type": kind}
    for number, answer in readers.items():
        columns[f"s{number}"], columns[f"v{number}"] = answer.letters, answer.texts
    return columns


def _create_table(connection: DuckDBPyConnection, field: FieldSpec, table: str, names: Sequence[str]) -> None:
    """Create the table of a field, with the keys that SQL gives.

    Readers mostly take the same value: each key is worked out from the text only where that is not the first reader's.
    """
    first = names[0]
    source = f"(SELECT *, {fast_key_sql(field, f'v{first}')} AS k{first} FROM raw_outcomes) r"
    keys = [f"r.s{first}, r.v{first}, r.k{first}"]
    for i in names[1:]:
        own = fast_key_sql(field, f"r.v{i}")
        keys.append(f"r.s{i}, r.v{i}, CASE WHEN r.v{i} = r.v{first} THEN r.k{first} ELSE {own} END AS k{i}")
    fixed = (f"r.{name}" if name != "field" else "$field::VARCHAR AS field" for name in _FIXED)
    connection.execute(
        f"CREATE OR REPLACE TABLE {table} AS SELECT {', '.join([*fixed, *keys])} FROM {source}",
        {"field": field.name},
    )


def _ask_the_judge(connection: DuckDBPyConnection, field: FieldSpec, table: str, names: Sequence[str]) -> None:
    """Give the keys that SQL did not give; what the field's type cannot hold is rejected, never a value."""
    each = " UNION ALL ".join(f"SELECT v{i} AS v FROM {table} WHERE v{i} IS NOT NULL AND k{i} IS NULL" for i in names)
    values = [row[0] for row in connection.execute(f"SELECT DISTINCT v FROM ({each}) ORDER BY v").fetchall()]
    if not values:
        return
    keys = [grain_key(field, value) for value in values]
    errors = [unexpected_type(field, v) if k is None else None for v, k in zip(values, keys, strict=True)]
    columns = {"v": Cells(str, values), "k": Cells(str, keys), "e": Cells(str, errors)}
    with shown(connection, "judged_values", columns):
        for i in names:
            connection.execute(
                f"UPDATE {table} SET k{i} = x.k FROM judged_values x "
                f"WHERE {table}.k{i} IS NULL AND {table}.v{i} = x.v AND x.k IS NOT NULL"
            )
            if any(errors):
                _reject_unexpected_types(connection, table, i)


def _reject_unexpected_types(connection: DuckDBPyConnection, table: str, i: str) -> None:
    number = TYPED_NUMBER if i == TYPED else int(i)
    refused = f"x.e IS NOT NULL AND o.v{i} = x.v"
    connection.execute(
        f"INSERT INTO faults SELECT o.unit, {number}, x.e FROM {table} o JOIN judged_values x ON {refused}"
    )
    connection.execute(f"UPDATE {table} AS o SET s{i} = 'r', v{i} = NULL FROM judged_values x WHERE {refused}")


def _typed_references(connection: DuckDBPyConnection, field: FieldSpec, units: FieldUnits) -> dict[str, Cells]:
    """Give what the typed reader makes of the references, by SQL where no judgement is needed."""
    texts, letters = Cells(str), Cells(str)
    errors: dict[int, str] = {}
    query = (
        f"SELECT token, CASE WHEN role_reference THEN {fast_typed_sql(field, 'token')} END, role_reference FROM units"
    )
    for chunk in fetched(connection, f"{query} WHERE field = $field ORDER BY unit", {"field": field.name}, len(units)):
        for token, fast, is_reference in zip(*chunk, strict=True):
            text, error = (fast, None) if fast is not None or not is_reference else read_typed(field, token)
            if error is not None:
                errors[len(texts)] = error
            texts.extend((text,))
            letters.extend(("v" if text is not None else "r" if is_reference else None,))
    _add_errors(connection, TYPED_NUMBER, errors, units)
    return {f"s{TYPED}": letters, f"v{TYPED}": texts}


def _add_errors(connection: DuckDBPyConnection, number: int, errors: Mapping[int, str], units: FieldUnits) -> None:
    """Add to ``faults`` why there is no value, by row of the field's units."""
    if not errors:
        return
    columns = {"row": Cells(int, errors), "error": Cells(str, errors.values())}
    with shown(connection, "new_faults", columns), shown(connection, "numbers", {"unit": units.columns["unit"]}):
        connection.execute(
            f"INSERT INTO faults SELECT u.unit, {number}, f.error FROM new_faults f "
            "JOIN (SELECT unit, row_number() OVER (ORDER BY unit) - 1 AS row FROM numbers) u USING (row)"
        )
