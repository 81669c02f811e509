"""The runs of a workspace as they follow each other, and which is the latest: for commands, pages, figures and gates.

A run that decodes another one's outputs again is another instrument over old outputs. It is there to be compared with
the run that it is of, and is no later state of the audit: it has no part in the series, and is never the latest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from auditor.errors import StoreError
from auditor.store.reading import StoredRun, folders_of_runs, read_run
from auditor.store.records import RunRecord, read_record


class Dated(Protocol):
    """A stored run in short, and when its `run.json` was written, in nanoseconds."""

    @property
    def run_id(self) -> str:
        """Give the name of its folder."""

    @property
    def record(self) -> RunRecord:
        """Give what a history needs of it."""

    @property
    def written(self) -> int:
        """Give when it was written."""


Age = tuple[str, int, str]
D = TypeVar("D", bound=Dated)


def age(run: Dated) -> Age:
    """Give what is greater of a later run: when it was made and, within a second, when it was written."""
    return run.record.created_at, run.written, run.run_id


def newest_first(runs: Iterable[D]) -> list[D]:
    """Sort runs by their age."""
    return sorted(runs, key=age, reverse=True)


def series(runs: Iterable[D]) -> list[D]:
    """Give the runs that follow each other, the latest first: those that are no redecoding of another one."""
    return [run for run in newest_first(runs) if not run.record.redecoded_of]


@dataclass(frozen=True)
class KeptRecord:
    """A run of a folder, in short."""

    folder: Path
    record: RunRecord
    written: int

    @property
    def run_id(self) -> str:
        """Give the name of its folder."""
        return self.folder.name


def kept_records(runs_folder: Path) -> tuple[list[KeptRecord], dict[Path, StoreError]]:
    """Give the runs of a folder, newest first, and what is wrong with those that cannot be read."""
    found, damaged = list[KeptRecord](), dict[Path, StoreError]()
    for folder in folders_of_runs(runs_folder):
        path = folder / "run.json"
        try:
            found.append(KeptRecord(folder, read_record(path), path.stat().st_mtime_ns))
        except StoreError as error:
            damaged[folder] = error
        except FileNotFoundError:
            continue  # removed at this moment
    return newest_first(found), damaged


def latest_run(runs_folder: Path) -> Path:
    """Give the folder of the latest run; StoreError where there is none, or a later one cannot be read.

    A run that cannot be read tells its time by its name alone, which begins with it.
    """
    found, damaged = kept_records(runs_folder)
    latest = next(iter(series(found)), None)
    for folder, error in damaged.items():
        if latest is None or folder.name > latest.folder.name:
            raise error
    if latest is None:
        told = f"; {len(found):,} that decode another one's outputs again are named by their ids" if found else ""
        raise StoreError(f"run latest: there is none in {runs_folder}{told}\n  next:  `auditor run` makes one")
    return latest.folder


def list_runs(runs_folder: Path) -> tuple[list[StoredRun], list[StoreError]]:
    """Give all runs whole, newest first, and what is wrong with those that cannot be read."""
    found, damaged = kept_records(runs_folder)
    runs, errors = list[StoredRun](), list(damaged.values())
    for one in found:
        try:
            runs.append(StoredRun(read_run(one.folder / "run.json"), one.folder))
        except StoreError as error:
            errors.append(error)
    return runs, errors
