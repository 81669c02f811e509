"""Arms: the models whose predictions stand in one set of files; each answers every case, and is judged by itself."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from auditor.errors import LoadError, Mistake
from auditor.load.arm_names import arm_sql, traits_of
from auditor.load.attempts import only
from auditor.load.census import Census
from auditor.load.files import FORMAT_OF_SUFFIX, mistake
from auditor.load.identity import reference_value
from auditor.load.layout import among
from auditor.load.parts import Part, RoleTable, Value
from auditor.model.figures import plural
from auditor.sql import literal

if TYPE_CHECKING:
    import duckdb

#: More arms than this are no arms: the column is that of something else.
MOST: Final = 200
_NAMED: Final = 5
_serial = itertools.count(1)

#: The predictions of each arm; the only key is None where the spec names no arm.
Arms = Mapping[str | None, RoleTable]

#: Rows of a part by the name of their arm.
Counts = dict[str | None, int]


def predictions_of_arms(
    table: RoleTable, columns: Sequence[str], connection: duckdb.DuckDBPyConnection
) -> tuple[RoleTable, Arms]:
    """Give all predictions with a column `arm`, and those of each arm, by name; LoadError where a row has no arm."""
    if not columns:
        return table, {None: table}
    _require_columns(table, columns)
    held = replace(
        table, parts=tuple(_held(part, number, columns, connection) for number, part in enumerate(table.parts))
    )
    found = [dict(connection.execute(f"SELECT arm, count(*) FROM {_name(n)} GROUP BY arm ORDER BY arm").fetchall())
             for n in range(len(held.parts))]  # fmt: skip
    for number, counts in enumerate(found):
        if None in counts:
            arm = _only_arm(held, number, columns, found, connection)
            connection.execute(f"UPDATE {_name(number)} SET arm = $1 WHERE arm IS NULL", [arm])
            counts[arm] = counts.get(arm, 0) + counts.pop(None)
    names = sorted({arm for counts in found for arm in counts})
    if len(names) > MOST:
        where = f"[cases] arm = {', '.join(map(repr, columns))}"
        said = f"there are {len(names):,} arms, such as {', '.join(map(repr, names[:3]))}"
        raise mistake(
            where,
            f"{said}, and each has to answer every case",
            "name the column that says which model gave the prediction",
        )
    return held, {arm: _of_arm(held, arm, found) for arm in names}


def _require_columns(table: RoleTable, columns: Sequence[str]) -> None:
    for part in table.parts:
        if part.file.format in FORMAT_OF_SUFFIX.values():
            for name, column in traits_of(columns):
                if name not in part.columns:
                    what = f"no column {column!r} for the arm, which [cases] names"
                    raise mistake(part.file.name, what, among(column, list(part.all_names())))


def _name(number: int) -> str:
    return f"auditor_arms_{number}"


def _held(part: Part, number: int, columns: Sequence[str], connection: duckdb.DuckDBPyConnection) -> Part:
    """Hold the rows of a part, which every arm is going to read, with the name of its arm in each."""
    kept = {name: value for name, value in part.columns.items() if name != "position"}
    arm = arm_sql([kept[name].sql if name in kept else "NULL::VARCHAR" for name, _ in traits_of(columns)])
    selected = ", ".join(f"{value.sql} AS {name}" for name, value in kept.items())
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_name(number)} AS SELECT {part.ordinal} AS ordinal, {arm} AS arm, {selected} "
        f"FROM {part.relation(connection)}"
    )
    part.release()
    names = {name: Value(name, value.token) for name, value in kept.items()}
    return replace(
        part,
        relation=lambda _: _name(number),
        columns={**names, "arm": Value("arm")},
        ordinal="ordinal",
        release=lambda: None,
    )


def _only_arm(
    table: RoleTable,
    number: int,
    columns: Sequence[str],
    found: Sequence[Counts],
    connection: duckdb.DuckDBPyConnection,
) -> str:
    """Give the arm of the rows of a part that name none: in a log, which does not name the model of a failure."""
    part = table.parts[number]
    own = sorted(filter(None, found[number]))
    names = sorted({arm for counts in found for arm in counts if arm is not None})
    known = own or names
    if part.file.format not in FORMAT_OF_SUFFIX.values() and len(known) == 1:
        return known[0]
    offset = sum(one.count for one in table.parts[:number])
    rows = connection.execute(
        f"SELECT ordinal FROM {_name(number)} WHERE arm IS NULL ORDER BY ordinal LIMIT {_NAMED}"
    ).fetchall()
    listed = ", ".join(map(repr, names)) or "none"
    what = f"{plural(found[number][None], 'row')} without an arm in {' and '.join(map(repr, columns))}"
    hint = "say of each prediction which model gave it, or audit the files of each model in a run of its own"
    raise LoadError([Mistake(table.rows([row + offset for (row,) in rows]), f"{what}; arms here: {listed}", hint)])


def _of_arm(table: RoleTable, arm: str, found: Sequence[Counts]) -> RoleTable:
    """Give the predictions of one arm; the rows of the others are numbered, and left out."""
    parts = []
    for number, part in enumerate(table.parts):
        census = Census()
        alone = len([name for name in found[number] if name is not None]) == 1
        for name in (arm, None) if alone and arm in found[number] else (arm,):
            if (own := part.censuses.get(name)) is not None:
                census.add(own)
        relation = f"(SELECT * FROM {_name(number)} WHERE arm = {literal(arm)})"
        others = part.count - found[number].get(arm, 0)
        parts.append(
            replace(part, relation=lambda _, rows=relation: rows, other_arms=others, censuses={arm: census})  # type: ignore[misc]
        )
    return replace(table, parts=tuple(parts))


def one_reference_each(
    table: RoleTable, fields: Sequence[str], connection: duckdb.DuckDBPyConnection, *, of_attempts: bool
) -> RoleTable:
    """Keep one of the references that a file repeats beside the predictions of every arm; they must be the same.

    What is repeated within an arm stays, and is an error like any other repeated id, but for references `of_attempts`
    of one case, which stand beside each of them.
    """
    names = sorted(name for name in table.names if name.startswith("arm") and name[3:].isdigit())
    if not names and not of_attempts:
        return table
    long = table.layout.form == "long"
    values = ("value",) if long else tuple(f"v{index}" for index in range(len(fields)))
    key = "id, field" if long else "id"
    scanned = ("id", *(("field",) if long else ()), *names, *values, "split")
    _refuse_other_references(table, scanned, key, values, connection, "attempt" if of_attempts else "arm")
    kept = f"auditor_reference_of_arms_{next(_serial)}"
    within = f"row_number() OVER (PARTITION BY {key}, {arm_sql(names)} ORDER BY ordinal)" if not of_attempts else "1"
    connection.execute(
        f"CREATE TEMP TABLE {kept} AS SELECT ordinal AS kept FROM (SELECT ordinal, "
        f"row_number() OVER (PARTITION BY {key} ORDER BY ordinal) AS nth, "
        f"{within} AS within FROM {table.scan(connection, scanned)}) WHERE nth = 1 OR within > 1"
    )
    table.release()
    ((count,),) = connection.execute(f"SELECT count(*) FROM {kept}").fetchall()
    return table if count == table.count else only(table, kept, connection)


def _refuse_other_references(
    table: RoleTable,
    scanned: tuple[str, ...],
    key: str,
    values: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
    answer: str,
) -> None:
    compared = [*(reference_value(table, name).sql for name in values), "split"]
    packed = ", ".join(f"'v{number}': {sql}" for number, sql in enumerate(compared))
    found = connection.execute(
        f"SELECT id, list(ordinal ORDER BY ordinal)[:{_NAMED}] FROM {table.scan(connection, scanned)} "
        f"GROUP BY {key} HAVING count(DISTINCT {{{packed}}}) > 1 ORDER BY min(ordinal)"
    ).fetchall()
    table.release()
    if found:
        head = Mistake(
            ", ".join(sorted({part.file.name for part in table.parts})),
            f"{plural(len(found), 'case')} with one reference, or split, for one {answer} and another for the next",
            "a case has one reference, whoever answers it and however often: correct the rows that differ",
        )
        raise LoadError(
            [head, *(Mistake(table.rows(rows), f"case {case}: the references differ") for case, rows in found[:_NAMED])]
        )
