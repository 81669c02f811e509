"""A sheet on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from auditor.report.comparison.sheet import Data, Fact, Section, Sheet, Table
from auditor.report.terminal.paper import LABEL, Paper
from auditor.report.text import PROSE_LIMIT

if TYPE_CHECKING:
    from rich.console import Console

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
    paper.item(label, paper.text(fact.text, _STYLES[fact.tone], PROSE_LIMIT), indent=indent)


def _write_table(table: Table, paper: Paper) -> None:
    paper.line(paper.text(table.caption, "dim", PROSE_LIMIT), indent=2)
    rows = [[paper.text(cell) for cell in row] for row in table.rows]
    heads = [paper.text(name, "dim") for name in table.head]
    lines = paper.grid([heads, *rows], table.numbers)
    if max(line.cell_len for line in lines) + 2 <= paper.width:
        for line in lines:
            paper.line(line, indent=2)
        return
    for row in table.rows:  # too wide: a paragraph for each
        paper.line(paper.text(row[0], "magenta" if isinstance(row[0], Data) else ""), indent=2, hang=2)
        for name, cell in zip(table.head[1:], row[1:], strict=True):
            if cell:
                paper.item(name if len(name) < LABEL else f"{name}  ", paper.text(cell), indent=4)
