"""What a consumer is made of: sources under its root, the distributions that it imported, the Python that runs it.

Known from the modules that its processes imported, at their start and with any string. What a parser reads in other
ways, such as a table that it opens as a file, is no part of its version; nor is what a string imported that ended the
process before its frame was answered.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

INSTALLED = ("site-packages", "dist-packages")


@dataclass
class Provenance:
    """Grows with the modules that are added; each file is hashed when it is first told of.

    `standard` is the folder of the standard library, whose modules are known by `python`, its version.
    """

    root: str
    standard: str
    python: str
    sources: dict[str, str] = field(default_factory=dict)
    _modules: dict[tuple[str, str], None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find where both folders really are."""
        self._own, self._known = (os.path.join(os.path.realpath(one), "") for one in (self.root, self.standard))

    def add(self, modules: Iterable[tuple[str, str]]) -> None:
        """Add modules: name and file of each."""
        for name, file in sorted(set(modules) - self._modules.keys()):
            self._modules[name, file] = None
            self._add_source(name, file)

    def _add_source(self, name: str, file: str) -> None:
        """Hash a file that no distribution and no Python brought: by its path in the root, elsewhere by its module.

        Never by a whole path: the same sources have the same version on every machine.
        """
        if installed_in(file) or name.startswith("_auditor_worker"):
            return
        path = os.path.realpath(os.path.join(self._own, file))
        own = path.startswith(self._own) and not installed_in(path)
        if own or not path.startswith(self._known):
            try:
                with open(path, "rb") as source:
                    digest = hashlib.file_digest(source, "sha256").hexdigest()
            except OSError:
                return
            self.sources[path[len(self._own) :] if own else "module " + name] = digest

    def parts(self) -> dict[str, Any]:
        """Give everything that the version is derived from."""
        return {"sources": self.sources, "distributions": distributions(self._modules), "python": self.python}


def readable(parts: dict[str, Any]) -> dict[str, str]:
    """Give the readable part."""
    shown = {"python": parts["python"]}
    if parts["distributions"]:
        installed = sorted(parts["distributions"].items())
        shown["distributions"] = ", ".join(f"{name} {version}" for name, version in installed)
    return shown


def distributions(modules: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map the imported top-level names to the distributions that installed them."""
    wanted: dict[str, set[str]] = {}
    for name, file in modules:
        folder = installed_in(file)
        if folder:
            wanted.setdefault(folder, set()).add(name.split(".")[0])
    found: dict[str, str] = {}
    for folder, names in wanted.items():
        try:
            changed = os.stat(folder).st_mtime_ns
        except OSError:
            continue
        found.update(look_up(folder, frozenset(names), changed))
    return found


def installed_in(file: str) -> str | None:
    """Give the folder of installed packages that a file is in."""
    parts = file.split(os.sep)
    for marker in INSTALLED:
        if marker in parts:
            return os.sep.join(parts[: parts.index(marker) + 1])
    return None


@lru_cache(maxsize=256)
def look_up(folder: str, names: frozenset[str], changed: int) -> Mapping[str, str]:
    """Find the distributions of some top-level names: by their own name first, then by what each says it installed.

    Once for as long as nothing is installed or removed in the folder: every launch of every consumer asks for them.
    """
    try:
        metadata = sorted(entry for entry in os.listdir(folder) if entry.endswith((".dist-info", ".egg-info")))
    except OSError:
        return {}
    found, left = {}, set(names)
    for entry in metadata:
        project, version = entry.rsplit(".", 1)[0].split("-")[:2] if "-" in entry else (entry, "")
        if project.lower().replace("-", "_") in {name.lower() for name in left}:
            found[project] = version
            left = {name for name in left if name.lower() != project.lower().replace("-", "_")}
    for entry in metadata if left else []:
        taken = left.intersection(top_level_names(os.path.join(folder, entry)))
        if taken:
            project, version = entry.rsplit(".", 1)[0].split("-")[:2] if "-" in entry else (entry, "")
            found[project] = version
            left -= taken
    return found


def top_level_names(folder: str) -> list[str]:
    """Read the top-level names that a distribution installed."""
    for name, split in (("top_level.txt", False), ("RECORD", True)):
        path = os.path.join(folder, name)
        try:
            status = os.stat(path)
            return _names_in(path, split, status.st_mtime_ns, status.st_size)
        except OSError:
            continue
    return []


@lru_cache(maxsize=4096)
def _names_in(path: str, split: bool, changed: int, size: int) -> list[str]:
    """Read a file of names once for as long as it is the same: every launch of every consumer asks for them."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    return sorted({first_part(line) for line in lines}) if split else lines


def first_part(line: str) -> str:
    """Give the top-level name in a line of RECORD."""
    part = line.split(",", 1)[0].split("/", 1)[0]
    return part.split(".", 1)[0] if part.endswith((".py", ".so")) else part
