"""The queue: a folder with a folder for each job. What is put into it appears whole, and is done in that order."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from auditor.errors import StoreError
from auditor.service.jobs import locks
from auditor.service.jobs.event_log import EventLog
from auditor.service.jobs.job import (
    CANCEL,
    ID,
    JOB,
    LOCK,
    RESULT,
    Job,
    Result,
    Standing,
    read_job,
    read_result,
    standing,
    write_job,
    write_result,
)

#: The folder of the jobs, beside that of the runs.
JOBS: Final = "jobs"

#: Jobs that wait; more are not taken.
MOST_WAITING: Final = 1_000

#: Jobs that have ended and are still told of.
KEPT: Final = 1_000

_COMING: Final = ".coming-"


class Full(StoreError):
    """So many jobs wait that no more is taken."""


class Incoming:
    """A folder aside, into which a submission is written until it is whole; it goes with whoever writes it."""

    def __init__(self, folder: Path, file: str) -> None:
        self.folder, self.file = folder, file

    @property
    def path(self) -> Path:
        """Where the submission is to be written."""
        return self.folder / self.file


class Queue:
    """The jobs of a workspace; any number of processes may look at them and add to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def incoming(self, file: str) -> Iterator[Incoming]:
        """Give room for a submission whose file has a name; nothing of it is left unless `put` takes it."""
        folder = self.folder / f"{_COMING}{secrets.token_hex(8)}"
        lock = self.folder / f"{folder.name}.lock"
        with ExitStack() as leaving:
            self.folder.mkdir(parents=True, exist_ok=True)
            leaving.callback(lock.unlink, missing_ok=True)
            leaving.callback(os.close, locks.take_new(lock))
            leaving.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            yield Incoming(folder, file)

    def put(self, incoming: Incoming, audit: str, by: str, sha256: str, *, again: bool = False) -> Job:
        """Take a submission that is whole; Full where too many wait."""
        if len(self.waiting()) >= MOST_WAITING:
            raise Full(f"{MOST_WAITING:,} submissions wait already; send it again later")
        now = datetime.now(UTC)
        name = f"{now.strftime('%Y%m%dT%H%M%S%f')}Z-{secrets.token_hex(4)}"
        created, size = now.isoformat(timespec="milliseconds"), incoming.path.stat().st_size
        job = Job(name, audit, created, by, sha256, size, incoming.file, again, incoming.folder)
        write_job(job)
        events = EventLog(job.folder)
        events.add("queued", audit=audit, by=by)
        events.close()
        (job.folder / LOCK).touch(0o600)
        _sync(incoming.path)
        final = self.folder / name
        incoming.folder.rename(final)
        _sync(self.folder)
        return read_job(final)

    def same(self, audit: str, sha256: str) -> Job | None:
        """Give a job of the same bytes that waits or runs, so that who sends them again finds it."""
        for job in self.waiting():
            if (job.audit, job.sha256) == (audit, sha256) and not (job.folder / CANCEL).exists():
                return job
        return None

    def ids(self) -> list[str]:
        """Name all jobs, the oldest first."""
        try:
            return sorted(name for name in os.listdir(self.folder) if ID.fullmatch(name))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.folder}: the jobs cannot be read: {error.strerror or error}") from error

    def find(self, job_id: str) -> Job | None:
        """Give a job by its id."""
        if not ID.fullmatch(job_id) or not (self.folder / job_id / JOB).is_file():
            return None
        return read_job(self.folder / job_id)

    def waiting(self) -> list[Job]:
        """Give the jobs that have not ended, the oldest first."""
        found = []
        with self._lock:
            ids = self.ids()
            self._ended.intersection_update(ids)
            self._ended.update(name for name in set(ids) - self._ended if (self.folder / name / RESULT).exists())
            names = [name for name in ids if name not in self._ended]
        for name in names:
            with suppress(StoreError):  # removed meanwhile
                found.append(read_job(self.folder / name))
        return found

    def _ended_ids(self) -> list[str]:
        self.waiting()
        with self._lock:
            return sorted(self._ended)

    def cancel(self, job: Job) -> Standing:
        """Tell a job to end; at once where it waits, else by who works on it. How it stands then."""
        (job.folder / CANCEL).touch()
        held = locks.take(job.folder / LOCK)
        if held is not None:
            try:
                end_cancelled(job)
            finally:
                os.close(held)
        return standing(job)

    def sweep(self) -> None:
        """Remove what killed services left of submissions that never were whole, and the oldest that have ended."""
        for lock in self.folder.glob(f"{_COMING}*.lock"):
            held = locks.take(lock)
            if held is not None:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
                os.close(held)
        ended = self._ended_ids()
        for name in ended[: max(0, len(ended) - KEPT)]:
            shutil.rmtree(self.folder / name, ignore_errors=True)


def end_cancelled(job: Job) -> None:
    """End a job that was told to end, if it has not ended. Only who holds its lock may."""
    if read_result(job.folder) is None:
        write_result(job, Result("cancelled", now()))


def now() -> str:
    """Give the time of an event."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
