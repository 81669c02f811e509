"""The SQL files that arguments name: files, folders and globs, each with its lines."""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from auditor.decode.sql_syntax import template_in
from auditor.discover.found import Place, Problem
from auditor.errors import AuditorError
from auditor.model.figures import plural

#: dbt compiles the tests of `schema.yml` into a folder of this name: they are queries, but no models.
_TESTS = (".yml", ".yaml")


class DiscoverError(AuditorError):
    """There is nothing to read: no such file, no such dialect, or no file that could be read at all."""


@dataclass(frozen=True)
class SqlFile:
    """A file as it was read."""

    shown: str
    path: Path
    text: str

    @cached_property
    def _ends(self) -> list[int]:
        return [at for at, character in enumerate(self.text) if character == "\n"]

    def place(self, offset: int) -> Place:
        """Give the line on which a character stands."""
        return Place(self.shown, bisect_right(self._ends, offset - 1) + 1)


def read_files(arguments: Sequence[str | Path]) -> tuple[list[SqlFile], list[Problem]]:
    """Read every file that is named, each once; DiscoverError where an argument names none."""
    paths, problems = _named(arguments)
    files = []
    for path in paths:
        shown = _shown(path)
        read = _read(path, shown)
        if isinstance(read, Problem):
            problems.append(read)
        else:
            files.append(SqlFile(shown, path, read))
    return files, problems


def _named(arguments: Sequence[str | Path]) -> tuple[list[Path], list[Problem]]:
    found: dict[Path, Path] = {}
    problems: list[Problem] = []
    for argument in arguments:
        paths = [Path(argument)]
        if not paths[0].exists():
            paths = [Path(name) for name in sorted(glob.glob(str(argument), recursive=True))]
        if not paths:
            raise DiscoverError(f"{argument}: there is no such file or folder, and nothing matches it as a glob")
        before = len(found)
        for path in paths:
            for file in _in_folder(path, problems) if path.is_dir() else (path,):
                found.setdefault(file.resolve(), file)
        if len(found) == before and not problems and all(path.is_dir() for path in paths):
            raise DiscoverError(f"{argument}: has no .sql file in it\n  next: name the folder of the models")
    return list(found.values()), problems


def _in_folder(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    tests: dict[Path, int] = {}
    for path in sorted(folder.rglob("*.sql")):
        of_tests = next((above for above in path.parents if above.suffix in _TESTS and above != folder), None)
        if of_tests is not None:
            tests[of_tests] = tests.get(of_tests, 0) + 1
        elif path.is_file():
            yield path
    for of_tests, count in tests.items():
        what = f"{plural(count, 'file')} left out: dbt compiles its tests into such a folder"
        problems.append(Problem(Place(_shown(of_tests)), what, "name a file itself to read it", unread=False))


def _read(path: Path, shown: str) -> str | Problem:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return Problem(Place(shown), f"cannot be read: {error.strerror or error}", "check its name and permissions")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Problem(Place(shown, line), f"is not UTF-8: byte {error.object[error.start]:#04x}", "save it as UTF-8")
    if "\0" in text:
        return Problem(Place(shown, text[: text.index("\0")].count("\n") + 1), "has a NUL in it: it is no SQL text")
    if found := template_in(text):
        line, seen = found
        hint = "name the compiled file: dbt writes it to target/compiled/ (dbt compile)"
        return Problem(Place(shown, line), f"is a template, not SQL yet: {seen}", hint)
    return text


def _shown(path: Path) -> str:
    """Give a path as it is seen from here, where it is below; a name that is no UTF-8 is escaped."""
    here = os.getcwd()
    near = os.path.relpath(path, here) if path.is_absolute() and path.is_relative_to(here) else str(path)
    return near.encode("utf-8", "backslashreplace").decode()
