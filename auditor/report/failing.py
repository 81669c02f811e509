"""What fails a run: for the exit code of a command, and for whoever else has to say yes or no."""

from __future__ import annotations

from datetime import date
from typing import Final, Literal, get_args

from auditor.model.baseline import Baseline, day_of
from auditor.model.run import Finding, Run
from auditor.model.thresholds import shortfall
from auditor.report.view import column_name

#: The least severity of a finding that fails a run.
FailOn = Literal["high", "medium", "low", "never"]

FINDINGS: Final = 1
BROKEN_REFERENCES: Final = 3


def code_of(run: Run, fail_on: FailOn, baseline: Baseline) -> int:
    """Give the exit code of a run whose results are written: the first that applies."""
    if run.rates_withheld:
        return BROKEN_REFERENCES
    return FINDINGS if failing(run, fail_on, baseline) or short_columns(run, fail_on) else 0


def short_columns(run: Run, fail_on: FailOn) -> tuple[str, ...]:
    """Say which columns are not as right as the spec asks, and why; none where nothing is to fail."""
    if fail_on == "never":
        return ()
    return tuple(f"{column_name(column)}: {short}" for column in run.columns if (short := shortfall(column)))


def failing(run: Run, fail_on: FailOn, baseline: Baseline, day: date | None = None) -> tuple[Finding, ...]:
    """Give the findings that fail a run: of these severities, and not known by then, or on another day."""
    severities = get_args(FailOn)
    severe = [] if fail_on == "never" else severities[: severities.index(fail_on) + 1]
    return baseline.failing((finding for finding in run.findings if finding.severity in severe), day or day_of(run))
