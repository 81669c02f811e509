"""The same raw outputs read by two sets of parsers → `Redecoding`.

Every raw value that was accepted must still be accepted with the same value: each exception is a regression, unless it
is junk that is now rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from auditor.drift.compare import check_counts, counts_of, not_comparable
from auditor.drift.instrument import changes
from auditor.drift.sides import Side, opened
from auditor.drift.verdicts import Verdicts, of_column
from auditor.model.drift import ColumnKey, RunHead
from auditor.model.redecoding import MOST_LISTED, RedecodedColumn, Redecoding, Rereading
from auditor.model.verdicts import STATUS_OF, VERDICT_OF
from auditor.spec.models import FieldType
from auditor.sql import literal
from auditor.store.reading import StoredRun

#: SQL for whether a row of `outcomes` is junk for a type of field, whatever the consumer of a number made of it.
Junk = Callable[[FieldType, int], str]

COLLAPSE = "sentinel-collapse"


@dataclass(frozen=True)
class _Pair:
    """Both runs, open, with the table `shared`."""

    connection: duckdb.DuckDBPyConnection
    old: Side
    new: Side
    verdicts: Verdicts
    junk: Junk


def compare_readings(old: StoredRun, new: StoredRun, is_junk: Junk, notes: tuple[str, ...] = ()) -> Redecoding:
    """Compare what two runs of the same raw outputs made of each of them."""
    with opened([("old", old), ("new", new)]) as (connection, (before, after)):
        fields = [name for name in before.spec.fields if name in after.spec.fields]
        pair = _Pair(connection, before, after, Verdicts(connection, before, after, fields), is_junk)
        keys = [key for key in before.columns if key.is_whole and key in after.columns]
        check_counts(pair.verdicts, keys, before, after)
        return Redecoding(
            old=RunHead.of(old.run),
            new=RunHead.of(new.run),
            instrument=changes(before, after),
            columns=tuple(_column(pair, key) for key in keys),
            only_old=tuple(key for key in before.columns if key.is_whole and key not in after.columns),
            only_new=tuple(key for key in after.columns if key.is_whole and key not in before.columns),
            notes=(*notes, *_unstable(before), *_unstable(after)),
        )


def _unstable(side: Side) -> Iterator[str]:
    for key, column in side.columns.items():
        if key.is_whole and "unstable" in column.untrusted:
            yield f"{key}: unstable in the {side.name} run, so what is read otherwise may be so by chance"


def _column(pair: _Pair, key: ColumnKey) -> RedecodedColumn:
    counts = pair.verdicts.counts(key)
    reasons = [
        f"{side.name} run: {reason}"
        for side, letters in ((pair.old, counts.old), (pair.new, counts.new))
        if (reason := not_comparable(side.run, side.columns[key], letters))
    ]
    suppressed = "; ".join(reasons)
    before, after = (counts_of(letters, suppressed=bool(reasons)) for letters in (counts.old, counts.new))
    difference = half = None
    if before.content_rate is not None and after.content_rate is not None and before.interval is not None:
        difference = after.content_rate - before.content_rate
        half = (before.interval.high - before.interval.low) / 2
    _create_reread(pair, key)
    strings, listed = _string_counts(pair.connection), _rereadings(pair, key)
    return RedecodedColumn(
        field=key.field,
        consumer=key.consumer,
        old_version=pair.old.run.consumers[pair.old.number(key.consumer)].version,
        new_version=pair.new.run.consumers[pair.new.number(key.consumer)].version,
        old=before,
        new=after,
        suppressed=suppressed,
        difference=difference,
        half_width=half,
        of_error_bar=None if difference is None or not half else abs(difference) / half,
        strings=strings,
        counts={name: len(tokens) for name, tokens in listed.strings.items()},
        rows=dict(listed.rows),
        turns=dict(listed.turns),
        regressions=tuple(listed.first["regressions"]),
        intended=tuple(listed.first["intended"]),
        newly_accepted=tuple(listed.first["newly_accepted"]),
        arm=key.arm,
    )


_LISTS = ("regressions", "intended", "newly_accepted")

#: Rows that are fetched at once.
_CHUNK = 50_000


class _Listed:
    """The three lists of a column, each up to its limit, and what all of it comes to."""

    def __init__(self) -> None:
        self.first: dict[str, list[Rereading]] = {name: [] for name in _LISTS}
        self.strings: dict[str, set[str]] = {name: set() for name in _LISTS}
        self.rows = Counter(dict.fromkeys(_LISTS, 0))
        self.turns = Counter[str]()

    def add(self, name: str, one: Rereading) -> None:
        """Take in the next one; those of most cases come first."""
        self.strings[name].add(one.raw)
        self.rows[name] += 1
        if one.role == "prediction":
            self.turns.update(one.turns)
        if self.rows[name] <= MOST_LISTED:
            self.first[name].append(one)


def _create_reread(pair: _Pair, key: ColumnKey) -> None:
    """Create `reread`: a row per raw value and role of a column, as both runs read it, and what came of it.

    A raw value is one row of `outcomes` in each run; which is which, the cases say. Of a reference that the consumer is
    never sent (`is_sent`) nothing counts but its shape.
    """
    kind = pair.old.spec.fields[key.field].type
    # What is no value of a text field is known by what its parser makes of it alone, which a synonym shares.
    junk = "false" if kind in ("category", "identifier") else pair.junk(kind, pair.old.number(key.consumer))
    i, j, field = pair.old.number(key.consumer), pair.new.number(key.consumer), literal(key.field)
    sent = str(pair.old.spec.fields[key.field].is_decoded_by(key.consumer)).lower()
    accepted = f"coalesce(o.s{i} = 'v', false)", "coalesce(n.new_s = 'v', false)"
    pair.connection.execute(f"""
        CREATE OR REPLACE TABLE reread AS
        SELECT r.*, o.token, o.shape, o.s{i} AS old_s, o.v{i} AS old_v, n.new_s, n.new_v,
            {junk} AS is_junk, NOT is_reference OR {sent} AS is_sent,
            CASE WHEN NOT {accepted[0]} AND NOT {accepted[1]} THEN 'never'
                WHEN NOT {accepted[0]} THEN 'gained'
                WHEN NOT {accepted[1]} THEN 'lost'
                WHEN o.v{i} = n.new_v THEN 'same'
                WHEN o.k{i} = n.new_k THEN 'finer'
                ELSE 'changed' END AS came
        FROM (
            SELECT DISTINCT false AS is_reference, old_unit, new_unit
            FROM shared WHERE {of_column(key)} AND old_unit IS NOT NULL AND new_unit IS NOT NULL
            UNION ALL
            SELECT DISTINCT true, old_reference, new_reference
            FROM shared WHERE {of_column(key)} AND old_reference IS NOT NULL AND new_reference IS NOT NULL
        ) r
        JOIN (SELECT * FROM old.outcomes WHERE field = {field}) o ON o.unit = r.old_unit
        JOIN (SELECT unit, s{j} AS new_s, v{j} AS new_v, k{j} AS new_k FROM new.outcomes WHERE field = {field}) n
            ON n.unit = r.new_unit
        WHERE NOT (r.is_reference AND o.s{i} IS NULL AND n.new_s IS NULL)""")


_CAME = ("same", "finer", "changed", "lost", "gained", "never")

#: What a string counts as that came out in several ways, in several payloads or in both roles: the first of these.
_FIRST = ("changed", "lost", "gained", "finer", "same", "never")


def _string_counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Count the distinct strings that the consumer is sent, each once."""
    found = connection.execute(
        "SELECT came, count(*) FROM (SELECT min(list_position($first, came)) AS place FROM reread WHERE is_sent "
        "GROUP BY token) JOIN (SELECT unnest($first) AS came, unnest(range(1, len($first) + 1)) AS place) "
        "USING (place) GROUP BY came",
        {"first": list(_FIRST)},
    )
    counts = dict(found.fetchall())
    return {name: counts.get(name, 0) for name in _CAME}


def _rereadings(pair: _Pair, key: ColumnKey) -> _Listed:
    """Give the raw values that are not read as before, each in the list that it belongs to: most cases first."""
    place, number = pair.verdicts.place(key), pair.new.number(key.consumer)
    named = any(
        finding.code == COLLAPSE and finding.field == key.field and key.consumer in finding.consumers
        for finding in pair.old.run.findings
    )
    columns = f"s.case_id, substr(old_letters, {place}, 1) || substr(new_letters, {place}, 1) AS turn, right_for_some"
    of_field = f"is_sent AND came IN ('changed', 'lost', 'gained') AND {of_column(key)}"
    found = pair.connection.execute(f"""
        WITH sound AS (  -- shapes of what is right for somebody, or asserted by a person
            SELECT DISTINCT shape FROM reread WHERE is_reference
            UNION SELECT DISTINCT shape FROM reread JOIN shared USING (old_unit)
            WHERE NOT is_reference AND right_for_some AND {of_column(key)}
        )
        SELECT token, is_reference, came, old_s, old_v, new_s, new_v, any_value(error), count(*),
            list(case_id ORDER BY case_id), histogram(turn), bool_or(is_junk), bool_or(right_for_some),
            bool_or(shape IN (FROM sound))
        FROM (
            SELECT r.*, {columns} FROM reread r JOIN shared s USING (old_unit) WHERE NOT is_reference AND {of_field}
            UNION ALL
            SELECT r.*, {columns} FROM reread r JOIN shared s ON s.old_reference = r.old_unit
            WHERE is_reference AND {of_field}
        ) e LEFT JOIN (SELECT * FROM new.faults WHERE consumer = {number}) f ON f.unit = e.new_unit
        GROUP BY ALL ORDER BY count(*) DESC, token, is_reference""")
    listed = _Listed()
    while rows := found.fetchmany(_CHUNK):
        for row in rows:
            listed.add(*_rereading(row, named=named))
    return listed


def _rereading(row: tuple[Any, ...], *, named: bool) -> tuple[str, Rereading]:
    """Give a raw value and its list."""
    token, is_reference, came, old_s, old_v, new_s, new_v, error, count, cases, turns, is_junk, is_right, is_sound = row
    kind, why = _judged(
        came, is_reference=is_reference, is_junk=is_junk, is_named=named, is_right=is_right, is_sound=is_sound
    )
    return kind, Rereading(
        raw=token,
        role="reference" if is_reference else "prediction",
        old=STATUS_OF.get(old_s, "not read"),
        old_value=old_v,
        new=STATUS_OF.get(new_s, "not read"),
        new_value=new_v,
        error=error,
        count=count,
        cases=tuple(cases),
        turns={f"{VERDICT_OF[one[0]]} to {VERDICT_OF[one[1]]}": cases_of_turn for one, cases_of_turn in turns.items()},
        why=why,
    )


def _judged(
    came: str, *, is_reference: bool, is_junk: bool, is_named: bool, is_right: bool, is_sound: bool
) -> tuple[str, str]:
    """Say in which list a raw value belongs, and why.

    A string that is right for nobody may still be a sound one, given in the wrong place: only one that looks like none
    of the right answers and references is taken for junk.
    """
    if came == "gained":
        return "newly_accepted", "accepted now, although it is a word for no value" if is_junk else "accepted now"
    if came == "changed":
        return "regressions", "accepted with another value"
    if is_reference:
        return "regressions", "a reference that is no longer accepted"
    if is_named and is_junk:
        return "intended", f"junk that {COLLAPSE} named in the old run"
    if is_right:
        return "regressions", "no longer accepted, and right for a consumer"
    if is_sound:
        return "regressions", "no longer accepted, and of the shape of a right answer or a reference"
    return "intended", "right for no consumer in these cases, and of no shape that a right answer or a reference has"
