"""The composite action: its steps in a real bash, with what a runner puts into their environment."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.runs.test_commands import auditor, environment

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "audit"
STATED: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
INSTALL, AUDIT = STATED["runs"]["steps"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the sample workspace, and where the step looks for what was installed, this interpreter's."""
    folder = tmp_path_factory.mktemp("action")
    (folder / "work").mkdir()
    assert auditor(folder / "work", "init").returncode == 0
    programs = folder / "temp" / "fidelity-auditor" / "bin"
    programs.mkdir(parents=True)
    (programs / "auditor").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m auditor "$@"\n')
    (programs / "auditor").chmod(0o755)
    return folder


def step(workspace: Path, **inputs: str) -> tuple[int, dict[str, str], str]:
    """Run the step of the audit; gives its exit code, its outputs and the summary of the job."""
    told, summary = workspace / "output", workspace / "summary"
    told.write_text("")
    summary.write_text("")
    values = {name: stated["default"] for name, stated in STATED["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in AUDIT["env"].items()
    }
    runner = {"RUNNER_TEMP": str(workspace / "temp"), "GITHUB_OUTPUT": str(told), "GITHUB_STEP_SUMMARY": str(summary)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", AUDIT["run"]]
    done = subprocess.run(
        command, cwd=workspace / "work", env=environment() | runner | variables, capture_output=True, text=True
    )
    outputs = dict(line.split("=", 1) for line in told.read_text().splitlines())
    return done.returncode, outputs, summary.read_text() + done.stderr


def test_new_bugs_fail_the_job_and_known_ones_do_not(workspace: Path) -> None:
    code, outputs, summary = step(workspace, probe="off")
    assert (code, outputs) == (1, {"exit-code": "1", "sarif": "audit-reports/audit.sarif"})
    assert "effective_date" in summary
    written = {path.name for path in (workspace / "work" / "audit-reports").iterdir()}
    assert written == {"audit.html", "audit.json", "audit.md", "audit.junit.xml", "audit.sarif"}
    assert auditor(workspace / "work", "findings", "accept", "all", "--reason", "x").returncode == 0
    assert step(workspace, probe="off")[0] == 0


def test_an_input_is_no_code(workspace: Path) -> None:
    """Whoever may name a spec in a pull request's workflow runs nothing by it."""
    code, outputs, said = step(workspace, spec='"; touch "$RUNNER_TEMP/ran"; echo "', probe="off")
    assert (code, outputs["exit-code"]) == (2, "2")
    assert "there is no such file or folder" in said
    assert not (workspace / "temp" / "ran").exists()


def test_every_input_and_output_is_used_and_said(workspace: Path) -> None:
    used = re.findall(r"inputs\.([a-z-]+)", str(STATED["runs"]))
    assert sorted(used) == sorted(STATED["inputs"])
    assert all(stated["description"] for stated in (*STATED["inputs"].values(), *STATED["outputs"].values()))


def test_what_is_installed_is_this_repository() -> None:
    [path] = re.findall(r"\$GITHUB_ACTION_PATH(/[./]+)\$", INSTALL["run"])
    assert (ACTION / path.strip("/")).resolve() == ROOT
    assert (ROOT / "pyproject.toml").exists()
