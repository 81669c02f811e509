"""What the API answers with; the names are those of `run.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.model.baseline import State
from auditor.model.run import Severity


class GateOut(BaseModel):
    """The content gate of a run."""

    open: bool = Field(
        description="Whether its content rates may be compared with those of other runs.", examples=[False]
    )
    reason: str = Field(description="Why not.", examples=["4 of 240 cases were judged"])


class RunOut(BaseModel):
    """A stored run, without its evidence."""

    run_id: str = Field(description="The name of its folder.", examples=["20240308T090507Z-35d46378"])
    audit: str = Field(description="The name in the spec.", examples=["contracts"])
    created_at: str = Field(examples=["2024-03-08T09:05:07+00:00"])
    manifest_sha256: str = Field(
        description="What binds ids, references and the fields' contract.", examples=["9f86d0"]
    )
    expected: int = Field(description="Cases that have references.", examples=[240])
    judged: int = Field(description="Cases whose fields were looked at.", examples=[234])
    findings: dict[Severity, int] = Field(description="Bugs by severity.", examples=[{"high": 12, "medium": 3}])
    rates_withheld: bool = Field(description="Whether broken references withhold the rates.", examples=[False])
    redecoded_of: str | None = Field(
        description="The run whose outputs it decodes again; such a run is never the latest.", examples=[None]
    )
    gate: GateOut | None = Field(description="None of a run that was stored before there was a gate.")


class DamagedOut(BaseModel):
    """A folder among the runs that is no whole run."""

    run_id: str = Field(examples=["20240308T090507Z-35d46378"])
    reason: str = Field(examples=["there is no run.json in it: it is half-written, or something else"])


class RunsPage(BaseModel):
    """Runs, newest first."""

    runs: list[RunOut]
    next: str | None = Field(description="The cursor of the next page, if there is one.", examples=[None])
    damaged: list[DamagedOut] = Field(description="What is among the runs and cannot be read; on every page.")


class RunDocument(BaseModel):
    """`run.json`, schema 1, as the README describes it; further keys are there, and more may be added."""

    model_config = ConfigDict(extra="allow")

    schema_: int = Field(alias="schema", examples=[1])
    run_id: str = Field(examples=["20240308T090507Z-35d46378"])
    name: str = Field(examples=["contracts"])
    manifest_sha256: str = Field(examples=["9f86d0"])
    created_at: str = Field(examples=["2024-03-08T09:05:07+00:00"])
    columns: list[dict[str, object]] = Field(
        examples=[[{"field": "effective_date", "consumer": "billing", "content_rate": 0.641}]]
    )
    findings: list[dict[str, object]] = Field(examples=[[{"code": "value-disagreement", "severity": "high"}]])


class ColumnOut(BaseModel):
    """A field as one consumer reads it; all counts are cases, and a rate is null where undefined or withheld."""

    audit: str = Field(examples=["contracts"])
    run_id: str = Field(examples=["20240308T090507Z-35d46378"])
    field: str = Field(examples=["effective_date"])
    consumer: str = Field(examples=["billing"])
    split: str = Field(examples=["all"])
    arm: str | None = Field(examples=["gpt-5"])
    label: str = Field(examples=["native"])
    label_note: str = Field(examples=[""])
    support: int = Field(examples=[240])
    judged: int = Field(examples=[234])
    blocked: int = Field(examples=[6])
    blocked_by: dict[str, int] = Field(examples=[{"missing": 4, "truncated": 2}])
    verdicts: dict[str, int] | None = Field(
        description="Judged cases by verdict; null where the rates are withheld.", examples=[{"ok": 150, "wrong": 10}]
    )
    coverage: float | None = Field(examples=[0.975])
    content_rate: float | None = Field(examples=[0.641])
    interval: list[float] | None = Field(description="95 %, low and high.", examples=[[0.578, 0.7]])
    usable_rate: float | None = Field(examples=[0.625])
    ceiling: float | None = Field(examples=[0.68])
    recoverable: int | None = Field(examples=[63])
    untrusted: list[str] = Field(description="The codes that make the rate meaningless.", examples=[["unstable"]])
    depends_on: list[str] = Field(description="The codes of what it depends on.", examples=[["clock-dependent"]])
    comparable: bool = Field(examples=[True])
    not_comparable: str = Field(examples=[""])


class ColumnsPage(BaseModel):
    """The columns of the latest run of each audit, or of one run."""

    columns: list[ColumnOut]
    next: str | None = Field(description="The cursor of the next page, if there is one.", examples=[None])


class FindingOut(BaseModel):
    """A bug of the pipeline, without its witnesses, which `run.json` has."""

    audit: str = Field(examples=["contracts"])
    run_id: str = Field(examples=["20240308T090507Z-35d46378"])
    fingerprint: str = Field(examples=["5d41402abc4b2a76"])
    code: str = Field(examples=["value-disagreement"])
    severity: Severity
    state: State
    field: str = Field(examples=["effective_date"])
    consumers: list[str] = Field(examples=[["billing", "ledger"]])
    owners: list[str] = Field(examples=[["billing", "finance"]])
    title: str = Field(examples=["01/03/2024 is read as 3 January and as 1 March"])
    detail: str = Field(examples=["11 strings in 78 cases."])
    cause: str = Field(examples=["One takes the day first."])
    fixes: list[str] = Field(examples=[["Ask the model for ISO dates."]])
    affected: int = Field(description="Cases.", examples=[78])
    share: float | None = Field(description="Of the field's support.", examples=[0.325])
    first_seen: str = Field(description="The first run that has it.", examples=["20240308T090507Z-35d46378"])
    last_seen: str = Field(description="The last run that has it.", examples=["20240308T090507Z-35d46378"])
    reason: str = Field(description="What the team said of it.", examples=["waits for release 12"])
    until: str | None = Field(description="The last day on which that holds.", examples=["2030-12-31"])


class FindingsPage(BaseModel):
    """Bugs of the latest run of each audit, or of one run: the worst first, then by audit and fingerprint."""

    findings: list[FindingOut]
    next: str | None = Field(description="The cursor of the next page, if there is one.", examples=[None])


class Health(BaseModel):
    """Whether the service is well."""

    status: Literal["ok"]
