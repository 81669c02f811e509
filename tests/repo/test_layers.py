"""The rooms are layers: imports go strictly downward and never sideways, imports for types included."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "auditor"

LEVELS = {
    "errors": 0,
    "version": 0,
    "database": 1,
    "model": 1,
    "sql": 1,
    "whole_file": 1,
    "worker_start": 1,
    "spec": 2,
    **dict.fromkeys(("decode", "load", "judge", "score", "store"), 3),
    **dict.fromkeys(("discover", "drift", "findings", "probe"), 4),
    **dict.fromkeys(("audit", "record", "report"), 5),
    "service": 6,
    **dict.fromkeys(("cli", "api"), 7),
    **dict.fromkeys(("__init__", "__main__", "pytest_plugin"), 8),
}


def sources() -> list[Path]:
    """Give the package's sources; templates are the user's code, not ours."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)


def room_of(path: Path) -> str:
    """Give the folder of the package, or the file, that a source belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path: Path, *, only_at_import: bool = False) -> Iterator[str]:
    """Give the absolute names of all that a source imports, anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if only_at_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = [PACKAGE.name, *path.relative_to(PACKAGE).parent.parts]
            above = ".".join(package[: len(package) - node.level + 1]) + "." if node.level else ""
            module = (above + (node.module or "")).rstrip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> Iterator[str]:
    """Give the rooms of ours that a source imports from."""
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] == PACKAGE.name:
            is_room = len(parts) > 1 and ((PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").is_file())
            yield parts[1] if is_room else "__init__"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_strictly_downward(path: Path) -> None:
    room = room_of(path)
    if room == "worker":
        others = set(rooms_imported(path)) - {"worker"}
        assert not others, "the worker runs in a consumer's process, where we are not installed"
        return
    assert room in LEVELS, f"give the room {room} a level"
    for imported in rooms_imported(path):
        assert imported != "worker", "the worker is run by path and imported by nobody"
        assert imported == room or LEVELS[imported] < LEVELS[room], f"{room} imports {imported}"


def test_the_worker_starts_with_the_standard_library_alone() -> None:
    ours = {path.stem for path in (PACKAGE / "worker").glob("*.py")} | {"_auditor_worker", "auditor"}
    for path in sorted((PACKAGE / "worker").glob("*.py")):
        for module in imported_modules(path, only_at_import=True):
            name = module.split(".")[0]
            assert name in sys.stdlib_module_names or name in ours, f"{path.name} imports {name}"


def test_every_source_stays_readable() -> None:
    long = {path.name: count for path in sources() if (count := len(path.read_text("utf-8").splitlines())) > 320}
    assert long == {}
