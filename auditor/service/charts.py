"""What the charts of a page draw: data for the script, which the tables beside them show as well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from auditor.model import figures
from auditor.model.run import FieldSummary, ShapeRow
from auditor.report.text import visible
from auditor.service.access import CONTENT_POLICY
from auditor.service.history import Step, Trend

#: Headers of a page with charts: its scripts come from here, and nothing of them is evaluated text.
HEADERS: Final = {"Content-Security-Policy": f"{CONTENT_POLICY}; script-src 'self'"}

#: Characters of a shape or a name in a chart; the table has them whole.
_SHORT: Final = 40


def script_json(data: dict[str, Any]) -> Markup:
    r"""Write data for a script element that is not run: no text in it ends the element.

    >>> script_json({"name": "</script><!--"})
    Markup('{"name":"\\u003c/script\\u003e\\u003c!--"}')
    """
    text = json.dumps(data, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def trend_data(trend: Trend) -> dict[str, Any]:
    """Give a column over its runs, oldest first; a segment is a row of runs in which the same is measured."""
    steps, segment = [], 0
    for number, step in enumerate(trend.steps, 1):
        segment += bool(step.changed)
        steps.append({"n": number, "segment": segment, **_step(step)})
    return {"kind": "trend", "steps": steps}


def _step(step: Step) -> dict[str, Any]:
    is_point, bounds = step.is_point, step.interval
    when = step.entry.record.created_at[:16].replace("T", " ")
    said = [when, f"{step.rate} %, {step.right_of}" if is_point else ""]
    said += [f"95 %: {figures.interval(bounds)}" if is_point and bounds else ""]
    said += [f"ceiling {figures.percent(step.ceiling)}" if is_point and step.ceiling is not None else ""]
    said += [f"incident: {step.incident}" if step.incident else ""]
    said += [
        f"{step.changed} changed" if step.changed else "",
        f"untrusted: {step.untrusted}" if step.untrusted else "",
    ]
    return {
        "when": visible(when),
        "rate": _percent(step.share if is_point else None),
        "low": _percent(bounds.low if bounds and is_point else None),
        "high": _percent(bounds.high if bounds and is_point else None),
        "ceiling": _percent(step.ceiling if is_point else None),
        "incident": bool(step.incident),
        "untrusted": bool(step.untrusted),
        "said": visible("; ".join(part for part in said if part), 400),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)


def shape_data(summary: FieldSummary, consumers: Sequence[str]) -> dict[str, Any]:
    """Give the shapes of a field by consumer: the share of its cases that each accepts, and how many are right."""
    shapes = _distinct([row.shape for row in summary.shapes])
    names = _distinct(consumers)
    cells = [
        {"shape": shape, "consumer": name, **_cell(row, consumer)}
        for row, shape in zip(summary.shapes, shapes, strict=True)
        for consumer, name in zip(consumers, names, strict=True)
        if consumer in row.accepted
    ]
    return {"kind": "heat", "cells": cells, "shapes": shapes, "consumers": names}


def _cell(row: ShapeRow, consumer: str) -> dict[str, Any]:
    known, accepted, ok = row.rows - row.not_recorded.get(consumer, 0), row.accepted[consumer], row.ok.get(consumer, 0)
    if not known:
        return {"accepted": None, "right": "", "said": "not recorded" if row.rows else "no judged case"}
    said = f"accepted {accepted:,} of {known:,}, {ok:,} right"
    return {"accepted": _percent(accepted / known), "right": f"{ok:,}/{known:,}", "said": said}


def _distinct(texts: Sequence[str]) -> list[str]:
    """Shorten texts for an axis; two that would look the same are numbered."""
    found: list[str] = []
    for text in texts:
        short = visible(text if len(text) <= _SHORT else text[: _SHORT - 1] + "…")
        found.append(short if short not in found else f"{short} ({len(found) + 1})")
    return found
