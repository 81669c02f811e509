"""The process of one job: audits what was submitted, and ends the job. The service starts it, and it outlives a kill of
the service: it holds the lock of the job, so that nobody else begins it meanwhile.

    python -m auditor.service.jobs.runner JOB SPEC AUDIT RUNS LOCK PROBE BROKEN_REFERENCES
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Final

from auditor.audit.events import RunFinished
from auditor.audit.repeats import Repeated, Repeats, inputs_of_runs
from auditor.audit.run import audit
from auditor.errors import AuditorError, InternalError
from auditor.service.jobs import locks
from auditor.service.jobs.audits import ConfiguredAudit, HowToAudit, spec_now, with_predictions
from auditor.service.jobs.event_log import EventLog
from auditor.service.jobs.job import BEGUN, CANCEL, Job, Result, read_job, read_result, write_result
from auditor.service.jobs.priority import give_way
from auditor.service.jobs.progress import Telling
from auditor.service.jobs.queue import end_cancelled, now

#: Locks by which jobs of the same bytes go after each other: the later one then finds the run of the first.
EQUALS: Final = 64

#: Seconds between two looks whether the job is to end, and those that it then has.
LOOK, GRACE = 0.25, 15.0


def main(arguments: list[str]) -> int:
    """Work on a job; gives the exit code of `auditor run`."""
    folder, spec, name, runs, lock, probe, broken = arguments
    os.set_inheritable(int(lock), False)  # no worker of ours may hold it after us
    give_way()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    job = read_job(Path(folder))
    how = HowToAudit(probe, broken)  # type: ignore[arg-type]
    threading.Thread(target=_end_when_told, args=(job,), daemon=True).start()
    try:
        return end(job, _result(job, ConfiguredAudit(name, Path(spec), (), ()), Path(runs), how))
    except SystemExit:
        if (job.folder / CANCEL).exists():
            end_cancelled(job)
        raise


def end(job: Job, result: Result) -> int:
    """End the job, if it has not ended."""
    if read_result(job.folder) is None:
        write_result(job, result)
    return result.exit_code or 0


def _result(job: Job, named: ConfiguredAudit, runs: Path, how: HowToAudit) -> Result:
    """Do the job, or find that it is done."""
    if (ended := read_result(job.folder)) is not None:
        return ended
    # An earlier process may have been killed between its run and the result.
    if (job.folder / BEGUN).exists() and (run_id := _run_of(job, runs)) is not None:
        return Result("done", now(), run_id)
    (job.folder / BEGUN).touch()
    log = EventLog(job.folder)
    log.add("started")
    try:
        return _audited(job, named, runs, how, log)
    except AuditorError as error:
        return Result("failed", now(), exit_code=error.exit_code, error=str(error))
    except Exception:  # noqa: BLE001 - the edge of the process
        traceback.print_exc()
        told = "this is a bug of the auditor, not of your pipeline; please report it, with the log of the job"
        return Result("failed", now(), exit_code=AuditorError.exit_code, error=told)


def _audited(job: Job, named: ConfiguredAudit, runs: Path, how: HowToAudit, log: EventLog) -> Result:
    tell = Telling(log)
    spec = with_predictions(spec_now(named), job.predictions)
    equals = job.folder.parent / f".equal-{int(job.sha256[:8], 16) % EQUALS:02d}.lock"
    with closing(os.fdopen(locks.wait_for(equals))):
        mark = {"job": job.id, "submission_sha256": job.sha256}
        repeats = Repeats(runs, mark, how.probe, how.broken_references, look=not job.again)
        try:
            with closing(
                audit(
                    spec,
                    broken_references=how.broken_references,
                    probe=how.probe,
                    tell=tell,
                    runs=runs,
                    repeats=repeats,
                )
            ) as events:
                for event in events:
                    tell(event)
                    if isinstance(event, RunFinished) and event.folder is not None:
                        return Result("done", now(), event.folder.name)
        except Repeated as found:
            return Result("done", now(), found.run_id, reused=True)
    raise InternalError("the audit ended without a run")


def _run_of(job: Job, runs: Path) -> str | None:
    """Give the run that this job has made."""
    return next((run_id for run_id, inputs in inputs_of_runs(runs) if inputs.get("job") == job.id), None)


def _end_when_told(job: Job) -> None:
    """Look whether the job is to end: whoever told so may be another service than that which started us."""
    ended = threading.Event()
    while not (job.folder / CANCEL).exists():
        ended.wait(LOOK)
    os.kill(os.getpid(), signal.SIGTERM)
    ended.wait(GRACE)
    os._exit(128 + signal.SIGTERM)  # it hangs: who looks after the queue ends the job


def _end(number: int, frame: FrameType | None) -> None:
    """Leave by way of every `finally`, so that workers and an unfinished run go, too."""
    for other in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
