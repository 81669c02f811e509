"""Help is instant: nothing heavy is imported before a command needs it (checked in a fresh process)."""

import json
import subprocess
import sys

import pytest

# Not pydantic: typer itself may import it to read parameters.
HEAVY = [
    "babel",
    "dateutil",
    "duckdb",
    "fastapi",
    "jinja2",
    "msgspec",
    "pint",
    "pyarrow",
    "rich.console",
    "scipy",
    "sklearn",
    "sqlglot",
    "uvicorn",
]

SCRIPT = """
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()) as said:
    try:
        {code}
    except SystemExit as exit:
        assert not exit.code, exit.code
print(json.dumps([sorted({heavy} & set(sys.modules)), said.getvalue()]))
"""


def loaded_by(code: str) -> tuple[list[str], str]:
    """Run code in a fresh process; gives the heavy modules that it loaded and what it printed."""
    script = SCRIPT.format(code=code, heavy=set(HEAVY))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy, said = json.loads(done.stdout)
    return heavy, said


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "run --help",
        "read --help",
        "report --help",
        "runs --help",
        "schema --help",
        "init --help",
        "discover --help",
        "drift --help",
        "redecode --help",
        "serve --help",
        "token new --help",
    ],
)
def test_help_loads_nothing_heavy(arguments: str) -> None:
    argv = ["auditor", *arguments.split()]
    heavy, said = loaded_by(f"sys.argv = {argv!r}; from auditor.cli.main import main; main()")
    assert heavy == []
    assert said


def test_importing_the_library_loads_nothing_heavy() -> None:
    assert loaded_by("import auditor; dir(auditor); auditor.AuditorError") == ([], "")


def test_workers_start_before_the_database_is_imported() -> None:
    heavy, _ = loaded_by("import auditor.audit.starting, auditor.spec.read")
    assert heavy == ["msgspec"]


def test_the_service_shows_pages_before_the_framework_of_its_api_is_loaded() -> None:
    code = "import auditor.service.server; assert not {'pydantic', 'prometheus_client'} & set(sys.modules)"
    assert loaded_by(code)[0] == ["jinja2", "msgspec", "uvicorn"]
