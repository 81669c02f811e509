"""The README names all that is public: commands, options, finding codes, spec keys, exit codes."""

import re
from pathlib import Path

import pytest
import typer.main

from auditor.cli.main import app
from auditor.findings.dependence_words import WORDS
from auditor.report import SUFFIXES
from auditor.spec.keys import TABLES, TOP

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]

#: The codes of the first audits, and whatever else a finding is given as its code where it is made.
CODES = sorted(
    {
        *("acceptance-disagreement", "ambiguous-reference", "broken-reference", "constant-output", "consumer-crashed"),
        *("consumer-timed-out", "format-ceiling", "lax-coercion", "misreading", "no-common-shape", "sentinel-collapse"),
        "value-disagreement",
        *WORDS,
        *(
            code
            for path in (REPOSITORY / "auditor" / "findings").rglob("*.py")
            for code in re.findall(r'(?:code|CODE)(?:: \w+)? ?= ?"([a-z]+(?:-[a-z]+)+)"', path.read_text("utf-8"))
        ),
    }
)


def options() -> list[str]:
    """Give every long option with its command."""
    return [
        f"{name} {option}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_and_has_help(command: str) -> None:
    assert f"`auditor {command}" in README
    assert COMMANDS[command].help


@pytest.mark.parametrize("option", options())
def test_every_option_is_documented(option: str) -> None:
    assert f"{option.split()[1]}" in README


@pytest.mark.parametrize("code", CODES)
def test_every_finding_code_is_documented(code: str) -> None:
    assert f"`{code}`" in README


@pytest.mark.parametrize("key", [*TOP, *(f"{table}.{key}" for table, (keys, _) in TABLES.items() for key in keys)])
def test_every_key_of_the_spec_is_documented(key: str) -> None:
    name = key.split(".")[-1]
    assert re.search(rf"`\[?{name}\b", README)


def test_every_format_and_exit_code_is_documented() -> None:
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in README] == []
    assert [code for code in ("130", "2", "3", "1", "0") if f"**{code}**" not in README] == []
