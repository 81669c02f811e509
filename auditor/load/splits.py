"""Splits that must not overlap, and references that stand in what the model was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from auditor.errors import LoadError, Mistake
from auditor.load.pairs import wide_sql
from auditor.load.parts import RoleTable
from auditor.model.figures import plural
from auditor.spec.models import AuditSpec

if TYPE_CHECKING:
    import duckdb

_NAMED: Final = 5
_SHOWN: Final = 60

#: What the columns of all cases have for a split.
WHOLE: Final = "all"

#: The table of the split of each case.
_SPLITS: Final = "auditor_splits"

#: Shorter texts stand in nearly every input by chance.
_SHORTEST: Final = 3


def _refuse_name_of_whole(spec: AuditSpec, traits: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a split that is called like the column of all cases."""
    found = connection.execute(f"SELECT min(id), count(DISTINCT id) FROM {traits} WHERE split = '{WHOLE}'").fetchall()
    case, count = found[0]
    if count:
        raise LoadError(
            [
                Mistake(
                    f"[cases] split = {spec.cases.split!r}",
                    f"{plural(count, 'case')} of a split named {WHOLE!r}, the first is {case}",
                    "that is the name of the columns of all cases: give the split another one",
                )
            ]
        )


def create_splits(
    spec: AuditSpec, predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> str | None:
    """Create a table with the `id` and the `split` of every case that has one, and name it; None without splits.

    Refuse a case that is in two splits, and an input that stands in two, whichever side or arm says so, and whether or
    not the case has a reference: what was tuned on may have none.
    """
    if spec.cases.split is None:
        return None
    traits = _traits_sql(predictions, references, connection, of_all=True)
    try:
        found = connection.execute(
            f"SELECT id, list(DISTINCT split ORDER BY split) FROM {traits} WHERE split IS NOT NULL GROUP BY id "
            "HAVING count(DISTINCT split) > 1 ORDER BY id"
        ).fetchall()
        mistakes = [Mistake(f"case {case}", f"is in the splits {' and '.join(splits)}") for case, splits in found]
        _refuse_name_of_whole(spec, _traits_sql(predictions, references, connection), connection)
        if not mistakes and spec.cases.input is not None:
            traits = _traits_sql(predictions, references, connection, of_all=True)
            shared = connection.execute(
                f"SELECT list(DISTINCT split ORDER BY split), list(DISTINCT id ORDER BY id), any_value(input) FROM ("
                f"SELECT id, any_value(split) OVER (PARTITION BY id) AS split, input FROM {traits}) "
                "WHERE split IS NOT NULL AND input IS NOT NULL GROUP BY hash(input), input "
                "HAVING count(DISTINCT split) > 1 ORDER BY 2"
            ).fetchall()
            mistakes = [
                Mistake(
                    f"cases {', '.join(cases[:_NAMED])}",
                    f"have one input in the splits {' and '.join(splits)}: {text[:_SHOWN]!r}",
                )
                for splits, cases, text in shared
            ]
        traits = _traits_sql(predictions, references, connection, of_all=True)
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_SPLITS} AS SELECT id, min(split) AS split FROM {traits} "
            "WHERE split IS NOT NULL GROUP BY id"
        )
    finally:
        predictions.release()
        references.release()
    if mistakes:
        head = Mistake(
            f"[cases] split = {spec.cases.split!r}",
            f"splits overlap in {plural(len(mistakes), 'place')}, so that what is held out is not",
            "a case, and an input, belongs to one split: remove it from the others",
        )
        raise LoadError([head, *mistakes[:_NAMED]])
    return _SPLITS


def split_notes(
    spec: AuditSpec, predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> tuple[str, ...]:
    """Say how many expected cases are in no split, and whether that is for want of a prediction."""
    if spec.cases.split is None:
        return ()
    try:
        expected = f"(SELECT DISTINCT id FROM {references.scan(connection, ('id',), numbered=False)})"
        arrived = f"(SELECT DISTINCT id FROM {predictions.scan(connection, ('id',), numbered=False)})"
        ((cases, without, missing),) = connection.execute(
            f"SELECT count(*), count_if(s.id IS NULL), count_if(s.id IS NULL AND p.id IS NULL) FROM {expected} AS r "
            f"LEFT JOIN {_SPLITS} AS s ON s.id = r.id LEFT JOIN {arrived} AS p ON p.id = r.id"
        ).fetchall()
    finally:
        predictions.release()
        references.release()
    if not without:
        return ()
    said = f"split: {without:,} of {plural(cases, 'case')} {'is' if without == 1 else 'are'} in no split, and so in the"
    said += " columns of no split"
    if missing and "split" not in references.names:
        who = "it has" if missing == without == 1 else f"{missing:,} of them {'has' if missing == 1 else 'have'}"
        said += f": {who} no prediction, and only predictions say which split a case is in"
    return (said,)


def _traits_sql(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection, *, of_all: bool = False
) -> str:
    """Give id, split and input of every row, of all cases or of the expected ones."""
    left, right = (
        table.scan(connection, ("id", "split", "input"), numbered=False) for table in (predictions, references)
    )
    if of_all:
        return f"(FROM {left} UNION ALL FROM {right})"
    expected = references.scan(connection, ("id",), numbered=False)
    return f"(SELECT * FROM (FROM {left} UNION ALL FROM {right}) SEMI JOIN (SELECT id FROM {expected}) USING (id))"


def gold_in_input(
    spec: AuditSpec, predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> dict[str, int]:
    """Count, by field, the expected cases whose input holds the text of the reference; nothing without inputs."""
    if spec.cases.input is None:
        return {}
    counts = []
    for index in range(len(spec.fields)):
        name = "value" if references.layout.form == "long" else f"v{index}"
        token = references.value(name, f"r.v{index}").as_token()
        text = f"CASE WHEN starts_with({token}, '\"') THEN {token}[2:-2] ELSE {token} END"
        counts.append(f"length({text}) >= {_SHORTEST} AND NOT contains({text}, '\\') AND contains(input, {text})")
    traits = _traits_sql(predictions, references, connection)
    try:
        found = connection.execute(
            f"SELECT {', '.join(f'count(DISTINCT r.id) FILTER ({count})' for count in counts)} "
            f"FROM {wide_sql(references, connection, spec.fields, False)} AS r "
            f"JOIN (SELECT DISTINCT id, input FROM {traits}) USING (id)"
        ).fetchall()[0]
    finally:
        predictions.release()
        references.release()
    return dict(zip(spec.fields, found, strict=True))


def gold_notes(counts: Mapping[str, int], expected: int) -> tuple[str, ...]:
    """Say of each field how often the answer stood in the input."""
    return tuple(
        f"gold_in_input: {field}: the reference stands as it is in the input of {count:,} of {plural(expected, 'case')}"
        for field, count in counts.items()
        if count
    )
