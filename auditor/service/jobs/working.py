"""Who works on the queue: starts a process for each job, so many at once, and looks after them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from auditor.errors import StoreError
from auditor.service.jobs import locks
from auditor.service.jobs.audits import Allowed
from auditor.service.jobs.job import CANCEL, LOCK, LOG, Job, Result, read_result, write_result
from auditor.service.jobs.queue import Queue, end_cancelled, now
from auditor.service.logs import LOGGER

#: Seconds between two looks at the queue, in which another service may have put something.
LOOK: Final = 1.0

#: Times that the process of a job may die under our eyes before the job is given up.
DEATHS: Final = 3

#: Seconds that processes have to end when the service does.
GRACE: Final = 10.0

_DISPATCH: Final = ".dispatch.lock"


class Working:
    """Works on the queue of a workspace with the audits of its operator, in a thread, from `start` to `stop`."""

    def __init__(self, queue: Queue, runs: Path, allowed: Allowed) -> None:
        self.queue, self.runs, self.allowed = queue, runs, allowed
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._deaths: dict[str, int] = {}
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin with what earlier services have left; without an audit there is nothing to do."""
        if not self.allowed.audits:
            return
        self.queue.folder.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._woken.set()

    def stop(self) -> None:
        """End the processes; their jobs are begun again by the next service."""
        self._stopped.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        for child in self._children.values():
            child.terminate()
        for child in self._children.values():
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _loop(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look()
            except (StoreError, OSError):
                LOGGER.exception("the queue cannot be worked on")
            self._woken.wait(LOOK)
            self._woken.clear()

    def _look(self) -> None:
        self._reap()
        # One service at a time counts and begins, so that there are never more processes than are allowed.
        held = locks.take(self.queue.folder / _DISPATCH)
        if held is None:
            return
        try:
            self.queue.sweep()
            self._begin_what_waits()
        finally:
            os.close(held)

    def _begin_what_waits(self) -> None:
        waiting = self.queue.waiting()
        idle = [job for job in waiting if not locks.is_held(job.folder / LOCK)]
        free = self.allowed.at_once - (len(waiting) - len(idle))
        for job in idle:
            if free > 0 or (job.folder / CANCEL).exists():
                free -= self._take_up(job)

    def _take_up(self, job: Job) -> bool:
        """Begin a job, or end what is not to be begun; whether a process was started."""
        held = locks.take(job.folder / LOCK)
        if held is None:
            return False
        try:
            if read_result(job.folder) is not None:
                return False
            if (job.folder / CANCEL).exists():
                end_cancelled(job)
            elif job.audit not in self.allowed.audits:
                told = f"this service runs no audit {job.audit!r} any more"
                write_result(job, Result("failed", now(), exit_code=2, error=told))
            elif self._deaths.get(job.id, 0) >= DEATHS:
                told = f"its process died {DEATHS} times; the log of the job, {job.folder / LOG}, may say of what"
                write_result(job, Result("failed", now(), exit_code=2, error=told))
            else:
                self._children[job.id] = self._begin(job, held)
                return True
            return False
        finally:
            os.close(held)  # a process that was started holds it on

    def _begin(self, job: Job, lock: int) -> subprocess.Popen[bytes]:
        audit, how = self.allowed.audits[job.audit], self.allowed.how
        command = [sys.executable, "-m", "auditor.service.jobs.runner", str(job.folder.absolute()), str(audit.file)]
        command += [audit.name, str(self.runs.absolute()), str(lock), how.probe, how.broken_references]
        with (job.folder / LOG).open("ab") as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[lock],
                start_new_session=True,  # Ctrl-C is for the service, which ends them
            )
        LOGGER.info("job started", extra={"facts": {"job": job.id, "audit": job.audit, "by": job.by}})
        threading.Thread(target=self._wake_after, args=(child,), daemon=True).start()
        return child

    def _wake_after(self, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        self.wake()

    def _reap(self) -> None:
        """Take note of the processes that have ended, and of jobs that did not end with theirs."""
        for job_id, child in list(self._children.items()):
            if child.poll() is None:
                continue
            del self._children[job_id]
            result = read_result(self.queue.folder / job_id)
            if result is None and not (self.queue.folder / job_id / CANCEL).exists():
                self._deaths[job_id] = self._deaths.get(job_id, 0) + 1
            facts = {"job": job_id, "state": result.state if result else "interrupted", "run": result and result.run_id}
            LOGGER.info("job ended", extra={"facts": facts})
