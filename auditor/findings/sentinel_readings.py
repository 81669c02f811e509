"""Which parsers give a value that is no reading: that of a good string for junk, or one value for everything.

Such a value says nothing of its string, so that no other consumer is measured by it: what a broken parser happens to
have right is no right answer that a strict one loses.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.findings import sql
from auditor.findings.context import Context
from auditor.findings.junk import is_junk, is_one_of
from auditor.findings.probes import NONSENSE, POSITIVE_WORDS, ProbeOutcome

TRUE, FALSE = "bool:true", "bool:false"

#: A blank is a case of its own: that text which says nothing has another value makes no parser look at text.
WORDED = "coalesce(shape, '') NOT IN ('(blank)', '(empty)')"


@dataclass(frozen=True)
class Sentinel:
    """A consumer's reading of a field: the probes that it accepted, and which of them it should not have.

    `junk` is text that is no value, `negative` are words for no that come back as yes; `constant` are the probes that
    mean different things and come back as one value, empty where they do not.
    """

    field: str
    consumer: str
    accepted: tuple[ProbeOutcome, ...]
    junk: tuple[ProbeOutcome, ...]
    negative: tuple[ProbeOutcome, ...]
    constant: tuple[ProbeOutcome, ...]


def sentinels_of(context: Context) -> tuple[Sentinel, ...]:
    """Give the columns whose consumer collapses, in the order of its probes."""
    columns: dict[tuple[str, str], list[ProbeOutcome]] = defaultdict(list)
    for outcome in context.probes:
        if outcome.status == "v" and outcome.consumer in context.index:
            columns[outcome.field, outcome.consumer].append(outcome)
    found = (
        _judged(_Column(context, field, consumer, tuple(accepted))) for (field, consumer), accepted in columns.items()
    )
    return tuple(one for one in found if one.junk or one.negative or one.constant)


def accidental_readings(context: Context, sentinels: Iterable[Sentinel]) -> dict[str, str]:
    """Give, by consumer, the SQL condition on ``own_outcomes`` of strings that have their value by accident.

    They have the value that the consumer gives to junk as well, or that it gives to everything; or another one when
    they are decoded again, for no cause.
    """
    parts: dict[str, list[str]] = defaultdict(list)
    for one in sentinels:
        of_field = f"field = {sql.text(one.field)}"
        if one.constant:
            parts[one.consumer].append(f"({of_field} AND {WORDED})")
        if collapsed := keys_of((*one.junk, *one.negative)):
            number = context.index[one.consumer]
            parts[one.consumer].append(f"({of_field} AND k{number} IN {sql.texts(collapsed)})")
    chance = "SELECT unit FROM movers WHERE code = 'unstable' AND consumer = {}"
    rows = context.connection.execute("SELECT DISTINCT consumer FROM movers WHERE code = 'unstable'").fetchall()
    unstable = {number for (number,) in rows}
    for name, number in context.index.items():
        if number in unstable:
            parts[name].append(f"unit IN ({chance.format(number)})")
    return {name: " OR ".join(some) for name, some in parts.items()}


def keys_of(outcomes: Iterable[ProbeOutcome]) -> list[str]:
    """Give the values of some probes at the grain of the field, each once."""
    return sorted({outcome.key for outcome in outcomes if outcome.key is not None})


def content_of(outcome: ProbeOutcome) -> str:
    """Give the text of a probe, or the source text of another JSON value."""
    token = outcome.probe.token
    return str(json.loads(token)) if token.startswith('"') else token


@dataclass(frozen=True)
class _Column:
    """A consumer's reading of a field, and what it made of the probes that it accepted."""

    context: Context
    field: str
    consumer: str
    accepted: tuple[ProbeOutcome, ...]

    @property
    def type(self) -> str:
        return self.context.spec.fields[self.field].type

    @property
    def number(self) -> int:
        return self.context.index[self.consumer]

    def of_kind(self, *kinds: str) -> list[ProbeOutcome]:
        return [outcome for outcome in self.accepted if outcome.probe.kind in kinds]

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        return self.context.connection.execute(statement).fetchall()


def _judged(column: _Column) -> Sentinel:
    junk = _collapsed_junk(column)
    true = {outcome.key for outcome in column.of_kind("positive") if outcome.value == TRUE}
    negative = [outcome for outcome in column.of_kind("negative") if outcome.key in true]
    if not negative and column.type == "boolean" and all(_is_unticked(outcome) for outcome in junk):
        junk = []
    return Sentinel(
        column.field, column.consumer, column.accepted, tuple(junk), tuple(negative), tuple(_constant(column))
    )


def _is_unticked(outcome: ProbeOutcome) -> bool:
    """Tell whether a blank is taken for no: a box that is not ticked, where nothing else that is no value is taken."""
    return outcome.probe.kind == "junk" and not content_of(outcome).strip() and outcome.value == FALSE


def _collapsed_junk(column: _Column) -> list[ProbeOutcome]:
    """Give the junk that has the value of a good string, or of other junk, or that the engine itself warned of."""
    junk = [outcome for outcome in column.of_kind("junk") if not _is_echo(column, outcome)]
    by_key: dict[str | None, list[ProbeOutcome]] = defaultdict(list)
    for outcome in junk:
        by_key[outcome.key].append(outcome)
    if column.type in ("category", "identifier"):
        # A map may send words for "nothing" to a member of its own; only a catch-all sends nonsense there.
        by_key = {key: some for key, some in by_key.items() if any(content_of(one) in NONSENSE for one in some)}
    good = {outcome.key for outcome in column.of_kind("sound", "positive", "negative")}
    alone = [key for key, some in by_key.items() if key not in good and len(some) < 2]
    good |= _good_keys_of_data(column, alone)
    return [
        outcome for key, some in by_key.items() for outcome in some if key in good or len(some) > 1 or outcome.warning
    ]


def _good_keys_of_data(column: _Column, keys: Sequence[str | None]) -> set[str | None]:
    """Give those keys that some string of the data has which is itself no junk."""
    if not keys:
        return set()
    rows = column.query(
        f"SELECT DISTINCT k{column.number} FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND k{column.number} IN {sql.texts(key for key in keys if key)}"
        f" AND NOT ({is_junk(column.context.spec.fields[column.field].type, column.number)})"
    )
    return {key for (key,) in rows}


def _is_echo(column: _Column, outcome: ProbeOutcome) -> bool:
    """Tell whether a text field merely gives its string back."""
    if column.type not in ("category", "identifier"):
        return False
    return _letters(content_of(outcome)) == _letters((outcome.value or "").partition(":")[2])


def _letters(text: str) -> str:
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def _constant(column: _Column) -> list[ProbeOutcome]:
    """Give the probes that mean different things where everything that is accepted has one value, else none."""
    worded = [outcome for outcome in column.accepted if outcome.probe.kind != "json_type"]
    worded = [outcome for outcome in worded if content_of(outcome).strip()]
    if len({_reading(column, outcome) for outcome in worded}) != 1 or not _has_different_meanings(column, worded):
        return []
    keys = column.query(
        f"SELECT DISTINCT k{column.number} FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND k{column.number} IS NOT NULL AND {WORDED} LIMIT 2"
    )
    is_one = {key for (key,) in keys} <= {worded[0].key}
    return worded if is_one and (worded[0].value != FALSE or _has_positive_word(column)) else []


def _has_positive_word(column: _Column) -> bool:
    """Tell whether the data have a yes that the column accepts: a box ticked by X takes no word for true."""
    positive = f"{is_one_of(POSITIVE_WORDS)} OR token = 'true'"
    return bool(
        column.query(
            f"SELECT 1 FROM own_outcomes WHERE field = {sql.text(column.field)} AND s{column.number} = 'v'"
            f" AND ({positive}) LIMIT 1"
        )
    )


def _reading(column: _Column, outcome: ProbeOutcome) -> str | None:
    """Give what must differ between strings that differ: numbers may be one at a coarse grain, and dates may not."""
    return outcome.key if column.type in ("date", "datetime", "boolean") else outcome.value


def _has_different_meanings(column: _Column, accepted: Sequence[ProbeOutcome]) -> bool:
    """Tell whether strings that mean different things were accepted: for categories, nonsense beside the data."""
    if column.type != "category":
        return len({outcome.probe.meaning for outcome in accepted if outcome.probe.meaning}) > 1
    if not any(content_of(outcome) in NONSENSE for outcome in accepted):
        return False
    ((strings,),) = column.query(
        f"SELECT count(DISTINCT token) FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND s{column.number} = 'v'"
    )
    return int(strings) > 1
