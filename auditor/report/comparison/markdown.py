"""A sheet as a pull-request comment: fits in one, data in it can be no markup, mention or link."""

from __future__ import annotations

from auditor.report.comparison.sheet import Data, Fact, Section, Sheet, Table
from auditor.report.markdown import LIMIT, cell, fitting, prose, size
from auditor.report.text import PROSE_LIMIT

_OMITTED = "\n*What does not fit into a comment is in the json and html reports.*\n"


def markdown_text(sheet: Sheet) -> str:
    """Give the comment; sections that do not fit are left out, and that is said."""
    head = f"## {prose(sheet.title, 200)}: {prose(sheet.headline, PROSE_LIMIT)}\n\n{_facts(sheet.facts)}\n"
    blocks = [block for section in sheet.sections for block in _blocks(section)]
    kept = fitting(blocks, LIMIT - size(head) - size(_OMITTED))
    end = [] if len(kept) == len(blocks) else [_OMITTED]
    return "\n".join([head, *kept, *end, f"<sub>auditor {prose(sheet.auditor_version)}</sub>\n"])


def _facts(facts: tuple[Fact, ...]) -> str:
    return "\n".join(f"- **{prose(fact.label, 100)}** {prose(fact.text, PROSE_LIMIT)}" for fact in facts)


def _blocks(section: Section) -> list[str]:
    return [
        f"### {prose(section.title, 200)}\n\n{_facts(section.facts)}\n" if section.facts else "",
        *(_table(section.title, table) for table in section.tables),
    ]


def _table(title: str, table: Table) -> str:
    rules = ("---:" if place in table.numbers else "---" for place in range(len(table.head)))
    lines = [table.head, tuple(rules), *(tuple(_cell(text) for text in row) for row in table.rows)]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"### {prose(title, 200)}\n\n{prose(table.caption)}\n\n{rows}\n"


def _cell(text: str) -> str:
    return cell(text) if isinstance(text, Data) else prose(text).replace("\n", " ")
