"""Columns: a field as each consumer reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query

from auditor.model.run import Column, Run
from auditor.report.movement import dependences
from auditor.service.api.asking import Asked, Audit, Cursor, Limit, RunId, chosen_runs, cursor, position
from auditor.service.api.documented import documented
from auditor.service.api.models import ColumnOut, ColumnsPage
from auditor.service.runs import Entry
from auditor.service.workspace import Workspace

Chosen = tuple[Entry, Run]

router = APIRouter(prefix="/api/v1", tags=["columns"])


@router.get("/columns", responses=documented(404, 409, 422))
def columns(
    asked: Asked,
    audit: Audit = None,
    run: RunId = None,
    field: Annotated[str | None, Query(description="Only of this field.", examples=["effective_date"])] = None,
    consumer: Annotated[str | None, Query(description="Only of this consumer.", examples=["billing"])] = None,
    arm: Annotated[str | None, Query(description="Only of this arm.", examples=["gpt-5"])] = None,
    split: Annotated[str | None, Query(description="Only of this split; `all` is none.", examples=["all"])] = None,
    limit: Limit = 200,
    after: Cursor = None,
) -> ColumnsPage:
    """Give the columns of the latest run of each audit, or of the run that is named, in the order of the run."""
    place = position(after, (str, str, int))
    found = sorted(
        (
            ((entry.record.name, entry.run_id, number), _column_out(entry, document, column))
            for entry, document in _runs(asked, audit, run, place)
            for number, column in enumerate(document.columns)
            if field in (None, column.field)
            and consumer in (None, column.consumer)
            and arm in (None, column.arm)
            and split in (None, column.split)
        ),
        key=lambda one: one[0],
    )
    rest = [one for one in found if place is None or one[0] > place]
    more = cursor(*rest[limit - 1][0]) if len(rest) > limit else None
    return ColumnsPage(columns=[one for _, one in rest[:limit]], next=more)


def _runs(asked: Workspace, audit: str | None, run: str | None, place: tuple[Any, ...] | None) -> Iterator[Chosen]:
    """Give the runs; where an audit has a later one meanwhile, that which the page before began with."""
    for entry, document, _ in chosen_runs(asked, audit, run):
        if place is not None and entry.record.name == place[0] and entry.run_id != place[1]:
            yield from ((one, whole) for one, whole, _ in chosen_runs(asked, place[0], place[1]))
        else:
            yield entry, document


def _column_out(entry: Entry, run: Run, column: Column) -> ColumnOut:
    # Where a rate is withheld, nobody is to work it out again.
    is_withheld = bool(column.judged) and column.content_rate is None
    return ColumnOut(
        audit=run.name,
        run_id=entry.run_id,
        field=column.field,
        consumer=column.consumer,
        split=column.split,
        arm=column.arm,
        label=column.label,
        label_note=column.label_note,
        support=column.support,
        judged=column.judged,
        blocked=column.blocked,
        blocked_by=column.blocked_by,
        verdicts=None if is_withheld else column.verdicts,
        coverage=column.coverage,
        content_rate=column.content_rate,
        interval=[column.interval.low, column.interval.high] if column.interval else None,
        usable_rate=column.usable_rate,
        ceiling=column.ceiling,
        recoverable=None if is_withheld else column.recoverable,
        untrusted=list(column.untrusted),
        depends_on=list(dependences(run, column)),
        comparable=column.comparable,
        not_comparable=column.not_comparable,
    )
