"""The verdicts of both runs on each shared case, and what a column counts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from auditor.drift.sides import Side
from auditor.model.drift import ColumnKey, Flip, FlipKind
from auditor.model.verdicts import BLOCKING, FIELD_VERDICTS, LETTER_OF, VERDICT_OF
from auditor.sql import literal

#: What makes a row of `judged_cases` the same in two runs.
ROW: Final = "arm, case_id, field"

_FIELD = frozenset(LETTER_OF[name] for name in FIELD_VERDICTS)
_BLOCKING = frozenset(LETTER_OF[name] for name in BLOCKING)


@dataclass(frozen=True)
class VerdictCounts:
    """How often a column has which letter, or pair of letters, over the cases that are compared."""

    old: Counter[str]
    new: Counter[str]
    both: Counter[tuple[str, str]]
    left_out: int  # cases that are of the column's split in one run only


class Verdicts:
    """The table `shared` of a database: a row per field and case, with the letters of the consumers in both runs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, old: Side, new: Side, fields: Sequence[str]) -> None:
        self._connection = connection
        self._readers = {name: [one for one in old.readers(name) if one in new.readers(name)] for name in fields}
        connection.execute(f"""
            CREATE OR REPLACE TABLE shared AS
            SELECT {ROW}, o.split AS old_split, n.split AS new_split,
                {self._letters("o", old)} AS old_letters, {self._letters("n", new)} AS new_letters,
                o.p_unit AS old_unit, n.p_unit AS new_unit, o.r_unit AS old_reference, n.r_unit AS new_reference,
                contains(o.pattern, 'o') OR contains(n.pattern, 'o') AS right_for_some
            FROM old.judged_cases o JOIN new.judged_cases n USING ({ROW})
            WHERE o.reference IS NOT DISTINCT FROM n.reference""")
        connection.execute("CREATE OR REPLACE TABLE flipped AS SELECT * FROM shared WHERE old_letters <> new_letters")
        self._groups = connection.execute(
            "SELECT arm, field, old_split, new_split, old_letters, new_letters, count(*) FROM shared GROUP BY ALL"
        ).fetchall()

    def _letters(self, alias: str, side: Side) -> str:
        """SQL for the letters of the consumers in both runs; '' for a field that is not compared."""
        whens = []
        for name, consumers in self._readers.items():
            places = [side.readers(name).index(one) + 1 for one in consumers]
            letters = " || ".join(f"substr({alias}.pattern, {place}, 1)" for place in places) or "''"
            whens.append(f"WHEN {literal(name)} THEN {letters}")
        return f"CASE field {' '.join(whens)} ELSE '' END"

    def counts(self, key: ColumnKey) -> VerdictCounts:
        """Count the verdicts of a column."""
        place, left_out = self._readers[key.field].index(key.consumer), 0
        both: Counter[tuple[str, str]] = Counter()
        for arm, field, old_split, new_split, old, new, count in self._groups:
            if (arm, field) != (key.arm or "", key.field):
                continue
            in_old, in_new = (key.is_whole or split == key.split for split in (old_split, new_split))
            if in_old and in_new:
                both[old[place], new[place]] += count
            elif in_old or in_new:
                left_out += count
        before, after = Counter[str](), Counter[str]()
        for (one, other), count in both.items():
            before[one] += count
            after[other] += count
        return VerdictCounts(before, after, both, left_out)

    def place(self, key: ColumnKey) -> int:
        """Give the place of a column's letter among those of `shared`, from 1."""
        return self._readers[key.field].index(key.consumer) + 1

    def flips(self, key: ColumnKey) -> tuple[Flip, ...]:
        """Give the flips of a column, each with all its cases: contents first, then the most frequent."""
        place = self.place(key)
        rows = self._connection.execute(f"""
            SELECT substr(old_letters, {place}, 1) AS before, substr(new_letters, {place}, 1) AS after,
                list(case_id ORDER BY case_id)
            FROM flipped WHERE {of_column(key)} AND before <> after GROUP BY ALL""").fetchall()
        return in_order(
            Flip(VERDICT_OF[one], VERDICT_OF[other], flip_kind(one, other), len(cases), tuple(cases))
            for one, other, cases in rows
        )


def of_column(key: ColumnKey) -> str:
    """SQL for whether a row of `shared` is of a column in both runs."""
    of_field = f"arm = {literal(key.arm or '')} AND field = {literal(key.field)}"
    if key.is_whole:
        return of_field
    return f"{of_field} AND old_split = {literal(key.split)} AND new_split = {literal(key.split)}"


_ORDER: tuple[FlipKind, ...] = ("content", "operational", "unsupported")


def in_order(flips: Iterable[Flip]) -> tuple[Flip, ...]:
    """Sort flips: contents first, then the most frequent."""
    return tuple(sorted(flips, key=lambda flip: (_ORDER.index(flip.kind), -flip.count, flip.old, flip.new)))


def flip_kind(old: str, new: str) -> FlipKind:
    """Say of what kind the flip from one letter to another is."""
    if old in _FIELD and new in _FIELD:
        return "content"
    return "operational" if {old, new} <= _FIELD | _BLOCKING else "unsupported"


def judged(letters: Counter[str]) -> int:
    """Count the cases with a verdict of the field."""
    return sum(count for letter, count in letters.items() if letter in _FIELD)


def blocked_by(letters: Counter[str]) -> dict[str, int]:
    """Count the blocked cases by class."""
    return {name: letters[LETTER_OF[name]] for name in BLOCKING if letters[LETTER_OF[name]]}


def right_pairs(both: Counter[tuple[str, str]]) -> tuple[int, int, int, int]:
    """Count the cases judged in both that are right in both, in the old run only, in the new one only, in neither."""
    ok, counts = LETTER_OF["ok"], Counter[tuple[bool, bool]]()
    for (one, other), count in both.items():
        if one in _FIELD and other in _FIELD:
            counts[one == ok, other == ok] += count
    return counts[True, True], counts[True, False], counts[False, True], counts[False, False]
