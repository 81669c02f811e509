"""Pattern counts → columns. Every number of a column comes from the same few dozen groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from auditor.errors import InternalError
from auditor.model.run import Column, Share
from auditor.model.verdicts import BLOCKING, FIELD_VERDICTS, LETTER_OF, NOT_ACCEPTED, NOT_RECORDED, VERDICT_OF
from auditor.score.intervals import share, wilson
from auditor.sql import literal

_NOT_ACCEPTED_LETTERS = frozenset(LETTER_OF[name] for name in NOT_ACCEPTED)
_FIELD_LETTERS = frozenset(LETTER_OF[name] for name in FIELD_VERDICTS)


@dataclass(frozen=True)
class PatternCounts:
    """Cases of one field by pattern; `readers[i]` is the consumer of the i-th letter."""

    field: str
    readers: tuple[str, ...]
    counts: Mapping[str, int]
    same_text: int
    total: int


def count_patterns(
    connection: DuckDBPyConnection,
    readers: Mapping[str, Sequence[str]],
    *,
    split: str | None = None,
    arm: str | None = None,
) -> dict[str, PatternCounts]:
    """Count the cases of every field by pattern, those of one split or of one arm alone where it is given."""
    chosen = where_sql(split=split, arm=arm)
    rows = connection.execute(
        "SELECT field, pattern, sum(n)::BIGINT, coalesce(sum(n) FILTER (same_text), 0)::BIGINT "
        f"FROM judged {chosen}GROUP BY field, pattern ORDER BY field, pattern"
    ).fetchall()
    counts: dict[str, dict[str, int]] = {name: {} for name in readers}
    same = Counter[str]()
    for name, pattern, n, same_text in rows:
        counts[name][pattern] = n
        if any(letter in _FIELD_LETTERS for letter in pattern):
            same[name] += same_text
    return {
        name: PatternCounts(name, tuple(consumers), counts[name], same[name], sum(counts[name].values()))
        for name, consumers in readers.items()
    }


def where_sql(*, split: str | None = None, arm: str | None = None) -> str:
    """Give the WHERE of ``judged`` for one split, one arm, or both; nothing for all cases."""
    named = {"split": split, "arm": arm}
    conditions = [f"{name} = {literal(value)}" for name, value in named.items() if value is not None]
    return f"WHERE {' AND '.join(conditions)} " if conditions else ""


@dataclass(frozen=True)
class ColumnTraits:
    """What a column carries besides counts; another version of its consumer is no other consumer."""

    label: str
    scope: str = ""
    scope_note: str = ""
    hints: tuple[str, ...] = ()
    label_note: str = ""
    version_of: str | None = None


def make_columns(
    patterns: PatternCounts, traits: Mapping[str, ColumnTraits], *, withhold_rates: bool
) -> tuple[Column, ...]:
    """Give one column per reader of the field; with `withhold_rates` every rate is None."""
    return tuple(
        _column(
            patterns, position, traits[consumer], _siblings(patterns, consumer, traits), withhold_rates=withhold_rates
        )
        for position, consumer in enumerate(patterns.readers)
    )


def _siblings(patterns: PatternCounts, consumer: str, traits: Mapping[str, ColumnTraits]) -> frozenset[int]:
    """Give the positions of the other versions of a consumer."""
    own = traits[consumer].version_of
    return frozenset(
        position for position, other in enumerate(patterns.readers) if own and traits[other].version_of == own
    )


def _column(
    patterns: PatternCounts, position: int, traits: ColumnTraits, siblings: frozenset[int], *, withhold_rates: bool
) -> Column:
    by_verdict = Counter[str]()
    recoverable = 0
    for pattern, n in patterns.counts.items():
        by_verdict[VERDICT_OF[pattern[position]]] += n
        if pattern[position] in _NOT_ACCEPTED_LETTERS and any(
            letter == "o" and at not in siblings for at, letter in enumerate(pattern)
        ):
            recoverable += n
    verdicts = {name: by_verdict[name] for name in FIELD_VERDICTS}
    blocked_by = {name: by_verdict[name] for name in BLOCKING if by_verdict[name]}
    judged, blocked = sum(verdicts.values()), sum(blocked_by.values())
    unreferenced = by_verdict["unreferenced"] + by_verdict["unexpected"]
    _check_rows(patterns, position, judged + blocked + unreferenced + by_verdict["broken_reference"])
    ok, accepted, support = verdicts["ok"], verdicts["ok"] + verdicts["wrong"], judged + blocked
    content, ceiling = share(ok, judged), share(accepted, judged)
    return Column(
        field=patterns.field,
        consumer=patterns.readers[position],
        label=traits.label,
        support=support,
        judged=judged,
        blocked=blocked,
        blocked_by=blocked_by,
        verdicts=verdicts,
        unreferenced=unreferenced,
        unexpected=by_verdict["unexpected"],
        broken_references=by_verdict["broken_reference"],
        coverage=None if withhold_rates or not support else judged / support,
        content_rate=None if withhold_rates else content.rate,
        usable_rate=None if withhold_rates or not support else ok / support,
        interval=None if withhold_rates else content.interval,
        ceiling=None if withhold_rates else ceiling.rate,
        ceiling_interval=None if withhold_rates else wilson(accepted, judged),
        recoverable=recoverable,
        scope=traits.scope,
        scope_note=traits.scope_note,
        hints=traits.hints,
        label_note=traits.label_note,
    )


def _check_rows(patterns: PatternCounts, position: int, counted: int) -> None:
    if counted != patterns.total:
        raise InternalError(
            f"field {patterns.field}, consumer {patterns.readers[position]}: the verdicts count {counted} cases, "
            f"the field has {patterns.total}; no rate can be trusted. Please report this with the spec."
        )


def usable_everywhere(patterns: PatternCounts, *, withhold_rates: bool) -> Share:
    """Cases that are ok for every consumer of the field, of the cases that are judged for any.

    What one of them has no record of is not known to be either, so it is left out.
    """
    judged = _sum(patterns, lambda letters: LETTER_OF[NOT_RECORDED] not in letters and _is_judged(letters))
    usable = _sum(patterns, lambda letters: bool(letters) and set(letters) == {"o"})
    return Share(usable, judged, None, None) if withhold_rates else share(usable, judged)


def string_equality(patterns: PatternCounts, *, withhold_rates: bool) -> Share:
    """The baseline that people compute today: prediction and reference are the same text."""
    judged = _sum(patterns, _is_judged)
    return Share(patterns.same_text, judged, None, None) if withhold_rates else share(patterns.same_text, judged)


def _is_judged(letters: str) -> bool:
    """Say whether some consumer has a verdict on a case."""
    return any(letter in _FIELD_LETTERS for letter in letters)


def _sum(patterns: PatternCounts, chosen: Callable[[str], bool]) -> int:
    return sum(n for pattern, n in patterns.counts.items() if chosen(pattern))
