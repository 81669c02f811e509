"""The table `pairs`: each distinct (field, outcome, prediction, reference, place) with its number of cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from auditor.errors import InternalError
from auditor.load.identity import reference_value
from auditor.load.parts import RoleTable, Value
from auditor.load.tokens import lower_case_escapes_sql
from auditor.load.traits import PLACED_TYPES
from auditor.sql import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from auditor.spec.models import FieldSpec

    Fields = Mapping[str, FieldSpec]

_NONE = "CAST(NULL AS VARCHAR)"
_JUDGED = "p.outcome = 'judged' AND r.id IS NOT NULL"


@dataclass(frozen=True)
class FieldKeys:
    """SQL of one field in the join of cases: how its columns come about, and what becomes of them in its pairs."""

    name: str
    index: int
    columns: tuple[str, ...]  # p0, r0 and, for dates, l0
    expressions: tuple[str, ...]
    prediction: str
    reference: str

    def keys(self, of_split: str) -> str:
        """Give the grouping set of the field, with `of_split` before its columns."""
        return f"({of_split}{', '.join(('outcome', *self.columns, 'payload', 'reference_payload'))})"

    @property
    def place(self) -> str:
        """The column with the place."""
        return self.columns[2] if len(self.columns) > 2 else "NULL"


def place_sql(locale: str, jurisdiction: str) -> str:
    """Give the SQL expression for the place of a case: `locale|jurisdiction`, NULL when none is given."""
    return f"nullif(concat({locale}, '|', {jurisdiction}), '|')"


def create_pairs(
    predictions: RoleTable,
    references: RoleTable,
    connection: duckdb.DuckDBPyConnection,
    fields: Fields,
    payloads: bool,
    splits: str | None = None,
) -> None:
    """Create the table from two sources, joined on the id; one scan of the join groups every field by its own keys.

    `splits` names a table with the `id` and the `split` of every case that has one. `take_unrelated` is to follow:
    predictions without a reference are in it, and how many rows each pair stands for.
    """
    keys = [_field_keys(predictions, references, index, field) for index, field in enumerate(fields.values())]
    expressions = ", ".join(
        f"{expression} AS {column}"
        for field in keys
        for column, expression in zip(field.columns, field.expressions, strict=True)
    )
    of_split = "split, " if splits else ""
    of_case = f"LEFT JOIN {splits} AS s ON s.id = coalesce(r.id, p.id)" if splits else ""
    joined = f"""
        SELECT r.ordinal AS reference_row, p.ordinal AS prediction_row,
            CASE WHEN r.id IS NULL THEN 'unrelated' ELSE coalesce(p.outcome, 'missing') END AS outcome,
            p.source_rows AS prediction_rows, r.source_rows AS reference_rows,
            CASE WHEN {_JUDGED} THEN p.payload END AS payload, r.payload AS reference_payload,
            {"s.split" if splits else _NONE} AS split, {expressions}
        FROM {wide_sql(references, connection, fields, payloads)} AS r
        FULL JOIN {wide_sql(predictions, connection, fields, payloads)} AS p ON r.id = p.id {of_case}"""
    grouped = f"""
        SELECT outcome, payload, reference_payload, {of_split}
            {", ".join(column for field in keys for column in field.columns)},
            {", ".join(f"GROUPING(p{field.index}) AS g{field.index}" for field in keys)},
            count(*) AS n, coalesce(min(prediction_row), -min(reference_row)) AS first_row,
            sum(prediction_rows)::BIGINT AS prediction_rows, sum(reference_rows)::BIGINT AS reference_rows
        FROM ({joined}) GROUP BY GROUPING SETS ({", ".join(field.keys(of_split) for field in keys)})"""
    connection.execute(f"""
        CREATE TABLE pairs AS SELECT outcome, {_by_field({f.index: literal(f.name) for f in keys})} AS field,
            {_by_field({field.index: field.prediction for field in keys})} AS prediction,
            {_by_field({field.index: field.reference for field in keys})} AS reference,
            payload, reference_payload, {_by_field({field.index: field.place for field in keys})} AS place,
            n, first_row, prediction_rows, reference_rows, {"split" if splits else _NONE} AS split
        FROM ({grouped})""")


def take_unrelated(connection: duckdb.DuckDBPyConnection, ids: int, predictions: int, references: int) -> int:
    """Take the predictions without a reference out of the table, and give their number.

    Raise InternalError unless the pairs of every field stand for all `ids` and for as many rows as the files have.
    """
    found = connection.execute(
        """
        SELECT field, coalesce(sum(n) FILTER (outcome <> 'missing'), 0)::BIGINT,
            coalesce(sum(prediction_rows), 0)::BIGINT, coalesce(sum(reference_rows), 0)::BIGINT,
            coalesce(sum(n) FILTER (outcome = 'unrelated'), 0)::BIGINT
        FROM pairs GROUP BY field"""
    ).fetchall()
    for field, *counts, _ in found:
        if counts != [ids, predictions, references]:
            raise InternalError(
                f"of {ids} ids, {predictions} rows of predictions and {references} of references, the pairs of "
                f"{field!r} hold {counts}"
            )
    connection.execute("DELETE FROM pairs WHERE outcome = 'unrelated'")
    for column in ("prediction_rows", "reference_rows"):
        connection.execute(f"ALTER TABLE pairs DROP COLUMN {column}")
    return int(found[0][-1]) if found else 0


def _field_keys(predictions: RoleTable, references: RoleTable, index: int, field: FieldSpec) -> FieldKeys:
    columns: tuple[str, ...] = (f"p{index}", f"r{index}")
    expressions: tuple[str, ...] = (judged_value(index), f"r.v{index}")
    if field.type in PLACED_TYPES:
        place = place_sql("coalesce(r.locale, p.locale)", "coalesce(r.jurisdiction, p.jurisdiction)")
        given = f"coalesce({', '.join(expressions)}) IS NOT NULL"
        columns, expressions = (*columns, f"l{index}"), (*expressions, f"CASE WHEN {given} THEN {place} END")
    values = (
        table.value("value" if table.layout.form == "long" else f"v{index}", column).as_json()
        for table, column in ((predictions, columns[0]), (references, columns[1]))
    )
    return FieldKeys(field.name, index, columns, expressions, *values)


def judged_value(index: int) -> str:
    """Give the expression for a prediction, NULL where the case is blocked or nobody asserted a value."""
    return f"CASE WHEN {_JUDGED} THEN p.v{index} END"


def _by_field(expressions: Mapping[int, str]) -> str:
    """Give the expression that takes what belongs to the field whose grouping set a row is of."""
    whens = " ".join(f"WHEN g{index} = 0 THEN {expression}" for index, expression in expressions.items())
    return f"CAST(CASE {whens} END AS VARCHAR)"


def wide_sql(table: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Fields, payloads: bool) -> str:
    """Give a subquery with a row per case and a column `v0 v1 …` per field."""
    reference = table.layout.role == "reference"
    if table.layout.form != "long":
        names = tuple(f"v{index}" for index in range(len(fields)))
        scan = table.scan(connection, ("id", "locale", "jurisdiction", "outcome", *names, "payload"))
        values = ", ".join(f"{reference_value(table, name).sql} AS {name}" if reference else name for name in names)
        given = "id, locale, jurisdiction, outcome, payload"
        return f"(SELECT ordinal, 1 AS source_rows, {given}, {values} FROM {scan})"
    value = reference_value(table, "value").sql if reference else "value"
    values = ", ".join(
        f"max({value}) FILTER (field = {literal(name)}) AS v{index}" for index, name in enumerate(fields)
    )
    payload = _NONE
    if payloads:
        member = f"CAST(to_json(field) AS VARCHAR) || ': ' || {table.value('value', 'value').as_json()}"
        members = f"string_agg({member}, ', ' ORDER BY field) FILTER (value IS NOT NULL)"
        payload = f"'{{' || coalesce({members}, '') || '}}'"
    scan = table.scan(connection, ("id", "locale", "jurisdiction", "outcome", "field", "value"))
    return f"""(
        SELECT min(ordinal) AS ordinal, count(*) AS source_rows, id,
            min(locale) AS locale, min(jurisdiction) AS jurisdiction,
            coalesce(min(outcome) FILTER (outcome <> 'judged'), 'judged') AS outcome, {payload} AS payload, {values}
        FROM {scan} GROUP BY id)"""


def create_pairs_of_one_source(pairs: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Fields) -> None:
    """Create the table from a long source that holds predictions and references side by side."""
    has_place = _has_place(fields, pairs.names)
    names = ("field", "value", "other", *(("locale", "jurisdiction") if has_place else ()))
    rows = f"""
        SELECT ordinal, field, value, {reference_value(pairs, "other").sql} AS reference,
            {place_sql("locale", "jurisdiction") if has_place else _NONE} AS place
        FROM {pairs.scan(connection, names)}"""
    _group_rows(connection, fields, rows, pairs.value("value", "value"), pairs.value("other", "reference"))


def create_pairs_of_aligned_sources(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Fields, expected: int
) -> bool:
    """Create the table from two long sources that hold the same (id, field) row by row, if they do.

    This needs no join. Where every row agrees with its neighbour, and the references hold every case and field once, so
    do the predictions; a row that does not agree is left out, so that its field falls short of `expected`.
    """
    has_place = _has_place(fields, predictions.names | references.names)
    names = ("id", "field", "value", *(("locale", "jurisdiction") if has_place else ()))
    place = place_sql("coalesce(r.locale, p.locale)", "coalesce(r.jurisdiction, p.jurisdiction)")
    # DuckDB streams through both files only where nothing is computed from either; else it keeps one in memory.
    plain = len(predictions.parts) == 1 and "position" in predictions.names
    left = predictions.scan(connection, (*names, "position") if plain else names, numbered=not plain)
    right = references.scan(connection, names, numbered=False)
    rows = f"""
        SELECT {"p.position + 1" if plain else "p.ordinal"} AS ordinal, p.field AS field, p.value AS value,
            {reference_value(references, "value", "r.value").sql} AS reference,
            {place if has_place else _NONE} AS place
        FROM {left} AS p POSITIONAL JOIN {right} AS r
        WHERE p.id = r.id AND p.field = r.field"""
    _group_rows(connection, fields, rows, predictions.value("value", "value"), references.value("value", "reference"))
    counts = counts_by_field(connection)
    if all(counts.get(name) == expected for name in fields):
        return True
    connection.execute("DROP TABLE pairs")
    return False


def _has_place(fields: Fields, names: frozenset[str]) -> bool:
    return bool(names & {"locale", "jurisdiction"}) and any(f.type in PLACED_TYPES for f in fields.values())


def _group_rows(
    connection: duckdb.DuckDBPyConnection, fields: Fields, rows: str, prediction: Value, reference: Value
) -> None:
    """Create the table from rows of ordinal, field, value, reference, place."""
    numbers = {name: number for number, name in enumerate(fields, 1)}
    placed = [str(numbers[name]) for name, field in fields.items() if field.type in PLACED_TYPES]
    given = f"field_number IN ({', '.join(placed or ['0'])}) AND coalesce(value, reference) IS NOT NULL"
    whens = " ".join(f"WHEN {literal(name)} THEN {number}" for name, number in numbers.items())
    # A number stands for the field while rows are grouped: a tenth less work than with its name.
    numbered = f"""
        SELECT * REPLACE (CASE WHEN {given} THEN place END AS place)
        FROM (SELECT *, CAST(CASE field {whens} END AS USMALLINT) AS field_number FROM ({rows}))
        WHERE field_number IS NOT NULL"""
    grouped = f"""
        SELECT field_number, value, reference, place, count(*) AS n, min(ordinal) AS first_row
        FROM ({numbered}) GROUP BY field_number, value, reference, place"""
    connection.execute(f"""
        CREATE TABLE pairs AS SELECT [{", ".join(map(literal, fields))}][field_number] AS field, 'judged' AS outcome,
            {prediction.as_json()} AS prediction, {reference.as_json()} AS reference,
            {_NONE} AS payload, {_NONE} AS reference_payload, place, n, first_row, {_NONE} AS split
        FROM ({grouped})""")


def check_rows_of_one_source(pairs: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> None:
    """Raise InternalError unless every row of the source is in a pair, or of a field that is not asked for."""
    taken = sum(counts_by_field(connection).values())
    if taken == pairs.count:
        return
    known = ", ".join(map(literal, fields))
    others = connection.execute(
        f"SELECT count(*) FROM {pairs.scan(connection, ('field',))} WHERE field IS NULL OR field NOT IN ({known})"
    ).fetchall()
    if taken + others[0][0] != pairs.count:
        raise InternalError(f"{pairs.count} rows were read, but {taken} are in pairs and {others[0][0]} in no field")


def add_absent_units(pairs: RoleTable, connection: duckdb.DuckDBPyConnection, fields: Fields, expected: int) -> None:
    """Add the units of cases that have no row for a field: neither prediction nor reference."""
    counts = counts_by_field(connection)
    for name in fields:
        if counts.get(name, 0) < expected:
            cases = f"SELECT id, min(ordinal) AS ordinal FROM {pairs.scan(connection, ('id',))} GROUP BY id"
            rows = f"SELECT id FROM {pairs.scan(connection, ('id', 'field'))} WHERE field = {literal(name)}"
            connection.execute(f"""
                INSERT INTO pairs (field, outcome, n, first_row)
                SELECT {literal(name)}, 'judged', count(*), min(ordinal)
                FROM ({cases}) ANTI JOIN ({rows}) USING (id) HAVING count(*) > 0""")


def finish_tokens(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn the JSON of strings in the pairs into tokens; the few that differ are not worth a longer first query."""
    for column in ("prediction", "reference"):
        differs = f"starts_with({column}, '\"') AND contains({column}, '\\u00')"
        if connection.execute(f"SELECT count(*) FROM pairs WHERE {differs}").fetchall() != [(0,)]:
            connection.execute(f"UPDATE pairs SET {column} = {lower_case_escapes_sql(column)} WHERE {differs}")


def set_apart(connection: duckdb.DuckDBPyConnection, arm: str) -> None:
    """Put the pairs of one arm aside, with its name, so that those of the next can be created."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS pairs_of_arms AS SELECT *, CAST(NULL AS VARCHAR) AS arm FROM pairs LIMIT 0"
    )
    connection.execute("INSERT INTO pairs_of_arms SELECT *, $1 FROM pairs", [arm])
    connection.execute("DROP TABLE pairs")


def gather_arms(connection: duckdb.DuckDBPyConnection, arms: Sequence[str]) -> None:
    """Make the pairs of all arms the table; it has a column `arm` where there are any."""
    if arms:
        connection.execute("ALTER TABLE pairs_of_arms RENAME TO pairs")


def counts_by_field(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Give the number of cases that the pairs of each field stand for."""
    return dict(connection.execute("SELECT field, sum(n)::BIGINT FROM pairs GROUP BY field").fetchall())


def check_conservation(connection: duckdb.DuckDBPyConnection, fields: Fields, expected: int) -> None:
    """Raise InternalError unless every field has one unit per expected case."""
    counts = counts_by_field(connection)
    wrong = {name: counts.get(name, 0) for name in fields if counts.get(name, 0) != expected}
    if wrong or len(counts) != len(fields):
        raise InternalError(f"{expected} expected cases, but the pairs hold {wrong or counts}")
