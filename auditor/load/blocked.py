"""Why cases were not judged: the classes, their reasons and the first ids of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from auditor.load.parts import RoleTable
from auditor.model.blocked import Blocked
from auditor.model.run import CaseCounts
from auditor.model.verdicts import BLOCKED_VERDICTS

if TYPE_CHECKING:
    import duckdb

#: Ids that are named of each class.
_FIRST: Final = 5
_LONGEST: Final = 80  # characters of a finish reason or an error, which a provider may fill with a page

_FINISH = f"coalesce('finish reason ' || left(nullif(finish, ''), {_LONGEST}), 'no finish reason')"
_REASON = f"""CASE outcome
    WHEN 'malformed' THEN why
    WHEN 'transport' THEN coalesce(left(nullif(trim(why), ''), {_LONGEST}), {_FINISH})
    ELSE {_FINISH} END"""


def blocked_classes(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection, cases: CaseCounts
) -> tuple[Blocked, ...]:
    """Give the classes of the expected cases that were not judged; nothing is read where all were."""
    if cases.judged == cases.expected:
        return ()
    reasons: dict[str, dict[str, int]] = {}
    first: dict[str, list[tuple[int, str]]] = {}
    arrived = _arrived(predictions, references, connection)
    for outcome, reason, count, ids in arrived + _missing(predictions, references, connection):
        if reason is not None:
            reasons.setdefault(outcome, {})[reason] = count
        first.setdefault(outcome, []).extend((one["ordinal"], one["id"]) for one in ids)
    return tuple(
        Blocked(
            outcome,
            getattr(cases, outcome),
            cases.expected,
            reasons.get(outcome, {}),
            tuple(case for _, case in sorted(first[outcome])[:_FIRST]),
        )
        for outcome in BLOCKED_VERDICTS
        if outcome in first
    )


_Rows = list[tuple[str, str | None, int, list[dict[str, Any]]]]


def _arrived(predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection) -> _Rows:
    """Count the expected cases that came and are not judged, by class and reason."""
    rows = predictions.scan(connection, ("id", "outcome", "finish", "why"))
    expected = references.scan(connection, ("id",), numbered=False)
    found = connection.execute(f"""
        SELECT outcome, reason, count(*), list({{'ordinal': ordinal, 'id': id}} ORDER BY ordinal)[:{_FIRST}]
        FROM (
            SELECT id, min(outcome) AS outcome, min(ordinal) AS ordinal,
                arg_min({_REASON}, (outcome, ordinal)) AS reason
            FROM {rows} WHERE outcome <> 'judged' GROUP BY id
        ) SEMI JOIN (SELECT id FROM {expected}) USING (id)
        GROUP BY outcome, reason""")
    return found.fetchall()


def _missing(predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection) -> _Rows:
    """Count the expected cases without a prediction."""
    expected = references.scan(connection, ("id",))
    arrived = predictions.scan(connection, ("id",), numbered=False)
    found = connection.execute(f"""
        SELECT 'missing', NULL, count(*), list({{'ordinal': ordinal, 'id': id}} ORDER BY ordinal)[:{_FIRST}]
        FROM (SELECT id, min(ordinal) AS ordinal FROM {expected} GROUP BY id)
        ANTI JOIN (SELECT id FROM {arrived}) USING (id) HAVING count(*) > 0""")
    return found.fetchall()
