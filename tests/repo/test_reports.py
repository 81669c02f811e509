"""The committed reports of the reference pipeline are what the README's command makes, to the byte.

A run records what its consumers imported, so a newer dateutil or DuckDB makes other bytes: where the installed
versions are not those of the committed run, everything else must still be equal. Where a consumer is left out, for want
of what it needs, the verdicts of the others must be.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "reports"
SUFFIXES = (".json", ".html", ".md", ".csv")


def command() -> list[str]:
    """Give the README's command that makes the reports."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("SOURCE_DATE_EPOCH=")]
    assert len(lines) == 1
    return shlex.split(lines[0])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the reports in another folder."""
    folder = tmp_path_factory.mktemp("reports")
    epoch, program, *arguments = command()
    assert program == "auditor"
    arguments = [re.sub(r"^reports/", f"{folder}/", argument) for argument in arguments]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch.partition("=")[2], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "auditor", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def versions(document: dict[str, Any]) -> list[Any]:
    """Give what depends on the machine's versions."""
    return [[one["version"], one["settings"]] for one in document["consumers"]]


def without_versions(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on the machine's versions."""
    consumers = [{**one, "version": "", "settings": {}} for one in document["consumers"]]
    return {**document, "consumers": consumers, "run_id": ""}


def counts(document: dict[str, Any]) -> dict[tuple[str, str], list[int]]:
    """Give the verdicts of each column."""
    names = ("ok", "wrong", "rejected", "null", "dropped", "absent")
    return {(one["field"], one["consumer"]): [one[name] for name in names] for one in document["columns"]}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_committed_report_is_fresh(made: Path, suffix: str) -> None:
    """Run the README's command again when this fails."""
    committed = json.loads((COMMITTED / "contracts.json").read_text())
    again = json.loads((made / "contracts.json").read_text())
    if again["left_out"]:  # what is read without them is read alike
        assert counts(again) == {key: count for key, count in counts(committed).items() if key in counts(again)}
    elif versions(committed) == versions(again):
        assert (made / f"contracts{suffix}").read_bytes() == (COMMITTED / f"contracts{suffix}").read_bytes()
    else:
        assert without_versions(again) == without_versions(committed)


def test_every_format_is_committed() -> None:
    """The folder holds the reports and nothing else."""
    assert sorted(path.name for path in COMMITTED.iterdir()) == sorted(f"contracts{suffix}" for suffix in SUFFIXES)
