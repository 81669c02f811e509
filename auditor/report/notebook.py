"""A run as a notebook shows it."""

from __future__ import annotations

from auditor.model.run import Run
from auditor.report.html import fragment_text


def notebook_html(run: Run) -> str:
    """Give an HTML fragment with the columns and the bugs; its style touches nothing around it."""
    return fragment_text(run)
