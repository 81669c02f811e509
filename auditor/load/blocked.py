"""Why cases were not judged: the classes, their reasons and the first ids of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
_REASON = f"coalesce(left(nullif(trim(why), ''), {_LONGEST}), {_FINISH})"


@dataclass(frozen=True)
class Incident:
    """An expected case that was not judged: what came of it, and the reply as it was, where there was one."""

    case_id: str
    verdict: str
    finish: str | None
    error: str | None
    text: str | None
    arm: str | None = None


def incidents(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection, *, arm: str | None = None
) -> list[Incident]:
    """Give every expected case that was not judged, in file order; those without a prediction come last."""
    try:
        rows = predictions.scan(connection, ("id", "outcome", "finish", "why", "reply"))
        expected = references.scan(connection, ("id",), numbered=False)
        arrived = connection.execute(f"""
            SELECT id, outcome, finish, why, reply FROM (
                SELECT id, min(outcome) AS outcome, min(ordinal) AS ordinal, arg_min(finish, ordinal) AS finish,
                    arg_min(why, ordinal) AS why, arg_min(reply, ordinal) AS reply
                FROM {rows} WHERE outcome <> 'judged' GROUP BY id
            ) SEMI JOIN (SELECT id FROM {expected}) USING (id) ORDER BY ordinal""").fetchall()
        missing = connection.execute(f"""
            SELECT id FROM (SELECT id, min(ordinal) AS ordinal FROM {references.scan(connection, ("id",))} GROUP BY id)
            ANTI JOIN (SELECT id FROM {predictions.scan(connection, ("id",), numbered=False)}) USING (id)
            ORDER BY ordinal""").fetchall()
    finally:
        predictions.release()
        references.release()
    return [
        *(replace(Incident(*row), arm=arm) for row in arrived),
        *(Incident(case, "missing", None, None, None, arm) for (case,) in missing),
    ]


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
