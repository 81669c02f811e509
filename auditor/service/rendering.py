"""Pages as text: the templates of the reports and our own, in one environment, so that both say the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment
from markupsafe import escape
from starlette.responses import HTMLResponse, Response

from auditor.report import reading
from auditor.report.html import environment, style
from auditor.report.text import DATA_LIMIT, visible, visible_lines
from auditor.service.charts import script_json
from auditor.service.sparkline import sparkline
from auditor.version import VERSION

_TEMPLATES: Final = Path(__file__).parent / "templates"
_ASSETS: Final = Path(__file__).parent / "assets"


def link(page: str, **named: str) -> str:
    """Give the address of a page. Names of audits, fields and consumers may hold anything, so they are parameters.

    >>> link("field", audit="contracts", field="a/b")
    '/field?audit=contracts&field=a%2Fb'
    """
    return f"/{page}?{urlencode(named, errors='replace')}" if named else f"/{page}"


def page(
    name: str, context: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Render a page of ours."""
    text = _environment().get_template(f"pages/{name}.html.j2").render(context)
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status, headers)


def error_page(status: int, detail: str, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """Say to people why there is no page."""
    known = {one.value: one.phrase for one in HTTPStatus}
    title = known.get(status, "Error")
    shown = {"title": title, "status": status, "detail": detail, "request_id": request_id}
    return page("error", shown, status, headers)


@cache
def _environment() -> Environment:
    found = environment(_TEMPLATES)
    found.filters["plain"] = lambda text: visible(text, DATA_LIMIT)
    found.filters["exact"] = escape
    found.filters["lines"] = lambda text: escape(visible_lines(text))
    found.filters["address"] = lambda text: quote(text, safe="", errors="replace")
    found.globals.update(
        link=link,
        sparkline=sparkline,
        readings=reading,
        version=VERSION,
        asset=asset_address,
        script_json=script_json,
    )
    return found


#: What pages load besides the style sheet, with media types; vendored files are as their packages have them.
_FILES: Final = {
    "icon.svg": ("icon.svg", "image/svg+xml"),
    "charts.js": ("charts.js", "text/javascript"),
    "vega-util.js": ("vega-util.js", "text/javascript"),
    "vega.min.js": ("vendor/vega.min.js", "text/javascript"),
    "vega-lite.min.js": ("vendor/vega-lite.min.js", "text/javascript"),
    "vega-interpreter.js": ("vendor/vega-interpreter.js", "text/javascript"),
}

#: Bare names of modules, and the assets that they are: a browser finds none by such a name.
_MODULES: Final = {b"from 'vega-util'": b"from './vega-util.js'"}


@cache
def asset(name: str) -> tuple[bytes, str] | None:
    """Give a file that pages load, with its media type."""
    if name == "style.css":
        own = (_ASSETS / name).read_text(encoding="utf-8")
        return f"{style()}\n{own}".encode(), "text/css"
    if name not in _FILES:
        return None
    path, kind = _FILES[name]
    data = (_ASSETS / path).read_bytes()
    for bare, address in _MODULES.items():
        data = data.replace(bare, address)
    return data, kind


@cache
def asset_address(name: str) -> str:
    """Give the address of an asset; another content has another address, so that it may be kept."""
    found = asset(name)
    return f"/assets/{name}?v={hashlib.sha256(found[0] if found else b'').hexdigest()[:12]}"
