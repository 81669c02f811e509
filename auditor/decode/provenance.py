"""What a consumer is made of: sources under its root, the distributions that it imported, the Python that runs it.

Known from the modules that its processes imported, at their start and with any string. A module among the installed
packages is known by the version of the distribution that brought it, else by its file. What a parser reads in other
ways, such as a table that it opens as a file, is no part of its version; nor is what a string imported that ended the
process before its frame was answered.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

INSTALLED = ("site-packages", "dist-packages")


Module = tuple[str, str]  # its name and its file


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

    def add(self, modules: Iterable[Module]) -> None:
        """Add modules: name and file of each."""
        new = sorted(set(modules) - self._modules.keys())
        strays = brought(new).strays
        for name, file in new:
            self._modules[name, file] = None
            self._add_source(name, file, is_stray=(name, file) in strays)

    def _add_source(self, name: str, file: str, *, is_stray: bool) -> None:
        """Hash a file that no distribution and no Python brought: by its path in the root, elsewhere by its module.

        Never by a whole path: the same sources have the same version on every machine.
        """
        if (installed_in(file) and not is_stray) or name.startswith("_auditor_worker"):
            return
        path = os.path.realpath(os.path.join(self._own, file))
        own = path.startswith(self._own) and not installed_in(path)
        if own or is_stray or not path.startswith(self._known):
            try:
                with open(path, "rb") as source:
                    digest = hashlib.file_digest(source, "sha256").hexdigest()
            except OSError:
                return
            self.sources[path[len(self._own) :] if own else "module " + name] = digest

    def parts(self) -> dict[str, Any]:
        """Give everything that the version is derived from."""
        return {
            "sources": self.sources,
            "distributions": dict(brought(self._modules).distributions),
            "python": self.python,
        }


def readable(parts: dict[str, Any]) -> dict[str, str]:
    """Give the readable part."""
    shown = {"python": parts["python"]}
    if parts["distributions"]:
        installed = sorted(parts["distributions"].items())
        shown["distributions"] = ", ".join(f"{name} {version}" for name, version in installed)
    return shown


@dataclass(frozen=True)
class Brought:
    """Distributions that installed some modules, by name, and the modules of installed packages that none installed."""

    distributions: Mapping[str, str]
    strays: frozenset[Module]


def brought(modules: Iterable[Module]) -> Brought:
    """Find the distributions of the modules that lie among installed packages."""
    wanted: dict[str, set[Module]] = {}
    for name, file in modules:
        folder = installed_in(file)
        if folder:
            wanted.setdefault(folder, set()).add((name, file))
    distributions: dict[str, str] = {}
    strays: set[Module] = set()
    for folder, inside in wanted.items():
        found = _look_up(folder, frozenset(inside), _changed(folder))
        distributions.update(found.distributions)
        strays |= found.strays
    return Brought(distributions, frozenset(strays))


def _changed(folder: str) -> int:
    """Say when something was installed in a folder or removed."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def installed_in(file: str) -> str | None:
    """Give the folder of installed packages that a file is in."""
    parts = file.split(os.sep)
    for marker in INSTALLED:
        if marker in parts:
            return os.sep.join(parts[: parts.index(marker) + 1])
    return None


@lru_cache(maxsize=256)
def _look_up(folder: str, modules: frozenset[Module], changed: int) -> Brought:
    """Find the distributions of some top-level names: by their own name first, then by what each says it installed.

    Once for as long as nothing is installed or removed in the folder: every launch of every consumer asks for them.
    """
    try:
        metadata = sorted(entry for entry in os.listdir(folder) if entry.endswith((".dist-info", ".egg-info")))
    except OSError:
        metadata = []
    wanted: dict[str, set[Module]] = {}
    for name, file in sorted(modules):
        # What counts is where it lies: a distribution may bring others' modules along.
        place = first_part(file[len(folder) + 1 :].replace(os.sep, "/"))
        wanted.setdefault(place, set()).add((name, file))
    owners: dict[str, list[str]] = {name: [] for name in wanted}
    for entry in metadata:
        for name in wanted:
            if _project(entry)[0].lower().replace("-", "_") == name.lower():
                owners[name].append(entry)
    left = {name for name, entries in owners.items() if not entries}
    for entry in metadata if left else []:
        for name in left.intersection(top_level_names(os.path.join(folder, entry))):
            owners[name].append(entry)
    distributions: dict[str, str] = {}
    strays: set[Module] = set()
    for name, entries in owners.items():
        own, unknown = _owners(folder, entries, wanted[name])
        distributions.update(_project(entry) for entry in own)
        strays |= unknown
    return Brought(distributions, frozenset(strays))


def _owners(folder: str, entries: list[str], modules: set[Module]) -> tuple[list[str], set[Module]]:
    """Give those of the distributions of a top-level name that brought its modules, and the modules that none brought.

    Several share a namespace, such as `google`; which file is whose, only a RECORD says.
    """
    if len(entries) <= 1:
        return entries, set() if entries else modules
    files = {entry: installed_files(os.path.join(folder, entry)) for entry in entries}
    places = {(name, file): os.path.relpath(file, folder).replace(os.sep, "/") for name, file in modules}
    own = [entry for entry in entries if not files[entry] or not files[entry].isdisjoint(places.values())]
    if not all(files.values()):
        return own, set()
    known = frozenset[str]().union(*files.values())
    return own, {module for module, place in places.items() if place not in known}


def _project(entry: str) -> tuple[str, str]:
    """Give name and version of a distribution from the name of its metadata."""
    parts = entry.rsplit(".", 1)[0].split("-")
    return (parts[0], parts[1]) if len(parts) > 1 else (entry, "")


def installed_files(folder: str) -> frozenset[str]:
    """Read the files that a distribution installed, by their places among the packages; none where it says none."""
    path = os.path.join(folder, "RECORD")
    try:
        status = os.stat(path)
        return _files_in(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return frozenset()


@lru_cache(maxsize=256)
def _files_in(path: str, changed: int, size: int) -> frozenset[str]:
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        return frozenset(row[0] for row in csv.reader(file) if row)


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
