"""What a team knows fails no run: from the first audit to the file that is reviewed, and to the day that is over."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.command_line import call
from tests.runs.test_commands import auditor, environment, replace_in

NAME = "auditor-baseline.toml"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the sample workspace, and audit it once."""
    folder = tmp_path_factory.mktemp("known") / "workspace"
    folder.mkdir()
    assert auditor(folder, "init").returncode == 0
    assert run(folder).returncode == 1
    return folder


@pytest.fixture
def workspace(made: Path) -> Path:
    """Forget what a test has said before."""
    (made / NAME).unlink(missing_ok=True)
    return made


def run(folder: Path, *arguments: str, epoch: str = "1709888707") -> subprocess.CompletedProcess[str]:
    """Audit on the eighth of March 2024, or on another day."""
    variables = environment() | {"SOURCE_DATE_EPOCH": epoch}
    return call("run", "--probe", "off", *arguments, folder=folder, variables=variables)


def anchors(folder: Path, *arguments: str) -> list[list[str]]:
    """Give state and anchor of each line of `auditor findings list`."""
    lines = auditor(folder, "findings", "list", *arguments).stdout.splitlines()
    return [[line.split()[0], line.split()[2]] for line in lines]


def test_every_bug_is_new_until_somebody_says_something(workspace: Path) -> None:
    found = json.loads(next((workspace / ".auditor" / "runs").glob("*/run.json")).read_text())["findings"]
    assert sorted(anchors(workspace)) == sorted(["new", finding["anchor"]] for finding in found)


def test_accepted_bugs_fail_no_run_and_a_new_one_does(workspace: Path) -> None:
    said = auditor(workspace, "findings", "accept", "all", "--reason", "known since release 11")
    assert said.returncode == 0, said.stderr
    done = run(workspace, "-o", "r.junit.xml", "-o", "r.sarif")
    assert done.returncode == 0, done.stdout
    assert JUnitXml.fromfile(str(workspace / "r.junit.xml")).failures == 0
    assert all("suppressions" in one for one in json.loads((workspace / "r.sarif").read_text())["runs"][0]["results"])

    (first, *_) = [anchor for _, anchor in anchors(workspace) if anchor.startswith("format-ceiling")]
    reopened = auditor(workspace, "findings", "reopen", first)
    assert reopened.returncode == 0, reopened.stderr
    done = run(workspace, "-o", "r.junit.xml")
    assert done.returncode == 1
    assert f"new, high: {first}" in done.stdout
    assert JUnitXml.fromfile(str(workspace / "r.junit.xml")).failures == 1


def test_all_are_those_that_fail_and_what_was_said_of_others_stands(workspace: Path) -> None:
    every = anchors(workspace)
    assert auditor(workspace, "findings", "accept", every[0][1], "--reason", "known upstream").returncode == 0
    said = auditor(workspace, "findings", "accept", "all", "--reason", "before we looked")
    assert said.stdout.startswith(f"{len(every) - 1} accepted")
    text = (workspace / NAME).read_text()
    assert (text.count("known upstream"), text.count("before we looked")) == (1, len(every) - 1)
    assert auditor(workspace, "findings", "accept", "all", "--reason", "again").stdout.startswith("0 accepted")


def test_what_was_accepted_until_a_day_fails_on_the_next(workspace: Path) -> None:
    assert auditor(workspace, "findings", "accept", "all", "--reason", "x").returncode == 0
    file = workspace / NAME
    file.write_text(file.read_text().replace('reason = "x"\n', 'reason = "x"\nuntil = 2024-03-08\n'))
    assert run(workspace).returncode == 0
    done = run(workspace, epoch=str(1709888707 + 24 * 3600))
    assert (done.returncode, "  expired, high: " in done.stdout) == (1, True)
    assert {state for state, _ in anchors(workspace)} == {"expired"}


def test_what_was_said_to_be_fixed_fails_when_it_is_found_again(workspace: Path) -> None:
    [_, anchor] = anchors(workspace)[0]
    said = auditor(workspace, "findings", "accept", anchor, "--state", "fixed", "--reason", "release 12")
    assert said.returncode == 0, said.stderr
    assert ["returned", anchor] in anchors(workspace)
    assert f"  returned, high: {anchor}" in run(workspace).stdout


def test_a_bug_that_is_not_found_any_more_is_gone(workspace: Path) -> None:
    assert auditor(workspace, "findings", "accept", "all", "--reason", "x").returncode == 0
    replace_in(workspace / NAME, '["', '["0')
    replace_in(workspace / NAME, 'state = "accepted"', 'state = "known"')
    assert [state for state, _ in anchors(workspace, "--state", "gone")] == ["gone"]
    assert "1 gone" in run(workspace).stdout


def test_a_bug_is_shown_with_its_life(workspace: Path) -> None:
    [_, anchor] = anchors(workspace)[0]
    assert auditor(workspace, "findings", "accept", anchor, "--reason", "[red] release 12", "--until", "2999-12-31")
    shown = auditor(workspace, "findings", "show", anchor)
    assert "accepted until 2999-12-31: [red] release 12" in shown.stdout, shown.stderr
    assert "witness" in shown.stdout
    runs = sorted(folder.name for folder in (workspace / ".auditor" / "runs").iterdir())
    assert f"first seen in {runs[0]}, last in {runs[-1]}" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("accept", "nothing", "--reason", "x"), "'nothing': there is no such finding"),
        (("accept", "format-ceilin", "--reason", "x"), "did you mean 'format-ceiling-"),
        (("accept", "", "--reason", "x"), "there is no such finding"),
        (("accept", "all"), "Missing option '--reason'"),
        (("accept", "all", "--reason", " "), "--reason is empty"),
        (("accept", "all", "--reason", "x", "--until", ""), "write it as 2030-12-31"),
        (("accept", "all", "--reason", "x", "--until", "31.12.2030"), "write it as 2030-12-31"),
        (("accept", "all", "--reason", "x", "--until", "2020-01-01"), "that day is over"),
        (("accept", "all", "--reason", "x", "--state", "open"), "there is no state 'open'"),
        (("list", "--state", "old"), "there is no state 'old'"),
        (("reopen", "format"), "there is no such finding"),
    ],
)
def test_what_cannot_be_said_is_said_so_and_changes_nothing(workspace: Path, arguments, said) -> None:
    done = auditor(workspace, "findings", *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (workspace / NAME).exists()


def test_a_mistake_in_the_file_is_told_before_the_audit(workspace: Path) -> None:
    (workspace / NAME).write_text('["a"]\nstate = "acepted"\n')
    done = run(workspace)
    assert done.returncode == 2
    assert f"{NAME}:1: a: state is 'acepted'" in done.stderr
    assert "decoded" not in done.stderr
