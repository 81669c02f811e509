"""Load the cases of a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import duckdb

from auditor.database import first_line, no_room, raise_memory_limit, suit
from auditor.errors import LoadError
from auditor.load.blocked import blocked_classes
from auditor.load.checks import fields_of, no_match, require_fields, require_places, require_sent
from auditor.load.contract import Reader
from auditor.load.files import mistake
from auditor.load.identity import identify_predictions, identify_references
from auditor.load.loaded import ArmCases, Loaded
from auditor.load.notes import load_notes
from auditor.load.pairs import (
    add_absent_units,
    check_conservation,
    check_rows_of_one_source,
    counts_by_field,
    create_pairs,
    create_pairs_of_aligned_sources,
    create_pairs_of_one_source,
    finish_tokens,
    gather_arms,
    set_apart,
    take_unrelated,
)
from auditor.load.parts import RoleTable
from auditor.load.roles import Roles, open_roles
from auditor.load.splits import create_splits, gold_in_input, gold_notes, split_notes
from auditor.load.traits import traits_sha256
from auditor.model.run import CaseCounts
from auditor.model.verdicts import BLOCKED_VERDICTS
from auditor.spec.models import AuditSpec


def load(
    spec: AuditSpec, connection: duckdb.DuckDBPyConnection, *, payloads: bool = False, reader: Reader | None = None
) -> Loaded:
    """Read predictions and references into the table `pairs` of `connection`; LoadError says what cannot be read.

    With `payloads`, each pair also holds the whole object that its prediction came in, and its reference's. `reader`
    calls the spec's own function that takes the payload out of a reply.
    """
    order = connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall()[0][0]
    connection.execute("SET preserve_insertion_order = true")  # the proofs of order read rows as they stand
    try:
        return _load_in_memory(spec, connection, payloads, reader)
    except (duckdb.Error, OSError) as error:
        raise _unreadable(spec, error) from error
    finally:
        connection.execute(f"SET preserve_insertion_order = {order}")


def _load_in_memory(
    spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool, reader: Reader | None
) -> Loaded:
    """Load, from the start again with more memory where that ran out: most statements read streams, which end."""
    while True:
        try:
            return _load(spec, connection, payloads, reader)
        except duckdb.OutOfMemoryException:
            connection.execute("DROP TABLE IF EXISTS pairs; DROP TABLE IF EXISTS pairs_of_arms")
            if not raise_memory_limit(connection):
                raise


def _unreadable(spec: AuditSpec, error: duckdb.Error | OSError) -> LoadError:
    """Make the error for a damaged page, a byte that is no text, or where memory or disk end."""
    files = ", ".join(dict.fromkeys((*spec.cases.predictions, *spec.cases.references)))
    if (lack := no_room(error)) is not None:
        return mistake(files, f"could not be read: {lack.cause} ({first_line(error)})", lack.step)
    return mistake(files, f"could not be read: {first_line(error)}", "is one of the files damaged?")


def _load(spec: AuditSpec, connection: duckdb.DuckDBPyConnection, payloads: bool, reader: Reader | None) -> Loaded:
    roles = open_roles(spec, connection, payloads, reader)
    predictions, references = roles.predictions, roles.references
    suit(connection, sum(part.file.path.stat().st_size for part in (*predictions.parts, *references.parts)))
    try:
        require_places(spec, predictions, references)
        require_sent(predictions, references, connection)
        manifest = identify_references(references, connection, tuple(spec.fields))
        expected = manifest.ids.count
        splits = create_splits(spec, roles.given, references, connection)
        arms = tuple(_load_arm(name, roles, connection, spec, expected, payloads, splits) for name in roles.arms)
        gather_arms(connection, [arm.name for arm in arms if arm.name is not None])
        cases = _sum([arm.cases for arm in arms])
        if cases.missing == cases.expected:
            raise no_match(predictions, references, connection)
        gold = gold_in_input(spec, predictions, references, connection)
        return Loaded(
            cases=cases,
            arms=arms,
            finish_reasons=dict(sum((Counter(arm.finish_reasons) for arm in arms), Counter[str]())),
            notes=(
                *(note for arm in arms for note in arm.notes),
                *gold_notes(gold, expected),
                *split_notes(spec, predictions, references, connection),
            ),
            gold_in_input=gold,
            sources=(*_sources(predictions), *_sources(references)),
            manifest_rows_sha256=manifest.sha256(),
            traits_sha256=traits_sha256(spec, predictions, references, connection),
            carried=_carried(roles, connection, tuple(spec.fields)),
            rows_read={"predictions": predictions.count, "references": references.count},
            predictions=predictions,
            references=references,
        )
    finally:
        predictions.release()
        references.release()


def _load_arm(
    name: str | None,
    roles: Roles,
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    expected: int,
    payloads: bool,
    splits: str | None,
) -> ArmCases:
    """Create the pairs of one arm, which is to answer every case, and count its cases."""
    predictions, references = roles.arms[name], roles.references
    unrelated = _create_pairs(roles, predictions, connection, spec, expected, payloads, splits)
    finish_tokens(connection)
    check_conservation(connection, spec.fields, expected)
    cases = _case_counts(connection, expected, unrelated)
    finishes = _finishes(predictions, references, connection)
    blocked = blocked_classes(predictions, references, connection, cases)
    if name is not None:
        set_apart(connection, name)
    finish_reasons = {reason: sum(outcomes.values()) for reason, outcomes in finishes.items()}
    return ArmCases(name, cases, blocked, finish_reasons, load_notes(predictions, finishes), predictions)


def _sum(counts: Sequence[CaseCounts]) -> CaseCounts:
    """Count the cases of all arms, each answered once by every arm."""
    return CaseCounts(*(sum(values) for values in zip(*map(astuple, counts), strict=True)))


def _create_pairs(
    roles: Roles,
    predictions: RoleTable,
    connection: duckdb.DuckDBPyConnection,
    spec: AuditSpec,
    expected: int,
    payloads: bool,
    splits: str | None,
) -> int:
    """Create the table in the cheapest way that the sources allow; give the number of unrelated predictions."""
    references, fields = roles.references, tuple(spec.fields)
    if roles.way == "one source":
        create_pairs_of_one_source(predictions, connection, spec.fields)
        if len(counts_by_field(connection)) < len(fields):
            require_fields(predictions, connection, fields)
        check_rows_of_one_source(predictions, connection, fields)
        add_absent_units(predictions, connection, spec.fields, expected)
        return 0
    dense = references.count == expected * len(fields)
    if (
        roles.way == "row by row"
        and dense
        and create_pairs_of_aligned_sources(predictions, references, connection, spec.fields, expected)
    ):
        return 0  # that every field has `expected` pairs says that every row has gone into one
    ids = identify_predictions(predictions, connection, fields)
    require_fields(roles.predictions, connection, fields)  # an arm may give no value of a field
    require_fields(references, connection, fields)
    create_pairs(predictions, references, connection, spec.fields, payloads, splits)
    return take_unrelated(connection, ids, predictions.count, references.count)


def _case_counts(connection: duckdb.DuckDBPyConnection, expected: int, unrelated: int) -> CaseCounts:
    # Every case has one unit of every field, so that any field tells.
    found = connection.execute(
        "SELECT outcome, sum(n)::BIGINT FROM pairs WHERE field = (SELECT min(field) FROM pairs) GROUP BY outcome"
    ).fetchall()
    counts = dict(found)
    blocked = {name: counts.get(name, 0) for name in BLOCKED_VERDICTS}
    return CaseCounts(expected=expected, judged=counts.get("judged", 0), unrelated=unrelated, **blocked)


def _finishes(
    predictions: RoleTable, references: RoleTable, connection: duckdb.DuckDBPyConnection
) -> dict[str, dict[str, int]]:
    """Count the completions of expected cases by their finish reason and by what became of them."""
    if not predictions.layout.finish:
        return {}
    completions = predictions.scan(connection, ("id", "finish", "outcome"))
    expected = references.scan(connection, ("id",))
    found = connection.execute(
        "SELECT finish, outcome, count(*) FROM "
        "(SELECT id, coalesce(min(finish), '') AS finish, min(outcome) AS outcome "
        f"FROM {completions} GROUP BY id) SEMI JOIN (SELECT id FROM {expected}) USING (id) "
        "GROUP BY finish, outcome ORDER BY finish, count(*) DESC, outcome"
    )
    finishes: dict[str, dict[str, int]] = {}
    for finish, outcome, count in found.fetchall():
        finishes.setdefault(finish, {})[outcome] = count
    return finishes


def _carried(roles: Roles, connection: duckdb.DuckDBPyConnection, fields: Sequence[str]) -> frozenset[str] | None:
    form = roles.predictions.layout.form
    if form == "completions":
        return None
    if form == "long":
        known = fields if roles.way == "one source" else fields_of(roles.predictions, connection)
        return frozenset(known)
    return frozenset().union(*(part.carried or frozenset() for part in roles.predictions.parts))


def _sources(table: RoleTable) -> list[dict[str, Any]]:
    role = f"{table.layout.role}s"
    return [
        {"path": part.file.name, "role": role, "sha256": part.file.sha256, "rows": part.count // part.epochs}
        for part in table.parts
    ]
