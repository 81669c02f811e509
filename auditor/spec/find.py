"""Where specs and runs live on disk."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.errors import Mistake, NoSpecError

if TYPE_CHECKING:
    from auditor.spec.models import AuditSpec

SPEC_NAME = "audit.toml"


def find_spec(path: Path | None = None, *, start: Path | None = None) -> Path:
    """Find the spec: `path` (a file, or a folder with an audit.toml), else the one of `start` (default: here)."""
    if path is not None:
        return _given(path)
    here = (start or Path.cwd()).absolute()
    if (here / SPEC_NAME).is_file():
        return here / SPEC_NAME
    project = nearest_pyproject(here)
    named = _named_in(project) if project else None
    if project and named:
        return _given(project.parent / named, said_by=project)
    tried = f"there is no {SPEC_NAME} here, and "
    tried += f"{project} has no [tool.auditor] spec" if project else "no pyproject.toml in this folder or above it"
    raise NoSpecError(Mistake(str(here), tried, "name the spec as an argument, or write one with `auditor init`"))


def runs_folder(spec: AuditSpec | Path) -> Path:
    """Give the folder of the runs of a spec (or of its file): beside the pyproject.toml above it, else beside it."""
    folder = spec.absolute().parent if isinstance(spec, Path) else spec.folder
    project = nearest_pyproject(folder)
    return (project.parent if project else folder) / ".auditor" / "runs"


def nearest_pyproject(folder: Path) -> Path | None:
    """Give the pyproject.toml in `folder` or the nearest folder above it."""
    for candidate in (folder, *folder.parents):
        if (candidate / "pyproject.toml").is_file():
            return candidate / "pyproject.toml"
    return None


def _given(path: Path, said_by: Path | None = None) -> Path:
    file = (path / SPEC_NAME if path.is_dir() else path).absolute()
    if file.is_file():
        return file
    where = f"{said_by}: tool.auditor.spec" if said_by else str(path)
    what = f"there is no spec at {file}" if said_by or path.is_dir() else "there is no such file or folder"
    raise NoSpecError(Mistake(where, what, "`auditor init` writes a spec to start from"))


def _named_in(project: Path) -> str | None:
    try:
        document: dict[str, Any] = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NoSpecError(Mistake(str(project), f"cannot be read: {error}", "name the spec as an argument")) from error
    table = document.get("tool", {}).get("auditor", {})
    named = table.get("spec") if isinstance(table, dict) else None
    if named is not None and not isinstance(named, str):
        raise NoSpecError(Mistake(f"{project}: tool.auditor.spec", "must be a path in quotes"))
    return named
