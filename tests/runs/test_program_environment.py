"""The environment of a program: its clock stands where the audit's does, or the audit says that it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from auditor.decode.clock import can_attribute, can_fix_clock
from auditor.decode.session import Session
from auditor.errors import ConsumerError
from auditor.model.environment import Environment
from auditor.spec.models import ConsumerSpec
from tests.sessions import open_consumer, quoted, shown

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
PYTHON = sys.executable

needs_clock = pytest.mark.skipif(not can_fix_clock(), reason="the clock of a process is fixed on Linux, x86-64")


def open_program(*command: str, folder: Path = PROGRAMS, **others: object) -> Session:
    settings = {"adapter": "process", "command": command, "memory": 2 * 1024**3} | others
    return open_consumer(folder, {"f": "f"}, **settings)


@needs_clock
@pytest.mark.parametrize("habit", ["", "tells"], ids=["seen from outside", "by its own word"])
def test_the_clock_of_a_program_stands(habit: str) -> None:
    with open_program(PYTHON, "stubborn.py", habit) as session:
        assert session.readiness.not_fixed == ()
    moved = Environment(clock="2031-08-31T18:45:07+00:00", zone="Pacific/Kiritimati")
    with open_program(PYTHON, "stubborn.py", habit, environment=moved) as session:
        assert session.readiness.not_fixed == ()


@needs_clock
@pytest.mark.parametrize("habit", ["", "tells"], ids=["seen from outside", "by its own word"])
@pytest.mark.parametrize("script", ['"$0" stubborn.py "$1"; exit', 'exec "$0" stubborn.py "$1"'], ids=["child", "exec"])
def test_what_a_wrapper_starts_has_the_real_clock_and_the_audit_says_so(habit: str, script: str) -> None:
    # The preloaded clock reaches what a wrapper starts too, and a program that tells its time proves it.
    is_proven = habit and not can_attribute(ConsumerSpec(name="c", adapter="python"))
    with open_program("sh", "-c", script, PYTHON, habit) as session:
        assert session.readiness.not_fixed == (() if is_proven else ("clock",))


def test_a_program_that_tells_another_clock_is_believed() -> None:
    with open_program(PYTHON, "stubborn.py", "clock") as session:
        assert session.readiness.not_fixed == ("clock",)


def test_a_program_that_overrides_its_zone_and_locale_is_seen_to() -> None:
    program = "import os, time; os.environ['TZ'] = 'Asia/Tokyo'; time.tzset(); import sys; sys.argv[1:] = ['tells']; "
    program += "exec(open('stubborn.py').read())"
    with open_program(PYTHON, "-c", program) as session:
        assert "zone" in session.readiness.not_fixed
    with open_program(PYTHON, "stubborn.py", "tells", environment=Environment(locale="de_DE.UTF-8")) as session:
        assert "locale" in session.readiness.not_fixed, "it says C"


def test_what_a_program_does_not_tell_is_not_taken_from_our_own_interpreter() -> None:
    with open_program(PYTHON, "stubborn.py", "tells the time") as session:
        assert session.readiness.unconfirmed == ("zone", "locale")
    with open_program(PYTHON, "stubborn.py", "tells") as session:
        assert session.readiness.unconfirmed == ()


def test_only_what_is_python_has_a_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    (tmp_path / "answers.pl").write_text(
        '$| = 1; while (<>) { last if /stop/; print /start/ ? qq({"ready": 1, "version": "1", "reads": ["f"]}\n) : "" }'
    )
    with open_program("perl", "answers.pl", folder=tmp_path) as session:
        assert session.readiness.inapplicable == ("hash_seed",)
        assert "hash seed" not in session.readiness.not_fixed
    started = {
        (PYTHON, "shows.py"): (),
        ("sh", "-c", '"$0" shows.py; exit', PYTHON): (),
        (PYTHON, "-X", "utf8", "-u", "shows.py"): (),
        (PYTHON, "-uE", "shows.py"): ("hash seed",),
        ("env", "PYTHONHASHSEED=7", PYTHON, "shows.py"): ("hash seed",),
        ("env", "-u", "PYTHONHASHSEED", PYTHON, "shows.py"): ("hash seed",),
    }
    for command, missing in started.items():
        with open_program(*command, folder=tmp_path) as session:
            assert session.readiness.inapplicable == ()
            assert tuple(part for part in session.readiness.not_fixed if part == "hash seed") == missing, command


SHOWS = """
import json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    if "start" in m: answer = {"ready": 1, "version": "1", "reads": ["f"]}
    elif "read" in m: answer = {"id": m["id"], "values": [repr(eval(text)) for text in m["values"]]}
    else: break
    print(json.dumps(answer), flush=True)
"""


def asked(folder: Path, question: str, **others: object) -> str:
    """Evaluate an expression inside a program."""
    (folder / "shows.py").write_text(SHOWS)
    with open_program(PYTHON, "shows.py", folder=folder, **others) as session:
        (text,) = shown(session.decode("f", quoted([question])))
    return text.removeprefix("text:")


def test_variables_reach_the_program_and_nothing_else_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_AUDITOR", "x")
    environment = Environment(zone="Europe/Berlin", locale="C.UTF-8", hash_seed=5)
    names = "[os.environ.get(n) for n in ('TZ', 'LC_ALL', 'PYTHONHASHSEED', 'OWN', 'SECRET_OF_THE_AUDITOR')]"
    found = asked(tmp_path, names, environment=environment, env={"OWN": "1"})
    assert found == "['Europe/Berlin', 'C.UTF-8', '5', '1', None]"


def test_a_program_runs_in_the_folder_of_the_spec_or_in_its_root(tmp_path: Path) -> None:
    (tmp_path / "portal").mkdir()
    (tmp_path / "portal" / "shows.py").write_text(SHOWS)
    assert asked(tmp_path, "os.getcwd()") == repr(str(tmp_path))
    assert asked(tmp_path, "os.getcwd()", root="portal") == repr(str(tmp_path / "portal"))


def test_a_program_has_all_the_address_space_and_no_descriptor_of_ours(tmp_path: Path) -> None:
    limit = "__import__('resource').getrlimit(__import__('resource').RLIMIT_AS)[0]"
    assert asked(tmp_path, limit, memory=512 * 1024**2) == "-1"
    assert asked(tmp_path, "sorted(map(int, os.listdir('/proc/self/fd')))[:3]") == "[0, 1, 2]"
    assert asked(tmp_path, "[n for n in os.listdir('/proc/self/fd') if int(n) > 3]") == "[]"


def test_json_values_arrive_as_their_text_where_the_program_receives_json(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS.replace("repr(eval(text))", "text"))
    with open_program(PYTHON, "shows.py", folder=tmp_path, receives="json") as session:
        tokens = ['"a"', "1.10", "null", "true", '{"a": [1]}']
        assert shown(session.decode("f", tokens)) == ["text:" + token for token in tokens]
    with open_program(PYTHON, "shows.py", folder=tmp_path) as session:
        assert shown(session.decode("f", tokens)) == [
            "text:a",
            "text:1.10",
            "null: absent",
            "text:true",
            'text:{"a": [1]}',
        ]


def version(folder: Path, *command: str, **others: object) -> str:
    with open_program(*(command or (PYTHON, "shows.py")), folder=folder, **others) as session:
        return session.readiness.version


def test_a_version_follows_the_files_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    (tmp_path / "data.csv").write_text("a")
    first = version(tmp_path)
    (tmp_path / "data.csv").write_text("b")
    assert version(tmp_path) == first, "the audit's own files are no part of a program beside them"
    (tmp_path / "other.py").write_text("")
    second = version(tmp_path)
    assert second != first, "it may import what lies beside it"
    (tmp_path / "shows.py").write_text(SHOWS.replace('"version": "1"', '"version": "2"'))
    third = version(tmp_path)
    assert third not in (first, second)
    (tmp_path / "shows.py").write_text(SHOWS)
    assert version(tmp_path) == second
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("shows.py", "other.py"):
        (elsewhere / name).write_text((tmp_path / name).read_text())
    assert version(elsewhere) == second, "the same on every machine"


def test_all_of_a_root_counts_but_installed_packages_by_their_list(tmp_path: Path) -> None:
    root = tmp_path / "portal"
    package = root / "node_modules" / "moment"
    package.mkdir(parents=True)
    (root / "shows.py").write_text(SHOWS)
    (package / "package.json").write_text('{"version": "2.0"}')
    first = version(tmp_path, root="portal")
    (package / "moment.js").write_text("x")
    assert version(tmp_path, root="portal") == first
    (package / "package.json").write_text('{"version": "2.1"}')
    second = version(tmp_path, root="portal")
    (root / "table.json").write_text("{}")
    assert len({first, second, version(tmp_path, root="portal")}) == 3


def test_a_program_that_changes_while_it_is_audited_is_no_consumer(tmp_path: Path) -> None:
    (tmp_path / "shows.py").write_text(SHOWS)
    with open_program(PYTHON, "shows.py", folder=tmp_path) as session, pytest.raises(ConsumerError) as caught:
        (tmp_path / "shows.py").write_text(SHOWS + "\n# changed\n")
        session.decode("f", quoted(["os._exit(3)"]))
    assert "changed while they were audited" in caught.value.hint


def test_without_reads_a_program_reads_the_fields_that_it_names() -> None:
    command = (PYTHON, "stubborn.py")
    types = {"f": "identifier", "other": "identifier"}
    with open_consumer(PROGRAMS, {}, types=types, adapter="process", command=command) as session:
        assert session.readiness.reads == {"f": "f"}
    with pytest.raises(ConsumerError) as caught:
        open_consumer(PROGRAMS, {}, types={"other": "identifier"}, adapter="process", command=command)
    assert "it reads f, g, none of which is a field of the spec" in caught.value.seen


def test_a_classpath_counts_wherever_it_is(tmp_path: Path) -> None:
    """The command is Java's; what runs it is a stand-in, since only the files that it names are looked at."""
    outside, folder = tmp_path / "build", tmp_path / "spec"
    (outside / "com").mkdir(parents=True)
    (folder / "lib").mkdir(parents=True)
    (folder / "run").write_text(f"#!{PYTHON}\n{SHOWS}")
    (folder / "run").chmod(0o755)
    command = ("./run", "-cp", f"{outside}:lib/*:.", "Erp")
    seen = [version(folder, *command)]
    for path in (outside / "com" / "Erp.class", folder / "lib" / "money.jar"):
        path.write_text("x")
        seen.append(version(folder, *command))
    assert len(set(seen)) == 3
    (folder / "data.csv").write_text("x")
    assert version(folder, *command) == seen[-1], "the spec's own folder holds more than the program"
