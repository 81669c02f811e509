"""Two stored runs, compared; imported by who compares, as it brings the database along."""

from __future__ import annotations

from pathlib import Path

from auditor.audit.split import decode_crossings
from auditor.drift.compare import compare
from auditor.errors import InternalError
from auditor.model.drift import Drift
from auditor.store.reading import StoredRun


def compared(old: StoredRun, new: StoredRun, runs: Path, *, common: bool, split: bool) -> Drift:
    """Compare two runs as `auditor drift` does; Refused where they are not of the same cases.

    With `split` parsers and predictions are told apart without a spec: by what earlier comparisons have decoded.
    """
    if not split:
        return compare(old, new, common=common)
    for event in decode_crossings(old, new, runs, None, None, common=common):
        if isinstance(event, Drift):
            return event
    raise InternalError("the comparison comes last")
