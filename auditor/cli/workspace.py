"""Where the runs of the workspace around us are."""

from __future__ import annotations

from pathlib import Path

from auditor.errors import SpecError


def runs_here() -> Path:
    """Give the runs folder of the spec in use here, else of this folder; a spec with mistakes hides no run."""
    from auditor.spec.find import SPEC_NAME, find_spec, runs_folder

    try:
        return runs_folder(find_spec())
    except SpecError:
        return runs_folder(Path.cwd() / SPEC_NAME)
