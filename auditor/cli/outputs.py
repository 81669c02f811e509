"""Files that `-o` names: checked before the audit starts, written when it is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.errors import AuditorError

if TYPE_CHECKING:
    from auditor.model.run import Run
    from auditor.spec.models import AuditSpec

Outputs = Annotated[
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
    if problems := [problem for output in outputs if (problem := _problem(output))]:
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


def write_outputs(run: Run, outputs: Sequence[Path]) -> None:
    """Render a run to every file; one that fails does not cost the others."""
    from auditor.report import render

    problems = []
    for output in outputs:
        try:
            render(run, output)
        except AuditorError as error:
            problems.append(str(error))
    if problems:
        raise OutputError("\n".join([*problems, f"the run itself is stored: `auditor report {run.run_id} -o FILE`"]))


def _problem(output: Path) -> str:
    from auditor.report import SUFFIXES

    if output.suffix.lower() not in SUFFIXES:
        seen = f"the suffix {output.suffix}" if output.suffix else "no suffix"
        return f"-o {output}: {seen} picks no format; there are: {' '.join(SUFFIXES)}"
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
