"""What the API takes and gives of jobs and of the audits that they run."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from auditor.service.jobs.job import Standing, State

_JOB = "20240308T090507123456Z-35d46378"
_RUN = "20240308T090509Z-9f86d081"

_PATH: Final = r"^/.*\.(jsonl|ndjson|json|csv|tsv|parquet|pq)$"


def _named_as_submitted(path: str) -> str:
    if not re.search(_PATH, path):
        raise ValueError("name a file by its absolute path, with a suffix that tells its format: /srv/run.jsonl")
    return path


class AuditOut(BaseModel):
    """An audit that the operator lets the service run."""

    audit: str = Field(description="The name in its spec.", examples=["contracts"])
    fields: list[str] = Field(examples=[["effective_date", "total"]])
    consumers: list[str] = Field(examples=[["billing", "warehouse"]])


class AuditsOut(BaseModel):
    """The audits that are configured; a client may name these alone."""

    audits: list[AuditOut]


class SubmittedPath(BaseModel):
    """A file of predictions on the service's own machine."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, AfterValidator(_named_as_submitted)] = Field(
        description="Absolute, and below a folder of `--allow-path`. Copied before the answer is sent.",
        max_length=4096,
        json_schema_extra={"pattern": _PATH},
        examples=["/srv/completions/contracts.parquet"],
    )


class JobOut(BaseModel):
    """A job: the audit of what was submitted."""

    job_id: str = Field(examples=[_JOB])
    audit: str = Field(examples=["contracts"])
    state: State = Field(description="Where it is in its life.", examples=["done"])
    cancelling: bool = Field(description="Whether it has been told to end.", examples=[False])
    created_at: str = Field(examples=["2024-03-08T09:05:07.123+00:00"])
    finished_at: str | None = Field(examples=["2024-03-08T09:05:09.871+00:00"])
    by: str = Field(description="The name of the token that submitted it.", examples=["ci"])
    sha256: str = Field(description="Of the submitted bytes.", examples=["9f86d081884c7d65"])
    size: int = Field(description="Bytes.", examples=[81220])
    run_id: str | None = Field(description="Its run, once it is done.", examples=[_RUN])
    reused: bool = Field(
        description="Whether the run was there: the same manifest, bytes, spec and consumer versions.", examples=[False]
    )
    exit_code: int | None = Field(
        description="Of a failed job: the exit code that `auditor run` ends with for its `error`, as 2 where the audit "
        "could not be done. Null where there is a run, whose exit code the gate gives; and of a cancelled job.",
        examples=[None],
    )
    error: str = Field(description="Why there is no run.", examples=[""])


class JobsPage(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobOut]
    next: str | None = Field(description="The cursor of the next page, if there is one.", examples=[None])


def job_out(one: Standing) -> JobOut:
    """Give a job as it stands."""
    job, result = one.job, one.result
    return JobOut(
        job_id=job.id,
        audit=job.audit,
        state=one.state,
        cancelling=one.cancelling and result is None,
        created_at=job.created_at,
        finished_at=result.finished_at if result else None,
        by=job.by,
        sha256=job.sha256,
        size=job.size,
        run_id=result.run_id if result else None,
        reused=bool(result and result.reused),
        exit_code=result.exit_code if result else None,
        error=result.error if result else "",
    )
