"""The verdicts of all consumers of a pair as one short text, judged in SQL on grain keys.

Reads ``pairs`` and ``outcomes``; writes ``judged``: a row per pair with a letter per reader of its field, in which the
few dozen distinct patterns feed every column, ceiling and matrix.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.errors import InternalError
from auditor.model.verdicts import BLOCKED_VERDICTS, LETTER_OF, NOT_RECORDED
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec
from auditor.sql import literal

#: Number of the pseudo-consumer `typed` in the outcome table's column names: s_typed, v_typed, k_typed.
TYPED = "_typed"

#: Up to so many pairs, the verdicts of all fields are found by one query.
TOGETHER = 50_000

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
        "first_row BIGINT, place VARCHAR, pattern VARCHAR, shape VARCHAR, same_text BOOLEAN, split VARCHAR, "
        "arm VARCHAR)"
    )
    for names in _groups(connection, spec):
        pattern = _pattern_sql(spec, names, readers, index)
        connection.execute(_insert_sql(names, pattern, spec, payloads=payloads))
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


def _groups(connection: DuckDBPyConnection, spec: AuditSpec) -> list[list[str]]:
    """Give the fields that are judged by one query: all of them while that costs less than planning one for each."""
    found = connection.execute("SELECT count(*) FROM pairs").fetchall()
    return [list(spec.fields)] if found[0][0] <= TOGETHER else [[name] for name in spec.fields]


def _insert_sql(fields: Sequence[str], pattern: str, spec: AuditSpec, *, payloads: bool) -> str:
    same_payload = " AND u.payload IS NOT DISTINCT FROM p.payload" if payloads else ""
    same_reference = " AND t.payload IS NOT DISTINCT FROM p.reference_payload" if payloads else ""
    chosen, both = _among("field", fields), "{}.field = p.field AND " if len(fields) > 1 else ""
    return f"""
        INSERT INTO judged
        SELECT p.field, p.outcome, u.unit, t.unit, p.n, p.first_row, p.place, {pattern}, u.shape,
            {_same_text("p.prediction", "p.reference")},
            {"p.split" if spec.cases.split else "NULL"}, {"p.arm" if spec.cases.arm else "NULL"}
        FROM (SELECT * FROM pairs WHERE {chosen}) p
        LEFT JOIN (SELECT * FROM outcomes WHERE {chosen}) u
            ON {both.format("u")}u.token = p.prediction AND u.role_prediction{same_payload}
        LEFT JOIN (SELECT * FROM outcomes WHERE {chosen}) t
            ON {both.format("t")}t.token = p.reference AND t.role_reference{same_reference}
    """


def _among(column: str, names: Sequence[str]) -> str:
    """Give the SQL condition that a column holds one of some names."""
    quoted = ", ".join(map(literal, names))
    return f"{column} IN ({quoted})" if len(names) > 1 else f"{column} = {quoted}"


def _same_text(left: str, right: str) -> str:
    """Compare what people compare today: the content of a string, the source text of anything else."""
    contents = (f"CASE WHEN starts_with({token}, '\"') THEN {token}[2:-2] ELSE {token} END" for token in (left, right))
    # Two tokens of strings are the same where their contents are.
    return (
        f"CASE WHEN starts_with({left}, '\"') AND starts_with({right}, '\"') THEN {left} = {right} "
        f"ELSE {' IS NOT DISTINCT FROM '.join(contents)} END"
    )


def _pattern_sql(
    spec: AuditSpec, fields: Sequence[str], readers: Mapping[str, Sequence[str]], index: Mapping[str, int]
) -> str:
    """SQL for the letters of a field's readers, which stand in the order of the spec in every field."""
    letters = []
    for consumer in spec.consumers:
        read = [name for name in fields if consumer in readers[name]]
        if read:
            letter = _letter_sql(spec, [spec.fields[name] for name in read], consumer, index)
            all_read = len(read) == len(fields)
            letters.append(letter if all_read else f"CASE WHEN {_among('p.field', read)} THEN {letter} ELSE '' END")
    return " || ".join(letters) or "''"


def _letter_sql(spec: AuditSpec, fields: Sequence[FieldSpec], consumer: str, index: Mapping[str, int]) -> str:
    """SQL for the verdict letter of one consumer in the fields that it reads."""
    i = index[consumer]
    unreferenced = f"CASE WHEN {_GIVEN} THEN '{LETTER_OF['unexpected']}' ELSE '-' END"
    return verdict_sql(
        f"WHEN p.reference IS NULL THEN {unreferenced}",
        outcome="p.outcome",
        truth=_truth_sql(fields, consumer, index),
        unread=_unread_sql(spec, fields, consumer, index),
        abstained=_abstained_sql(spec, fields),
        nothing=nothing_sql(spec.consumers[consumer], "p.prediction"),
        status=f"u.s{i}",
        key=f"u.k{i}",
    )


def verdict_sql(
    first: str, *, outcome: str, truth: str, unread: str, abstained: str, nothing: str, status: str, key: str
) -> str:
    """SQL for a verdict's letter; the order of the branches, after the `first`, is the order of the decisions.

    `outcome` is that of the case, `truth` the key of its reference, `unread` whether the records lack that, `abstained`
    the branches of a model that says nothing in words, `nothing` whether nothing was given; `status` and `key` are
    those of the prediction's decoding.
    """
    blocked = " ".join(f"WHEN '{name}' THEN '{LETTER_OF[name]}'" for name in BLOCKED_VERDICTS)
    return f"""CASE
        {first}
        WHEN {truth} IS NULL AND NOT {unread} THEN '!'
        WHEN {outcome} <> 'judged' THEN CASE {outcome} {blocked} END
        WHEN {unread} THEN '{LETTER_OF[NOT_RECORDED]}'
        {abstained}
        WHEN {nothing} THEN 'a'
        WHEN {status} = 'v' THEN CASE WHEN {key} = {truth} THEN 'o' ELSE 'w' END
        ELSE {status} END"""


def nothing_sql(consumer: ConsumerSpec, token: str) -> str:
    """SQL for whether a consumer was given nothing: no value, or a JSON null where it receives text."""
    return f"{token} IS NULL OR {token} = 'null'" if consumer.receives == "text" else f"{token} IS NULL"


def _abstained_sql(spec: AuditSpec, fields: Sequence[FieldSpec]) -> str:
    """SQL for the branches of the words by which the spec says that a model abstains; nothing where it says none."""
    branches = []
    for field in fields:
        words = spec.cases.abstain if field.abstain is None else field.abstain
        if words:
            tokens = ", ".join(literal(json.dumps(word, ensure_ascii=False)) for word in words)
            given = f"{_among('p.field', [field.name])} AND p.prediction IN ({tokens})"
            branches.append(f"WHEN {given} THEN '{LETTER_OF['abstained']}'")
    return " ".join(branches)


def _truth_sql(fields: Sequence[FieldSpec], consumer: str, index: Mapping[str, int]) -> str:
    """SQL for the key of the reference, by the field's decoder."""
    decoded: dict[str, list[str]] = {}
    for field in fields:
        decoded.setdefault(f"t.k{number_of(field.decoder_for(consumer), index)}", []).append(field.name)
    if len(decoded) == 1:
        return next(iter(decoded))
    whens = (f"WHEN {_among('p.field', names)} THEN {key}" for key, names in decoded.items())
    return f"CASE {' '.join(whens)} END"


def number_of(decoder: str, index: Mapping[str, int]) -> str:
    """Give what the columns of a consumer, or of `typed`, end in: s0, v0, k0; s_typed, v_typed, k_typed."""
    return TYPED if decoder == "typed" else str(index[decoder])


def _unread_sql(spec: AuditSpec, fields: Sequence[FieldSpec], consumer: str, index: Mapping[str, int]) -> str:
    """SQL for whether the records that a field's references are read from lack this one."""
    lacking = []
    for field in fields:
        reader = field.decoder_for(consumer)
        if reader in spec.consumers and spec.consumers[reader].adapter == "recorded":
            unread = f"coalesce(t.s{index[reader]} = '{LETTER_OF[NOT_RECORDED]}', false)"
            lacking.append(f"({_among('p.field', [field.name])} AND {unread})")
    return f"({' OR '.join(lacking)})" if lacking else "false"
