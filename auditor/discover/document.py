"""A discovery as JSON: the same that the terminal shows, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from auditor.discover.found import Discovery

#: The version of the document: keys may be added, never renamed or removed.
SCHEMA = 1


def document(found: Discovery, fragment: str) -> dict[str, Any]:
    """Give files, models with columns, paths and filters, problems, and the fragment of a spec."""
    return {
        "schema": SCHEMA,
        "dialect": found.dialect,
        "files": list(found.files),
        "schemas": list(found.schemas),
        "models": [asdict(model) for model in found.models],
        "problems": [asdict(problem) for problem in found.problems],
        "fragment": fragment,
    }
