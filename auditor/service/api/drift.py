"""Two runs, case by case."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from auditor.errors import Refused, StoreError
from auditor.service.api.asking import Asked
from auditor.service.api.documented import documented
from auditor.service.pages import named_run
from auditor.service.problems import Refusal
from auditor.service.runs import Shelf
from auditor.service.workspace import Workspace
from auditor.store.reading import StoredRun

router = APIRouter(prefix="/api/v1", tags=["drift"])

#: Comparisons that are made at once.
_limiter: Final = CapacityLimiter(2)

_RUN = "20240308T090507Z-35d46378"


class RunHeadOut(BaseModel):
    """Which run a side of the comparison is."""

    model_config = ConfigDict(extra="allow")

    run_id: str = Field(examples=[_RUN])
    name: str = Field(examples=["contracts"])
    created_at: str = Field(examples=["2024-03-08T09:05:07+00:00"])


class DriftDocument(BaseModel):
    """The document of `auditor drift -o FILE.json`; further keys are there, and more may be added."""

    model_config = ConfigDict(extra="allow")

    schema_: int = Field(alias="schema", examples=[1])
    kind: str = Field(examples=["drift"])
    old: RunHeadOut
    new: RunHeadOut
    same_manifest: bool = Field(examples=[True])
    shared: int = Field(description="Cases that are compared.", examples=[240])
    columns: list[dict[str, Any]] = Field(
        description="Each with the counts on both sides, the paired test, the flips by case, and whether it fell.",
        examples=[[{"field": "effective_date", "consumer": "billing", "drop": False}]],
    )


@router.get("/drift", response_model=DriftDocument, responses=documented(404, 409, 422))
async def drift(
    asked: Asked,
    old: Annotated[str, Query(max_length=200, description="The id of a run.", examples=[_RUN])],
    new: Annotated[str, Query(max_length=200, description="The run that is held against it.", examples=[_RUN])],
    common: Annotated[
        bool, Query(description="Compare the shared cases of runs that are not of the same cases.", examples=[False])
    ] = False,
    split: Annotated[
        bool,
        Query(
            description="Tell parsers and predictions apart, as far as stored runs show it: nothing is decoded here.",
            examples=[False],
        ),
    ] = False,
) -> Response:
    """Compare two stored runs, as `auditor drift` does; 409 where they are not of the same cases."""
    text = await to_thread.run_sync(partial(_text, asked, old, new, common=common, split=split), limiter=_limiter)
    return Response(text, media_type="application/json")


def _text(asked: Workspace, old: str, new: str, *, common: bool, split: bool) -> str:
    from auditor.report.comparison import comparison_text
    from auditor.service.pairs import compared

    shelf = asked.runs.look()
    try:
        before, after = _stored(asked, shelf, old), _stored(asked, shelf, new)
        return comparison_text(compared(before, after, asked.runs.folder, common=common, split=split), ".json")
    except (Refused, StoreError) as error:
        raise Refusal(409, str(error)) from error


def _stored(asked: Workspace, shelf: Shelf, run_id: str) -> StoredRun:
    entry = named_run(shelf, run_id)
    return StoredRun(asked.runs.run(entry), entry.path.parent)
