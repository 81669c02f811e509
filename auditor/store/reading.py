"""Find, list and open stored runs; needs no consumer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from auditor.errors import StoreError
from auditor.model.document import from_document
from auditor.model.run import SCHEMA, Run

#: Ids that a message lists.
LISTED = 10


@dataclass(frozen=True)
class StoredRun:
    """A run at rest: the finished run and the folder that holds its tables."""

    run: Run
    folder: Path


def find_run(run: str | Path, runs_folder: Path) -> Path:
    """Give the folder of a run named by path, by id, by the start of its id, or as ``latest``; else StoreError."""
    path = Path(run)
    if path.name == "run.json" and path.is_file():
        return path.parent
    if (path / "run.json").is_file():
        return path
    ids = [folder.name for folder in folders_of_runs(runs_folder)]
    if str(run) == "latest" and ids:
        from auditor.store.series import latest_run  # which reads runs as this does

        return latest_run(runs_folder)
    starting = [name for name in ids if name == str(run)] or [name for name in ids if name.startswith(str(run))]
    if len(starting) == 1:
        return runs_folder / starting[0]
    raise StoreError(_not_found(str(run), runs_folder, starting, ids))


def _not_found(run: str, runs_folder: Path, starting: list[str], ids: list[str]) -> str:
    if starting:
        newest = sorted(starting, reverse=True)
        shown = [f"  {name}" for name in newest[:LISTED]]
        more = [f"  and {len(newest) - LISTED:,} older; `auditor runs` lists them"] if len(newest) > LISTED else []
        said = f"run {run}: {len(starting):,} runs start so; write more of the id, or `latest`"
        return "\n".join([said, *shown, *more])
    near = get_close_matches(run, ids, 3, 0.4)
    hint = f"the nearest: {', '.join(near)}" if near else f"there are {len(ids)}; `auditor runs` lists them"
    return f"run {run}: neither a folder with a run.json nor an id in {runs_folder}; {hint}"


def load_run(run: str | Path, runs_folder: Path) -> StoredRun:
    """Open a stored run."""
    folder = find_run(run, runs_folder)
    return StoredRun(read_run(folder / "run.json"), folder)


def read_run(path: Path) -> Run:
    """Read a `run.json`; StoreError says what is wrong with it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: no readable run: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        seen = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise StoreError(f"{path}: schema {SCHEMA} is expected, seen: {seen}; it was written by another version")
    try:
        return from_document(document)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: the document is not a whole run: {type(error).__name__}: {error}") from error


def folders_of_runs(runs_folder: Path) -> Iterator[Path]:
    """Give the folders that hold a run, by their names."""
    if runs_folder.is_dir():
        for folder in sorted(runs_folder.iterdir()):
            if not folder.name.startswith(".") and (folder / "run.json").is_file():
                yield folder
