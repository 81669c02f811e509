"""The commands of the README are the ones that are run: by .ci/run, and by the command line itself."""

import re
import shlex
import tomllib
from pathlib import Path

import typer.main

from auditor.cli.main import app

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CI = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def shell_lines() -> list[str]:
    """Give the lines of all shell blocks."""
    return [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_ci_installs_what_the_readme_installs() -> None:
    (install,) = re.findall(r"venv/bin/pip install -q -e ('[^']+')", README)
    assert re.search(rf"-m pip install [-a-z ]*{re.escape(install)}$", CI, re.MULTILINE)
    extras = re.findall(r"[a-z]+", install.split("[")[1])
    assert set(extras) <= set(PROJECT["project"]["optional-dependencies"])


def test_ci_calls_the_test_command_of_the_readme() -> None:
    (command,) = [line for line in shell_lines() if line.startswith(".venv/bin/python -m pytest")]
    assert f'"$python" {command.removeprefix(".venv/bin/python ")} ' in CI


def test_the_main_command_audits_the_reference_pipeline() -> None:
    (main,) = [line for line in shell_lines() if line.startswith("python3 -m venv")]
    assert main.endswith(".venv/bin/auditor run --fail-on never")
    assert PROJECT["tool"]["auditor"]["spec"] == "consumers/audit.toml"
    assert (REPOSITORY / "consumers" / "audit.toml").is_file()


def test_every_command_line_is_one_that_the_command_line_knows() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    calls = [call for line in shell_lines() for call in re.findall(r"(?:^|&& |/)(auditor [^&]+)", line)]
    assert calls
    for call in calls:
        _, name, *arguments = shlex.split(call)
        command = commands[name]
        known = {option for parameter in command.params for option in parameter.opts}
        assert [argument for argument in arguments if argument.startswith("-") and argument not in known] == []
