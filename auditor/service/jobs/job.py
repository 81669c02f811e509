"""A job as its folder says it is."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from auditor.errors import StoreError
from auditor.service.jobs.locks import is_held
from auditor.whole_file import write_whole

State = Literal["queued", "running", "done", "failed", "cancelled"]
Ended = Literal["done", "failed", "cancelled"]
ENDED: Final[tuple[Ended, ...]] = ("done", "failed", "cancelled")

JOB, RESULT, LOCK, CANCEL, EVENTS, LOG, BEGUN = (
    *("job.json", "result.json", "lock", "cancel", "events.jsonl", "log", "begun"),
)

#: An id begins with the moment at which the job was taken, so that ids are in the order of the queue.
ID: Final = re.compile(r"\d{8}T\d{12}Z-[0-9a-f]{8}")


@dataclass(frozen=True)
class Job:
    """What was submitted, by whom: it never changes. `file` is the name of the submitted file in the folder."""

    id: str
    audit: str
    created_at: str
    by: str
    sha256: str
    size: int
    file: str
    again: bool
    folder: Path

    @property
    def predictions(self) -> Path:
        """The submitted file; it is gone once the job has ended."""
        return self.folder / self.file


@dataclass(frozen=True)
class Result:
    """How a job ended. `run_id` is its run; `reused` says that the run was there; else `error` says why there is none.

    `exit_code` is that of `auditor run` for an error, None where there is a run.
    """

    state: Ended
    finished_at: str
    run_id: str | None = None
    reused: bool = False
    exit_code: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Standing:
    """A job and how it stands at a moment; `cancelling` says that it has been told to end."""

    job: Job
    state: State
    cancelling: bool
    result: Result | None


def read_job(folder: Path) -> Job:
    """Read what was submitted; StoreError where that is no job."""
    try:
        document = json.loads((folder / JOB).read_text(encoding="utf-8"))
        return Job(**document, folder=folder)
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{folder}: no readable job: {error}") from error


def write_job(job: Job) -> None:
    """Write what was submitted, whole."""
    document = asdict(job)
    del document["folder"]
    write_whole(job.folder / JOB, _text(document))


def read_result(folder: Path) -> Result | None:
    """Read how a job ended; None as long as it has not, StoreError where the file is damaged."""
    try:
        return Result(**json.loads((folder / RESULT).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{folder / RESULT}: no readable result: {error}") from error


def write_result(job: Job, result: Result) -> None:
    """End a job: the result appears whole, and what was submitted is needed no more. Only who holds its lock may."""
    write_whole(job.folder / RESULT, _text(asdict(result)))
    job.predictions.unlink(missing_ok=True)


def standing(job: Job) -> Standing:
    """Say how a job stands."""
    cancelling = (job.folder / CANCEL).exists()
    # In this order: who holds the lock ends the job before letting go.
    is_running = is_held(job.folder / LOCK)
    result = read_result(job.folder)
    if result is not None:
        return Standing(job, result.state, cancelling, result)
    return Standing(job, "running" if is_running else "queued", cancelling, None)


def _text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
