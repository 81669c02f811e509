"""One row per column: rate, interval, a bar with the ceiling on it, and what was lost where."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from rich.text import Text

from auditor.model import figures
from auditor.model.run import Column, Run, Share
from auditor.report import environments, view
from auditor.report.agreement import agreement_text
from auditor.report.terminal.paper import Paper
from auditor.report.text import PROSE_LIMIT
from auditor.report.view import FieldView

CELLS: Final = 20
_EVERYWHERE: Final = "everywhere"
_STRINGS: Final = "as strings"
_HEAD: Final = (
    "consumer",
    "rate",
    "ok/judged",
    "95 %",
    "",
    "ceiling",
    "blocked",
    "lost to shape",
    "lost to value",
)
_RIGHT: Final = frozenset({1, 2})


def write_fields(run: Run, paper: Paper) -> None:
    """Print every field with its columns; wide where all of a row fits, else two lines a row."""
    if run.rates_withheld:
        paper.line(paper.text(view.WITHHELD, "bold red", 1000))
        paper.blank()
    elif not any(column.judged for column in run.columns):
        paper.line(paper.text(view.NO_CASES, "yellow"))
        paper.blank()
    for field in view.field_views(run):
        _write_field(run, field, paper)
    if run.columns and not run.rates_withheld:
        paper.line(_legend(paper), hang=2)
        paper.blank()


def _legend(paper: Paper) -> Text:
    marks = paper.marks
    return paper.text(
        f"{marks.full} right  {marks.accepted} accepted and wrong  {marks.rest} not accepted  "
        f"{marks.ceiling} ceiling: the most that can be right with the shapes given  "
        f"{_EVERYWHERE}: right for every consumer  {_STRINGS}: raw text equal, the baseline",
        "dim",
        limit=PROSE_LIMIT,
    )


def _write_field(run: Run, field: FieldView, paper: Paper) -> None:
    paper.line(paper.text(field.name, "bold"), Text("  "), paper.text(field.contract, "dim"), hang=2)
    wide = paper.grid([[Text(name, style="dim") for name in _HEAD], *_wide_rows(field, paper)], _RIGHT)
    narrow = max(line.cell_len for line in wide) + 2 > paper.width
    if narrow:
        lines = paper.grid(_narrow_rows(field, paper), _RIGHT)
    else:
        paper.line(wide[0], indent=2)
        lines = wide[1:]
    for column, line in zip_longest(field.columns, lines):
        paper.line(line, indent=2)
        if column is not None:
            _write_details(run, column, paper, narrow)
    paper.blank()


def _wide_rows(field: FieldView, paper: Paper) -> list[list[Text]]:
    rows = [
        [
            paper.text(column.consumer),
            rate(column, paper),
            Text(figures.right_of(column)),
            paper.text(figures.interval(column.interval), "dim"),
            bar(column, paper),
            paper.text(_unit(figures.ceiling(column))),
            Text(f"{column.blocked:,}"),
            Text(view.shape_loss(column)),
            Text(figures.scored(column, column.lost_to_value)),
        ]
        for column in field.columns
    ]
    return rows + [
        [name, figure, count, paper.text(figures.interval(part.interval), "dim"), share_bar(part, paper)]
        for name, figure, count, part in _joint(field, paper)
    ]


def _narrow_rows(field: FieldView, paper: Paper) -> list[list[Text]]:
    rows = [
        [
            paper.text(column.consumer),
            rate(column, paper),
            Text(figures.right_of(column)),
            bar(column, paper),
            paper.text(f"ceiling {_unit(figures.ceiling(column))}"),
        ]
        for column in field.columns
    ]
    return rows + [[name, figure, count, share_bar(part, paper)] for name, figure, count, part in _joint(field, paper)]


def _joint(field: FieldView, paper: Paper) -> list[tuple[Text, Text, Text, Share]]:
    if field.summary is None:
        return []
    parts = ((_EVERYWHERE, field.summary.usable_everywhere), (_STRINGS, field.summary.string_equality))
    return [
        (Text(name, style="italic"), paper.text(_unit(figures.share(part))), Text(figures.part_of(part)), part)
        for name, part in parts
    ]


def _write_details(run: Run, column: Column, paper: Paper, narrow: bool) -> None:
    """Print what qualifies the row, and what else was counted."""
    if column.untrusted:
        said, style = f"{view.untrusted(column)}: the rate means nothing until that bug is fixed", "bold red"
        if "emulated" in column.untrusted:
            said, style = "the rate decides nothing: it is what an emulation gives, not the warehouse", "bold"
        paper.line(paper.text(said, style, PROSE_LIMIT), indent=4, hang=2)
    if moves := environments.range_text(run, column):
        paper.line(paper.text(moves, "bold yellow", PROSE_LIMIT), indent=4, hang=2)
    if narrow:
        shape, value = view.shape_loss(column), figures.scored(column, column.lost_to_value)
        said = f"95 % {figures.interval(column.interval)} · blocked {view.blocked(column)} · lost to shape {shape}"
        said += f", to value {value}"
        paper.line(paper.text(said), indent=4, hang=2)
    classes = "" if narrow or not column.blocked else f"blocked {view.blocked(column)}"
    parts = (view.usable_line(column), classes, view.other_verdicts(column), agreement_text(run, column))
    paper.line(paper.text(" · ".join(part for part in parts if part), "dim", PROSE_LIMIT), indent=4, hang=2)
    qualifiers = view.badges(column, run)
    if qualifiers:
        paper.line(paper.text(" · ".join(qualifiers), "yellow", PROSE_LIMIT), indent=4, hang=2)


def _unit(rate_text: str) -> str:
    return rate_text if rate_text == figures.NO_RATE else f"{rate_text} %"


def rate(column: Column, paper: Paper) -> Text:
    """Give the content rate, struck through where it is untrusted, and its range over the environments."""
    style = "strike dim" if column.untrusted else "bold"
    text = paper.text(_unit(figures.rate(column)), style if column.content_rate is not None else "dim")
    if around := environments.widest_range(column):
        text.append_text(paper.text(f" ({around})", "bold yellow"))
    return text


def bar(column: Column, paper: Paper) -> Text:
    """Draw the rate, what is accepted beyond it, and the ceiling as a mark between two cells."""
    marks = paper.marks
    if column.content_rate is None or not column.judged:
        return Text(marks.rest * (CELLS + 1), style="dim")
    filled, ceiling = _cells(column.verdicts["ok"], column.judged), _cells(column.accepted, column.judged)
    drawn = Text()
    drawn.append(marks.full * filled, style="dim" if column.untrusted else "cyan")
    drawn.append(marks.accepted * (ceiling - filled), style="red")
    drawn.append(marks.ceiling, style="bold yellow")
    drawn.append(marks.rest * (CELLS - ceiling), style="dim")
    return drawn


def share_bar(part: Share, paper: Paper) -> Text:
    """Draw a rate that has no ceiling, in the same twenty cells."""
    filled = _cells(part.count, part.of) if part.rate is not None and part.of else 0
    return Text(paper.marks.full * filled, style="dim").append(paper.marks.rest * (CELLS - filled))


def _cells(count: int, of: int) -> int:
    return (2 * CELLS * count + of) // (2 * of)
