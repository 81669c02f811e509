"""A plugin of pytest: an `audit.toml` is a file of tests, one per column that has a threshold and one per bug.

The audit runs when the file is collected. Bugs that the workspace's baseline knows are skipped with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from auditor.cli.exits import FailOn, failing
from auditor.errors import AuditorError
from auditor.spec.find import SPEC_NAME

if TYPE_CHECKING:
    from auditor.model.baseline import Baseline
    from auditor.model.run import Column, Finding, Run
    from auditor.report.broken import BrokenGroup

LEVELS = ("full", "quick", "off")
FAIL_ON = tuple(FailOn)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what a project may set beside its other options of pytest."""
    parser.addini("auditor_probe", f"Environments that an audit tries: {', '.join(LEVELS)}.", default="full")
    parser.addini("auditor_fail_on", f"Severity from which a bug fails: {', '.join(FAIL_ON)}.", default="high")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect specs."""
    return AuditFile.from_parent(parent, path=file_path) if file_path.name == SPEC_NAME else None


class AuditFile(pytest.File):
    """A spec: its audit, and what came of it as tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Run the audit, and give its tests; what is wrong with the audit itself is an error of the collection."""
        from auditor import api
        from auditor.model.baseline import day_of
        from auditor.report.broken import broken_groups
        from auditor.report.view import column_name, worst_first
        from auditor.spec.find import runs_folder
        from auditor.store.baseline import baseline_file, read_baseline

        level, fail_on = self._chosen("auditor_probe", LEVELS), self._chosen("auditor_fail_on", FAIL_ON)
        baseline = read_baseline(baseline_file(runs_folder(self.path)))
        run = api.run(self.path, probe=level).run
        fails = failing(run, FailOn(fail_on), baseline)
        yield DoneItem.from_parent(self, name=f"{run.name or 'audit'} was audited")
        for group in broken_groups(run.broken_references):
            name = f"{group.first.field} for {group.first.decoder}: {group.first.raw}"
            yield BrokenReferenceItem.from_parent(self, name=name, group=group)
        for column in run.columns:
            if column.at_least is not None:
                yield ColumnItem.from_parent(self, name=column_name(column), column=column)
        for finding in worst_first(run.findings):
            state = baseline.state_of(finding, day_of(run))
            yield FindingItem.from_parent(
                self,
                name=finding.anchor,
                run=run,
                finding=finding,
                state=state,
                baseline=baseline,
                fails=finding in fails,
            )

    def _chosen(self, name: str, known: tuple[str, ...]) -> Any:
        value = str(self.config.getini(name))
        if value not in known:
            raise AuditorError(f"{name} = {value}: choose {', '.join(known)}")
        return value

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Say why the audit could not be done as the command line does."""
        error = excinfo.value
        return str(error) if isinstance(error, AuditorError) else super().repr_failure(excinfo)


class Failed(Exception):
    """What a test of an audit comes to; the text says why."""


class _AuditItem(pytest.Item):
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the text alone: no line of this file is what failed."""
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the test as people read it."""
        return self.path, None, self.name


class DoneItem(_AuditItem):
    """The audit itself: a pipeline without bugs is a test that passes, and not a file without tests."""

    def runtest(self) -> None:
        """Pass: what could not be done was an error of the collection."""


class BrokenReferenceItem(_AuditItem):
    """A reference that its decoder does not read."""

    def __init__(self, *, group: BrokenGroup, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.group = group

    def runtest(self) -> None:
        """Fail: there is no faithful score."""
        from auditor.report.told import told_broken

        raise Failed("\n".join(told_broken(self.group)))


class ColumnItem(_AuditItem):
    """A column that has a threshold."""

    def __init__(self, *, column: Column, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.column = column

    def runtest(self) -> None:
        """Fail where the column falls short of it."""
        from auditor.model.thresholds import shortfall

        if short := shortfall(self.column):
            raise Failed(short)


class FindingItem(_AuditItem):
    """A bug."""

    def __init__(
        self, *, run: Run, finding: Finding, state: str, baseline: Baseline, fails: bool, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.of_run, self.finding, self.state, self.baseline, self.fails = run, finding, state, baseline, fails

    def runtest(self) -> None:
        """Fail where nobody knows of it, and it is severe enough."""
        from auditor.model.baseline import FAILING
        from auditor.report.told import told

        if self.state not in FAILING:
            entry = self.baseline.entries[self.finding.fingerprint]
            pytest.skip(f"{self.state}: {entry.reason}")
        if self.fails:
            title = f"{self.finding.severity}, {self.state}: {self.finding.title}"
            raise Failed("\n".join([title, *told(self.of_run, self.finding)]))
