"""Locales for workers: those that are installed, and those that the system's own sources can be built into, once."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

from auditor.decode.caches import cache_folder

SOURCES = Path("/usr/share/i18n/locales")
SECONDS_TO_BUILD = 120

#: Names that every C library has.
BUILT_IN = ("C", "POSIX", "C.UTF-8", "C.utf8")

#: A path for locales hides the system's archive, so what is in it is built too; with more in it, nothing is built.
MOST_ARCHIVED = 12

_NAME = re.compile(r"([A-Za-z]{2,3}_[A-Z]{2})\.(?:UTF-8|utf8)(@[a-z]+)?")

_building = Lock()


def locale_variables(name: str) -> dict[str, str] | None:
    """Give the variables beside LANG that a process needs for a locale; None where the machine cannot have it.

    Nothing is needed for one that is installed. Another is built from the system's sources into a folder of ours,
    which takes some seconds the first time.
    """
    if name in BUILT_IN:
        return {}
    with _building:
        state = locale_state(name)
        if state == "installed":
            return {}
        folder = _built(name) if state == "buildable" else None
        return None if folder is None else {"LOCPATH": str(folder)}


@cache
def locale_state(name: str) -> str:
    """Say whether a locale is ``installed``, ``buildable`` or ``missing``."""
    if name in BUILT_IN or _is_accepted(name, None):
        return "installed"
    match = _NAME.fullmatch(name)
    can_build = sys.platform == "linux" and shutil.which("localedef") is not None
    if match and can_build and (SOURCES / (match[1] + (match[2] or ""))).is_file() and _archived() is not None:
        return "buildable"
    return "missing"


def _is_accepted(name: str, folder: Path | None) -> bool:
    """Try a locale in a process of its own: ours must not change, and may have a path for locales."""
    code = "import _locale, sys; _locale.setlocale(_locale.LC_ALL, sys.argv[1])"
    variables = {key: value for key, value in os.environ.items() if key != "LOCPATH"}
    variables |= {} if folder is None else {"LOCPATH": str(folder)}
    command = [sys.executable, "-I", "-S", "-c", code, name]
    return subprocess.run(command, capture_output=True, env=variables, check=False).returncode == 0


@cache
def _archived() -> tuple[str, ...] | None:
    """Name the locales in the system's archive; None where they are too many or cannot be built."""
    done = subprocess.run(["localedef", "--list-archive"], capture_output=True, text=True, check=False)
    names = done.stdout.split()
    if len(names) > MOST_ARCHIVED or not all(_NAME.fullmatch(name) for name in names):
        return None
    return tuple(names)


@cache
def _built(name: str) -> Path | None:
    """Give the folder that holds a locale and all that it hides, built if need be."""
    identity = " ".join((platform.machine(), *platform.libc_ver()))
    try:
        folder = cache_folder() / f"locales-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"
        folder.mkdir(exist_ok=True)
        for wanted in (name, *(_archived() or ())):
            if not (folder / wanted).is_dir():
                _build(wanted, folder)
    except (OSError, subprocess.SubprocessError):
        return None
    return folder if _is_accepted(name, folder) else None


def _build(name: str, folder: Path) -> None:
    """Build beside the target and rename: several audits may do so at once."""
    match = _NAME.fullmatch(name)
    assert match is not None
    source = match[1] + (match[2] or "")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as place:
        made = Path(place) / name
        # Warnings have exit status 1, with the locale built; the canary sees what it is worth.
        command = ["localedef", "--no-archive", "-c", "-i", source, "-f", "UTF-8", str(made)]
        subprocess.run(command, capture_output=True, timeout=SECONDS_TO_BUILD, check=False)
        if made.is_dir():
            try:
                made.rename(folder / name)
            except OSError:  # somebody else was faster
                if not (folder / name).is_dir():
                    raise
