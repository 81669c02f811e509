"""A bug's page, and the forms on it that say what is known of the bug."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from auditor.model.baseline import SAID
from auditor.report.groups import Group
from auditor.report.html import slug
from auditor.report.markdown import issue_text
from auditor.service import bug_states, history
from auditor.service.forms import CHANGES, Fields, form_route, holder, seal
from auditor.service.pages import said_in, whole_run, workspace
from auditor.service.problems import Refusal
from auditor.service.rendering import link, page


def bug(request: Request) -> Response:
    """Show a bug as of the run in which it was last seen."""
    asked, (audit, fingerprint) = workspace(request), said_in(request, "audit", "fingerprint")
    shelf, said = asked.runs.look(), asked.said()
    seen = history.seen(shelf.series(audit)).get(fingerprint) or history.seen(shelf.of(audit)).get(fingerprint)
    if seen is None:
        raise Refusal(404, f"no run of {audit} has a bug with the fingerprint {fingerprint}")
    whole = whole_run(asked, seen.last)
    finding = next(one for one in whole.findings if one.fingerprint == fingerprint)
    shown = {
        "run": whole,
        "audit": audit,
        "finding": finding,
        "group": Group(finding),
        "anchor": slug(finding.anchor),
        "seen": seen,
        "state": said.state_of(finding, is_in_latest=seen.is_in_latest and not seen.last.record.redecoded_of),
        "said": said.entry(fingerprint),
        "bugs": said,
        "issue": issue_text(whole, finding),
        "seal": seal(request),
        "needed": CHANGES,
        "to_say": SAID,
        "today": datetime.now(UTC).date(),
        "longest": bug_states.LONGEST,
    }
    return page("bug", shown)


def accept(request: Request, form: Fields) -> Response:
    """Say what a form says of a bug."""
    audit, fingerprint = form.get("audit", ""), form.get("fingerprint", "")
    state, reason, until = form.get("state", ""), form.get("reason", ""), form.get("until", "")
    bug_states.accept(workspace(request), audit, fingerprint, state, reason, until, _name(request))
    return _back(audit, fingerprint)


def reopen(request: Request, form: Fields) -> Response:
    """Take back what was said of a bug."""
    audit, fingerprint = form.get("audit", ""), form.get("fingerprint", "")
    bug_states.reopen(workspace(request), fingerprint, _name(request))
    return _back(audit, fingerprint)


def _name(request: Request) -> str:
    token = holder(request)
    return token.name if token else ""


def _back(audit: str, fingerprint: str) -> Response:
    """Show the page anew, so that nothing is sent twice by loading it again."""
    return RedirectResponse(link("bug", audit=audit, fingerprint=fingerprint) + "#state-h", 303)


ROUTES: Final = (
    Route("/bug", bug),
    form_route("/bug/accept", CHANGES, accept),
    form_route("/bug/reopen", CHANGES, reopen),
)
