"""Two versions of one consumer read a string differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.findings import sql
from auditor.findings.causes import CAUSES
from auditor.findings.census import Census, status_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.versions import version_pairs
from auditor.model.verdicts import STATUS_OF

CODE: Final = "version-drift"

#: Parts that differ and are named.
_SHOWN: Final = 4

#: What a version does with a string that it gives no value for, by the letter of its outcome.
_DOES: Final = {
    "r": "rejects",
    "n": "gives no value for",
    "d": "drops the row of",
    "c": "crashes on",
    "t": "takes too long for",
}
_NOT_READ: Final = sql.texts(_DOES)


def find_version_drift(census: Census) -> Iterator[Draft]:
    """Give one draft per field, pair of versions, and pattern of their outcomes: the first listed and each other."""
    for left, right in version_pairs(census.context):
        yield from _of_values(census, left, right)
        first, second = status_of(left), status_of(right)
        patterns = (
            (left, f"{first} = 'v' AND {second} IN {_NOT_READ}"),
            (right, f"{second} = 'v' AND {first} IN {_NOT_READ}"),
        )
        for reader, groups in patterns:
            for (field,) in census.query(f"SELECT DISTINCT field FROM f_groups WHERE {groups} ORDER BY field"):
                yield _of_acceptance(census, field, (left, right), reader, groups)
        yield from _of_refusals(census, left, right)


def _of_values(census: Census, left: int, right: int) -> Iterator[Draft]:
    """Draft the strings that both accept, by the way in which the values differ."""
    query = "SELECT DISTINCT field, unnest(string_split(rtrim(drifts, ';'), ';')) AS drift FROM f_groups"
    query += " WHERE drifts <> '' ORDER BY ALL"
    before, after = census.numbered((left, right))
    for field, drift in census.query(query):
        numbers, _, word = drift.partition(":")
        if numbers != f"{left}-{right}":
            continue
        cause = CAUSES[word]
        yield _draft(
            census,
            field,
            (before, after),
            pattern=word,
            title=f"{before} and {after} read the same {field} differently: {cause.says}",
            detail="Both accept these strings: a change from one to the other moves values without a word.",
            fixes=cause.fixes,
            groups=f"contains(';' || drifts, {sql.text(f';{drift};')})",
        )


def _of_refusals(census: Census, left: int, right: int) -> Iterator[Draft]:
    """Draft the strings that neither reads, and each refuses in another way: the verdict of their cases moves."""
    before, after = census.numbered((left, right))
    first, second = status_of(left), status_of(right)
    query = f"SELECT DISTINCT field, {first}, {second} FROM f_groups WHERE {first} <> {second}"
    query += f" AND {first} IN {_NOT_READ} AND {second} IN {_NOT_READ} ORDER BY ALL"
    for field, was, became in census.query(query):
        yield _draft(
            census,
            field,
            (before, after),
            pattern=f"{STATUS_OF[was]}, {STATUS_OF[became]}",
            title=f"{before} {_DOES[was]} {field} strings that {after} {_DOES[became]}",
            detail="Neither gives a value, and what happens to the record is another thing.",
            fixes=(f"Let both versions answer alike where {field} cannot be read: raise, or return nothing.",),
            groups=f"{first} = {sql.text(was)} AND {second} = {sql.text(became)}",
        )


def _of_acceptance(census: Census, field: str, pair: tuple[int, int], reader: int, groups: str) -> Draft:
    before, after = census.numbered(pair)
    able, unable = (before, after) if reader == pair[0] else (after, before)
    return _draft(
        census,
        field,
        (before, after),
        pattern=f"read by {able} only",
        title=f"{able} reads {field} strings that {unable} does not",
        detail=f"A change from {before} to {after} {'loses' if able == before else 'takes up'} these strings.",
        fixes=(
            f"Decide whether these strings are values of {field}, and let both versions say so, before one replaces"
            " the other.",
            "Ask the model for a form that both versions read.",
        ),
        groups=groups,
    )


def _draft(
    census: Census,
    field: str,
    pair: tuple[str, str],
    *,
    pattern: str,
    title: str,
    detail: str,
    fixes: tuple[str, ...],
    groups: str,
) -> Draft:
    return Draft(
        code=CODE,
        severity="medium",
        field=field,
        consumers=pair,
        title=title,
        detail=detail,
        cause=_cause(census, pair),
        fixes=(*fixes, "Take a version out of `versions` once nothing runs it any more."),
        fingerprint=fingerprint(CODE, field, pair, pattern),
        groups=f"field = {sql.text(field)} AND {groups}",
        role=census.role_of(field, pair),
        shapes_as="read differently",
    )


def _cause(census: Census, pair: tuple[str, str]) -> str:
    """Say what the versions are made of that differs."""
    before, after = (census.context.made_of.get(name, {}) for name in pair)
    said = [
        f"{name} {before.get(name, 'is not there')} and {after.get(name, 'is not there')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    if not said:
        return "The two versions are made of the same parts, as far as they can be seen."
    more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return f"The two differ in {'; '.join(said[:_SHOWN])}{more}."
