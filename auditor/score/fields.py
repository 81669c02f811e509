"""What holds for a field whichever consumer reads it: JSON types, shapes, and who agrees with whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from duckdb import DuckDBPyConnection

from auditor.model.run import Disagreement, ShapeRow, Share
from auditor.score.intervals import share

#: Shapes shown per field; the rest is one row named so.
MOST_SHAPES = 60

#: Characters shown of a shape's example, as of a finding's witness: a field may hold a text of megabytes.
LONGEST_EXAMPLE = 2000


def json_type_census(connection: DuckDBPyConnection, field_name: str) -> dict[str, Share]:
    """How often the model sends each JSON type in this field, of the judged cases that send anything."""
    rows = connection.execute(
        "SELECT o.json_type, sum(j.n)::BIGINT FROM judged j JOIN outcomes o ON o.unit = j.p_unit "
        "WHERE j.field = $field AND j.outcome = 'judged' GROUP BY 1 ORDER BY 2 DESC, 1",
        {"field": field_name},
    ).fetchall()
    total = sum(n for _, n in rows)
    return {kind: share(n, total) for kind, n in rows}


@dataclass
class _ShapeCounts:
    rows: int = 0
    strings: int = 0
    example: str = ""
    alike: bool = True
    accepted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    ok: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def shape_rows(
    connection: DuckDBPyConnection, field_name: str, readers: Sequence[str], index: Mapping[str, int]
) -> tuple[ShapeRow, ...]:
    """Give the shapes of the field's predictions, most rows first, with what each consumer makes of them."""
    shapes: dict[str, _ShapeCounts] = defaultdict(_ShapeCounts)
    for shape, strings, example, alike in connection.execute(
        f"SELECT shape, count(DISTINCT token), left(min_by(token, (length(token), token)), {LONGEST_EXAMPLE + 1}), "
        f"bool_and({_alike(readers, index)}) FROM own_outcomes WHERE field = $field AND role_prediction GROUP BY shape",
        {"field": field_name},
    ).fetchall():
        counts = shapes[shape]
        counts.strings, counts.alike = strings, bool(alike)
        counts.example = example if len(example) <= LONGEST_EXAMPLE else example[:LONGEST_EXAMPLE] + "…"
    for shape, pattern, n in connection.execute(
        "SELECT shape, pattern, sum(n)::BIGINT FROM judged WHERE field = $field AND shape IS NOT NULL GROUP BY ALL",
        {"field": field_name},
    ).fetchall():
        counts = shapes[shape]
        counts.rows += n
        for consumer, letter in zip(readers, pattern, strict=True):
            counts.accepted[consumer] += n if letter in "ow" else 0
            counts.ok[consumer] += n if letter == "o" else 0
    for position, consumer in enumerate(readers):
        for shape, n in _accepted_alone(connection, field_name, position, index[consumer]):
            shapes[shape].accepted[consumer] += n
    rows = [
        ShapeRow(name, c.example, c.rows, c.strings, dict(c.accepted), dict(c.ok), c.alike)
        for name, c in shapes.items()
        if c.strings
    ]
    rows.sort(key=lambda row: (-row.rows, row.shape))
    return _folded(rows, readers)


def _accepted_alone(
    connection: DuckDBPyConnection, field_name: str, position: int, number: int
) -> list[tuple[str, int]]:
    """Count by shape the judged predictions that a consumer takes by themselves and loses with their payload."""
    return connection.execute(
        "SELECT shape, sum(n)::BIGINT FROM judged JOIN alone ON unit = p_unit AND consumer = $number AND status = 'v'"
        f" WHERE field = $field AND substr(pattern, {position + 1}, 1) IN ('r', 'n', 'd', 'c', 't') GROUP BY shape",
        {"field": field_name, "number": number},
    ).fetchall()


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
        all(row.alike for row in rest),
    )
    return (*kept, other)


def _alike(readers: Sequence[str], index: Mapping[str, int]) -> str:
    """SQL: every reader takes a value, and it is the same one."""
    if not readers:
        return "false"
    numbers = [index[name] for name in readers]
    read = [f"coalesce(s{i} = 'v', false)" for i in numbers]
    same = [f"coalesce(k{numbers[0]} = k{i}, false)" for i in numbers[1:]]
    return " AND ".join(read + same)


def disagreements(
    connection: DuckDBPyConnection,
    field_name: str,
    readers: Sequence[str],
    index: Mapping[str, int],
    *,
    by_role: bool = False,
) -> tuple[Disagreement, ...]:
    """Give the matrix of consumers over all distinct predictions and references of the field, in one pass.

    `by_role` says that a string which is both has a row as each.
    """
    pairs = list(combinations(readers, 2))
    if not pairs:
        return ()
    # A raw value that stands in many payloads, or in two batches, is one string; counting it once costs more, so only
    # where there are any.
    many = connection.execute(
        "SELECT count(payload) FROM outcomes WHERE field = $field", {"field": field_name}
    ).fetchall()
    strings = "DISTINCT token" if many[0][0] or by_role else "*"
    counts = ", ".join(_pair_counts(index[left], index[right], strings) for left, right in pairs)
    row = connection.execute(
        f"SELECT {counts} FROM own_outcomes WHERE field = $field", {"field": field_name}
    ).fetchall()[0]
    cells = [row[start : start + 6] for start in range(0, len(row), 6)]
    return tuple(Disagreement(left, right, *cell) for (left, right), cell in zip(pairs, cells, strict=True))


def _pair_counts(left: int, right: int, strings: str) -> str:
    a, b = f"coalesce(s{left} = 'v', false)", f"coalesce(s{right} = 'v', false)"
    both = f"s{left} IS NOT NULL AND s{right} IS NOT NULL"
    cases = [
        both,
        f"{a} AND {b} AND k{left} = k{right}",
        f"{a} AND {b} AND k{left} <> k{right}",
        f"{both} AND {a} AND NOT {b}",
        f"{both} AND {b} AND NOT {a}",
        f"{both} AND NOT {a} AND NOT {b}",
    ]
    return ", ".join(f"count({strings}) FILTER ({case})" for case in cases)
