"""What if: a consumer with another one's parser, from what a run has decoded."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditor.errors import AuditorError, StoreError
from auditor.model.exchange import Exchanged
from auditor.model.run import Run
from auditor.report.comparison.figures import p_value, points, points_between
from auditor.service.pages import latest_run, named_run, said_in, whole_run, workspace
from auditor.service.problems import Refusal
from auditor.service.rendering import page
from auditor.service.runs import Entry
from auditor.service.turns import COMPARING
from auditor.store.reading import StoredRun


def what_if(request: Request) -> Response:
    """Show a column as it would read, or every column of a field; or offer fields and consumers of a run."""
    asked = workspace(request)
    audit, run, field, consumer, parser = said_in(request, "audit", "run", "field", "consumer", "parser")
    shelf = asked.runs.look()
    name = audit or next((one for one in shelf.audits if shelf.series(one)), "")
    entry = named_run(shelf, run) if run else latest_run(asked, shelf, name).entry
    whole = whole_run(asked, entry)
    readers = _readers(whole)
    if field and field not in readers:
        raise Refusal(404, f"there is no field {field} in run {entry.run_id}")
    for one in (consumer, parser):
        if one and one not in readers.get(field, ()):
            raise Refusal(404, f"{one} reads no field {field} in run {entry.run_id}")
    shown: dict[str, Any] = {
        "run": whole,
        "entry": entry,
        "is_chosen": bool(run),
        "audit": entry.record.name,
        "readers": readers,
        "field": field or next((one for one, names in readers.items() if len(names) > 1), ""),
        "consumer": consumer,
        "parser": parser,
        "found": (),
        "mistake": "",
        "adapters": {one.name: one.adapter for one in whole.consumers},
        "points": points,
        "points_between": points_between,
        "p_value": p_value,
    }
    if not field or not parser or consumer == parser:
        return page("what_if", shown)
    try:
        found = _exchanged(entry, whole, field, [consumer] if consumer else readers[field], parser)
    except StoreError as error:
        raise Refusal(409, str(error)) from error
    except AuditorError as error:
        return page("what_if", shown | {"mistake": str(error)})
    return page("what_if", shown | {"found": found})


def _readers(run: Run) -> dict[str, tuple[str, ...]]:
    """Give the consumers of each field."""
    found: dict[str, dict[str, None]] = {}
    for column in run.columns:
        found.setdefault(column.field, {})[column.consumer] = None
    return {field: tuple(names) for field, names in found.items()}


def _exchanged(
    entry: Entry, run: Run, field: str, consumers: list[str] | tuple[str, ...], parser: str
) -> tuple[Exchanged, ...]:
    from auditor.drift.exchange import exchange

    with COMPARING.one("compare runs"):
        return exchange(StoredRun(run, entry.path.parent), field, consumers, parser)


ROUTES: Final = (Route("/what-if", what_if),)
