"""Columns: a field as each consumer reads it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from auditor.model.run import Column, Run
from auditor.report.movement import dependences
from auditor.service.api.asking import Asked, Audit, RunId, chosen_runs
from auditor.service.api.models import ColumnOut, ColumnsPage
from auditor.service.problems import documented
from auditor.service.runs import Entry

router = APIRouter(prefix="/api/v1", tags=["columns"])


@router.get("/columns", responses=documented(404, 409, 422))
def columns(
    asked: Asked,
    audit: Audit = None,
    run: RunId = None,
    field: Annotated[str | None, Query(description="Only of this field.", examples=["effective_date"])] = None,
    consumer: Annotated[str | None, Query(description="Only of this consumer.", examples=["billing"])] = None,
) -> ColumnsPage:
    """Give the columns of the latest run of each audit, or of the run that is named."""
    found = [
        _column_out(entry, document, column)
        for entry, document, _ in chosen_runs(asked, audit, run)
        for column in document.columns
        if field in (None, column.field) and consumer in (None, column.consumer)
    ]
    return ColumnsPage(columns=found)


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
