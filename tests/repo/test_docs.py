"""The README names all that is public: commands, options, finding codes, spec keys, exit codes."""

import re
from pathlib import Path

import pytest
import typer.main

from auditor.cli.main import app
from auditor.findings.dependence_words import WORDS
from auditor.judge.typed import CANONICAL, read_typed
from auditor.report import SUFFIXES
from auditor.spec.keys import SHORTHANDS, TABLES, TOP
from auditor.spec.models import FieldSpec

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
TOP_COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
COMMANDS = {
    f"{group} {name}".strip(): command
    for group, top in TOP_COMMANDS.items()
    for name, command in getattr(top, "commands", {"": top}).items()
}

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
    assert [code for code in ("130", "2", "4", "3", "1", "0") if f"**{code}**" not in README] == []


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table, (keys, _) in TABLES.items() for key in keys if key not in SHORTHANDS]
)
def test_the_default_of_every_key_is_documented(table: str, key: str) -> None:
    """The row of a key names the default that the spec's model has, or says that the key is needed."""
    [row] = re.findall(rf"^\| [^|]*`{key}`[^|]* \| ([^|]+) \|", README.split(f"### `[{table}")[1], re.MULTILINE)[:1]
    field = TABLES[table][1].model_fields[key]
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default  # as TOML writes it
    shown = {"timeout": '"2 s"', "memory": '"1 GiB"'}.get(key, default)
    if field.is_required():
        assert row == "needed"
    elif isinstance(shown, str | int) and shown != "":
        assert f"`{shown}`" in row


@pytest.mark.parametrize("kind", CANONICAL)
def test_the_canonical_form_of_every_type_is_documented(kind: str) -> None:
    """Each form that the table shows is read by the typed reader, and each that it denies is not."""
    [(form, denied)] = re.findall(rf"^\| [^|]*`{kind}`[^|]* \| ([^|]+) \| ([^|]*)\|", README, re.MULTILINE)[-1:]
    bounds = {"minimum": 1, "maximum": 100} if kind == "ordinal" else {"unit": "kg"} if kind == "quantity" else {}
    field = FieldSpec(name="f", type=kind, **bounds)  # type: ignore[arg-type]
    forms = [text for text in re.findall(r"`([^`]+)`", form) if text not in ("T", "Z", "+01:00", "unit")]
    assert all(read_typed(field, f'"{text}"')[0] for text in forms)
    assert not any(read_typed(field, f'"{text}"')[0] for text in re.findall(r"`([^`]+)`", denied))


def test_every_place_that_the_readme_leads_to_is_there():
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    wanted = re.findall(r"\]\(#([^)]+)\)", README)
    assert len(wanted) > 10
    assert [place for place in wanted if place not in anchors] == []
