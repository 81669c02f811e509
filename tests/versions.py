"""Consumers' own versions of their libraries: a Python environment or a folder of Node packages for each, made once.

They lie in the user's cache (`XDG_CACHE_HOME`), so that only the first run of a machine installs anything.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

#: What an old library needs beside itself, where it does not say so: its requirements name no upper bound.
NEEDS = {
    ("pandas", "1.5.3"): ("numpy<2",),
    ("dateparser", "0.7.6"): ("regex==2022.1.18", "six", "tzlocal<3"),
    ("python-dateutil", "2.4.2"): ("six",),
}


def python_of(package: str, version: str) -> str:
    """Give an interpreter that has this version of a package; skips the test where it cannot be installed."""
    try:
        if package == "stdlib" or importlib.metadata.version(package) == version:
            return sys.executable
    except importlib.metadata.PackageNotFoundError:
        pass
    name = f"{package}-{version}-python{sys.version_info.major}.{sys.version_info.minor}"
    return str(_made(name, lambda folder: _install(folder, package, version)) / "bin" / "python")


def node_modules(package: str, version: str) -> Path:
    """Give a folder from which Node finds this version of a package; skips the test where it cannot be had."""
    if package == "node":
        return Path(__file__).parent
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", ".", f"{package}@{version}"]
    return _made(f"{package}-{version}-node", lambda folder: _run(command, folder))


def _install(folder: Path, package: str, version: str) -> None:
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q"]
    _run([*pip, f"{package}=={version}", *NEEDS.get((package, version), ())], folder)


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """Make a folder beside its place and rename it when it is whole: several runs may want it at once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "auditor-tests"
    folder = cache / name
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=cache, prefix=f".{name}-"))
        try:
            make(making)
            if not folder.is_dir():
                making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return folder


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    except FileNotFoundError:
        pytest.skip(f"no {command[0]} on PATH")
    if done.returncode:
        pytest.skip(f"{' '.join(command[-4:])} did not work: {done.stderr.strip().splitlines()[-1:]}")
