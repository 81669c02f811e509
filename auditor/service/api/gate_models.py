"""What a deployment asks of an audit, and what it is told."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.model.baseline import State
from auditor.model.run import Severity
from auditor.report.failing import FailOn
from auditor.service.api.models import GateOut
from auditor.service.api.waiting import LONGEST
from auditor.service.verdict import Kind

_JOB = "20240308T090507123456Z-35d46378"
_RUN = "20240308T090509Z-9f86d081"


class GateRequest(BaseModel):
    """Which run is asked for, and what is asked of it; by default the latest run, as `auditor run` has it."""

    model_config = ConfigDict(extra="forbid")

    run: str | None = Field(None, max_length=200, description="This run.", examples=[None])
    job: str | None = Field(None, max_length=100, description="The run of this job.", examples=[_JOB])
    wait: int = Field(0, ge=0, le=LONGEST, description="Seconds to wait for the end of the job.", examples=[60])
    fail_on: FailOn = Field(
        "high",
        description="The least severity that fails; with `never` no finding does, and no threshold.",
        examples=["high"],
    )
    max_age: int | None = Field(
        None, ge=0, le=10**9, description="Seconds; a run that is older does not pass.", examples=[86400]
    )
    as_of: Literal["run", "today"] = Field(
        "run",
        description="The day on which what the team said of bugs must hold: that of the run, as `auditor run` has it.",
        examples=["run"],
    )


class ReasonOut(BaseModel):
    """One thing that is to be known of the run."""

    kind: Kind = Field(examples=["finding"])
    text: str = Field(examples=["new, high: value-disagreement-5d41402a: 01/03/2024 is read in two ways"])
    fails: bool = Field(description="Whether the run does not pass for it.", examples=[True])


class FailingOut(BaseModel):
    """A bug for which the run does not pass."""

    fingerprint: str = Field(examples=["5d41402abc4b2a76"])
    code: str = Field(examples=["value-disagreement"])
    severity: Severity
    state: State
    field: str = Field(examples=["effective_date"])
    consumers: list[str] = Field(examples=[["billing", "ledger"]])
    owners: list[str] = Field(examples=[["billing", "finance"]])
    title: str = Field(examples=["01/03/2024 is read as 3 January and as 1 March"])
    affected: int = Field(description="Cases.", examples=[78])


class GateVerdict(BaseModel):
    """Whether a run passes, and why not."""

    audit: str = Field(examples=["contracts"])
    verdict: Literal["pass", "fail"] = Field(examples=["fail"])
    exit_code: int = Field(description="That of `auditor run` for this run.", examples=[1])
    run_id: str | None = Field(description="None where the job has no run.", examples=[_RUN])
    job_id: str | None = Field(examples=[_JOB])
    created_at: str | None = Field(examples=["2024-03-08T09:05:09+00:00"])
    age: int | None = Field(description="Seconds since the run was made.", examples=[40])
    expected: int | None = Field(description="Cases that have references.", examples=[240])
    judged: int | None = Field(description="Cases whose fields were looked at.", examples=[234])
    content_gate: GateOut | None
    findings: list[FailingOut] = Field(description="The bugs that fail it, the worst first.")
    reasons: list[ReasonOut] = Field(description="All there is to say, what fails first.")
