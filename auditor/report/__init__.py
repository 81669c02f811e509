"""A finished run as a page, a document, a comment, a table or on the terminal; needs no consumer installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from auditor.errors import AuditorError
from auditor.model.baseline import Baseline
from auditor.model.run import Run
from auditor.whole_file import write_whole

if TYPE_CHECKING:
    from rich.console import Console

#: What renders a file of each suffix: module and function, imported when asked for.
_RENDERERS: Final = {
    ".html": ("auditor.report.html", "html_text"),
    ".json": ("auditor.report.json", "json_text"),
    ".md": ("auditor.report.markdown", "markdown_text"),
    ".csv": ("auditor.report.csv", "csv_text"),
}

#: What renders a file for CI, which shows what the team has said of a bug.
_WITH_BASELINE: Final = {
    ".junit.xml": ("auditor.report.junit", "junit_text"),
    ".sarif": ("auditor.report.sarif", "sarif_text"),
}

SUFFIXES: Final = (*_RENDERERS, *_WITH_BASELINE)

#: The formats of a comparison of runs, which has no tests and no places.
COMPARISON_SUFFIXES: Final = tuple(_RENDERERS)


def suffix_of(path: Path, known: Sequence[str] = SUFFIXES) -> str:
    """Give the known suffix that a file has, else nothing."""
    return next((suffix for suffix in known if path.name.lower().endswith(suffix)), "")


def check_suffix(path: Path, known: Sequence[str] = SUFFIXES) -> None:
    """Refuse a path whose suffix names no format, before a long audit and not after it."""
    if not suffix_of(path, known):
        found = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise AuditorError(f"{path}: {found} names no report format; use one of {', '.join(known)}")


def render_text(run: Run, suffix: str, baseline: Baseline | None = None) -> str:
    """Give the report of a suffix of `SUFFIXES` as text."""
    if suffix in _WITH_BASELINE:
        module, function = _WITH_BASELINE[suffix]
        write = cast(Callable[[Run, Baseline], str], getattr(import_module(module), function))
        return write(run, baseline or Baseline())
    module, function = _RENDERERS[suffix]
    return cast(Callable[[Run], str], getattr(import_module(module), function))(run)


def render(run: Run, path: Path, baseline: Baseline | None = None) -> None:
    """Write the report that the suffix of `path` names; the file appears whole or not at all."""
    check_suffix(path)
    write_report(path, render_text(run, suffix_of(path), baseline))


def write_report(path: Path, text: str) -> None:
    """Write a report; the file appears whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise AuditorError(f"{path}: the report could not be written: {error.strerror or error}") from error


def write_terminal(run: Run, console: Console) -> None:
    """Print the run on a console."""
    from auditor.report.terminal import write_terminal as write

    write(run, console)
