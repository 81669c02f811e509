"""A consumer that cannot be started says what was tried, what was seen and what to do; one that can says what it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.decode import session as session_module
from auditor.decode.clock import can_fix_clock
from auditor.errors import ConsumerError
from auditor.model.environment import Environment
from tests.sessions import PARSERS, open_consumer, quoted, shown

BROKEN = PARSERS / "broken"


def failure(folder: Path, target: str, **consumer: object) -> ConsumerError:
    with pytest.raises(ConsumerError) as caught:
        open_consumer(folder, {"f": target}, **consumer)
    assert caught.value.consumer == "subject"
    return caught.value


@pytest.mark.parametrize(
    ("target", "seen", "hint"),
    [
        ("name:parse_amount", "No module named 'name'", "'names'"),
        ("names:parse_amont", "has no 'parse_amont'", "'parse_amount'"),
        ("names:value", "is of type int and cannot be called", "function"),
        ("names", "not of the form module:name", "module:function"),
        ("needs:read", "No module named 'a_library_that_nobody_has'", "install a_library_that_nobody_has"),
        ("exits:read", "SystemExit: 2", "__main__"),
        ("vanishes:read", "exit code 7; it printed: last words", "import"),
    ],
)
def test_a_start_that_fails_says_why(target, seen, hint):
    error = failure(BROKEN, target)
    assert seen in error.seen
    assert hint in error.hint


def test_a_module_that_does_not_parse_is_shown(tmp_path):
    (tmp_path / "syntax.py").write_text("def f(:\n")
    assert "SyntaxError" in failure(tmp_path, "syntax:f").seen


def test_a_start_that_never_ends_is_an_error(monkeypatch):
    monkeypatch.setattr(session_module, "START", 1.0)
    assert "not ready within 1 s" in failure(BROKEN, "waits:read").seen


@pytest.mark.parametrize("program", ["/bin/ls", "/bin/true", "/bin/cat"])
def test_a_program_that_is_no_interpreter_is_said_to_be_none(tmp_path, program):
    error = failure(tmp_path, "m:f", interpreter=program)
    assert error.tried == f"start {program}"
    assert "no Python interpreter" in error.seen and "cannot access" not in error.seen
    assert "`interpreter` must name a Python" in error.hint


def test_a_missing_interpreter_or_root_is_an_error(tmp_path):
    assert "no such file" in failure(tmp_path, "m:f", interpreter="none/bin/python").seen
    assert "no such folder" in failure(tmp_path, "m:f", root="nowhere").seen
    plain = tmp_path / "python"
    plain.write_text("#!/bin/sh\nexit 4\n")
    assert "cannot be executed" in failure(tmp_path, "m:f", interpreter="python").seen
    plain.chmod(plain.stat().st_mode | stat.S_IXUSR)
    error = failure(tmp_path, "m:f", interpreter="python")
    assert "exit code 4" in error.seen
    assert "must name a Python" in error.hint


def test_consumers_with_modules_of_one_name_do_not_see_each_other():
    with (
        open_consumer(PARSERS, {"f": "parsers:read"}, root="twin_a") as first,
        open_consumer(PARSERS, {"f": "parsers:read"}, root="twin_b") as second,
    ):
        assert shown(first.decode("f", ['"x"'])) == ["text:a x"]
        assert shown(second.decode("f", ['"x"'])) == ["text:b x"]
        assert first.readiness.version != second.readiness.version


def test_the_auditor_and_its_worker_cannot_be_imported(tmp_path):
    (tmp_path / "looks.py").write_text(
        "import importlib.util, os, sys\n"
        "def read(name):\n    return str(importlib.util.find_spec(name) is not None)\n"
        "def path(_):\n    return sys.path[0]\n"
    )
    with open_consumer(tmp_path, {"f": "looks:read", "p": "looks:path"}) as session:
        assert shown(session.decode("f", quoted(["kernel", "canonical", "at_clock", "main", "json"]))) == [
            *["text:False"] * 4,
            "text:True",
        ]
        assert shown(session.decode("p", ['"x"'])) == [f"text:{tmp_path}"]


ENVIRONMENT = """
import datetime, locale, os, sys, time
def read(name):
    return {
        "clock": lambda: datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "hour": lambda: str(datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone.utc).astimezone().hour),
        "seed": lambda: os.environ["PYTHONHASHSEED"],
        "hash": lambda: str(hash("auditor")),
        "locale": lambda: str(locale.setlocale(locale.LC_ALL)),
        "names": lambda: " ".join(sorted(os.environ)),
        "home": lambda: str(os.listdir(os.environ["HOME"])),
        "folder": lambda: str(os.path.realpath(os.getcwd()) == os.path.realpath(os.environ["HOME"])),
        "secret": lambda: os.environ.get("AUDITOR_TEST_SECRET", "none"),
        "own": lambda: os.environ.get("OWN", "none"),
    }[name]()
"""


def seen_in(tmp_path, names, **more):
    (tmp_path / "environment.py").write_text(ENVIRONMENT)
    with open_consumer(tmp_path, {"f": "environment:read"}, **more) as session:
        values = [outcome.removeprefix("text:") for outcome in shown(session.decode("f", quoted(names)))]
        return dict(zip(names, values, strict=True)), session.readiness


def test_the_base_environment_is_fixed_and_looked_at(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDITOR_TEST_SECRET", "secret")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    seen, readiness = seen_in(tmp_path, ["hour", "seed", "home", "folder", "secret", "own", "clock"])
    assert seen["hour"] == "12"
    assert seen["seed"] == "0"
    assert seen["home"] == "[]"
    assert seen["folder"] == "True"
    assert seen["secret"] == "none"
    if can_fix_clock():
        assert seen["clock"] == "2024-03-08T09:05:07+00:00"
    assert set(readiness.not_fixed) <= {"clock"}


def test_an_environment_is_what_it_says(tmp_path):
    base, _ = seen_in(tmp_path, ["hash"])
    probe = Environment("probe", "2000-02-29T06:06:07+00:00", "America/New_York", "C.UTF-8", 7)
    seen, readiness = seen_in(tmp_path, ["hour", "seed", "hash"], environment=probe)
    assert (seen["hour"], seen["seed"]) == ("8", "7")
    assert seen["hash"] != base["hash"]
    assert set(readiness.not_fixed) <= {"clock"}


def test_parts_that_cannot_be_set_are_named(tmp_path):
    odd = Environment("odd", zone="Mars/Olympus", locale="xx_XX.UTF-8")
    _, readiness = seen_in(tmp_path, ["hour"], environment=odd)
    assert {"zone", "locale"} <= set(readiness.not_fixed)


def test_a_consumer_has_its_own_variables_and_zone(tmp_path):
    seen, readiness = seen_in(tmp_path, ["hour", "own"], env={"TZ": "Europe/London", "OWN": "yes"})
    assert (seen["hour"], seen["own"]) == ("13", "yes")
    assert readiness.settings["env.TZ"] == "Europe/London"
    assert "zone" not in readiness.not_fixed
    probe = Environment("probe", zone="Asia/Tokyo")
    seen, _ = seen_in(tmp_path, ["hour"], env={"TZ": "Europe/London"}, environment=probe)
    assert seen["hour"] == "21"


@pytest.mark.parametrize(("seed", "fixed"), [("random", False), ("7", True), ("0", True), ("00", True)])
def test_a_hash_seed_of_the_consumer_is_fixed_if_it_is_a_number(tmp_path, seed, fixed):
    _, readiness = seen_in(tmp_path, ["seed"], env={"PYTHONHASHSEED": seed})
    assert ("hash seed" not in readiness.not_fixed) is fixed


def test_the_version_follows_the_sources_and_not_their_place(tmp_path):
    versions = []
    for name, text in (("one", "x = 1"), ("two", "x = 1"), ("three", "x = 2")):
        folder = tmp_path / name
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "helper.py").write_text(text)
        (folder / "m.py").write_text("from inner import helper\nimport dateutil\ndef read(text):\n    return text\n")
        with open_consumer(folder, {"f": "m:read"}) as session:
            versions.append(session.readiness.version)
            assert "dateutil" in session.readiness.settings["distributions"]
    assert versions[0] == versions[1] != versions[2]


def test_sources_beside_the_root_count_too(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "beside").mkdir()
    (tmp_path / "root" / "m.py").write_text("import company\nread = company.read\n")
    versions = set()
    for text in ("def read(text):\n    return text\n", "def read(text):\n    return text + text\n"):
        (tmp_path / "beside" / "company.py").write_text(text)
        env = {"PYTHONPATH": str(tmp_path / "beside"), "PYTHONDONTWRITEBYTECODE": "1"}
        with open_consumer(tmp_path, {"f": "m:read"}, root="root", env=env) as session:
            versions.add(session.readiness.version)
    assert len(versions) == 2


def other_pythons() -> list[str]:
    """Give interpreters of other versions: where they are usually found."""
    found = {}
    folders = [Path(path) for path in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    for minor in (8, 9, 10, 12, 13, 14):
        for folder in folders:
            path = folder / f"python3.{minor}"
            if path.is_file() and os.access(path, os.X_OK) and f"3.{minor}" not in found and works(path):
                found[f"3.{minor}"] = str(path)
    return sorted(found.values())


def works(path: Path) -> bool:
    """Say whether an interpreter starts: a shim may be there without its version."""
    return subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("interpreter", other_pythons() or [None])
def test_a_consumer_brings_its_own_python(interpreter):
    if interpreter is None:
        pytest.skip("no other Python was found on PATH or under ~/.pyenv")
    strings = ["order 5", "order 7", "order x", "leave", "flood", "recurse"]
    with open_consumer(PARSERS, {"f": "poison:read"}, interpreter=interpreter) as session:
        found = shown(session.decode("f", quoted(strings)))
        settings = session.readiness.settings
    assert found[:2] == ["int:5", "null: None"]
    assert found[2].startswith("rejected: ValueError")
    assert found[3:5] == ["crashed: exit code 3", "text:flooded"]
    assert found[5].startswith("rejected: RecursionError")
    assert settings["python"] != "cpython " + sys.version.split()[0]


def test_a_virtual_environment_is_used_as_one(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    (site / "only_there.py").write_text("WORD = 'there'\n")
    (tmp_path / "m.py").write_text("import only_there\ndef read(text):\n    return only_there.WORD\n")
    with open_consumer(tmp_path, {"f": "m:read"}, interpreter="venv/bin/python") as session:
        assert shown(session.decode("f", ['"x"'])) == ["text:there"]
