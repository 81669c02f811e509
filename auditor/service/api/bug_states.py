"""What the team says of bugs: accept and reopen, as `auditor findings` does."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from auditor.model.baseline import Entry, Said
from auditor.service import bug_states
from auditor.service.api.asking import Asked, bearer
from auditor.service.api.bounded import BoundedRoute
from auditor.service.api.documented import documented
from auditor.service.forms import CHANGES
from auditor.service.tokens import Token

router = APIRouter(prefix="/api/v1/findings", tags=["findings"], route_class=BoundedRoute)

Fingerprint = Annotated[
    str,
    Path(
        max_length=200,
        description="The whole fingerprint of a bug, as `/api/v1/findings` has it.",
        examples=["5d41402abc4b2a76"],
    ),
]


#: Who may say something of bugs.
By = Annotated[Token, Depends(bearer(CHANGES))]


class Acceptance(BaseModel):
    """What is said of a bug."""

    reason: str = Field(
        description="Why, for whoever reads it later.",
        min_length=1,
        max_length=bug_states.LONGEST,
        pattern=r"\S",
        examples=["waits for release 12"],
    )
    state: Said = Field("accepted", description="What is said of it.")
    until: date | None = Field(
        None,
        description="The last day on which it holds; one that is over is refused with 409.",
        examples=["2030-12-31"],
    )
    audit: str | None = Field(None, description="Of this audit's bugs; without it of any.", examples=["contracts"])


class BugStateOut(BaseModel):
    """What is said of a bug now."""

    fingerprint: str = Field(examples=["5d41402abc4b2a76"])
    state: Said | None = Field(description="None where nothing is said: the bug is new.", examples=["accepted"])
    reason: str = Field(examples=["waits for release 12"])
    since: date | None = Field(examples=["2024-06-30"])
    until: date | None = Field(examples=["2030-12-31"])


@router.post("/{fingerprint}/accept", responses=documented(404, 409, 413, 422))
def accept(asked: Asked, by: By, fingerprint: Fingerprint, body: Acceptance) -> BugStateOut:
    """Say of a bug that it is accepted, known or fixed, in `auditor-baseline.toml`; it takes the role admin."""
    until = body.until.isoformat() if body.until else None
    entry = bug_states.accept(asked, body.audit, fingerprint, body.state, body.reason, until, by.name)
    return _state_out(fingerprint, entry)


@router.post("/{fingerprint}/reopen", responses=documented(404, 409, 413, 422))
def reopen(asked: Asked, by: By, fingerprint: Fingerprint) -> BugStateOut:
    """Take back what was said of a bug; it takes the role admin."""
    bug_states.reopen(asked, fingerprint, by.name)
    return _state_out(fingerprint, None)


def _state_out(fingerprint: str, entry: Entry | None) -> BugStateOut:
    if entry is None:
        return BugStateOut(fingerprint=fingerprint, state=None, reason="", since=None, until=None)
    return BugStateOut(
        fingerprint=fingerprint, state=entry.said, reason=entry.reason, since=entry.since, until=entry.until
    )
