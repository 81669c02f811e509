"""A parser gives the value of a good string for junk, or one value for everything: its column's rate means nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import Census, status_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.junk import EMPTY_BOXES, is_junk, is_one_of
from auditor.findings.probes import NEGATIVE_WORDS, NONSENSE, POSITIVE_WORDS, ProbeOutcome
from auditor.findings.strings import pick
from auditor.findings.witnesses import probe_witness
from auditor.model.run import Witness

COLLAPSE_CODE = "sentinel-collapse"
CONSTANT_CODE = "constant-output"

TRUE, FALSE = "bool:true", "bool:false"

_FIXES = (
    "Make the parser refuse what it does not know: raise an error, or return null, never a value.",
    "List the strings that mean each value, and refuse all others.",
    "Until then, read nothing into the rate of this column.",
)


#: A blank is a case of its own: that text which says nothing has another value makes no parser look at text.
_WORDED = "coalesce(shape, '') NOT IN ('(blank)', '(empty)')"


@dataclass(frozen=True)
class _Column:
    """A consumer's reading of a field, and what it made of the probes that it accepted."""

    census: Census
    field: str
    consumer: str
    accepted: tuple[ProbeOutcome, ...]

    @property
    def type(self) -> str:
        return self.census.context.spec.fields[self.field].type

    @property
    def number(self) -> int:
        return self.census.context.index[self.consumer]

    def of_kind(self, *kinds: str) -> list[ProbeOutcome]:
        return [outcome for outcome in self.accepted if outcome.probe.kind in kinds]


def find_sentinels(census: Census) -> Iterator[Draft]:
    """Give at most two drafts per column: junk that becomes a value, and one value for everything."""
    columns: dict[tuple[str, str], list[ProbeOutcome]] = defaultdict(list)
    for outcome in census.context.probes:
        if outcome.status == "v":
            columns[outcome.field, outcome.consumer].append(outcome)
    for (field, consumer), accepted in columns.items():
        column = _Column(census, field, consumer, tuple(accepted))
        yield from _collapse(column)
        yield from _constant(column)


def _collapse(column: _Column) -> Iterator[Draft]:
    junk = _collapsed_junk(column)
    true = {outcome.key for outcome in column.of_kind("positive") if outcome.value == TRUE}
    negative = [outcome for outcome in column.of_kind("negative") if outcome.key in true]
    if negative or (junk and not (column.type == "boolean" and all(_is_unticked(outcome) for outcome in junk))):
        yield _collapse_draft(column, junk, negative)


def _is_unticked(outcome: ProbeOutcome) -> bool:
    """Tell whether a blank is taken for no: a box that is not ticked, where nothing else that is no value is taken."""
    return outcome.probe.kind == "junk" and not _content(outcome).strip() and outcome.value == FALSE


def _collapsed_junk(column: _Column) -> list[ProbeOutcome]:
    """Give the junk that has the value of a good string, or of other junk, or that the engine itself warned of."""
    junk = [outcome for outcome in column.of_kind("junk") if not _is_echo(column, outcome)]
    by_key: dict[str | None, list[ProbeOutcome]] = defaultdict(list)
    for outcome in junk:
        by_key[outcome.key].append(outcome)
    if column.type in ("category", "identifier"):
        # A map may send words for "nothing" to a member of its own; only a catch-all sends nonsense there.
        by_key = {key: some for key, some in by_key.items() if any(_content(one) in NONSENSE for one in some)}
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
    rows = column.census.query(
        f"SELECT DISTINCT k{column.number} FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND k{column.number} IN {sql.texts(key for key in keys if key)}"
        f" AND NOT ({is_junk(column.census.context.spec.fields[column.field].type, column.number)})"
    )
    return {key for (key,) in rows}


def _is_echo(column: _Column, outcome: ProbeOutcome) -> bool:
    """Tell whether a text field merely gives its string back."""
    if column.type not in ("category", "identifier"):
        return False
    return _letters(_content(outcome)) == _letters((outcome.value or "").partition(":")[2])


def _letters(text: str) -> str:
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def _content(outcome: ProbeOutcome) -> str:
    token = outcome.probe.token
    return str(json.loads(token)) if token.startswith('"') else token


def _collapse_draft(column: _Column, junk: Sequence[ProbeOutcome], negative: Sequence[ProbeOutcome]) -> Draft:
    says = "; ".join(part for part in (_says(junk), _says(negative)) if part)
    warned = next((outcome.warning for outcome in (*junk, *negative) if outcome.warning), None)
    role = column.census.role_of(column.field, (column.consumer,))
    picked = pick(column.census, column.field, _affected(column, junk, negative), role)
    return Draft(
        code=COLLAPSE_CODE,
        severity="high",
        field=column.field,
        consumers=(column.consumer,),
        title=f"{column.consumer} gives a value of {column.field} for what is none: {says}",
        detail=f"A failure of {column.consumer} cannot be told from a value: {says}."
        + (f" Its engine gives the value and only warns: {warned}." if warned else ""),
        cause=_cause(column, bool(negative)),
        fixes=_FIXES,
        fingerprint=fingerprint(COLLAPSE_CODE, column.field, (column.consumer,)),
        units=picked.units,
        affected=picked.affected,
        affected_outside=picked.outside,
        strings=picked.strings,
        role=role,
        witnesses=_witnesses(column, (*negative[:2], *junk[:2], *_twins(column, (*negative, *junk)))),
    )


def _affected(column: _Column, junk: Sequence[ProbeOutcome], negative: Sequence[ProbeOutcome]) -> str:
    """Write the condition on strings of the data: junk with a collapsed value, and negative words with a wrong one."""
    key = f"k{column.number}"
    field_type = column.census.context.spec.fields[column.field].type
    junk_keys, negative_keys = _keys(junk), _keys(negative)
    parts = []
    if junk_keys:
        parts.append(f"{key} IN {sql.texts(junk_keys)} AND {is_junk(field_type, column.number)}")
    if negative_keys:
        words = is_one_of((*NEGATIVE_WORDS, *EMPTY_BOXES))
        parts.append(f"{key} IN {sql.texts(negative_keys)} AND ({words} OR token = 'false')")
    return " OR ".join(f"({part})" for part in parts) or "false"


def _keys(outcomes: Iterable[ProbeOutcome]) -> list[str]:
    return sorted({outcome.key for outcome in outcomes if outcome.key is not None})


def _says(outcomes: Sequence[ProbeOutcome]) -> str:
    if not outcomes:
        return ""
    value = outcomes[0].value
    tokens = [outcome.probe.token for outcome in outcomes if outcome.value == value]
    more = f" and {len(tokens) - 2} more" if len(tokens) > 2 else ""
    return f"{' and '.join(tokens[:2]) if not more else ', '.join(tokens[:2])}{more} → {value}"


def _twins(column: _Column, collapsed: Sequence[ProbeOutcome]) -> list[ProbeOutcome]:
    """Give a good string that has the value of collapsed ones."""
    keys = {outcome.key for outcome in collapsed}
    return [outcome for outcome in column.of_kind("sound", "positive", "negative") if outcome.key in keys][-1:]


def _cause(column: _Column, has_negative: bool) -> str:
    if has_negative:
        return 'Truth is taken from the text being there, not from what it says: bool("false") is true.'
    if column.type == "boolean":
        return "Everything that is not on the list of one value is taken for the other."
    return (
        "An error is caught and a default is returned in its place: 0, a fixed or today's date, a catch-all category."
    )


def _constant(column: _Column) -> Iterator[Draft]:
    worded = [outcome for outcome in column.accepted if outcome.probe.kind != "json_type" and _content(outcome).strip()]
    if len({_reading(column, outcome) for outcome in worded}) != 1 or not _has_different_meanings(column, worded):
        return
    keys = column.census.query(
        f"SELECT DISTINCT k{column.number} FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND k{column.number} IS NOT NULL AND {_WORDED} LIMIT 2"
    )
    if {key for (key,) in keys} <= {worded[0].key} and (worded[0].value != FALSE or _has_positive_word(column)):
        yield _constant_draft(column, worded)


def _has_positive_word(column: _Column) -> bool:
    """Tell whether the data have a yes that the column accepts: a box ticked by X takes no word for true."""
    positive = f"{is_one_of(POSITIVE_WORDS)} OR token = 'true'"
    return bool(
        column.census.query(
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
    if not any(_content(outcome) in NONSENSE for outcome in accepted):
        return False
    ((strings,),) = column.census.query(
        f"SELECT count(DISTINCT token) FROM own_outcomes WHERE field = {sql.text(column.field)}"
        f" AND s{column.number} = 'v'"
    )
    return int(strings) > 1


def _constant_draft(column: _Column, accepted: Sequence[ProbeOutcome]) -> Draft:
    value = accepted[0].value
    meant = {outcome.probe.meaning: outcome for outcome in accepted}
    return Draft(
        code=CONSTANT_CODE,
        severity="high",
        field=column.field,
        consumers=(column.consumer,),
        title=f"{column.consumer} gives one value of {column.field} for everything: {value}",
        detail=f"Every string with some text that {column.consumer} accepts comes back as {value}: two always agree.",
        cause="The parser does not look at what the string says: a truth test of the text, a stub, or a default.",
        fixes=_FIXES,
        fingerprint=fingerprint(CONSTANT_CODE, column.field, (column.consumer,)),
        groups=f"field = {sql.text(column.field)} AND {status_of(column.number)} = 'v' AND {_WORDED}",
        role=column.census.role_of(column.field, (column.consumer,)),
        witnesses=_witnesses(column, tuple(meant.values())[:3]),
    )


def _witnesses(column: _Column, outcomes: Iterable[ProbeOutcome]) -> tuple[Witness, ...]:
    tokens = dict.fromkeys(outcome.probe.token for outcome in outcomes)
    return tuple(
        probe_witness(
            [
                other
                for other in column.census.context.probes
                if other.field == column.field and other.probe.token == token
            ]
        )
        for token in tokens
    )
