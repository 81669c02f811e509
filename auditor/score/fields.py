"""What holds for a field whichever consumer reads it: JSON types, shapes, and who agrees with whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from duckdb import DuckDBPyConnection

from auditor.model.run import Disagreement, ShapeRow, Share
from auditor.model.verdicts import LETTER_OF, NOT_RECORDED
from auditor.score.columns import where_sql
from auditor.score.intervals import share
from auditor.sql import literal

#: Shapes shown per field; the rest is one row named so.
MOST_SHAPES = 60

#: Characters shown of a shape's example, as of a finding's witness: a field may hold a text of megabytes.
LONGEST_EXAMPLE = 2000

#: Counts of a pair of consumers, and pairs in a whole number of 64 bits.
_BITS = 6
_PAIRS_OF_MASK = 10

#: The letter of a case on which a consumer has no verdict, for want of a record.
_UNKNOWN = LETTER_OF[NOT_RECORDED]

#: Letters of a verdict where the consumer took no value from what it was sent.
_LOST = "rndct"


def json_type_census(connection: DuckDBPyConnection, arm: str | None = None) -> dict[str, dict[str, Share]]:
    """How often the model (of an arm) sends each JSON type in each field, of the judged cases that send anything."""
    rows = connection.execute(
        f"SELECT j.field, o.json_type, sum(j.n)::BIGINT FROM (FROM judged {where_sql(arm=arm)}) j "
        "JOIN outcomes o ON o.unit = j.p_unit WHERE j.outcome = 'judged' GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2"
    ).fetchall()
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for name, kind, n in rows:
        counts[name][kind] = n
    return {name: {kind: share(n, sum(kinds.values())) for kind, n in kinds.items()} for name, kinds in counts.items()}


def distinct_strings(connection: DuckDBPyConnection, *, by_role: Collection[str] = ()) -> dict[str, int]:
    """Count the distinct raw values of each field; `by_role`: see `disagreements`."""
    query = f"SELECT field, count({_strings(connection, by_role)}) FROM outcomes GROUP BY field"
    return dict(connection.execute(query).fetchall())


def _strings(connection: DuckDBPyConnection, by_role: Collection[str]) -> str:
    """SQL: what to count of some rows of one field for their number of strings.

    One that stands in many payloads, or in two batches, has a row for each; counting it once takes longer, so only
    where there are any.
    """
    if by_role:
        return "DISTINCT token"
    found = connection.execute("SELECT 1 FROM outcomes WHERE payload IS NOT NULL LIMIT 1").fetchall()
    return "DISTINCT token" if found else "*"


@dataclass
class _ShapeCounts:
    rows: int = 0
    strings: int = 0
    example: str = ""
    alike: bool | None = True
    accepted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    ok: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    not_recorded: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def shape_rows(
    connection: DuckDBPyConnection,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    *,
    by_role: Collection[str] = (),
    arm: str | None = None,
) -> dict[str, tuple[ShapeRow, ...]]:
    """Give the shapes of each field's predictions, most rows first, with what each consumer makes of them.

    With an `arm` they are those of its predictions alone.
    """
    own = where_sql(arm=arm)
    given = f" AND unit IN (SELECT p_unit FROM judged {own})" if arm is not None else ""
    shapes: dict[str, dict[str, _ShapeCounts]] = {name: defaultdict(_ShapeCounts) for name in readers}
    for field_name, shape, strings, example, alike in connection.execute(
        f"SELECT field, shape, count({_strings(connection, by_role)}), "
        f"left(min_by(token, (length(token), token)), {LONGEST_EXAMPLE + 1}), "
        f"{_alike(readers, index)} FROM own_outcomes WHERE role_prediction{given} GROUP BY field, shape"
    ).fetchall():
        counts = shapes[field_name][shape]
        counts.strings, counts.alike = strings, alike
        counts.example = example if len(example) <= LONGEST_EXAMPLE else example[:LONGEST_EXAMPLE] + "…"
    for field_name, shape, pattern, n in connection.execute(
        f"SELECT field, shape, pattern, sum(n)::BIGINT FROM (FROM judged {own}) WHERE shape IS NOT NULL GROUP BY ALL"
    ).fetchall():
        counts = shapes[field_name][shape]
        counts.rows += n
        for consumer, letter in zip(readers[field_name], pattern, strict=True):
            counts.accepted[consumer] += n if letter in "ow" else 0
            counts.ok[consumer] += n if letter == "o" else 0
            if letter == _UNKNOWN:
                counts.not_recorded[consumer] += n
    _add_accepted_alone(connection, shapes, readers, index, own)
    return {name: _rows(found, readers[name]) for name, found in shapes.items()}


def _add_accepted_alone(
    connection: DuckDBPyConnection,
    shapes: Mapping[str, Mapping[str, _ShapeCounts]],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    own: str,
) -> None:
    """Add the judged predictions that a consumer takes by themselves and loses with their payload."""
    names = {number: name for name, number in index.items()}
    for field_name, number, shape, pattern, n in connection.execute(
        f"SELECT field, consumer, shape, pattern, sum(n)::BIGINT FROM (FROM judged {own}) "
        "JOIN alone ON unit = p_unit AND status = 'v' GROUP BY ALL"
    ).fetchall():
        consumer = names[number]
        if pattern[readers[field_name].index(consumer)] in _LOST:
            shapes[field_name][shape].accepted[consumer] += n


def _rows(shapes: Mapping[str, _ShapeCounts], readers: Sequence[str]) -> tuple[ShapeRow, ...]:
    rows = [
        ShapeRow(name, c.example, c.rows, c.strings, dict(c.accepted), dict(c.ok), c.alike, dict(c.not_recorded))
        for name, c in shapes.items()
        if c.strings
    ]
    rows.sort(key=lambda row: (-row.rows, row.shape))
    return _folded(rows, readers)


def _folded(rows: list[ShapeRow], readers: Sequence[str]) -> tuple[ShapeRow, ...]:
    """Keep the most frequent shapes and add the others up, so that a report of free text stays readable."""
    if len(rows) <= MOST_SHAPES:
        return tuple(rows)
    kept, rest = rows[: MOST_SHAPES - 1], rows[MOST_SHAPES - 1 :]
    other = ShapeRow(
        f"({len(rest)} other shapes)",
        rest[0].example,
        sum(row.rows for row in rest),
        sum(row.strings for row in rest),
        {name: sum(row.accepted.get(name, 0) for row in rest) for name in readers},
        {name: sum(row.ok.get(name, 0) for row in rest) for name in readers},
        _all(row.alike for row in rest),
        {name: n for name in readers if (n := sum(row.not_recorded.get(name, 0) for row in rest))},
    )
    return (*kept, other)


def _all(alike: Iterable[bool | None]) -> bool | None:
    """Say whether all are true; None where none is false and some are not known."""
    found = set(alike)
    return False if False in found else None if None in found else True


def _alike(readers: Mapping[str, Sequence[str]], index: Mapping[str, int]) -> str:
    """SQL over rows: every reader takes a value of each, as far as is known, and the same one.

    NULL where of no row it is known what all of them make of it.
    """
    numbers = {consumers: [index[consumer] for consumer in consumers] for consumers in _by_readers(readers)}
    split, whole = (
        " ".join(
            f"WHEN {_among(names)} THEN {condition(numbers[consumers])}"
            for consumers, names in _by_readers(readers).items()
        )
        for condition in (_read_alike, _recorded)
    )
    return f"""CASE WHEN NOT coalesce(bool_and(CASE {split} END), false) THEN false
        WHEN bool_or(CASE {whole} END) THEN true END"""


def _recorded(numbers: Sequence[int]) -> str:
    return " AND ".join(["true", *(f"s{i} IS DISTINCT FROM '{_UNKNOWN}'" for i in numbers)])


def _by_readers(readers: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    """Give the fields that the same consumers read."""
    fields: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, consumers in readers.items():
        fields[tuple(consumers)].append(name)
    return fields


def _among(fields: Sequence[str]) -> str:
    return f"field IN ({', '.join(map(literal, fields))})"


def _read_alike(numbers: Sequence[int]) -> str:
    if not numbers:
        return "false"
    # A string that records lack is read in no way known: it does not disagree.
    read = [f"coalesce(s{i} IN ('v', '{_UNKNOWN}'), false)" for i in numbers]
    keys = ", ".join(f"k{i}" for i in numbers)
    same = [f"coalesce(least({keys}) = greatest({keys}), true)"] if len(numbers) > 1 else []
    return " AND ".join(read + same)


def disagreements(
    connection: DuckDBPyConnection,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
    *,
    by_role: Collection[str] = (),
) -> dict[str, tuple[Disagreement, ...]]:
    """Give the matrix of consumers over all distinct predictions and references of each field, in one pass.

    In the fields `by_role` a string that is both a prediction and a reference has a row as each.
    """
    pairs = {name: list(combinations(consumers, 2)) for name, consumers in readers.items()}
    places = sorted({(index[a], index[b]) for some in pairs.values() for a, b in some})
    counts = {name: [[0] * _BITS for _ in places] for name in readers}
    if places:
        is_one = _strings(connection, by_role) == "*"
        for name, n, *masks in connection.execute(_masks_sql(places, is_one=is_one)).fetchall():
            for place, cells in enumerate(counts[name]):
                number, shift = divmod(place, _PAIRS_OF_MASK)
                for bit in range(_BITS):
                    cells[bit] += n if masks[number] >> (shift * _BITS + bit) & 1 else 0
    return {
        name: tuple(Disagreement(a, b, *counts[name][places.index((index[a], index[b]))]) for a, b in some)
        for name, some in pairs.items()
    }


def _masks_sql(places: Sequence[tuple[int, int]], *, is_one: bool) -> str:
    """SQL: how many strings of each field are to each other what a mask of some bits per pair of consumers says.

    `is_one` says that a string has one row only; of several rows each adds its bits.
    """
    masks = [
        " | ".join(
            f"({_pair_bits(*pair)} << {shift * _BITS})" for shift, pair in enumerate(places[start:][:_PAIRS_OF_MASK])
        )
        for start in range(0, len(places), _PAIRS_OF_MASK)
    ]
    names = [f"m{number}" for number in range(len(masks))]
    given = ", ".join(f"{mask} AS {name}" for name, mask in zip(names, masks, strict=True))
    of_rows = f"SELECT field, token, {given} FROM own_outcomes"
    if not is_one:
        of_rows = (
            f"SELECT field, {', '.join(f'bit_or({m}) AS {m}' for m in names)} FROM ({of_rows}) GROUP BY field, token"
        )
    return f"SELECT field, count(*), {', '.join(names)} FROM ({of_rows}) GROUP BY ALL"


def _pair_bits(left: int, right: int) -> str:
    """SQL: a bit per count of a `Disagreement`, set where a row counts there; none where one was asked nothing."""
    return f"""CASE WHEN coalesce(s{left}, 'N') = 'N' OR coalesce(s{right}, 'N') = 'N' THEN 0
        WHEN s{left} = 'v' AND s{right} = 'v' THEN CASE k{left} = k{right} WHEN true THEN 3 WHEN false THEN 5 ELSE 1 END
        WHEN s{left} = 'v' THEN 9 WHEN s{right} = 'v' THEN 17 ELSE 33 END::BIGINT"""
