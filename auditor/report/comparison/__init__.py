"""Two runs compared, as a page, a document, a comment, a table or on the terminal.

What is compared becomes a `Sheet` (facts, sections, tables), which the renderers set without knowing what it is about.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from auditor.model.drift import Drift
from auditor.model.redecoding import Redecoding
from auditor.report import COMPARISON_SUFFIXES, check_suffix, write_report
from auditor.report.comparison.sheet import Sheet

if TYPE_CHECKING:
    from rich.console import Console

Comparison: TypeAlias = Drift | Redecoding

#: Cases, or strings, of one list that are shown; JSON has all of them.
SHOWN_ON_TERMINAL, SHOWN_IN_COMMENT, SHOWN_ON_PAGE = 10, 10, 200


def render_comparison(comparison: Comparison, path: Path) -> None:
    """Write the report that the suffix of `path` names; the file appears whole or not at all."""
    check_suffix(path, COMPARISON_SUFFIXES)
    write_report(path, comparison_text(comparison, path.suffix.lower()))


def comparison_text(comparison: Comparison, suffix: str) -> str:
    """Give the report of a suffix of `report.COMPARISON_SUFFIXES` as text."""
    if suffix == ".json":
        from auditor.report.comparison.documents import json_text

        return json_text(comparison)
    if suffix == ".csv":
        from auditor.report.comparison.documents import csv_text

        return csv_text(comparison)
    if suffix == ".md":
        from auditor.report.comparison.markdown import markdown_text

        return markdown_text(sheet_of(comparison, SHOWN_IN_COMMENT))
    from auditor.report.comparison.html import html_text

    return html_text(sheet_of(comparison, SHOWN_ON_PAGE))


def write_comparison(comparison: Comparison, console: Console) -> None:
    """Print the comparison on a console."""
    from auditor.report.comparison.terminal import write_sheet

    write_sheet(sheet_of(comparison, SHOWN_ON_TERMINAL), console)


def sheet_of(comparison: Comparison, limit: int) -> Sheet:
    """Give what is shown of a comparison, at most `limit` of each list."""
    if isinstance(comparison, Drift):
        from auditor.report.comparison.drift import drift_sheet

        return drift_sheet(comparison, limit)
    from auditor.report.comparison.redecoding import redecoding_sheet

    return redecoding_sheet(comparison, limit)
