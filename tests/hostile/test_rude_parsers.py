"""A parser that changes the process it runs in answers for its own strings and disturbs nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auditor.decode import session as session_module
from auditor.decode import supervise
from auditor.errors import ConsumerError
from tests.sessions import PARSERS, open_consumer, quoted, shown

TEXTS = [str(number) for number in range(2000)]
TEXT_OF = [f"text:{text}" for text in TEXTS]


def decode(function: str, texts: list[str] = TEXTS, **consumer: object) -> list[str]:
    with open_consumer(PARSERS, {"f": f"rude:{function}"}, **consumer) as session:
        decodings = session.decode("f", quoted(texts))
        assert decodings.warnings == {}
        return shown(decodings)


@pytest.mark.parametrize(
    "function",
    [
        "prints",
        "replaces_stdout",
        "leaves_a_child_with_everything_open",
        "changes_directory",
        "changes_locale",
        "lowers_the_recursion_limit",
        "installs_handlers",
    ],
)
def test_every_string_is_decoded(function):
    assert decode(function) == TEXT_OF


@pytest.mark.parametrize("function", ["forks_and_returns_twice", "forks_and_raises_in_the_child", "starts_threads"])
def test_children_and_threads_do_not_speak(function):
    assert decode(function, TEXTS[:8]) == TEXT_OF[:8]


def test_what_the_kernel_uses_cannot_be_patched():
    assert decode("patches_modules") == ["date:2024-03-01"] * len(TEXTS)


def test_builtins_cannot_be_patched_under_the_kernel():
    assert decode("patches_builtins") == [f"int:{text}" for text in TEXTS]


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        ("leaves_a_child_and_dies", "crashed: exit code 5"),
        ("stops_itself", "timed_out: no answer within 1 s"),
        ("interrupts", "crashed: KeyboardInterrupt"),
        ("runs_out_of_memory_at_once", "crashed: MemoryError"),
        ("reopens_our_numbers", "crashed: closed the descriptors of its process"),
        ("scribbles_on_the_protocol", "crashed: wrote on the descriptors of its process"),
    ],
)
def test_one_string_pays(function, outcome, monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    monkeypatch.setattr(supervise, "SLOW", 1.5)
    assert decode(function, timeout=1.0) == [outcome if text == "3" else f"text:{text}" for text in TEXTS]


def test_a_parser_that_dies_of_what_it_has_read_before_is_warned_of():
    with open_consumer(PARSERS, {"f": "rude:counts"}) as session:
        decodings = session.decode("f", quoted(TEXTS))
    assert shown(decodings) == TEXT_OF
    assert decodings.warnings
    assert all("exit code 9" in warning and "keeps state" in warning for warning in decodings.warnings.values())


def test_a_parser_that_always_dies_at_its_second_string_ends_the_audit(monkeypatch):
    monkeypatch.setattr(supervise, "MOST_UNEXPLAINED", 10)
    with open_consumer(PARSERS, {"f": "rude:counts_to_two"}) as session, pytest.raises(ConsumerError, match="no state"):
        session.decode("f", quoted(TEXTS))


def test_nothing_is_left_behind():
    with open_consumer(PARSERS, {"f": "rude:leaves_a_child_with_everything_open"}) as session:
        session.decode("f", quoted(TEXTS))
        process = session._supervisor.exchange.process
        folder, group = Path(process.folder), process._popen.pid
        assert folder.is_dir()
    assert not folder.exists()
    assert_ends(group)


def assert_ends(group: int) -> None:
    """Wait until a killed group has ended: that takes its members a moment."""
    until = time.monotonic() + 10
    while group in groups() and time.monotonic() < until:
        time.sleep(0.05)
    assert group not in groups()


def groups() -> set[int]:
    """Give the process groups that have a living member."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if fields[0] != "Z":
                found.add(int(fields[2]))
    return found


def test_a_worker_ends_when_its_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "from tests.sessions import PARSERS, open_consumer, quoted\n"
        "session = open_consumer(PARSERS, {'f': 'poison:read'}, timeout=60.0)\n"
        "print(session._supervisor.exchange.process._popen.pid, flush=True)\n"
        "session.decode('f', quoted(['busy_hang']))\n"
    )
    root = str(PARSERS.parents[2])
    environment = os.environ | {"PYTHONPATH": root, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, str(script)], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        group = int(parent.stdout.readline())
        time.sleep(0.5)
        assert group in groups()
        parent.kill()
        parent.wait()
    assert_ends(group)


def test_a_text_of_gigabytes_does_not_reach_the_parent():
    with open_consumer(PARSERS, {"f": "rude:writes_a_book"}, memory=2 * 1024**3) as session:
        found = shown(session.decode("f", quoted(["1", "2", "3", "4"])))
    assert found[2].startswith(("rejected: unexpected type: a text of 314572800", "crashed: MemoryError"))
    assert [found[place] for place in (0, 1, 3)] == ["text:1", "text:2", "text:4"]


def test_a_session_is_whole_after_its_caller_gave_up():
    def give_up(_):
        raise ZeroDivisionError

    with open_consumer(PARSERS, {"f": "rude:prints"}) as session:
        with pytest.raises(ZeroDivisionError):
            session.decode("f", quoted(TEXTS), progress=give_up)
        assert shown(session.decode("f", quoted(TEXTS))) == TEXT_OF
