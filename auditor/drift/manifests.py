"""Which cases of two runs may be compared: same id, same reference, same contract of the field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from auditor.drift.sides import Side
from auditor.drift.stored import create_traits, stored_reader
from auditor.errors import Refused
from auditor.model.drift import Dropped, RunHead
from auditor.model.figures import plural
from auditor.spec.contract import field_contract
from auditor.sql import literal

#: Ids that are named of cases that are not compared.
NAMED = 5


@dataclass(frozen=True)
class Shared:
    """What two runs share: the fields of one contract, the number of cases in both, and what is not compared."""

    fields: tuple[str, ...]
    cases: int
    dropped: tuple[Dropped, ...]


def share_cases(connection: duckdb.DuckDBPyConnection, old: Side, new: Side, *, common: bool) -> Shared:
    """Find what may be compared; Refused where the manifests differ and that is not asked for, or nothing is shared."""
    if old.run.manifest_sha256 == new.run.manifest_sha256:
        return Shared(tuple(old.spec.fields), RunHead.of(old.run).cases, ())
    contracts, fields = _contracts(old, new)
    found, cases = _ids(connection)
    references = [one for field in fields for one in _references(connection, field)]
    dropped = (*found, *contracts, *references, *_traits(connection, old, new))
    if not cases or not fields:
        what = "no case is in both" if not cases else "no field has the same contract in both"
        raise Refused(_refusal(old, new, dropped, f"{what}, so there is nothing to compare, with --common neither"))
    if all(_shares_nothing(connection, field) for field in fields):
        raise Refused(_refusal(old, new, dropped, "no case has the same reference in both, with --common neither"))
    if not common:
        said = f"`--common` compares the {plural(cases, 'shared case')} where the reference is the same, and no other"
        raise Refused(_refusal(old, new, dropped or (_UNEXPLAINED,), said))
    return Shared(fields, cases, dropped or (_UNEXPLAINED,))


_UNEXPLAINED = Dropped("", "ids, references and contracts are the same: what else the manifest binds is not", 0)


def _refusal(old: Side, new: Side, dropped: Sequence[Dropped], step: str) -> str:
    lines = [f"  {one}" for one in dropped]
    return "\n".join(
        [
            f"the runs {old.run.run_id} and {new.run.run_id} are not of the same cases, so no difference between their"
            " rates says anything about a model or a parser",
            *lines,
            f"  next: {step}",
        ]
    )


def _contracts(old: Side, new: Side) -> tuple[list[Dropped], tuple[str, ...]]:
    """Give what differs in the fields, and the fields that are the same in both."""
    dropped, fields = [], []
    for name in dict.fromkeys((*old.spec.fields, *new.spec.fields)):
        if name not in new.spec.fields or name not in old.spec.fields:
            where = "old" if name in old.spec.fields else "new"
            dropped.append(Dropped(name, f"a field of the {where} run only", 0))
            continue
        before, after = field_contract(old.spec.fields[name]), field_contract(new.spec.fields[name])
        if before == after:
            fields.append(name)
        else:
            dropped.append(Dropped(name, f"its contract is another: {_contract_change(before, after)}", 0))
    return dropped, tuple(fields)


def _contract_change(before: dict[str, Any], after: dict[str, Any]) -> str:
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    return ", ".join(f"{name} {before.get(name, 'none')} → {after.get(name, 'none')}" for name in names)


def _ids(connection: duckdb.DuckDBPyConnection) -> tuple[list[Dropped], int]:
    """Give the cases that are in one run only, and the number of those in both."""
    connection.execute("""
        CREATE OR REPLACE TABLE ids AS SELECT case_id, o.case_id IS NOT NULL AS in_old, n.case_id IS NOT NULL AS in_new
        FROM (SELECT DISTINCT case_id FROM old.judged_cases) o
        FULL JOIN (SELECT DISTINCT case_id FROM new.judged_cases) n USING (case_id)""")
    dropped = []
    for name, condition in (("old", "NOT in_new"), ("new", "NOT in_old")):
        count, cases = _named(connection, f"SELECT case_id FROM ids WHERE {condition}")
        if count:
            dropped.append(Dropped("", f"{'case' if count == 1 else 'cases'} of the {name} run only", count, cases))
    ((both,),) = connection.execute("SELECT count(*) FROM ids WHERE in_old AND in_new").fetchall()
    return dropped, both


def _references(connection: duckdb.DuckDBPyConnection, field: str) -> list[Dropped]:
    """Give the shared cases whose reference of a field is another one."""
    query = f"{_pairs_sql(field)} WHERE o.reference IS DISTINCT FROM n.reference"
    count, cases = _named(connection, f"SELECT case_id FROM ({query})")
    if not count:
        return []
    ((before, after),) = connection.execute(f"SELECT old, new FROM ({query}) ORDER BY case_id LIMIT 1").fetchall()
    shown = f" (the first: {before or 'none'} → {after or 'none'})"
    return [
        Dropped(field, f"shared {'case has' if count == 1 else 'cases have'} another reference{shown}", count, cases)
    ]


#: How a case is said to have another value of each such column, and what a run says that has the column.
_TRAITS: Final = {
    "input": ("another input", "what the model was given (`input`)"),
    "split": ("another split", "which split a case is in"),
    "locale": ("another locale", "the locale of a case"),
    "jurisdiction": ("another jurisdiction", "the jurisdiction of a case"),
}


def _traits(connection: duckdb.DuckDBPyConnection, old: Side, new: Side) -> list[Dropped]:
    """Give the shared cases that have something else beside their values: they are compared, and that is said."""
    named = {}
    for side in (old, new):
        connection.execute(f"USE {side.name}")
        named[side.name] = create_traits(connection, side.spec, stored_reader(side.spec, side.folder))
    connection.execute("USE main")
    dropped = []
    for trait, (other, what) in _TRAITS.items():
        saying = [name for name, traits in named.items() if trait in traits]
        if len(saying) == 1:
            dropped.append(Dropped("", f"only the {saying[0]} run says {what}", 0))
        elif saying:
            dropped += _trait_moved(connection, trait, other)
    return dropped


def _trait_moved(connection: duckdb.DuckDBPyConnection, trait: str, other: str) -> list[Dropped]:
    joined = "SELECT case_id FROM old.traits o JOIN new.traits n USING (case_id)"
    count, cases = _named(connection, f"{joined} WHERE o.{trait} IS DISTINCT FROM n.{trait}")
    has, preposition = ("is", "in") if trait == "split" else ("has", "")
    verb = has if count == 1 else {"is": "are", "has": "have"}[has]
    said = " ".join(filter(None, (f"shared {'case' if count == 1 else 'cases'} {verb}", preposition, other)))
    where = ", but for the columns of splits" if trait == "split" else ""
    return [Dropped("", f"{said}, with --common compared all the same{where}", count, cases)] if count else []


def _shares_nothing(connection: duckdb.DuckDBPyConnection, field: str) -> bool:
    query = f"{_pairs_sql(field)} WHERE o.reference = n.reference LIMIT 1"
    return not connection.execute(query).fetchall()


def _pairs_sql(field: str) -> str:
    rows = (
        f"(SELECT DISTINCT case_id, reference FROM {side}.judged_cases WHERE field = {literal(field)})"
        for side in ("old", "new")
    )
    return "SELECT case_id, o.reference AS old, n.reference AS new FROM {} o JOIN {} n USING (case_id)".format(*rows)


def _named(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[int, tuple[str, ...]]:
    found = connection.execute(f"SELECT case_id, count(*) OVER () FROM ({query}) ORDER BY 1 LIMIT {NAMED}").fetchall()
    return (found[0][1] if found else 0), tuple(case for case, _ in found)
