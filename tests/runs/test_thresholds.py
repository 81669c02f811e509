"""What a team asks of a column, and an `audit.toml` as a file of tests: what falls short or is new fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

from auditor import api
from auditor.errors import SpecError
from tests.runs.test_commands import auditor, environment

SPEC = """
name = "payments"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.paid]
type = "boolean"
reference = "billing"
[fields.total]
type = "decimal"
[consumers.billing]
adapter = "python"
reads.paid = "parsers:paid"
reads.total = "decimal:Decimal"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nauditor_probe = 'off'\n")
    (tmp_path / "parsers.py").write_text("def paid(text):\n    return {'True': True, 'False': False}[text]\n")
    # Nine of ten cases are right about `paid`; `total` is right throughout.
    rows = [line for case in range(10) for line in (f"{case},paid,{case == 9},False", f"{case},total,1.5,1.50")]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
    (tmp_path / "audit.toml").write_text(SPEC)
    return tmp_path


def asks(workspace: Path, text: str) -> None:
    (workspace / "audit.toml").write_text(SPEC + text)


def pytest_in(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=workspace, env=environment(), capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ("paid = 0.9", 0, ""),
        ("paid = 0.91", 1, "falls short: paid for billing: 90.0 % right, at least 91.0 % are asked for"),
        ("total = 1", 0, ""),
        ("paid = 0.9, total = 1.0", 0, ""),
        ("paid = 1, total = 1", 1, "falls short: paid for billing"),
    ],
)
def test_a_column_is_as_right_as_its_team_asks_or_fails_the_run(workspace: Path, asked, code, said) -> None:
    asks(workspace, f"at_least = {{ {asked} }}\n")
    done = auditor(workspace, "run", "--probe", "off", "-o", "r.junit.xml")
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr
    assert JUnitXml.fromfile(str(workspace / "r.junit.xml")).failures == code


def test_nothing_fails_a_run_that_is_never_to_fail(workspace: Path) -> None:
    asks(workspace, "at_least = { paid = 0.91 }\n")
    done = auditor(workspace, "run", "--probe", "off", "--fail-on", "never")
    assert (done.returncode, "\nfalls short: " in done.stdout) == (0, False)


def test_a_rate_that_cannot_be_judged_does_not_pass(workspace: Path) -> None:
    asks(workspace, "at_least = { total = 0 }\n")
    rows = (workspace / "records.csv").read_text().splitlines()
    (workspace / "records.csv").write_text("\n".join(rows[:7]) + "\n")
    done = auditor(workspace, "run", "--probe", "off")
    assert done.returncode == 1
    assert "falls short: total for billing: 3 judged, fewer than 8" in done.stdout


def test_a_rate_that_means_nothing_does_not_pass(workspace: Path) -> None:
    (workspace / "parsers.py").write_text("def paid(text):\n    return bool(text)\n")
    asks(workspace, "at_least = { paid = 0.5 }\n")
    done = auditor(workspace, "run", "--probe", "off")
    assert "falls short: paid for billing: its rate means nothing (" in done.stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("{ pad = 0.9 }", 'at_least.pad: there is no field "pad"\n    did you mean paid?'),
        ("{ paid = 90 }", "at_least.paid: must be a share from 0 to 1, not the number 90\n    90 % is 0.9"),
        ("{ paid = nan }", "at_least.paid: must be a share from 0 to 1, not"),
        ("{ paid = inf }", "at_least.paid: must be a share from 0 to 1, not"),
        ("{ paid = true }", "at_least.paid: must be a share from 0 to 1, not true"),
        ("0.9", "at_least: must be a table of shares, not the number 0.9"),
    ],
)
def test_a_threshold_that_cannot_be_is_a_mistake_of_the_spec(workspace: Path, asked: str, said: str) -> None:
    asks(workspace, f"at_least = {asked}\n")
    with pytest.raises(SpecError) as caught:
        api.run(workspace)
    assert said in str(caught.value)


def test_a_threshold_of_a_field_that_is_not_read_is_a_mistake(workspace: Path) -> None:
    asks(workspace, "[consumers.other]\nadapter = 'python'\nreads.paid = 'parsers:paid'\nat_least.total = 0.5\n")
    with pytest.raises(SpecError, match=r"at_least\.total: the consumer does not read total"):
        api.run(workspace)


def test_a_spec_is_a_file_of_tests(workspace: Path) -> None:
    asks(workspace, "at_least = { paid = 0.91, total = 0.99 }\n")
    done = pytest_in(workspace, "-rA")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASSED audit.toml::total for billing" in done.stdout
    assert "90.0 % right, at least 91.0 % are asked for" in done.stdout
    assert "1 failed, 2 passed" in done.stdout


def test_a_pipeline_without_bugs_is_a_test_that_passes(workspace: Path) -> None:
    done = pytest_in(workspace, "-rA")
    assert (done.returncode, "PASSED audit.toml::payments was audited" in done.stdout) == (0, True), done.stdout


def test_a_bug_is_a_test_that_fails_until_it_is_known(workspace: Path) -> None:
    (workspace / "parsers.py").write_text("def paid(text):\n    return bool(text)\n")
    done = pytest_in(workspace)
    assert done.returncode == 1
    assert "high, new: " in done.stdout
    assert "owner: billing" in done.stdout
    assert auditor(workspace, "findings", "accept", "all", "--reason", "release 12").returncode == 0
    done = pytest_in(workspace, "-rs")
    assert (done.returncode, "accepted: release 12" in done.stdout) == (0, True), done.stdout


def test_less_severe_bugs_fail_where_the_project_says_so(workspace: Path) -> None:
    (workspace / "parsers.py").write_text("def paid(text):\n    return bool(text)\n")
    (workspace / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nauditor_probe = 'off'\nauditor_fail_on = 'never'\n"
    )
    assert pytest_in(workspace).returncode == 0
    (workspace / "pyproject.toml").write_text("[tool.pytest.ini_options]\nauditor_fail_on = 'hi'\n")
    assert "auditor_fail_on = hi: choose high, medium, low, never" in pytest_in(workspace).stdout


def test_an_audit_that_cannot_be_done_is_an_error_of_the_collection(workspace: Path) -> None:
    (workspace / "parsers.py").unlink()
    done = pytest_in(workspace)
    assert done.returncode == 2
    assert "consumer billing: could not be started" in done.stdout
    assert "pytest_plugin.py" not in done.stdout


def test_a_broken_reference_is_a_test_that_fails(workspace: Path) -> None:
    rows = (workspace / "records.csv").read_text()
    (workspace / "records.csv").write_text(rows.replace("3,total,1.5,1.50", "3,total,1.5,about two"))
    done = pytest_in(workspace)
    assert done.returncode == 1
    assert 'typed does not read the reference "about two"' in done.stdout
