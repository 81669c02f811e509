"""Two causes told apart: a section, and the words of the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from auditor.model.drift import Cell, ColumnSplit, Effect
from auditor.model.figures import percent_of, plural
from auditor.report.comparison.figures import points
from auditor.report.comparison.sheet import Data, Fact, Section, Table

_WHO = {"parser": "the parsers", "prediction": "the predictions", "interaction": "the interaction of both"}


def split_headline(splits: Sequence[ColumnSplit]) -> str:
    """Say what dominates: in one column with its figures, in several by count."""
    moved = [one for one in splits if one.split == "all" and _moved(one)]
    if not moved:
        return "neither parsers nor predictions moved a rate"
    if len(moved) == 1:
        return _of_one(moved[0])
    counts = Counter(one.dominates for one in moved)
    said = [f"{who} dominate in {plural(counts[name], 'column')}" for name, who in _WHO.items() if counts[name]]
    if counts["neither"]:
        said.append(f"no cause alone in {plural(counts['neither'], 'column')}")
    if counts["unknown"]:
        said.append(f"not known in {plural(counts['unknown'], 'column')}")
    return ", ".join(said).replace("both dominate", "both dominates")


def _of_one(one: ColumnSplit) -> str:
    if one.dominates == "unknown":
        lead = "which cause dominates is not known"
    elif one.dominates == "neither":
        lead = "no cause alone dominates"
    else:
        lead = f"{_WHO[one.dominates]} dominate{'s' if one.dominates == 'interaction' else ''}"
    return (
        f"{lead}: of {_points(one.difference)} points parsers {_points(one.parser)}, predictions"
        f" {_points(one.prediction)}, interaction {_points(one.interaction)}"
    )


def split_section(splits: Sequence[ColumnSplit]) -> Section:
    """Give the four cells of each column, and the parts of its difference, which add up to it."""
    head = ("column", "points", "parsers", "predictions", "interaction", "dominates")
    rows = tuple(
        (
            Data(_key(one)),
            *(_points(effect) for effect in (one.difference, one.parser, one.prediction, one.interaction)),
            one.dominates,
        )
        for one in splits
    )
    caption = (
        "Points: the new rate minus the old. Parsers: the old predictions read by the new parsers, minus the old rate."
        " Predictions: the new ones read by the old parsers, minus the old rate. Interaction: the rest."
    )
    cells = tuple(
        (
            Data(_key(one)),
            cell.predictions,
            cell.parser,
            _rate(cell),
            f"{cell.ok:,}/{cell.judged:,}",
            f"{cell.unknown_cases:,} ({plural(cell.unknown_strings, 'string')})" if cell.unknown_cases else "0",
            cell.source,
        )
        for one in splits
        if _moved(one)
        for cell in one.cells
    )
    cell_head = ("column", "predictions", "parsers", "rate %", "ok/judged", "unknown cases", "decoded in")
    return Section(
        "Two causes, told apart",
        facts=tuple(_lacking(splits)),
        tables=(
            Table(caption, head, rows, frozenset({1, 2, 3, 4})),
            Table("Each set of predictions, read by each set of parsers", cell_head, cells, frozenset({3, 4, 5})),
        ),
    )


def _moved(one: ColumnSplit) -> bool:
    return one.dominates != "neither" or one.difference.exact != "0/1"


def _lacking(splits: Sequence[ColumnSplit]) -> Iterator[Fact]:
    """Say what is not known, and how it can be."""
    for name, option in (("old", "--old-spec"), ("new", "--spec")):
        cells = [cell for one in splits for cell in one.cells if cell.parser == name and cell.unknown_cases]
        if cells:
            columns = plural(len(cells), "column")
            said = f"what the {name} parsers make of some strings, in {columns}; `{option}` names the spec of that run"
            yield Fact("not known", said, "note")


def _key(one: ColumnSplit) -> str:
    return str(one.key)


def _points(effect: Effect) -> str:
    if effect.exact is not None:
        return points(Fraction(effect.exact), 2)
    places = next((n for n in range(2, 7) if points(effect.low, n) != points(effect.high, n)), 2)
    return f"{points(effect.low, places)} to {points(effect.high, places)}"


def _rate(cell: Cell) -> str:
    if not cell.judged:
        return "—"
    low, high = percent_of(cell.ok, cell.judged), percent_of(cell.ok + cell.unknown_cases, cell.judged)
    return low if not cell.unknown_cases else f"{low} to {high}"
