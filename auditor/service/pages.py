"""The pages: each is the folder of runs as it is when it is asked for."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditor.errors import StoreError
from auditor.model.run import SEVERITIES, Run
from auditor.report.html import context, slug
from auditor.report.view import FieldView, field_views, of_arm
from auditor.service import history
from auditor.service.charts import HEADERS, shape_data, trend_data
from auditor.service.comparison import lost_shapes, other_readers, own_shapes
from auditor.service.problems import Refusal
from auditor.service.rendering import asset, page
from auditor.service.runs import Entry, Shelf
from auditor.service.workspace import STATES, Latest, Said, Workspace, bug_rows

#: Runs on one page of the list, and those that a form offers.
PAGE, OFFERED = 50, 200


def workspace(request: Request) -> Workspace:
    """Give the workspace that the service answers from."""
    found: Workspace = request.app.state.workspace
    return found


def said_in(request: Request, *names: str) -> tuple[str, ...]:
    """Give parameters of a page's address; those that it has not are empty."""
    return tuple(request.query_params.get(name, "") for name in names)


def overview(request: Request) -> Response:
    """Show the latest run of each audit."""
    return overview_of(workspace(request))


def overview_of(asked: Workspace) -> Response:
    """Show, for each audit, its fields by consumer in the latest run, and how they came to it."""
    shelf, said = asked.runs.look(), asked.said()
    found = [asked.latest(shelf, name) for name in shelf.audits]
    audits = [_audit(latest, said) for latest in found if latest is not None]
    without = [name for name, latest in zip(shelf.audits, found, strict=True) if latest is None]
    shown = {"shelf": shelf, "bugs": said, "audits": audits, "without": without, "incident": history.incident}
    return page("overview", shown)


def _audit(latest: Latest, said: Said) -> dict[str, Any]:
    run = latest.run
    rows = bug_rows(run.findings, latest.entries, said)
    return {
        "name": latest.name,
        "run": run,
        "entry": latest.entry,
        "entries": latest.entries,
        "unreadable": latest.unreadable,
        "owners": {one.name: one.owner for one in run.consumers},
        "columns": {(of_arm(one.field, one.arm), one.consumer): one for one in run.columns if one.split == "all"},
        "trends": history.trends(latest.entries),
        "incidents": [one for one in latest.entries[: history.SHOWN] if history.incident(one.record)],
        "failing": [row for row in rows if row.is_failing],
    }


def runs(request: Request) -> Response:
    """List the runs, newest first."""
    audit, after = said_in(request, "audit", "after")
    shelf = workspace(request).runs.look()
    listed = list(shelf.of(audit) if audit else shelf.entries)
    ids = [entry.run_id for entry in listed]
    start = ids.index(after) + 1 if after in ids else 0
    shown = listed[start : start + PAGE]
    older = shown[-1].run_id if start + PAGE < len(listed) else ""
    return page(
        "runs",
        {"shelf": shelf, "entries": shown, "audit": audit, "older": older, "incident": history.incident},
    )


def bugs(request: Request) -> Response:
    """List the bugs in the latest run of each audit."""
    asked = workspace(request)
    audit, severity, state = said_in(request, "audit", "severity", "state")
    shelf, said = asked.runs.look(), asked.said()
    listed = []
    for name in [audit] if audit else shelf.audits:
        if not audit and asked.latest(shelf, name) is None:
            continue  # the overview says of it that it has none
        latest = latest_run(asked, shelf, name)
        rows = bug_rows(latest.run.findings, latest.entries, said)
        wanted = [
            row for row in rows if severity in ("", row.finding.severity) and (not state or row.state in (None, state))
        ]
        listed.append((name, wanted))
    chosen = {"audit": audit, "severity": severity, "state": state}
    return page(
        "bugs",
        {"shelf": shelf, "bugs": said, "listed": listed, "severities": SEVERITIES, "states": STATES, **chosen},
    )


def run(request: Request) -> Response:
    """Show a run as its report does."""
    asked, (run_id,) = workspace(request), said_in(request, "id")
    shelf = asked.runs.look()
    entry = named_run(shelf, run_id)
    whole, of_audit = whole_run(asked, entry), shelf.of(entry.record.name)
    place, first = of_audit.index(entry), shelf.find(entry.record.redecoded_of)
    before = first or next((one for one in of_audit[place + 1 :] if not one.record.redecoded_of), of_audit[0])
    shown = {
        **context(whole),
        "entry": entry,
        "incident": history.incident,
        # Those around it, and the one before it first.
        "offered": of_audit[max(0, place - OFFERED // 2) :][:OFFERED],
        "before": before,
    }
    return page("run", shown)


def field(request: Request) -> Response:
    """Show a field: its columns side by side, shapes, disagreements, environments, and the runs before."""
    asked, (audit, field) = workspace(request), said_in(request, "audit", "field")
    shelf, said = asked.runs.look(), asked.said()
    latest = latest_run(asked, shelf, audit)
    whole = whole_run(asked, latest.entry)
    views = [one for one in field_views(whole) if one.field == field]
    if not views:
        raise Refusal(404, f"there is no field {field} in the latest run of {audit}")
    arms = {one.name: one.arm for one in views}
    trends = {
        of_arm(name, arms[of]): trend for (of, name), trend in history.trends(latest.entries).items() if of in arms
    }
    shown = {
        **context(whole),
        "fields": [(f"field-{slug(one.name)}-{number}", one) for number, one in enumerate(views, 1)],
        "field_name": field,
        "audit": audit,
        "entry": latest.entry,
        "names": list(trends),
        "trends": trends,
        "history": _history(latest.entries, trends),
        "rows": bug_rows((one for one in whole.findings if one.field == field), latest.entries, said),
        "bugs": said,
        "trend_charts": [(name, trend_data(trend)) for name, trend in trends.items()],
        "shape_charts": [] if whole.rates_withheld else _shape_charts(views),
    }
    return page("field", {**shown, "incident": history.incident}, headers=HEADERS)


def _shape_charts(views: list[FieldView]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (one.name, shape_data(one.summary, list(dict.fromkeys(column.consumer for column in one.columns))))
        for one in views
        if one.summary and one.summary.shapes
    ]


def _history(entries: tuple[Entry, ...], trends: dict[str, history.Trend]) -> list[dict[str, Any]]:
    """Give a row per run, newest first: the step of each consumer, and what is to be said of them."""
    rows = []
    for entry in entries[: history.SHOWN]:
        steps = {name: step for name, trend in trends.items() for step in trend.steps if step.entry is entry}
        said = [f"{step.incident}" for step in steps.values() if step.incident]
        said += [f"{name}: {step.changed} changed" for name, step in steps.items() if step.changed]
        said += [f"{name}: untrusted ({step.untrusted})" for name, step in steps.items() if step.untrusted]
        rows.append({"entry": entry, "steps": steps, "said": list(dict.fromkeys(said))})
    return rows


def consumer(request: Request) -> Response:
    """Show a consumer: its fields, what it does not accept, what it reads that others do not, its versions."""
    asked, (audit, consumer) = workspace(request), said_in(request, "audit", "consumer")
    shelf, said = asked.runs.look(), asked.said()
    latest = latest_run(asked, shelf, audit)
    whole = whole_run(asked, latest.entry)
    summaries = {one.name: one for one in whole.consumers}
    columns = [one for one in whole.columns if one.consumer == consumer]
    if not columns and consumer not in summaries:
        raise Refusal(404, f"there is no consumer {consumer} in the latest run of {audit}")
    trends = {of: trend for (of, name), trend in history.trends(latest.entries).items() if name == consumer}
    shown = {
        "run": whole,
        "entry": latest.entry,
        "audit": audit,
        "consumer": consumer,
        "summary": summaries.get(consumer),
        "columns": columns,
        "lost": lost_shapes(whole, consumer),
        "own": own_shapes(whole, consumer),
        "others": other_readers(whole, consumer),
        "versions": history.versions(latest.entries, consumer),
        "rows": bug_rows((one for one in whole.findings if consumer in one.consumers), latest.entries, said),
        "bugs": said,
        "trends": trends,
        "history": _history(latest.entries, trends),
        "trend_charts": [(name, trend_data(trend)) for name, trend in trends.items()],
    }
    return page("consumer", {**shown, "incident": history.incident}, headers=HEADERS)


def assets(request: Request) -> Response:
    """Give what pages load."""
    name: str = request.path_params["name"]
    found = asset(name)
    if found is None:
        raise Refusal(404, f"there is no asset {name}")
    return Response(found[0], media_type=found[1], headers={"Cache-Control": "public, max-age=86400"})


def latest_run(asked: Workspace, shelf: Shelf, audit: str) -> Latest:
    """Give the latest run of an audit that can be read; a refusal where there is none."""
    latest = asked.latest(shelf, audit)
    if latest is None:
        raise Refusal(404, f"there is no run of an audit {audit} that can be read")
    return latest


def whole_run(asked: Workspace, entry: Entry) -> Run:
    """Give a run with its evidence; a refusal where it is damaged."""
    try:
        return asked.runs.run(entry)
    except StoreError as error:
        raise Refusal(409, f"run {entry.run_id} is damaged: {error}") from error


def named_run(shelf: Shelf, run_id: str) -> Entry:
    """Give a run by its id; a refusal where there is none, or it is damaged."""
    entry = shelf.find(run_id)
    if entry is None:
        for one in shelf.damaged:
            if one.run_id == run_id:
                raise Refusal(409, f"run {run_id} is damaged: {one.reason}")
        raise Refusal(404, f"there is no run {run_id}")
    return entry


ROUTES: Final = (
    Route("/", overview),
    Route("/runs", runs),
    Route("/bugs", bugs),
    Route("/run", run),
    Route("/field", field),
    Route("/consumer", consumer),
    Route("/assets/{name}", assets),
)
