"""A fresh process is held against the first one, and what any of them imported is part of the consumer."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from auditor.decode.clock import can_fix_clock
from auditor.errors import ConsumerError
from tests.sessions import open_consumer, quoted, shown

PARSER = """
import os, time

def read(text):
    if text == "leave":
        os._exit(3)
    if text.startswith("lazy"):
        import lazy
        return lazy.WORD
    if text == "library":
        import dateutil.parser
    if text == "clock":
        return str(int(time.time()))
    return text
"""

needs_clock = pytest.mark.skipif(not can_fix_clock(), reason="clocks are fixed on Linux x86-64 only")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.py").write_text(PARSER)
    (tmp_path / "lazy.py").write_text("WORD = 'one'\n")
    return tmp_path


def finished(folder, texts, **consumer):
    with open_consumer(folder, {"f": "m:read"}, env={"PYTHONDONTWRITEBYTECODE": "1"}, **consumer) as session:
        session.decode("f", quoted(texts))
        return session.readiness, session.finish()


def test_what_a_string_imports_is_part_of_the_version(folder):
    start, first = finished(folder, ["a", "lazy"])
    assert start.version != first.version
    (folder / "lazy.py").write_text("WORD = 'two'\n")
    assert finished(folder, ["a", "lazy"])[1].version != first.version
    start, unused = finished(folder, ["a", "b"])
    assert start == unused


def test_what_a_string_imports_is_named_with_its_distribution(folder):
    start, end = finished(folder, ["library"])
    assert "dateutil" not in start.settings.get("distributions", "")
    assert "dateutil" in end.settings["distributions"]


@pytest.mark.parametrize(
    "texts",
    [
        ["lazy", "b", "library"],
        ["lazy", "leave", "library"],
        ["leave", "library", "lazy"],
        ["library", "lazy", "leave"],
    ],
)
def test_the_version_is_the_same_however_often_the_worker_was_restarted(folder, texts):
    assert finished(folder, texts)[1] == finished(folder, ["lazy", "library"])[1]


def test_a_closed_session_says_it_too(folder):
    with open_consumer(folder, {"f": "m:read"}) as session:
        session.decode("f", quoted(["lazy"]))
        before = session.finish()
    assert session.finish() == before


def test_sources_that_change_under_the_audit_end_it(folder):
    with open_consumer(folder, {"f": "m:read"}) as session:
        session.decode("f", quoted(["a"]))
        (folder / "m.py").write_text(PARSER + "\n# changed\n")
        with pytest.raises(ConsumerError, match="changed while they were audited"):
            session.decode("f", quoted(["leave", "b"]))


@needs_clock
def test_a_fresh_process_without_the_fixed_clock_is_said(folder):
    with open_consumer(folder, {"f": "m:read"}) as session:
        if "clock" in session.readiness.not_fixed:
            pytest.skip("this machine does not let one process trace another")
        launcher = session.plan.command.index("--")
        session.plan = replace(session.plan, command=session.plan.command[launcher + 1 :])
        session.decode("f", quoted(["leave", "b"]))
        assert session.readiness.not_fixed == ()
        assert session.finish().not_fixed == ("clock",)


@needs_clock
def test_a_fresh_process_without_the_fixed_clock_is_tried_again(folder, tmp_path_factory):
    """The launcher that loses its race once, as on a machine that is too busy."""
    counter = tmp_path_factory.mktemp("launches") / "launches"
    script = counter.with_name("launch.py")
    script.write_text(
        "import os, sys\n"
        "counter, plain, *command = sys.argv[1:]\n"
        "lost = not os.path.exists(counter)\n"
        "open(counter, 'a').write('x')\n"
        "command = command[int(plain):] if lost else command\n"
        "os.execv(command[0], command)\n"
    )
    with open_consumer(folder, {"f": "m:read"}) as session:
        if "clock" in session.readiness.not_fixed:
            pytest.skip("this machine does not let one process trace another")
        plain = str(session.plan.command.index("--") + 1)
        launched = (sys.executable, str(script), str(counter), plain, *session.plan.command)
        session.plan = replace(session.plan, command=launched)
        first = shown(session.decode("f", quoted(["clock", "leave", "clock"])))
        assert first[0] == first[2]
        assert session.finish().not_fixed == ()
    assert len(counter.read_text()) >= 2
