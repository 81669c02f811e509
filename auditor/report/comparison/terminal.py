"""A sheet on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from auditor.report.comparison.sheet import Data, Fact, Section, Sheet, Table
from auditor.report.terminal.paper import LABEL, Paper
from auditor.report.text import PROSE_LIMIT

if TYPE_CHECKING:
    from rich.console import Console

#: Cells that the last column of a table needs at least.
LAST: Final = 12

_STYLES: Final = {"": "", "good": "green", "bad": "bold red", "note": "yellow"}


def write_sheet(sheet: Sheet, console: Console) -> None:
    """Print facts, then sections, whose tables are set in columns while they fit."""
    paper = Paper(console)
    paper.line(
        paper.text(sheet.title, "bold"), paper.text(f"  {sheet.headline}", _STYLES[sheet.tone], PROSE_LIMIT), hang=2
    )
    for fact in sheet.facts:
        _write_fact(fact, paper, indent=0)
    for section in sheet.sections:
        _write_section(section, paper)


def _write_section(section: Section, paper: Paper) -> None:
    paper.blank()
    paper.line(paper.text(section.title, "bold"))
    for fact in section.facts:
        _write_fact(fact, paper, indent=2)
    for table in section.tables:
        _write_table(table, paper)


def _write_fact(fact: Fact, paper: Paper, indent: int) -> None:
    label = fact.label if len(fact.label) < LABEL else f"{fact.label}  "
    body = paper.text(fact.text, _STYLES[fact.tone], PROSE_LIMIT)
    paper.line(body, indent=indent, hang=LABEL, head=paper.text(label, "dim"))


def _write_table(table: Table, paper: Paper) -> None:
    """Set rows in columns, of which the last may be wrapped; where the others do not fit, a paragraph for each row."""
    paper.line(paper.text(table.caption, "dim", PROSE_LIMIT), indent=2)
    rows = [[paper.text(cell) for cell in row] for row in table.rows]
    heads = [paper.text(name, "dim") for name in table.head]
    lines = paper.grid([row[:-1] for row in (heads, *rows)], table.numbers)
    width = max(line.cell_len for line in lines) + 2
    if 2 + width + LAST <= paper.width:
        for line, row in zip(lines, (heads, *rows), strict=True):
            paper.line(row[-1], indent=2, hang=width, head=line)
        return
    for texts in table.rows:
        paper.line(paper.text(texts[0], "magenta" if isinstance(texts[0], Data) else ""), indent=2, hang=2)
        pairs = " · ".join(f"{name} {cell}" for name, cell in zip(table.head[1:], texts[1:], strict=True) if cell)
        paper.line(paper.text(pairs, "", PROSE_LIMIT), indent=4, hang=2)
