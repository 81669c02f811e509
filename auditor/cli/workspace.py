"""Where the runs of the workspace around us are, and what its team has said of bugs."""

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


def baseline_here() -> Path:
    """Give the file in which the team of the workspace around us says what it knows."""
    from auditor.store.baseline import baseline_file

    return baseline_file(runs_here())
