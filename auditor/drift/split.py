"""The difference of two rates told apart: what the parsers did, what the predictions did, and their interaction.

Both sets of predictions are read by both sets of parsers. Two of the four cells are the runs themselves. The other two
are runs that were redecoded or, without one, what the other run has made of the same strings; what neither knows is
counted as unknown, and the effects then have bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb

from auditor.drift.sides import Name, Side
from auditor.drift.verdicts import ROW, Verdicts, judged, of_column
from auditor.errors import StoreError
from auditor.model.drift import Cell, ColumnDrift, ColumnKey, ColumnSplit, Drift, Effect
from auditor.model.verdicts import BLOCKED_VERDICTS, FIELD_VERDICTS, LETTER_OF, NOT_RECORDED
from auditor.score.verdict_table import number_of
from auditor.sql import literal
from auditor.store.writing import CONTRACT

#: The letter of a case whose verdict nobody knows.
UNKNOWN = "?"

_FIELD = "".join(LETTER_OF[name] for name in FIELD_VERDICTS)


@dataclass(frozen=True)
class Crossing:
    """The predictions of one run, to be read by the parsers of the other; `again` is that reading, if there is one."""

    connection: duckdb.DuckDBPyConnection
    of: Side
    by: Side
    again: Side | None

    def cell(self, key: ColumnKey) -> Cell:
        """Give the cell of a column."""
        source = self._create_letters(key)
        counts = dict(self.connection.execute("SELECT letter, count(*) FROM crossed GROUP BY letter").fetchall())
        ((strings,),) = self.connection.execute(
            f"SELECT count(DISTINCT token) FILTER (letter = '{UNKNOWN}') FROM crossed"
        ).fetchall()
        unknown = counts.get(UNKNOWN, 0)
        return Cell(
            predictions="old" if self.of.name == "old" else "new",
            parser="old" if self.by.name == "old" else "new",
            source=source,
            judged=sum(count for letter, count in counts.items() if letter in _FIELD) + unknown,
            ok=counts.get("o", 0),
            unknown_cases=unknown,
            unknown_strings=strings,
        )

    def _create_letters(self, key: ColumnKey) -> str:
        """Create `crossed`: the letter of each shared case in the cell; gives where it comes from."""
        if is_same_parser(self.of, self.by, key.consumer):
            self._create(key, self._read(self.of, key))
            return f"{self.of.name} run: the parser is the same"
        if self.again is not None and _has(self.again, key) and is_same_parser(self.again, self.by, key.consumer):
            self._create(key, self._read(self.again, key))
            return f"run {self.again.run.run_id}"
        self._create(key, self._looked_up(key))
        return f"strings that the {self.by.name} run had decoded"

    def _create(self, key: ColumnKey, letters: str) -> None:
        self.connection.execute(f"""
            CREATE OR REPLACE TABLE crossed AS
            SELECT {ROW}, x.letter, u.token
            FROM (SELECT * FROM shared WHERE {of_column(key)}) s JOIN ({letters}) x USING ({ROW})
            LEFT JOIN (SELECT unit, token FROM {self.of.name}.outcomes) u ON u.unit = s.{self.of.name}_unit""")

    def _read(self, side: Side, key: ColumnKey) -> str:
        """SQL for the letters that a run itself has."""
        of_field = f"field = {literal(key.field)}"
        return f"SELECT {ROW}, {_letter(side, key)} AS letter FROM {side.name}.judged_cases WHERE {of_field}"

    def _looked_up(self, key: ColumnKey) -> str:
        """SQL for the letters by what the other run made of the same strings, against its own reading of references.

        A consumer of batches may read a string otherwise in other company, so nothing is taken from it. What was
        blocked, not given or not referenced is so whoever reads.
        """
        of, by, column = self.of.name, self.by, self.by.columns[key]
        own, other = _letter(self.of, key, "o"), _letter(by, key, "b")
        decoder = by.spec.fields[key.field].decoder_for(key.consumer)
        numbers = {one.name: number for number, one in enumerate(by.run.consumers)}
        i = numbers[key.consumer]
        kept = "".join(LETTER_OF[name] for name in (*BLOCKED_VERDICTS, "abstained", "unreferenced", "unexpected"))
        in_payload = column.scope == "payload"
        payload = ", payload" if in_payload else ""
        same_payload = "AND k.payload IS NOT DISTINCT FROM p.payload" if in_payload else ""
        asked = how_asked(by, key.consumer)
        known = f"s{i} IS NOT NULL" if asked.get("batch") is False else "false"
        nothing = "p.token = 'null'" if asked.get("receives") == "text" else "false"
        decoded_by = number_of(decoder, numbers)
        return f"""
                SELECT {ROW}, CASE
                    WHEN {other} = '{LETTER_OF["broken_reference"]}' THEN {other}
                    WHEN contains('{kept}', {own}) OR (o.p_unit IS NULL AND {own} <> '!') THEN {own}
                    WHEN t.s{decoded_by} = '{LETTER_OF[NOT_RECORDED]}' THEN '{LETTER_OF[NOT_RECORDED]}'
                    WHEN {nothing} THEN '{LETTER_OF["absent"]}'
                    WHEN k.s = 'v' THEN CASE WHEN k.k = t.k{decoded_by} THEN 'o' ELSE 'w' END
                    ELSE coalesce(k.s, '{UNKNOWN}') END AS letter
                FROM {of}.judged_cases o
                JOIN {by.name}.judged_cases b USING ({ROW})
                LEFT JOIN (SELECT unit, token, payload FROM {of}.outcomes) p ON p.unit = o.p_unit
                LEFT JOIN (SELECT unit, s{decoded_by}, k{decoded_by} FROM {by.name}.outcomes) t ON t.unit = b.r_unit
                LEFT JOIN (
                    SELECT token{payload}, any_value(s{i}) AS s, any_value(k{i}) AS k FROM {by.name}.outcomes
                    WHERE field = {literal(key.field)} AND {known} GROUP BY ALL
                ) k ON k.token = p.token {same_payload}
                WHERE field = {literal(key.field)}"""


def split_columns(
    connection: duckdb.DuckDBPyConnection,
    verdicts: Verdicts,
    drift: Drift,
    old: Side,
    new: Side,
    again: Mapping[Name, Side],
) -> tuple[ColumnSplit, ...]:
    """Tell the causes apart in every column whose content is compared."""
    crossings = (
        Crossing(connection, old, new, again.get("old_again")),
        Crossing(connection, new, old, again.get("new_again")),
    )
    return tuple(_column(verdicts, column, crossings) for column in drift.columns if not column.suppressed)


def _column(verdicts: Verdicts, column: ColumnDrift, crossings: Sequence[Crossing]) -> ColumnSplit:
    counts = verdicts.counts(column.key)
    before = Cell("old", "old", "old run", judged(counts.old), counts.old["o"], 0, 0)
    after = Cell("new", "new", "new run", judged(counts.new), counts.new["o"], 0, 0)
    of_old, of_new = (crossing.cell(column.key) for crossing in crossings)
    cells = (before, of_old, of_new, after)
    if not all(cell.judged for cell in cells):
        return _split(column, cells, dict.fromkeys(("difference", *_EFFECTS), Effect(None, -1.0, 1.0)), "unknown")
    a, b, c, d = (_bounds(cell) for cell in cells)
    effects = {
        "parser": (b[0] - a[0], b[1] - a[0]),
        "prediction": (c[0] - a[0], c[1] - a[0]),
        "interaction": (d[0] - b[1] - c[1] + a[0], d[0] - b[0] - c[0] + a[0]),
    }
    whole = {"difference": (d[0] - a[0], d[0] - a[0])} | effects
    return _split(column, cells, {name: _effect(bounds) for name, bounds in whole.items()}, dominating(effects))


_EFFECTS = ("parser", "prediction", "interaction")


def _split(column: ColumnDrift, cells: tuple[Cell, ...], effects: Mapping[str, Effect], dominates: str) -> ColumnSplit:
    return ColumnSplit(
        field=column.field,
        consumer=column.consumer,
        split=column.split,
        arm=column.arm,
        cells=cells,
        dominates=dominates,
        **effects,
    )


def _bounds(cell: Cell) -> tuple[Fraction, Fraction]:
    return Fraction(cell.ok, cell.judged), Fraction(cell.ok + cell.unknown_cases, cell.judged)


def _effect(bounds: tuple[Fraction, Fraction]) -> Effect:
    exact = f"{bounds[0].numerator}/{bounds[0].denominator}" if bounds[0] == bounds[1] else None
    return Effect(exact, float(bounds[0]), float(bounds[1]))


def dominating(effects: Mapping[str, tuple[Fraction, Fraction]]) -> str:
    """Give the effect that is larger in size than each other, whatever is not known; else `neither` or `unknown`.

    >>> half, none = Fraction(1, 2), Fraction(0)
    >>> dominating({"parser": (-half, -half), "prediction": (none, none), "interaction": (none, none)})
    'parser'
    >>> dominating({"parser": (-half, none), "prediction": (none, none), "interaction": (none, half)})
    'unknown'
    """
    for name, bounds in effects.items():
        if all(_least(bounds) > _most(other) for one, other in effects.items() if one != name):
            return name
    return "neither" if all(low == high for low, high in effects.values()) else "unknown"


def _least(bounds: tuple[Fraction, Fraction]) -> Fraction:
    return Fraction(0) if bounds[0] <= 0 <= bounds[1] else min(abs(bounds[0]), abs(bounds[1]))


def _most(bounds: tuple[Fraction, Fraction]) -> Fraction:
    return max(abs(bounds[0]), abs(bounds[1]))


def is_same_parser(one: Side, other: Side, consumer: str) -> bool:
    """Say whether a consumer of two runs has the same version and settings, in the same environment."""
    found = [next((c for c in side.run.consumers if c.name == consumer), None) for side in (one, other)]
    if found[0] is None or found[1] is None or one.run.environment_key != other.run.environment_key:
        return False
    return (found[0].version, found[0].settings) == (found[1].version, found[1].settings)


def unused(again: Side, by: Side) -> Iterator[str]:
    """Say which parsers of a redecoded run are not those of the run whose parsers it was to have."""
    for one in again.run.consumers:
        wanted = next((c for c in by.run.consumers if c.name == one.name), None)
        if wanted is not None and not is_same_parser(again, by, one.name):
            yield (
                f"{one.name}: what was decoded now is by version {one.version}, the {by.name} run had {wanted.version}"
                " (or other settings, or another environment), so it is not used"
            )


def how_asked(side: Side, consumer: str) -> dict[str, Any]:
    """Say how a consumer of a run was asked, `receives` and `batch`; nothing where an older run does not say."""
    path = side.folder / CONTRACT
    try:
        contract = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    asked: dict[str, Any] = contract.get("consumers", {}).get(consumer, {})
    return asked


def _has(side: Side, key: ColumnKey) -> bool:
    return key.consumer in side.readers(key.field)


def _letter(side: Side, key: ColumnKey, alias: str = "") -> str:
    dot = f"{alias}." if alias else ""
    return f"substr({dot}pattern, {side.readers(key.field).index(key.consumer) + 1}, 1)"
