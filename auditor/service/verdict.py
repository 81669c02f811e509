"""Whether a run is good enough: what `auditor run` says by its exit code, with all reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from auditor.model.baseline import Baseline, day_of
from auditor.model.figures import plural
from auditor.model.run import Finding, Run
from auditor.report.failing import BROKEN_REFERENCES, FINDINGS, FailOn, failing, short_columns
from auditor.report.text import PROSE_LIMIT, visible

Kind = Literal[
    "finding", "at_least", "broken_references", "content_gate", "blocked", "age", "damaged", "expired", "no_run"
]


@dataclass(frozen=True)
class Reason:
    """One thing that is to be known of a run; those that `fails` are why it does not pass."""

    kind: Kind
    text: str
    fails: bool


@dataclass(frozen=True)
class Verdict:
    """What is said of a run: `findings` are those that fail it, `exit_code` is that of `auditor run`."""

    exit_code: int
    findings: tuple[Finding, ...]
    reasons: tuple[Reason, ...]


def verdict_on(run: Run, fail_on: FailOn, baseline: Baseline, day: date, today: date) -> Verdict:
    """Judge a run by what the team has said until a day: that of the run, as `auditor run` does, or another."""
    found = failing(run, fail_on, baseline, day)
    short = short_columns(run, fail_on)
    code = BROKEN_REFERENCES if run.rates_withheld else FINDINGS if found or short else 0
    reasons = [
        *_broken(run),
        *(Reason("finding", _said(one, baseline, day), True) for one in found),
        *(Reason("at_least", visible(one, PROSE_LIMIT), True) for one in short),
        *_not_failing(run, fail_on, baseline, day, today),
    ]
    return Verdict(code, found, tuple(reasons))


def _broken(run: Run) -> Iterator[Reason]:
    count = len(run.broken_references)
    if run.rates_withheld:
        told = f"{plural(count, 'broken reference')}: the rates are withheld, since they would mean nothing"
        yield Reason("broken_references", told, True)
    elif count:
        yield Reason("broken_references", f"{plural(count, 'broken reference')}: left out of the rates", False)


def _said(finding: Finding, baseline: Baseline, day: date) -> str:
    state = baseline.state_of(finding, day)
    return visible(f"{state}, {finding.severity}: {finding.anchor}: {finding.title}", PROSE_LIMIT)


def _not_failing(run: Run, fail_on: FailOn, baseline: Baseline, day: date, today: date) -> Iterator[Reason]:
    """Say what fails no run, and whoever deploys wants to know."""
    if run.gate is not None and not run.gate.open:
        told = f"the content gate is closed ({run.gate.reason}): the rates are not to be compared with other runs"
        yield Reason("content_gate", told, False)
    if blocked := run.cases.expected - run.cases.judged:
        yield Reason("blocked", f"{blocked:,} of {plural(run.cases.expected, 'case')} could not be judged", False)
    if day == day_of(run) and day < today:
        before = {one.fingerprint for one in failing(run, fail_on, baseline, day)}
        for one in failing(run, fail_on, baseline, today):
            if one.fingerprint not in before:
                yield Reason("expired", f"since the run: {_said(one, baseline, today)}", False)
