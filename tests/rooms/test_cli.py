"""The command line without an audit: exit codes, outputs checked up front, messages instead of tracebacks."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from auditor.cli.exits import FailOn, code_of, exiting
from auditor.cli.main import app
from auditor.cli.outputs import OutputError, check_outputs
from auditor.errors import AuditorError, StoreError
from auditor.model.baseline import Baseline
from auditor.model.run import CaseCounts, Finding, Run, RunEnvironment, Severity
from tests.privileges import as_nobody


def run_with(*severities: Severity, withheld: bool = False) -> Run:
    """Make a run with findings of some severities."""
    findings = tuple(
        Finding("code", severity, "f", ("c",), ("o",), "title", "", "", (), 1, 0.1, "fp") for severity in severities
    )
    base = RunEnvironment("2024-03-08T09:05:07+00:00", "UTC", "C.UTF-8", 0)
    cases = CaseCounts(expected=1, judged=1, missing=0, unrelated=0)
    return Run("r", "n", "", "", "", base, cases, {}, (), (), (), findings, (), rates_withheld=withheld)


@pytest.mark.parametrize(
    ("severities", "fail_on", "code"),
    [
        ((), FailOn.low, 0),
        (("high",), FailOn.high, 1),
        (("high",), FailOn.never, 0),
        (("medium",), FailOn.high, 0),
        (("medium",), FailOn.medium, 1),
        (("info", "medium"), FailOn.low, 1),
        (("low",), FailOn.medium, 0),
        (("info",), FailOn.low, 0),
    ],
)
def test_findings_from_a_severity_on_fail_a_run(severities: tuple[Severity, ...], fail_on: FailOn, code: int) -> None:
    assert code_of(run_with(*severities), fail_on, Baseline()) == code


def test_broken_references_come_before_findings() -> None:
    assert code_of(run_with("high", withheld=True), FailOn.high, Baseline()) == 3
    assert code_of(run_with("high", withheld=True), FailOn.never, Baseline()) == 3


def raising(error: BaseException) -> Callable[[], int]:
    """Make a command that fails."""

    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (StoreError("run 12: not there"), 2, "error: run 12: not there"),
        (AuditorError("no"), 2, "error: no"),
        (ZeroDivisionError("x"), 2, "bug of the auditor"),
    ],
)
def test_every_error_has_its_exit_code_and_message(
    error: BaseException, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught:
        exiting(raising(error))()
    assert caught.value.exit_code == code
    said = capsys.readouterr().err
    assert says in said
    assert ("Traceback" in said) == isinstance(error, ZeroDivisionError)


def test_outputs_are_checked_before_the_spec_is_even_looked_for(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").touch()
    outputs = ["report.pdf", "report", "folder.md", "file/report.md", "new/report.HTML"]
    arguments = ["run", str(tmp_path / "none.toml")]
    for output in outputs:
        arguments += ["-o", str(tmp_path / output)]
    said = CliRunner().invoke(app, arguments)
    formats = ".html .json .md .csv .junit.xml .sarif"
    assert said.exit_code == 2
    assert said.stderr.splitlines() == [
        f"error: -o {tmp_path}/report.pdf: the suffix .pdf picks no format; there are: {formats}",
        f"-o {tmp_path}/report: no suffix picks no format; there are: {formats}",
        f"-o {tmp_path}/folder.md: is a folder; name a file in it",
        f"-o {tmp_path}/file/report.md: {tmp_path}/file is no folder",
    ]


def test_a_folder_that_may_not_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        with as_nobody(), pytest.raises(OutputError, match="may not be written; check its permissions"):
            check_outputs([Path(folder) / "report.md"])
        os.chmod(folder, 0o777)
        with as_nobody():
            check_outputs([Path(folder) / "report.md"])


def test_mistakes_of_a_spec_are_printed_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text("nmae = 'x'\n")
    said = CliRunner().invoke(app, ["run", str(tmp_path)])
    assert said.exit_code == 2
    assert said.stdout == ""
    assert said.stderr.startswith("error: 4 mistakes in the spec:\n")
    assert "did you mean name?" in said.stderr


@pytest.mark.parametrize("arguments", [["bogus"], ["run", "--bogus"], ["run", "--fail-on", "all"], ["read"], []])
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_schema_prints_json() -> None:
    said = CliRunner().invoke(app, ["schema"])
    assert said.exit_code == 0
    assert json.loads(said.stdout)["title"] == "audit.toml"


def test_no_runs_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["runs"])
    assert (said.exit_code, said.stdout) == (0, f"no runs in {tmp_path}/.auditor/runs; `auditor run` makes one\n")
    said = CliRunner().invoke(app, ["report", "latest"])
    assert said.exit_code == 2
    assert "run latest: neither a folder with a run.json nor an id" in said.stderr


@pytest.mark.parametrize(
    ("option", "choices"),
    [("--fail-on", "high or medium or low or never"), ("--broken-references", "stop or report")],
)
def test_a_word_that_an_option_does_not_take_is_answered_with_those_it_takes(option: str, choices: str) -> None:
    said = CliRunner().invoke(app, ["run", option, "info"])
    assert said.exit_code == 2
    assert f"there is no 'info'; choose {choices}" in " ".join(said.stderr.split())
    assert "Value error" not in said.stderr


def test_a_spec_that_is_not_there_has_no_mistakes_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["run"], ["run", "nowhere.toml"], ["read", "total", "1"]):
        said = CliRunner().invoke(app, arguments)
        assert said.exit_code == 2
        assert "there is no" in said.stderr and "in the spec" not in said.stderr
