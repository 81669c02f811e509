"""A discovery as text: models, their columns, the paths of each with file and line, and what was not followed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.model.figures import plural
from auditor.report.text import visible

if TYPE_CHECKING:
    from auditor.discover.found import Column, Discovery, Filter, Model, Path

#: Lines of one expression that are shown; the JSON has it whole.
_MOST_LINES = 40

#: Characters of a text that is shown on one line.
_LONGEST = 2_000


def lines_of(found: Discovery) -> Iterator[str]:
    """Give the lines of a discovery."""
    for model in found.models:
        yield from _model(model)
        yield ""
    yield from _problems(found)
    paths = [path for model in found.models for column in model.columns for path in column.paths]
    coerced = sum(path.coerces for path in paths)
    lost = sum(path.has("not followed") for path in paths)
    columns = sum(len(model.columns) for model in found.models)
    yield (
        f"{plural(len(found.files), 'file')} ({found.dialect}), {plural(len(found.models), 'model')}, "
        f"{plural(columns, 'output column')}; {plural(coerced, 'path')} with an expression, {lost} not followed whole"
    )


def _model(model: Model) -> Iterator[str]:
    reads = [*model.tables, *(f"{name} (a model, followed)" for name in model.models)]
    yield f"{_line(model.name)}  {model.kind}  {_line(str(model.place))}"
    if reads:
        yield f"  reads {_line(', '.join(reads))}"
    untouched = [column for column in model.columns if _is_untouched(column)]
    if untouched:
        names = ", ".join(f"{column.name} ({', '.join(column.paths[0].sources)})" for column in untouched)
        yield f"  as they are: {_line(names)}"
    for column in model.columns:
        if not _is_untouched(column):
            yield from _column(column)
    if model.filters:
        yield "  drops rows:"
        for one in model.filters:
            yield from _filter(one)


def _is_untouched(column: Column) -> bool:
    return all(not path.steps and not path.flags and path.sources for path in column.paths)


def _column(column: Column) -> Iterator[str]:
    for number, path in enumerate(column.paths, 1):
        which = f" (path {number} of {len(column.paths)})" if len(column.paths) > 1 else ""
        yield ""
        sources = ", ".join(path.sources) or "no source column"
        yield f"  {_line(column.name)}{which}: {path.type or 'type not known'}, from {_line(sources)}"
        yield from _path(path)


def _path(path: Path) -> Iterator[str]:
    for step in path.steps:
        arrow = f" → {step.type}" if step.type else ""
        yield f"    {_line(str(step.place))}  {_line('.'.join(filter(None, (step.model, step.column))))}{arrow}"
        yield from _text(step.text)
    if path.composed and path.expression is not None:
        yield "    put together (so it stands in no file):"
        yield from _text(path.expression)
    for flag in path.flags:
        yield f"    ! {flag.kind}: {_line(flag.note)}"


def _filter(one: Filter) -> Iterator[str]:
    notes = f"  ({_line(one.notes)})" if one.notes else ""
    yield f"    {_line(str(one.place))}  {_line(str(one))}{notes}"


def _problems(found: Discovery) -> Iterator[str]:
    for title, unread in (("could not be read:", True), ("noted:", False)):
        problems = [problem for problem in found.problems if problem.unread is unread]
        if problems:
            yield title
            for problem in problems:
                yield f"  {_line(str(problem.place))}: {_line(problem.what)}"
                if problem.hint:
                    yield f"    next: {_line(problem.hint)}"
            yield ""


def _text(text: str) -> Iterator[str]:
    """Indent an expression as a block; all but its first line keep their indentation among themselves."""
    first, _, rest = text.expandtabs(4).partition("\n")
    lines = [first, *textwrap.dedent(rest).splitlines()] if rest else [first]
    for line in lines[:_MOST_LINES]:
        yield f"        {_line(line)}".rstrip()
    if len(lines) > _MOST_LINES:
        yield f"        … {len(lines) - _MOST_LINES} more lines"


def _line(text: str) -> str:
    return visible(text, _LONGEST)
