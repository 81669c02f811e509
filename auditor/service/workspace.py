"""What the service answers from: the runs of a workspace, and what its team has said of bugs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

from auditor.errors import AuditorError, SpecError, StoreError
from auditor.model.baseline import FAILING, Baseline, Entry, State
from auditor.model.run import Finding, Run
from auditor.report.view import worst_first
from auditor.service import history
from auditor.service.history import Seen
from auditor.service.runs import Entry as RunEntry
from auditor.service.runs import Runs, Shelf
from auditor.store.baseline import read_baseline

#: States of bugs that the latest run has, and of those that it has not.
BugState = Literal[State, "fixed", "gone"]
STATES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True)
class Said:
    """What the team has said of bugs on a day; where that cannot be read, `mistake` says why, and no state is known."""

    baseline: Baseline
    day: date
    mistake: str = ""

    def state_of(self, finding: Finding, *, is_in_latest: bool = True) -> BugState | None:
        """Give the state of a bug as `auditor findings list` does; None where it is not known."""
        if self.mistake:
            return None
        if is_in_latest:
            return self.baseline.state_of(finding, self.day)
        entry = self.entry(finding.fingerprint)
        return "fixed" if entry and entry.said == "fixed" else "gone"

    def entry(self, fingerprint: str) -> Entry | None:
        """Give what was said of a bug."""
        return self.baseline.entries.get(fingerprint)


@dataclass(frozen=True)
class BugRow:
    """A bug of a run with its state and its life."""

    finding: Finding
    state: BugState | None
    seen: Seen

    @property
    def is_failing(self) -> bool:
        """Say whether it fails a run, as far as is known."""
        return self.state is None or self.state in FAILING


@dataclass(frozen=True)
class Latest:
    """The latest run of an audit that can be read; `unreadable` says what is wrong with a later one."""

    name: str
    entry: RunEntry
    run: Run
    entries: tuple[RunEntry, ...]
    unreadable: str


class Workspace:
    """The runs of a folder, the file in which its team says what it knows, and the specs that its operator names."""

    def __init__(self, runs_folder: Path, baseline: Path, specs: Mapping[str, Path] = MappingProxyType({})) -> None:
        """Open it; `specs` are the operator's, by the name of the audit."""
        self.runs, self.baseline = Runs(runs_folder), baseline
        self._specs = dict(specs)

    @property
    def specs(self) -> Mapping[str, Path]:
        """The specs whose consumers may be run, by audit: the operator's, else the one of the workspace's folder.

        They are looked for anew each time, and read by whoever uses one.
        """
        if self._specs:
            return self._specs
        from auditor.spec.find import find_spec  # with the models of a spec, for which no other page waits

        try:
            found = find_spec(start=self.baseline.absolute().parent)
        except SpecError:
            return {}
        return {_name_in(found): found}

    def said(self) -> Said:
        """Give what the team has said until now."""
        today = datetime.now(UTC).date()
        try:
            return Said(read_baseline(self.baseline), today)
        except AuditorError as error:
            return Said(Baseline(), today, str(error))

    def latest(self, shelf: Shelf, audit: str) -> Latest | None:
        """Give the latest run of an audit, with those before it; None where no run of it can be read."""
        entries, unreadable = shelf.series(audit), ""
        for entry in entries:
            try:
                return Latest(audit, entry, self.runs.figures(entry), entries, unreadable)
            except StoreError as error:
                unreadable = unreadable or str(error)
        return None


def _name_in(spec: Path) -> str:
    """Give the name of the audit that a spec is of; the file's own where it names none."""
    try:
        name = tomllib.loads(spec.read_text(encoding="utf-8-sig")).get("name")
    except (OSError, ValueError, RecursionError):
        return spec.name
    return name if isinstance(name, str) and name else spec.name


def bug_rows(findings: Iterable[Finding], entries: tuple[RunEntry, ...], said: Said) -> tuple[BugRow, ...]:
    """Give the bugs of a run of an audit, worst first, with states and lives over its runs, given newest first."""
    seen = history.seen(entries)
    return tuple(BugRow(one, said.state_of(one), seen[one.fingerprint]) for one in worst_first(findings))
