"""A run as one self-contained page: no script, no network, all data escaped and made visible."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from auditor.model import figures
from auditor.model.run import Column, Disagreement, FieldSummary, Run
from auditor.model.verdicts import BLOCKING, FIELD_VERDICTS
from auditor.report import environments, movement, view
from auditor.report.agreement import agreement_rows
from auditor.report.broken import broken_groups
from auditor.report.groups import grouped
from auditor.report.text import DATA_LIMIT, HIDDEN, PROSE_LIMIT, escape_character, shorten
from auditor.report.view import FieldView
from auditor.report.witnesses import witness_views

_TEMPLATES: Final = Path(__file__).parent / "templates"
#: Characters of a list of names that is shown whole.
LONG_LIST: Final = 20_000

_SEVERITY_MARKS: Final = {"high": "▲", "medium": "◆", "low": "●", "info": "○"}


def html_text(run: Run) -> str:
    """Give the whole page."""
    return environment().get_template("page.html.j2").render(context(run))


def fragment_text(run: Run) -> str:
    """Give the part that a notebook shows."""
    return environment().get_template("notebook.html.j2").render(context(run))


def shown(text: str, limit: int = PROSE_LIMIT) -> Markup:
    """Escape data for the page; characters that would not show are spelled out and set apart."""
    pieces: list[Markup] = []
    start, text = 0, shorten(text, limit)
    for match in HIDDEN.finditer(text):
        pieces += [
            escape(text[start : match.start()]),
            Markup('<span class="esc">'),
            escape(escape_character(match[0])),
        ]
        pieces.append(Markup("</span>"))
        start = match.end()
    return Markup("").join([*pieces, escape(text[start:])])


def _finalize(value: Any) -> Any:
    """Stand between every expression of a template and the page."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return shown(value)


@cache
def environment(*folders: Path) -> Environment:
    """Give what renders our templates, and those of further folders: every text in them is escaped and made visible."""
    made = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["data"] = lambda text: shown(text, DATA_LIMIT)
    made.filters["long"] = lambda text: shown(text, LONG_LIST)
    made.filters["n"] = lambda count: f"{count:,}"
    made.filters["slug"] = slug
    made.globals.update(witness_views=witness_views, broken_groups=broken_groups)
    made.globals.update(
        numbers=figures,
        view=view,
        environments=environments,
        movement=movement,
        marks=_SEVERITY_MARKS,
        heat=heat,
        blanks=figures.NO_RATE,
    )
    return made


def style() -> str:
    """Give the style sheet of a page."""
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


def slug(text: str) -> str:
    """Give a fragment name that holds no data but letters, digits and dashes."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)[:80]


def heat(count: int, of: int) -> str:
    """Give the class that colours a share: none, up to a quarter, half, three quarters, all."""
    return "h0" if not count or not of else f"h{min(4, 1 + (4 * count - 1) // of)}"


def context(run: Run) -> dict[str, Any]:
    """Give what the templates show of a run."""
    fields = view.field_views(run)
    groups = grouped(run.findings)
    return {
        "run": run,
        "fields": list(zip(_anchors(fields), fields, strict=True)),
        "groups": [(slug(group.lead.anchor), group, group.lead) for group in groups],
        "severities": view.severity_counts(run.findings),
        "consumers": view.consumer_names(run),
        "summaries": {consumer.name: consumer for consumer in run.consumers},
        "columns": {
            (column.field, column.arm, column.consumer): column for column in run.columns if column.split == "all"
        },
        "blocked_cases": view.blocked_cases(run),
        "figures": figure_rows,
        "matrix": matrix,
        "untrusted": any(column.untrusted for column in run.columns),
        "style": Markup(style()),
    }


def _anchors(fields: tuple[FieldView, ...]) -> list[str]:
    """Name each field's section; names that look alike once cleaned get their number."""
    names = [slug(field.name) for field in fields]
    return [
        f"field-{name}" if name.strip("-") and names.count(name) == 1 else f"field-{name}-{number}"
        for number, name in enumerate(names, 1)
    ]


def figure_rows(columns: tuple[Column, ...]) -> list[tuple[str, list[str]]]:
    """Give every number of the columns, a row per number, so that consumers stand side by side."""

    def row(name: str, figure: Any) -> tuple[str, list[str]]:
        return name, [figure(column) for column in columns]

    rows = [row("support", lambda column: f"{column.support:,}"), row("judged", lambda column: f"{column.judged:,}")]
    rows.append(row("blocked", lambda column: f"{column.blocked:,}"))
    rows += [_count(columns, f"blocked: {name}", "blocked_by", name) for name in BLOCKING]
    rows += [row(name, _scored_verdict(name)) for name in ("ok", "wrong")]
    rows += [_count(columns, name.replace("_", " "), "verdicts", name) for name in FIELD_VERDICTS[2:]]
    rows += [
        row("recoverable", lambda column: figures.scored(column, column.recoverable)),
        row("unreferenced", lambda column: f"{column.unreferenced:,}"),
        row("unexpected", lambda column: f"{column.unexpected:,}"),
        row("broken references", lambda column: f"{column.broken_references:,}"),
        row("coverage %", figures.coverage),
        row("content rate %", figures.rate),
        row(" 95 %", lambda column: figures.interval(column.interval)),
        row("usable rate %", figures.usable),
        row("ceiling %", figures.ceiling),
        row(" 95 %", lambda column: figures.interval(column.ceiling_interval)),
        *agreement_rows(columns),
    ]
    return [(name, cells) for name, cells in rows if not name.startswith("blocked: ") or set(cells) != {"0"}]


def _scored_verdict(name: str) -> Callable[[Column], str]:
    return lambda column: figures.scored(column, column.verdicts[name])


def _count(columns: tuple[Column, ...], label: str, attribute: str, name: str) -> tuple[str, list[str]]:
    return label, [f"{getattr(column, attribute).get(name, 0):,}" for column in columns]


def matrix(summary: FieldSummary) -> tuple[list[str], dict[tuple[str, str], tuple[Disagreement, int]]]:
    """Give the consumers of a field and, for each ordered pair, the comparison with what only the first reads."""
    names = list(dict.fromkeys(name for pair in summary.disagreements for name in (pair.left, pair.right)))
    cells: dict[tuple[str, str], tuple[Disagreement, int]] = {}
    for pair in summary.disagreements:
        cells[pair.left, pair.right] = (pair, pair.only_left)
        cells[pair.right, pair.left] = (pair, pair.only_right)
    return names, cells
