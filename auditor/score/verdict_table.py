"""The verdicts of all consumers of a pair as one short text, judged in SQL on grain keys.

Reads ``pairs`` and ``outcomes``; writes ``judged``: a row per pair with a letter per reader of its field, in which the
few dozen distinct patterns feed every column, ceiling and matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.errors import InternalError
from auditor.model.verdicts import BLOCKED_VERDICTS, LETTER_OF
from auditor.spec.models import AuditSpec, FieldSpec

#: Number of the pseudo-consumer `typed` in the outcome table's column names: s_typed, v_typed, k_typed.
TYPED = "_typed"

_GIVEN = "p.prediction IS NOT NULL AND p.prediction NOT IN ('null', '\"\"')"


def create_judged(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    *,
    payloads: bool,
) -> None:
    """Create the table ``judged`` (see the room's docstring) for every field of the spec."""
    connection.execute(
        "CREATE OR REPLACE TABLE judged (field VARCHAR, outcome VARCHAR, p_unit BIGINT, r_unit BIGINT, n BIGINT, "
        "first_row BIGINT, place VARCHAR, pattern VARCHAR, shape VARCHAR, same_text BOOLEAN)"
    )
    for field in spec.fields.values():
        letters = [_letter_sql(spec, field, consumer, index) for consumer in readers[field.name]]
        connection.execute(_insert_sql(" || ".join(letters), payloads=payloads), {"field": field.name})
    _check_conservation(connection)


def _check_conservation(connection: DuckDBPyConnection) -> None:
    """Every case of the pairs is judged exactly once; a join that drops or repeats rows is an error, not a rate."""
    counts = "SELECT field, sum(n) AS n FROM {} GROUP BY field"
    lost = connection.execute(
        f"SELECT p.field, p.n::BIGINT, j.n::BIGINT FROM ({counts.format('pairs')}) p "
        f"FULL JOIN ({counts.format('judged')}) j USING (field) WHERE p.n IS DISTINCT FROM j.n ORDER BY 1"
    ).fetchall()
    if lost:
        seen = "; ".join(f"{field}: {read} cases were read, {judged} judged" for field, read, judged in lost)
        raise InternalError(f"rows were lost or repeated while judging, so no rate can be trusted: {seen}")


def _insert_sql(pattern: str, *, payloads: bool) -> str:
    same_payload = " AND u.payload IS NOT DISTINCT FROM p.payload" if payloads else ""
    same_reference = " AND t.payload IS NOT DISTINCT FROM p.reference_payload" if payloads else ""
    return f"""
        INSERT INTO judged
        SELECT p.field, p.outcome, u.unit, t.unit, p.n, p.first_row, p.place, {pattern}, u.shape,
            {_content("p.prediction")} IS NOT DISTINCT FROM {_content("p.reference")}
        FROM (SELECT * FROM pairs WHERE field = $field) p
        LEFT JOIN (SELECT * FROM outcomes WHERE field = $field) u
            ON u.token = p.prediction AND u.role_prediction{same_payload}
        LEFT JOIN (SELECT * FROM outcomes WHERE field = $field) t
            ON t.token = p.reference AND t.role_reference{same_reference}
    """


def _content(token: str) -> str:
    """Text that people compare today: the content of a string, the source text of anything else."""
    return f"CASE WHEN starts_with({token}, '\"') THEN {token}[2:-2] ELSE {token} END"


def _letter_sql(spec: AuditSpec, field: FieldSpec, consumer: str, index: Mapping[str, int]) -> str:
    """SQL for the verdict letter of one consumer; the order of the branches is the order of the decisions."""
    i = index[consumer]
    truth = f"t.k{_decoder(field, consumer, index)}"
    blocked = " ".join(f"WHEN '{name}' THEN '{LETTER_OF[name]}'" for name in BLOCKED_VERDICTS)
    nothing = "p.prediction IS NULL"
    if spec.consumers[consumer].receives == "text":
        nothing += " OR p.prediction = 'null'"
    return f"""CASE
        WHEN p.reference IS NULL THEN CASE WHEN {_GIVEN} THEN '{LETTER_OF["unexpected"]}' ELSE '-' END
        WHEN {truth} IS NULL THEN '!'
        WHEN p.outcome <> 'judged' THEN CASE p.outcome {blocked} END
        WHEN {nothing} THEN 'a'
        WHEN u.s{i} = 'v' THEN CASE WHEN u.k{i} = {truth} THEN 'o' ELSE 'w' END
        ELSE u.s{i} END"""


def _decoder(field: FieldSpec, consumer: str, index: Mapping[str, int]) -> str:
    if field.reference == "typed":
        return TYPED
    return str(index[consumer if field.reference == "each" else field.reference])
