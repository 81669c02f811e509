"""What the API takes and gives where consumers read a few strings."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from auditor.model.verdicts import DecodingStatus
from auditor.service.jobs.audits import Level

#: Strings of one question, and characters of each.
MOST_VALUES = 20
LONGEST = 10_000


_SCALAR = (
    r"^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
    r'|"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*")$'
)


class JsonText(BaseModel):
    """A value that is no string, or a string as JSON has it: by its text, so that 3.0 stays 3.0."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(alias="json", max_length=LONGEST, pattern=_SCALAR, examples=["3.0"])


class ReadRequest(BaseModel):
    """Strings to be read by every consumer of a field."""

    model_config = ConfigDict(extra="forbid")

    field: str = Field(description="A field of the audit.", max_length=500, examples=["effective_date"])
    values: list[Annotated[str, Field(max_length=LONGEST)] | JsonText] = Field(
        description="Raw values, as the model wrote them: strings, or the JSON text of what is none.",
        min_length=1,
        max_length=MOST_VALUES,
        examples=[["01/03/2024", {"json": "3.0"}]],
    )
    probe: Level = Field("quick", description="How many other environments are tried.", examples=["quick"])


class DecodingOut(BaseModel):
    """What one consumer makes of a value in one environment."""

    status: DecodingStatus = Field(examples=["value"])
    value: str | None = Field(description="As tagged text.", examples=["date:2024-03-01"])
    error: str | None = Field(examples=[None])
    environment: str = Field(examples=["base"])
    warning: str | None = Field(None, description="What an SQL engine did silently.", examples=[None])


class PlaceOut(BaseModel):
    """A line of a consumer's source."""

    file: str = Field(examples=["billing/ingest.py"])
    line: int = Field(examples=[12])


class DependenceOut(BaseModel):
    """What a decoding depends on besides the string."""

    code: str = Field(examples=["clock-dependent"])
    decodings: list[DecodingOut] = Field(description="Those that are not as in the base.")
    tried: int = Field(description="Environments in which nothing but this factor differed.", examples=[4])
    cause: str = Field(examples=["A part that the string lacks is taken from the clock."])
    components: list[str] = Field(examples=[["year"]])
    together: list[str] = Field(examples=[[]])
    location: PlaceOut | None = None
    candidates: list[str] = Field(examples=[[]])


class ReadingOut(BaseModel):
    """One value as every consumer of the field reads it."""

    field: str = Field(examples=["effective_date"])
    raw: str = Field(description="JSON text of the value.", examples=['"01/03/2024"'])
    agree: bool = Field(description="Whether every consumer is known to take a value, and the same.", examples=[False])
    agreement: str = Field(examples=["DISAGREE"])
    decodings: dict[str, DecodingOut] = Field(description="By consumer, in the base environment.")
    keys: dict[str, str | None] = Field(
        description="By consumer, what is compared.", examples=[{"billing": "2024-03-01", "ledger": "2024-01-03"}]
    )
    dependences: dict[str, list[DependenceOut]] = Field(
        description="By consumer; none where nothing moves it.", examples=[{"billing": []}]
    )
    environments: dict[str, int] = Field(description="By consumer, those tried.", examples=[{"billing": 5}])
    not_varied: dict[str, list[str]] = Field(
        description="By consumer, what could not be tried.", examples=[{"erp": ["locale"]}]
    )
    hints: dict[str, list[str]] = Field(description="By consumer, what its text suggests; no proof.", examples=[{}])


class ReadAnswer(BaseModel):
    """What every consumer makes of the values, in their order."""

    audit: str = Field(examples=["contracts"])
    readings: list[ReadingOut]
    left_out: list[str] = Field(description="Consumers that are not there, and why.", examples=[[]])
