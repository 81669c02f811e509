"""Strings that a finding picks one by one: their cases, their number, and the shortest of them."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import SUPPORTED, Census
from auditor.findings.draft import Role
from auditor.findings.witnesses import WITNESSES, units_of


@dataclass(frozen=True)
class Picked:
    """What the data say about some strings."""

    affected: int
    outside: int
    strings: int
    units: tuple[int, ...]


def pick(census: Census, field: str, condition: str, role: Role = "either") -> Picked:
    """Count the cases that have a string of a field for which an SQL condition on `outcomes` holds."""
    context = census.context
    of_role = " AND role_prediction" if role == "prediction" else ""
    as_reference = "" if role == "prediction" else " OR r_unit IN (SELECT unit FROM f_picked)"
    context.connection.execute(
        "CREATE OR REPLACE TEMP TABLE f_picked AS SELECT unit, token FROM own_outcomes"
        f" WHERE field = $field AND ({condition}){of_role}",
        {"field": field},
    )
    # A string that has several rows is shown as the first of them.
    each = "SELECT token, min(unit) AS unit FROM f_picked GROUP BY token" if census.has_repeats else "FROM f_picked"
    ((strings, shortest),) = census.query(
        f"SELECT count(*), min((length(token), token, unit), {WITNESSES}) FROM ({each})"
    )
    if not strings:
        return Picked(0, 0, 0, ())
    ((affected, inside),) = census.query(
        f"SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER ({SUPPORTED}), 0) FROM judged"
        f" WHERE p_unit IN (SELECT unit FROM f_picked){as_reference}"
    )
    return Picked(int(affected), int(affected) - int(inside), int(strings), units_of(shortest))


def of_predictions(census: Census, field: str, cases: str, condition: str) -> tuple[int, tuple[int, ...]]:
    """Count the texts of the predictions of some cases that satisfy a condition; give the shortest of them."""
    predictions = f"SELECT p_unit FROM judged WHERE field = {sql.text(field)} AND {cases}"
    rows = f"SELECT token, unit FROM own_outcomes WHERE unit IN ({predictions}) AND ({condition})"
    texts = f"SELECT token, min(unit) AS unit FROM ({rows}) GROUP BY token"
    ((count, shortest),) = census.query(
        f"SELECT count(*), min((length(token), token, unit), {WITNESSES}) FROM ({texts})"
    )
    return int(count), units_of(shortest)
