"""`auditor doctor` says what was tried here for real, and what to do for the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor.audit import machine
from auditor.audit.machine import abilities, abilities_of
from auditor.cli.main import app
from auditor.decode import locales
from auditor.decode.clock import CLOCKS, PRELOAD, TIME_MACHINE, VDSO
from auditor.spec.read import read_spec

SPEC = """
name = "two interpreters"

[cases]
predictions = "p.csv"
references = "r.csv"

[fields.day]
type = "date"

[consumers.ours]
adapter = "python"
reads.day = "m:read"

[consumers.theirs]
adapter = "python"
interpreter = "python"
reads.day = "m:read"
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "audit.toml").write_text(SPEC)
    for name in ("p.csv", "r.csv"):
        (tmp_path / name).write_text("case_id,day\n1,2024-03-01\n")
    (tmp_path / "m.py").write_text("def read(text):\n    return text\n")
    return tmp_path


def shim(folder: Path, line: str) -> None:
    script = folder / "python"
    script.write_text(f"#!/bin/sh\n{line}\n")
    script.chmod(0o755)


def test_every_part_is_tried(tmp_path: Path) -> None:
    found = {one.part: one for one in abilities(tmp_path)}
    assert [part for part in found if part.startswith("clock by")] == [f"clock by {clock}" for clock in CLOCKS]
    assert {"zone Etc/GMT+12", "zone Pacific/Kiritimati", "locale de_DE.UTF-8", "hash seed", "no network"} <= set(found)
    assert found["hash seed"].is_there
    assert found["folder, HOME, umask"].is_there
    for one in found.values():
        assert one.is_there or one.note, "what is not there comes with what to do"


def test_a_way_that_is_not_there_is_needed_only_if_no_other_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = machine._launch

    def without_time_machine(folder, consumer, environment, clocks=CLOCKS):
        return launch(folder, consumer, environment, tuple(clock for clock in clocks if clock in kept))

    monkeypatch.setattr(machine, "_launch", without_time_machine)
    kept = (VDSO, PRELOAD)
    found = {one.part: one for one in abilities(tmp_path)}
    assert not found[f"clock by {TIME_MACHINE}"].is_there
    assert "pip install time-machine" in found[f"clock by {TIME_MACHINE}"].note
    assert not found[f"clock by {TIME_MACHINE}"].is_needed or not found[f"clock by {VDSO}"].is_there
    kept = ()
    assert all(one.is_needed and not one.is_there for one in abilities(tmp_path) if one.part.startswith("clock by"))


def test_a_locale_that_cannot_be_had_comes_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locales, "locale_variables", lambda name: None)
    monkeypatch.setattr("auditor.decode.plan.locale_variables", lambda name: None)
    found = {one.part: one for one in abilities(tmp_path)}
    one = found["locale tr_TR.UTF-8"]
    if not one.is_there:  # where it is installed nothing has to be built
        assert "apt-get install locales" in one.note


def test_the_interpreters_of_the_consumers_are_tried(spec: Path) -> None:
    shim(spec, f'exec {sys.executable} "$@"')
    ours, theirs = abilities_of(read_spec(spec))
    assert (ours.part, theirs.part) == ("consumer ours", "consumer theirs")
    assert ours.is_there == theirs.is_there
    assert "clock by" in theirs.note or "not fixed: clock" in theirs.note


def test_an_interpreter_that_does_not_start_is_said(spec: Path) -> None:
    shim(spec, "echo no python here; exit 4")
    _, theirs = abilities_of(read_spec(spec))
    assert not theirs.is_there
    assert "exit code 4" in theirs.note
    assert "is no Python interpreter" in theirs.note


def test_the_command_ends_well_whatever_is_missing(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim(spec, "exit 4")
    monkeypatch.chdir(spec)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert "yes  hash seed" in done.output
    assert "no   consumer theirs" in done.output
    assert done.output.splitlines()[-1].startswith("Not everything can be varied here: ")
    assert "consumer theirs" in done.output.splitlines()[-1]


def test_what_was_not_tried_is_not_called_there(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that does not exist is none that works, and an engine is not ours to start for this."""
    with (spec / "audit.toml").open("a") as file:
        file.write('\n[consumers.portal]\nadapter = "process"\ncommand = ["no-such-program"]\nreads.day = "day"\n')
        file.write(
            '\n[consumers.warehouse]\nadapter = "sql"\nengine = "postgres"\nreads.day = "cast({value} as date)"\n'
        )
    shim(spec, f'exec {sys.executable} "$@"')
    found = {one.part: one for one in abilities_of(read_spec(spec))}
    assert found["consumer portal"].is_there is None
    assert found["consumer warehouse"].is_there is None
    monkeypatch.chdir(spec)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert "?    consumer portal" in done.output
    assert "Not tried: consumer portal, consumer warehouse." in done.output.splitlines()[-1]
    assert "All can be varied" not in done.output


def test_without_a_spec_the_machine_alone_is_tried(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "auditor", "doctor"], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "hash seed" in done.stdout
    assert "consumer" not in done.stdout


def test_a_spec_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", str(tmp_path / "none.toml")])
    assert done.exit_code == 2
