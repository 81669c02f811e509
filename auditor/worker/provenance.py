"""What a consumer is made of: sources under its root, the distributions that it imported, the Python that runs it."""

from __future__ import annotations

import hashlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

INSTALLED = ("site-packages", "dist-packages")


def version_parts(root: str, before: Iterable[str]) -> Dict[str, Any]:
    """Give everything that a consumer's version is derived from; `before` are the modules that are not its own."""
    known = set(before)
    modules = [(name, module_file(module)) for name, module in list(sys.modules.items()) if name not in known]
    return {
        "sources": sources(root, modules),
        "distributions": distributions(modules),
        "python": "%s %s" % (sys.implementation.name, sys.version.split()[0]),
    }


def settings(parts: Dict[str, Any]) -> Dict[str, str]:
    """Give the readable part."""
    shown = {"python": parts["python"]}
    if parts["distributions"]:
        shown["distributions"] = ", ".join("%s %s" % item for item in sorted(parts["distributions"].items()))
    return shown


def module_file(module: Any) -> Optional[str]:
    """Give the file of a module; what sits in sys.modules need not be one."""
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def sources(root: str, modules: Iterable[Tuple[str, Optional[str]]]) -> Dict[str, str]:
    """Hash the files that no distribution and no Python brought: by their path in the root, elsewhere by module.

    Never by a whole path: the same sources have the same version on every machine.
    """
    start = os.path.join(os.path.realpath(root), "")
    standard = os.path.join(os.path.realpath(os.path.dirname(os.__file__)), "")
    hashes = {}
    for name, file in modules:
        path = os.path.realpath(file) if file and not installed_in(file) else ""
        own = path.startswith(start) and not installed_in(path)
        if path and not name.startswith("_auditor_worker") and (own or not path.startswith(standard)):
            try:
                with open(path, "rb") as source:
                    key = path[len(start) :] if own else "module " + name
                    hashes[key] = hashlib.sha256(source.read()).hexdigest()
            except OSError:
                continue
    return hashes


def distributions(modules: Iterable[Tuple[str, Optional[str]]]) -> Dict[str, str]:
    """Map the imported top-level names to the distributions that installed them."""
    wanted: Dict[str, Set[str]] = {}
    for name, file in modules:
        folder = installed_in(file)
        if folder:
            wanted.setdefault(folder, set()).add(name.split(".")[0])
    found: Dict[str, str] = {}
    for folder, names in wanted.items():
        found.update(look_up(folder, names))
    return found


def installed_in(file: Optional[str]) -> Optional[str]:
    """Give the folder of installed packages that a file is in."""
    parts = file.split(os.sep) if file else []
    for marker in INSTALLED:
        if marker in parts:
            return os.sep.join(parts[: parts.index(marker) + 1])
    return None


def look_up(folder: str, names: Set[str]) -> Dict[str, str]:
    """Find the distributions of some top-level names: by their own name first, then by what each says it installed."""
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


def top_level_names(folder: str) -> List[str]:
    """Read the top-level names that a distribution installed."""
    for name, split in (("top_level.txt", False), ("RECORD", True)):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            continue
        return sorted({first_part(line) for line in lines}) if split else lines
    return []


def first_part(line: str) -> str:
    """Give the top-level name in a line of RECORD."""
    part = line.split(",", 1)[0].split("/", 1)[0]
    return part.split(".", 1)[0] if part.endswith((".py", ".so")) else part
