"""The table `pairs`: each distinct (field, outcome, prediction, reference, place) with its number of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.errors import InternalError
from auditor.load.identity import reference_value
from auditor.load.parts import RoleTable, Value
from auditor.load.tokens import literal, lower_case_escapes_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from auditor.spec.models import FieldSpec

_PLACED_TYPES = ("date", "datetime")
_COLUMNS = "field, outcome, prediction, reference, payload, reference_payload, place, n, first_row"


def place_sql(locale: str, jurisdiction: str) -> str:
    """Give the SQL expression for the place of a case: `locale|jurisdiction`, NULL when none is given."""
    both = f"concat({locale}, '|', {jurisdiction})"
    return f"nullif({both}, '|')"


def create_pairs(
    predictions: RoleTable,
    references: RoleTable,
    connection: duckdb.DuckDBPyConnection,
    fields: Mapping[str, FieldSpec],
    payloads: bool,
) -> None:
    """Create the table from two sources, joined on the id."""
    prediction_side = _wide_sql(predictions, connection, fields, payloads)
    reference_side = _wide_sql(references, connection, fields, payloads)
    columns, sets, cases = [], [], []
    for index, field in enumerate(fields.values()):
        prediction, reference, place = f"p{index}", f"r{index}", f"l{index}"
        columns += [
            f"CASE WHEN p.outcome = 'judged' THEN p.v{index} END AS {prediction}",
            f"r.v{index} AS {reference}",
        ]
        keys = ["outcome", prediction, reference, "payload", "reference_payload"]
        if field.type in _PLACED_TYPES:
            columns.append(
                f"CASE WHEN r.v{index} IS NOT NULL OR (p.outcome = 'judged' AND p.v{index} IS NOT NULL) THEN "
                f"{place_sql(_given('locale'), _given('jurisdiction'))} END AS {place}"
            )
            keys.append(place)
        sets.append(f"({', '.join(keys)})")
        token_p = _value(predictions, index, prediction).as_json()
        token_r = _value(references, index, reference).as_json()
        cases.append((field.name, f"GROUPING({prediction})", token_p, token_r, place if place in keys else "NULL"))
    grouped = (
        f"SELECT outcome, {', '.join(f'{grouping} AS g{index}' for index, (_, grouping, *_) in enumerate(cases))}, "
        f"{', '.join(_aliases(columns))}, payload, reference_payload, count(*) AS n, min(po) AS po, min(ro) AS ro FROM ("
        "SELECT r.ordinal AS ro, p.ordinal AS po, coalesce(p.outcome, 'missing') AS outcome, "
        f"{', '.join(columns)}, CASE WHEN p.outcome = 'judged' THEN p.payload END AS payload, "
        f"r.payload AS reference_payload FROM {reference_side} AS r LEFT JOIN {prediction_side} AS p ON r.id = p.id) "
        f"GROUP BY GROUPING SETS ({', '.join(sets)})"
    )
    connection.execute(
        f"CREATE TABLE pairs AS SELECT {_choice(cases, 0)} AS field, outcome, {_choice(cases, 2)} AS prediction, "
        f"{_choice(cases, 3)} AS reference, payload, reference_payload, {_choice(cases, 4)} AS place, n, "
        f"coalesce(po, -ro) AS first_row FROM ({grouped})"
    )


def _given(name: str) -> str:
    return f"coalesce(r.{name}, p.{name})"


def _aliases(columns: list[str]) -> list[str]:
    return [column.rpartition(" AS ")[2] for column in columns]


def _choice(cases: list[tuple[str, str, str, str, str]], item: int) -> str:
    """Give the expression that takes an item of the field whose grouping set a row belongs to."""
    whens = " ".join(
        f"WHEN g{index} = 0 THEN {literal(case[0]) if item == 0 else case[item]}" for index, case in enumerate(cases)
    )
    return f"CAST(CASE {whens} END AS VARCHAR)"


def _value(table: RoleTable, index: int, sql: str) -> Value:
    name = "value" if table.layout.form == "long" else f"v{index}"
    return table.value(name, sql)


def _wide_sql(
    table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Mapping[str, FieldSpec], payloads: bool
) -> str:
    """Give a subquery with a row per case and a column `v0 v1 …` per field."""
    reference = table.layout.role == "reference"
    if table.layout.form != "long":
        names = tuple(f"v{index}" for index in range(len(fields)))
        scan = table.scan(connection, ("id", "locale", "jurisdiction", "outcome", *names, "payload"))
        values = [f"{reference_value(table, name).sql} AS {name}" if reference else name for name in names]
        return f"(SELECT ordinal, id, locale, jurisdiction, outcome, payload, {', '.join(values)} FROM {scan})"
    scan = table.scan(connection, ("id", "locale", "jurisdiction", "outcome", "field", "value"))
    value = reference_value(table, "value").sql if reference else "value"
    values = [f"max({value}) FILTER (field = {literal(name)}) AS v{index}" for index, name in enumerate(fields)]
    member = f"CAST(to_json(field) AS VARCHAR) || ': ' || {table.value('value', 'value').as_json()}"
    payload = "CAST(NULL AS VARCHAR)"
    if payloads:
        payload = f"'{{' || coalesce(string_agg({member}, ', ' ORDER BY field) FILTER (value IS NOT NULL), '') || '}}'"
    return (
        "(SELECT min(ordinal) AS ordinal, id, min(locale) AS locale, min(jurisdiction) AS jurisdiction, "
        "coalesce(min(outcome) FILTER (outcome <> 'judged'), 'judged') AS outcome, "
        f"{payload} AS payload, "
        f"{', '.join(values)} FROM {scan} GROUP BY id)"
    )


def create_pairs_of_one_source(
    pairs: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Mapping[str, FieldSpec]
) -> None:
    """Create the table from a long source that holds predictions and references side by side."""
    placed = [name for name, field in fields.items() if field.type in _PLACED_TYPES]
    place = "CAST(NULL AS VARCHAR)"
    names = ["id", "field", "value", "other"]
    if placed and pairs.names & {"locale", "jurisdiction"}:
        names += ["locale", "jurisdiction"]
        place = (
            f"CASE WHEN field IN ({', '.join(map(literal, placed))}) AND coalesce(value, other) IS NOT NULL "
            f"THEN {place_sql('locale', 'jurisdiction')} END"
        )
    reference = reference_value(pairs, "other")
    connection.execute(
        f"CREATE TABLE pairs AS SELECT field, 'judged' AS outcome, {pairs.value('value', 'value').as_json()} AS prediction, "
        f"{Value('other', reference.token).as_json()} AS reference, CAST(NULL AS VARCHAR) AS payload, "
        f"CAST(NULL AS VARCHAR) AS reference_payload, place, n, first_row FROM (SELECT field, value, other, {place} AS place, "
        f"count(*) AS n, min(ordinal) AS first_row FROM (SELECT ordinal, * REPLACE ({reference.sql} AS other) "
        f"FROM {pairs.scan(connection, tuple(names))}) WHERE field IN ({', '.join(map(literal, fields))}) GROUP BY ALL)"
    )


def add_absent_units(
    pairs: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Mapping[str, FieldSpec], expected: int
) -> None:
    """Add the units of cases that have no row for a field: neither prediction nor reference."""
    counts = counts_by_field(connection)
    for name in fields:
        if counts.get(name, 0) < expected:
            cases = pairs.scan(connection, ("id",))
            rows = pairs.scan(connection, ("id", "field"))
            connection.execute(
                f"INSERT INTO pairs ({_COLUMNS}) SELECT {literal(name)}, 'judged', NULL, NULL, NULL, NULL, NULL, "
                f"count(*), min(ordinal) FROM (SELECT id, min(ordinal) AS ordinal FROM {cases} GROUP BY id) "
                f"ANTI JOIN (SELECT id FROM {rows} WHERE field = {literal(name)}) USING (id) HAVING count(*) > 0"
            )


def finish_tokens(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn the JSON of strings in the pairs into tokens; the few that differ are not worth a longer first query."""
    for column in ("prediction", "reference"):
        differs = f"starts_with({column}, '\"') AND contains({column}, '\\u00')"
        if connection.execute(f"SELECT count(*) FROM pairs WHERE {differs}").fetchall() != [(0,)]:
            connection.execute(f"UPDATE pairs SET {column} = {lower_case_escapes_sql(column)} WHERE {differs}")


def counts_by_field(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Give the number of cases that the pairs of each field stand for."""
    return dict(connection.execute("SELECT field, sum(n)::BIGINT FROM pairs GROUP BY field").fetchall())


def check_conservation(connection: duckdb.DuckDBPyConnection, fields: Mapping[str, FieldSpec], expected: int) -> None:
    """Raise InternalError unless every field has one unit per expected case."""
    counts = counts_by_field(connection)
    wrong = {name: counts.get(name, 0) for name in fields if counts.get(name, 0) != expected}
    if wrong or len(counts) != len(fields):
        raise InternalError(f"{expected} expected cases, but the pairs hold {wrong or counts}")
