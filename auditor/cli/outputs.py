"""Files that `-o` names: checked before the audit starts, written when it is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.errors import AuditorError

if TYPE_CHECKING:
    from auditor.model.baseline import Baseline
    from auditor.model.run import Run
    from auditor.spec.models import AuditSpec

Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a report; the suffix picks the format: .html .json .md .csv .junit.xml .sarif. May repeat.",
        show_default=False,
    ),
]


ComparisonOutputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a report; the suffix picks the format: .html .json .md .csv. May repeat.",
        show_default=False,
    ),
]


class OutputError(AuditorError):
    """A file named by `-o` has no known format, or could not be written."""


def check_outputs(outputs: Sequence[Path]) -> None:
    """Find out before a long run whether its reports can be written."""
    from auditor.report import SUFFIXES

    _check(outputs, SUFFIXES)


def check_comparison_outputs(outputs: Sequence[Path]) -> None:
    """Find out before runs are compared whether the reports can be written."""
    from auditor.report import COMPARISON_SUFFIXES

    _check(outputs, COMPARISON_SUFFIXES)


def _check(outputs: Sequence[Path], suffixes: Sequence[str]) -> None:
    if problems := [problem for output in outputs if (problem := _problem(output, suffixes))]:
        raise OutputError("\n".join(problems))


def check_inputs_stay(outputs: Sequence[Path], spec: AuditSpec) -> None:
    """Refuse to write a report over the spec or over a file that the run reads."""
    named = (*spec.cases.predictions, *spec.cases.references)
    inputs = {spec.file.resolve(), *((spec.folder / path).resolve() for path in named)}
    for pattern in named:
        if not Path(pattern).is_absolute():
            inputs |= {path.resolve() for path in spec.folder.glob(pattern)}
    if problems := [
        f"-o {output}: is an input of the run; name another file" for output in outputs if output.resolve() in inputs
    ]:
        raise OutputError("\n".join(problems))


def write_outputs(run: Run, outputs: Sequence[Path], baseline: Baseline) -> None:
    """Render a run to every file; one that fails does not cost the others."""
    from auditor.report import render

    hint = f"the run itself is stored: `auditor report {run.run_id} -o FILE`"
    write_rendered(partial(render, run, baseline=baseline), outputs, hint)


def write_rendered(render: Callable[[Path], None], outputs: Sequence[Path], hint: str = "") -> None:
    """Render to every file; one that fails does not cost the others."""
    problems = []
    for output in outputs:
        try:
            render(output)
        except AuditorError as error:
            problems.append(str(error))
    if problems:
        raise OutputError("\n".join([*problems, *([hint] if hint else [])]))


def _problem(output: Path, suffixes: Sequence[str]) -> str:
    from auditor.report import suffix_of

    if not suffix_of(output, suffixes):
        seen = f"the suffix {output.suffix}" if output.suffix else "no suffix"
        return f"-o {output}: {seen} picks no format; there are: {' '.join(suffixes)}"
    if output.is_dir():
        return f"-o {output}: is a folder; name a file in it"
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    if not folder.is_dir():
        return f"-o {output}: {folder} is no folder"
    if not os.access(folder, os.W_OK):
        return f"-o {output}: {folder} may not be written; check its permissions"
    return ""


def from_here(path: Path) -> Path:
    """Give a path as it is shorter from the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
