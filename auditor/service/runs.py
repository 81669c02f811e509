"""The folder of runs as it is now: what was read is kept as long as the file stays the same, and damage is named."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from auditor.errors import StoreError
from auditor.model.run import Run
from auditor.store.reading import read_run
from auditor.store.records import RunRecord, read_figures, read_record
from auditor.store.series import newest_first, series

#: Whole runs that are kept, and runs without their evidence: one of each audit is asked for again and again.
WHOLE = 8
FIGURES = 200

T = TypeVar("T")

#: What tells that a file is another one: a run is renamed into its place whole.
Mark = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """A run of the folder: its id there, its file, and what a history needs of it."""

    run_id: str
    path: Path
    mark: Mark
    record: RunRecord

    @property
    def written(self) -> int:
        """Give when it was written, in nanoseconds."""
        return self.mark[0]


@dataclass(frozen=True)
class Damaged:
    """A folder among the runs that is no whole run, and why."""

    run_id: str
    reason: str


@dataclass(frozen=True)
class Shelf:
    """The folder at one moment: runs newest first, and what is damaged."""

    entries: tuple[Entry, ...] = ()
    damaged: tuple[Damaged, ...] = ()

    @property
    def audits(self) -> tuple[str, ...]:
        """Name the audits, that of the newest run first."""
        return tuple(dict.fromkeys(entry.record.name for entry in self.entries))

    def of(self, audit: str) -> tuple[Entry, ...]:
        """Give the runs of an audit, newest first."""
        return tuple(entry for entry in self.entries if entry.record.name == audit)

    def series(self, audit: str) -> tuple[Entry, ...]:
        """Give the runs of an audit that follow each other, the latest first: without redecodings."""
        return tuple(series(self.of(audit)))

    def around(self, entry: Entry) -> tuple[Entry, ...]:
        """Give the runs that one stands among: the series of its audit, and itself where it is a redecoding."""
        return tuple(one for one in self.of(entry.record.name) if one is entry or not one.record.redecoded_of)

    def find(self, run_id: str) -> Entry | None:
        """Give a run by its id, which is the name of its folder."""
        return next((entry for entry in self.entries if entry.run_id == run_id), None)


class Runs:
    """The runs of a folder; safe for many threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._read: dict[str, tuple[Mark | None, Entry | Damaged]] = {}
        self._shelf = Shelf()
        self._whole: Kept[Run] = Kept(WHOLE, read_run)
        self._figures: Kept[Run] = Kept(FIGURES, read_figures)

    def look(self) -> Shelf:
        """Look at the folder, and read what is new in it; StoreError where the folder itself cannot be read."""
        with self._lock:
            found = _marks(self.folder)
            if {name: mark for name, (mark, _) in self._read.items()} != found:
                self._read = {name: self._entry(name, mark) for name, mark in found.items()}
                self._shelf = _shelf([one for _, one in self._read.values()])
            return self._shelf

    def run(self, entry: Entry) -> Run:
        """Give a whole run; StoreError says what is wrong with it."""
        return self._whole.get(entry)

    def figures(self, entry: Entry) -> Run:
        """Give a run without witnesses and shapes; StoreError says what is wrong with it."""
        return self._figures.get(entry)

    def _entry(self, name: str, mark: Mark | None) -> tuple[Mark | None, Entry | Damaged]:
        before = self._read.get(name)
        if before is not None and before[0] == mark:
            return before
        path = self.folder / name / "run.json"
        if mark is None:
            reason = "there is no run.json in it: it is half-written, or something else"
            return mark, Damaged(name, reason)
        try:
            return mark, Entry(name, path, mark, read_record(path))
        except StoreError as error:
            return mark, Damaged(name, str(error).replace(f"{path}: ", ""))


def _marks(folder: Path) -> dict[str, Mark | None]:
    """Give the folders of runs with what tells whether they are others; None where one has no `run.json`."""
    marks: dict[str, Mark | None] = {}
    try:
        with os.scandir(folder) as found:
            names = [one.name for one in found if not one.name.startswith(".") and one.is_dir()]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{folder}: the folder of runs cannot be read: {error.strerror or error}") from error
    for name in names:
        try:
            stat = os.stat(folder / name / "run.json")
        except OSError:
            marks[name] = None
        else:
            marks[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return marks


def _shelf(found: list[Entry | Damaged]) -> Shelf:
    entries = newest_first(one for one in found if isinstance(one, Entry))
    damaged = [one for one in found if isinstance(one, Damaged)]
    return Shelf(tuple(entries), tuple(sorted(damaged, key=lambda one: one.run_id)))


class Kept(Generic[T]):
    """What was read last, as long as the files stay the same."""

    def __init__(self, most: int, read: Callable[[Path], T]) -> None:
        self._most, self._read_file = most, read
        self._kept: OrderedDict[tuple[str, Mark], T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, entry: Entry) -> T:
        """Give what is in the file of a run."""
        key = (entry.run_id, entry.mark)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = self._read_file(entry.path)
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value
