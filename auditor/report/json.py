"""A run as `run.json`."""

from __future__ import annotations

from auditor.model.document import to_json_text
from auditor.model.run import Run


def json_text(run: Run) -> str:
    """Give the public document, schema 1."""
    return to_json_text(run)
