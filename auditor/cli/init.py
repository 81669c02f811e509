"""`auditor init`: a workspace to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.errors import AuditorError

_TEMPLATES = Path(__file__).parent / "templates" / "workspace"
_PARSERS = "consumers/billing/parsers.py"
_MONTH_FIRST = ("MONTH_FIRST_IN_NUMBERS = False", "MONTH_FIRST_IN_NUMBERS = True")
_RECORDS = ("records/predictions.csv", "records/references.csv")


class WorkspaceError(AuditorError):
    """A workspace cannot be written where it was asked for."""


def init(
    predictions: Annotated[
        Path | None, typer.Argument(help="Your predictions: CSV, JSONL, Parquet or a log.", exists=True, dir_okay=False)
    ] = None,
    references: Annotated[
        Path | None, typer.Argument(help="Your references; none where a log holds them.", exists=True, dir_okay=False)
    ] = None,
    into: Annotated[Path, typer.Option("--into", help="Folder of the workspace.", file_okay=False)] = Path("."),
) -> None:
    """Write a workspace to start from: a commented audit.toml, one consumer, and sample records if none are given."""
    if predictions is not None and references is None:
        references = _references_within(predictions)
    given = (predictions, references) if predictions and references else None
    wanted = ["audit.toml", _PARSERS, *(() if given else _RECORDS)]
    _refuse_to_overwrite(into, wanted)
    try:
        _write_workspace(into, given)
    except OSError as error:
        raise WorkspaceError(f"{error.filename or into}: could not be written: {error.strerror}") from error
    where = "" if into == Path(".") else f" {into}"
    typer.echo(f"next: auditor run{where}")


def _references_within(predictions: Path) -> Path:
    """Give the file itself where it is a log that holds references too."""
    from auditor.cli.log_records import log_sample

    found = log_sample(predictions)
    if found is None:
        raise WorkspaceError("predictions need references: auditor init PREDICTIONS REFERENCES")
    if not found.references.rows:
        raise WorkspaceError(
            f"{predictions}: is a log of {found.format}, which holds no references\n"
            f"  next: auditor init {predictions} REFERENCES"
        )
    return predictions


def _refuse_to_overwrite(into: Path, wanted: list[str]) -> None:
    if there := [str(into / name) for name in wanted if (into / name).exists()]:
        raise WorkspaceError(
            f"{', '.join(there)}: there already, and nothing was written\n"
            "  next: choose another folder with --into, or move the files away"
        )


def _write_workspace(into: Path, given: tuple[Path, Path] | None) -> None:
    from auditor.cli.proposal import propose

    template = _template("audit.toml")
    if given is None:
        for name in _RECORDS:
            _write(into / name, _template(name))
        given = (into / _RECORDS[0], into / _RECORDS[1])
        proposal = propose(*given, into, template, with_warehouse=True)
    else:
        proposal = propose(*given, into, template, with_warehouse=False)
    parsers = _template(_PARSERS)
    _write(into / _PARSERS, parsers.replace(*_MONTH_FIRST) if proposal.month_first else parsers)
    _write_gitignore(into)
    _write(into / "audit.toml", proposal.spec)


def _write_gitignore(into: Path) -> None:
    """Leave a .gitignore that is there alone, and say what it lacks."""
    path = into / ".gitignore"
    if not path.exists():
        _write(path, _template("gitignore"))
    elif ".auditor" not in path.read_text(encoding="utf-8", errors="replace"):
        typer.echo(f"kept: {path}; add .auditor/ to it, where runs are stored")


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    typer.echo(f"written: {path}")
