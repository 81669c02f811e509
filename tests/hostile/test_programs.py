"""A program as a consumer, and what it may do to itself: each string costs at most its own decoding."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auditor.decode import session as session_module
from auditor.decode import supervise
from auditor.decode.session import Session
from auditor.errors import ConsumerError
from tests.hostile.test_leftovers import lives
from tests.sessions import open_consumer, quoted, shown

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
LIMIT = 1.0


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    monkeypatch.setattr(supervise, "SLOW", 1.5)


def open_program(habit: str = "", **others: object) -> Session:
    """Open the stubborn program with a habit."""
    command = (sys.executable, "stubborn.py", habit)
    settings = {"timeout": LIMIT, "memory": 256 * 1024**2, "adapter": "process", "command": command} | others
    return open_consumer(PROGRAMS, {"f": "f"}, **settings)


#: What a string asks of the program, and its decoding.
POISON = {
    "die": "crashed: exit code 3",
    "kill": "crashed: signal 9 SIGKILL",
    "hang": f"timed_out: no answer within {LIMIT:g} s",
    "close": f"timed_out: no answer within {LIMIT:g} s",
    "torn": "crashed: exit code 4",
    "error": "crashed: the service is away",
    "refuse": "crashed: refused as a whole",
    "reject": "rejected: ValueError: no",
    "noise": "text:quiet",
    "blank": "null: blank",
}


def test_a_program_that_misbehaves_at_some_strings_costs_only_those() -> None:
    texts = [f"order {number}" for number in range(4_000)]
    places = {poison: 100 + 350 * number for number, poison in enumerate(POISON)}
    for poison, place in places.items():
        texts[place] = poison
    with open_program() as session:
        decodings = session.decode("f", quoted(texts))
    found = shown(decodings)
    assert {poison: found[place] for poison, place in places.items()} == POISON
    others = [index for index in range(len(texts)) if index not in places.values()]
    assert [found[index] for index in others] == [f"text:{texts[index]}" for index in others]
    assert decodings.warnings == {}


def test_a_program_that_eats_memory_is_stopped_and_the_error_says_how_much() -> None:
    with open_program(timeout=20.0) as session:
        found = shown(session.decode("f", quoted(["a", "eat", "b"])))
    assert (found[0], found[2]) == ("text:a", "text:b")
    assert found[1].startswith("crashed: MemoryError: the program kept ")
    assert found[1].endswith(" MiB resident, and may 256")


def test_a_flood_without_an_end_of_line_is_no_answer() -> None:
    with open_program(timeout=20.0, memory=2 * 1024**3) as session, pytest.raises(ConsumerError) as caught:
        session.decode("f", quoted(["flood"]))
    assert "MiB on stdout without an end of line" in str(caught.value)


@pytest.mark.parametrize(
    ("habit", "string", "says"),
    [
        ("", "chat", "it wrote on stdout 'debug: chat', which is no line of JSON"),
        ("", "twice", 'no answer with "id": 1, but'),
        ("few", "a", "1 answers in"),
        ("wrong id", "a", 'no answer with "id": 1, but \'{"id": 0'),
        ("afterthought", "a", "it wrote on stdout 'done', which is no line of JSON"),
    ],
)
def test_what_is_no_answer_ends_the_audit_and_is_shown(habit: str, string: str, says: str) -> None:
    with open_program(habit) as session, pytest.raises(ConsumerError) as caught:
        session.decode("f", quoted([string, "b"]))
        session.decode("f", quoted(["c"]))
    assert str(caught.value).startswith("consumer subject: its program does not keep to the protocol\n")
    assert says in caught.value.seen
    assert "auditor consumer check" in caught.value.hint


@pytest.mark.parametrize(
    ("habit", "says"),
    [
        ("banner", "it answered the start line with 'Starting up'"),
        ("no version", 'it has no "version", a text'),
        ("dies at once", "it ended before it answered the start line: exit code 7; it printed: no license file"),
    ],
)
def test_a_program_that_does_not_start_says_why(habit: str, says: str) -> None:
    with pytest.raises(ConsumerError) as caught:
        open_program(habit)
    assert says in caught.value.seen
    assert "stubborn.py" in caught.value.tried


def test_a_program_that_never_answers_the_start_line_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "START", 2.0)
    with pytest.raises(ConsumerError) as caught:
        open_program("never answers")
    assert "not ready within 2 s" in caught.value.seen


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("no-such-program", "x"), "there is no such program on PATH"),
        (("./missing", "x"), "there is no file"),
        (("./stubborn.py",), "the file cannot be executed"),
    ],
)
def test_a_command_that_is_none_is_named(command: tuple[str, ...], says: str) -> None:
    with pytest.raises(ConsumerError) as caught:
        open_program(command=command)
    assert says in caught.value.seen


def test_a_name_that_the_program_does_not_read_comes_with_those_that_it_reads() -> None:
    command = (sys.executable, "stubborn.py")
    with pytest.raises(ConsumerError) as caught:
        open_consumer(PROGRAMS, {"f": "h"}, adapter="process", command=command)
    assert caught.value.seen == "it does not read 'h' (field f)"
    assert caught.value.hint == "there are: f, g"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="strays are found in /proc")
@pytest.mark.parametrize("deed", ["sleeper", "fork"])
def test_what_a_program_started_ends_with_it(deed: str) -> None:
    with open_program() as session:
        (text,) = session.decode("f", quoted([deed])).texts
        pid = int(str(text).removeprefix("int:"))
        assert lives(pid)
        worker = session._supervisor.exchange.process._popen.pid
        program = int(Path(f"/proc/{worker}/task/{worker}/children").read_text().split()[0])
        assert os.getpgid(program) == worker, "one group, which is killed as one"
    assert not any(map(lives, (pid, program, worker)))


def test_a_program_dies_with_its_worker() -> None:
    with open_program() as session:
        session.decode("f", quoted(["a"]))
        worker = session._supervisor.exchange.process._popen.pid
        program = int(Path(f"/proc/{worker}/task/{worker}/children").read_text().split()[0])
        os.kill(worker, signal.SIGKILL)
        until = time.monotonic() + 10
        while lives(program) and time.monotonic() < until:
            time.sleep(0.02)
        assert not lives(program)
        assert shown(session.decode("f", quoted(["b"]))) == ["text:b"]


def test_a_program_dies_with_a_killed_audit(tmp_path: Path) -> None:
    script = (
        "import sys, time; from tests.hostile.test_programs import *\n"
        "with open_program() as session:\n"
        "    session.decode('f', quoted(['a']))\n"
        "    worker = session._supervisor.exchange.process._popen.pid\n"
        "    print(Path(f'/proc/{worker}/task/{worker}/children').read_text().split()[0], flush=True)\n"
        "    time.sleep(600)\n"
    )
    audit = subprocess.Popen([sys.executable, "-c", script], cwd=PROGRAMS.parents[1], stdout=subprocess.PIPE, text=True)
    assert audit.stdout is not None
    program = int(audit.stdout.readline())
    assert lives(program)
    audit.kill()
    audit.wait()
    until = time.monotonic() + 10
    while lives(program) and time.monotonic() < until:
        time.sleep(0.02)
    assert not lives(program)
