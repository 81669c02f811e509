"""The README's command on the reference pipeline, run once for all tests that look at what it makes.

Test processes that run side by side share one folder; the first that comes makes the run, and the others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE = "made"


def command() -> list[str]:
    """Give the README's command that makes the reports."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("SOURCE_DATE_EPOCH=")]
    assert len(lines) == 1
    return shlex.split(lines[0])


def reference_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the workspace in which the README's command was run: `reports`, and the stored run."""
    base = tmp_path_factory.getbasetemp()
    # Under xdist each process has a folder of its own in that of the session.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reference_run"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / MADE).exists():
            _run_in(folder)
            (folder / MADE).touch()
    return folder


def _run_in(folder: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.rmtree(folder / "consumers", ignore_errors=True)  # of a run that failed
    shutil.copytree(ROOT / "consumers", folder / "consumers", ignore=shutil.ignore_patterns("__pycache__"))
    epoch, program, *arguments = command()
    assert program == "auditor"
    assert [one for one in arguments if re.match("reports/", one)], "it makes the committed reports"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch.partition("=")[2], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "auditor", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
