"""A value that somebody types, as every consumer of a field reads it, in every environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditor.errors import AuditorError, SpecError
from auditor.service.forms import ASKS, Fields, form_route, seal
from auditor.service.logs import VALUES
from auditor.service.pages import said_in, workspace
from auditor.service.problems import Refusal
from auditor.service.readers import readers
from auditor.service.rendering import page
from auditor.service.workspace import Workspace

if TYPE_CHECKING:
    from auditor.probe import Level
    from auditor.spec.models import AuditSpec

#: Characters of a string.
LONGEST: Final = 4000

_FULL: Final[Level] = "full"
_LEVELS: Final[dict[Level, str]] = {
    "full": "every environment",
    "quick": "a few environments",
    "off": "the base environment only",
}


def offer(request: Request) -> Response:
    """Offer the fields of a spec."""
    return page("try", _offered(request, workspace(request), *said_in(request, "audit", "field")))


def answer(request: Request, form: Fields) -> Response:
    """Show what the consumers make of a string."""
    asked = workspace(request)
    audit, field, text = (form.get(name, "") for name in ("audit", "field", "text"))
    request.scope[VALUES] = [text]
    is_json = form.get("json") == "1"
    probe = next((one for one in _LEVELS if one == form.get("probe")), _FULL)
    shown = _offered(request, asked, audit, field) | {"text": text, "is_json": is_json, "probe": probe}
    spec: AuditSpec | None = shown["spec"]
    if spec is None:
        return page("try", shown)
    if field not in spec.fields:
        raise Refusal(422, f"there is no field {field} in {audit}")
    if len(text) > LONGEST:
        raise Refusal(422, f"the string has {len(text):,} characters; {LONGEST:,} are the most")
    try:
        tried = readers(request).read(shown["audit"], asked.specs[shown["audit"]], field, [(text, is_json)], probe)
    except AuditorError as error:
        return page("try", shown | {"mistake": str(error)})
    return page("try", shown | {"tried": tried})


def _offered(request: Request, asked: Workspace, audit: str, field: str) -> dict[str, Any]:
    specs = asked.specs
    name = audit if audit in specs else next(iter(specs), "")
    if audit and audit not in specs and not asked.runs.look().of(audit):
        raise Refusal(404, f"there is no spec and no run of an audit {audit}")
    # Of an audit whose spec nobody has named there are runs alone.
    chosen = specs.get(audit or name)
    spec, mistake = _read(chosen) if chosen else (None, "")
    return {
        "specs": specs,
        "audit": audit or name,
        "spec": spec,
        "mistake": mistake,
        "field": field,
        "text": "",
        "is_json": False,
        "probe": "full",
        "levels": _LEVELS,
        "longest": LONGEST,
        "seal": seal(request, ASKS),
        "tried": None,
    }


def _read(spec: Path) -> tuple[AuditSpec | None, str]:
    """Read a spec; what is wrong with it is for the page."""
    from auditor.spec.read import read_spec

    try:
        return read_spec(spec), ""
    except SpecError as error:
        return None, str(error)


ROUTES: Final = (Route("/try", offer), form_route("/try", ASKS, answer))
