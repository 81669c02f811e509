"""What requests have in common: the workspace, parameters, cursors, and the run that is meant."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator
from starlette.convertors import Convertor, register_url_convertor

from auditor.errors import StoreError
from auditor.model.run import Run
from auditor.service.jobs.audits import ConfiguredAudit
from auditor.service.jobs.working import Working
from auditor.service.pages import named_run, workspace
from auditor.service.problems import Refusal
from auditor.service.runs import Entry
from auditor.service.tokens import Role, Token
from auditor.service.workspace import Workspace

Asked = Annotated[Workspace, Depends(workspace)]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.", examples=[50])]
Cursor = Annotated[str | None, Query(description="`next` of the page before.", examples=[None])]
Audit = Annotated[str | None, Query(description="Only of the audit of this name.", examples=["contracts"])]
RunId = Annotated[str | None, Query(description="Of this run, not of the latest ones.", examples=[None])]

RunPath = Annotated[str, Path(description="The name of its folder.", examples=["20240308T090507Z-35d46378"])]


def working(request: Request) -> Working:
    """Give who works on what is submitted."""
    found: Working = request.app.state.working
    return found


Worked = Annotated[Working, Depends(working)]


class _Whole(Convertor[str]):
    """The rest of a path, whatever is in it: what the framework calls `path` has no line break in it."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("whole", _Whole())

AuditPath = Annotated[str, Path(description="The name of a configured audit.", examples=["contracts"])]


def bearer(needed: Role) -> Callable[[Request], Token]:
    """Give what asks for the token of a role: a browser's password is sent along by itself, and is not enough."""

    def holder(request: Request) -> Token:
        token: Token | None = request.scope.get("auditor.token")
        if token is None or not request.headers.get("authorization", "").lower().startswith("bearer "):
            told = f"send `Authorization: Bearer TOKEN`; `auditor token new NAME --role {needed}` makes a token"
            raise Refusal(401, told, {"WWW-Authenticate": 'Bearer realm="auditor"'})
        if not token.allows(needed):
            raise Refusal(403, f"the role {token.role} may not do that; it needs {needed}")
        return token

    return holder


#: Who may have consumers run.
Submitter = Annotated[Token, Depends(bearer("submit"))]


def unwritable(error: OSError) -> Refusal:
    """Refuse what would be written to the queue, where nothing can be."""
    said = f"the queue of the service cannot be written: {error.strerror or error}"
    return Refusal(503, f"{said}; who runs the service sees to its .auditor/jobs", {"Retry-After": "30"})


def configured(working: Working, name: str) -> ConfiguredAudit:
    """Give an audit that the operator lets run; 404 where there is none of the name."""
    found = working.allowed.audits.get(name)
    if found is None:
        listed = ", ".join(sorted(working.allowed.audits)) or "none"
        raise Refusal(404, f"there is no configured audit {name}; there are: {listed}")
    return found


def _instant(text: str) -> str:
    # Written as RFC 3339 has it; pydantic would also take a number, or a day.
    if instant(text) is None or len(text) < len("2024-03-08T09:05:07Z"):
        raise ValueError("an instant with its offset is expected: 2024-03-08T09:05:07Z")
    return text


Instant = Annotated[
    str,
    Query(json_schema_extra={"format": "date-time"}, examples=["2024-03-08T09:05:07Z"]),
    AfterValidator(_instant),
]


def instant(text: str) -> datetime | None:
    """Give the instant that a text names, without an offset in UTC; None where it names none."""
    text = text.upper()
    if text[17:19] == "60":  # a leap second, which Python has not
        text = f"{text[:17]}59{text[19:]}"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def cursor(*position: str | int) -> str:
    """Write the place after which a page begins."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def position(cursor: str | None, kinds: Sequence[type]) -> tuple[Any, ...] | None:
    """Read a cursor of ours; None without one, and a refusal for what is none."""
    if cursor is None:
        return None
    try:
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or [type(one) for one in found] != list(kinds):
        raise Refusal(404, "the cursor is none of this list; use `next` of the page before")
    return tuple(found)


def chosen_runs(asked: Workspace, audit: str | None, run_id: str | None) -> list[tuple[Entry, Run, tuple[Entry, ...]]]:
    """Give the run that is named, or the latest of each audit, each with the runs of its audit, newest first."""
    shelf = asked.runs.look()
    if run_id is not None:
        entry = named_run(shelf, run_id)
        if audit not in (None, entry.record.name):
            return []
        try:
            return [(entry, asked.runs.figures(entry), shelf.around(entry))]
        except StoreError as error:
            raise Refusal(409, f"run {run_id} is damaged: {error}") from error
    latest = [asked.latest(shelf, name) for name in shelf.audits if audit in (None, name)]
    return [(one.entry, one.run, one.entries) for one in latest if one is not None]
