"""A sheet as one self-contained page: no script, no network, all data escaped and made visible."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from auditor.report.comparison.sheet import Data, Sheet
from auditor.report.html import environment, slug, style


def html_text(sheet: Sheet) -> str:
    """Give the whole page."""
    return environment().get_template("comparison.html.j2").render(**context(sheet), style=Markup(style()))


def context(sheet: Sheet) -> dict[str, Any]:
    """Give what the templates of a comparison need."""
    anchors = [f"s{number}-{slug(section.title)}" for number, section in enumerate(sheet.sections, 1)]
    return {
        "sheet": sheet,
        "sections": list(zip(anchors, sheet.sections, strict=True)),
        "tones": {"": "", "good": "low", "bad": "high", "note": "medium"},
        "is_data": lambda text: isinstance(text, Data),
    }
