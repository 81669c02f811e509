"""A parser gives the value of a good string for junk, or one value for everything: its column's rate means nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from auditor.findings import sql
from auditor.findings.census import Census, status_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.junk import EMPTY_BOXES, is_junk, is_one_of
from auditor.findings.probes import NEGATIVE_WORDS, ProbeOutcome
from auditor.findings.sentinel_readings import WORDED, Sentinel, keys_of
from auditor.findings.strings import pick
from auditor.findings.witnesses import probe_witness
from auditor.model.run import Witness

COLLAPSE_CODE = "sentinel-collapse"
CONSTANT_CODE = "constant-output"

_FIXES = (
    "Make the parser refuse what it does not know: raise an error, or return null, never a value.",
    "List the strings that mean each value, and refuse all others.",
    "Until then, read nothing into the rate of this column.",
)


def find_sentinels(census: Census) -> Iterator[Draft]:
    """Give at most two drafts per column: junk that becomes a value, and one value for everything."""
    for one in census.sentinels:
        if one.junk or one.negative:
            yield _collapse_draft(census, one)
        if one.constant:
            yield _constant_draft(census, one)


def _collapse_draft(census: Census, column: Sentinel) -> Draft:
    junk, negative = column.junk, column.negative
    says = "; ".join(part for part in (_says(junk), _says(negative)) if part)
    warned = next((outcome.warning for outcome in (*junk, *negative) if outcome.warning), None)
    role = census.role_of(column.field, (column.consumer,))
    picked = pick(census, column.field, _affected(census, column), role)
    return Draft(
        code=COLLAPSE_CODE,
        severity="high",
        field=column.field,
        consumers=(column.consumer,),
        title=f"{column.consumer} gives a value of {column.field} for what is none: {says}",
        detail=f"A failure of {column.consumer} cannot be told from a value: {says}."
        + (f" Its engine gives the value and only warns: {warned}." if warned else ""),
        cause=_cause(census, column),
        fixes=_FIXES,
        fingerprint=fingerprint(COLLAPSE_CODE, column.field, (column.consumer,)),
        units=picked.units,
        affected=picked.affected,
        affected_outside=picked.outside,
        strings=picked.strings,
        role=role,
        witnesses=_witnesses(census, column, (*negative[:2], *junk[:2], *_twins(column, (*negative, *junk)))),
    )


def _affected(census: Census, column: Sentinel) -> str:
    """Write the condition on strings of the data: junk with a collapsed value, and negative words with a wrong one."""
    number, field_type = census.context.index[column.consumer], census.context.spec.fields[column.field].type
    key, junk_keys, negative_keys = f"k{number}", keys_of(column.junk), keys_of(column.negative)
    parts = []
    if junk_keys:
        parts.append(f"{key} IN {sql.texts(junk_keys)} AND {is_junk(field_type, number)}")
    if negative_keys:
        words = is_one_of((*NEGATIVE_WORDS, *EMPTY_BOXES))
        parts.append(f"{key} IN {sql.texts(negative_keys)} AND ({words} OR token = 'false')")
    return " OR ".join(f"({part})" for part in parts) or "false"


def _says(outcomes: Sequence[ProbeOutcome]) -> str:
    if not outcomes:
        return ""
    value = outcomes[0].value
    tokens = [outcome.probe.token for outcome in outcomes if outcome.value == value]
    more = f" and {len(tokens) - 2} more" if len(tokens) > 2 else ""
    return f"{' and '.join(tokens[:2]) if not more else ', '.join(tokens[:2])}{more} → {value}"


def _twins(column: Sentinel, collapsed: Sequence[ProbeOutcome]) -> list[ProbeOutcome]:
    """Give a good string that has the value of collapsed ones."""
    keys = {outcome.key for outcome in collapsed}
    good = [outcome for outcome in column.accepted if outcome.probe.kind in ("sound", "positive", "negative")]
    return [outcome for outcome in good if outcome.key in keys][-1:]


def _cause(census: Census, column: Sentinel) -> str:
    if column.negative:
        return 'Truth is taken from the text being there, not from what it says: bool("false") is true.'
    if census.context.spec.fields[column.field].type == "boolean":
        return "Everything that is not on the list of one value is taken for the other."
    return (
        "An error is caught and a default is returned in its place: 0, a fixed or today's date, a catch-all category."
    )


def _constant_draft(census: Census, column: Sentinel) -> Draft:
    value, number = column.constant[0].value, census.context.index[column.consumer]
    meant = {outcome.probe.meaning: outcome for outcome in column.constant}
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
        groups=f"field = {sql.text(column.field)} AND {status_of(number)} = 'v' AND {WORDED}",
        role=census.role_of(column.field, (column.consumer,)),
        witnesses=_witnesses(census, column, tuple(meant.values())[:3]),
    )


def _witnesses(census: Census, column: Sentinel, outcomes: Iterable[ProbeOutcome]) -> tuple[Witness, ...]:
    tokens = dict.fromkeys(outcome.probe.token for outcome in outcomes)
    return tuple(
        probe_witness([one for one in census.context.probes if one.field == column.field and one.probe.token == token])
        for token in tokens
    )
