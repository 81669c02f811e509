"""Ctrl-C, SIGTERM and the failure of one consumer end all the others at once, and leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import auditor
from auditor.decode.stop import Stopped
from tests.sessions import PARSERS, open_consumer, quoted, shown

ROOT = PARSERS.parents[2]

#: Longer than any of these tests waits: what ends sooner was ended.
ENDLESS = 600

PARSER = f"""
import os, pathlib, time

def say(word):
    pathlib.Path(os.environ["SAYS"], word).touch()

def quick(text):
    return text

def hangs(text):
    say("hanging")
    time.sleep({ENDLESS})
"""

SLOW = f"import time, m\nm.say('starting')\ntime.sleep({ENDLESS})\n"

DIES = (
    "import os, pathlib, time\nwhile not pathlib.Path(os.environ['SAYS'], 'starting').exists():\n    time.sleep(0.01)\n"
)

CHANGES = """
import os, pathlib, time

def read(text):
    while not pathlib.Path(os.environ["SAYS"], "hanging").exists():
        time.sleep(0.01)
    with open(__file__, "a") as file:
        file.write("# changed")
    os._exit(3)
"""

SPEC = """
name = "interrupted"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.f]
type = "identifier"
"""

CONSUMER = """
[consumers.{name}]
adapter = "python"
timeout = {timeout}
env.SAYS = "{says}"
reads.f = "{target}"
"""


@pytest.fixture
def place(tmp_path):
    for name in ("work", "tmp", "says"):
        (tmp_path / name).mkdir()
    work = tmp_path / "work"
    (work / "m.py").write_text(PARSER)
    (work / "slow.py").write_text(SLOW + "read = m.quick\n")
    (work / "dies.py").write_text(DIES)
    rows = [f"{number},f,a{number},a{number}" for number in range(20)]
    (work / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
    return tmp_path


def write_spec(place: Path, **targets: str) -> None:
    says = place / "says"
    consumers = [CONSUMER.format(name=name, timeout=ENDLESS, says=says, target=to) for name, to in targets.items()]
    (place / "work" / "audit.toml").write_text(SPEC + "".join(consumers))


def start_audit(place: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(place / "tmp")}
    command = [sys.executable, "-m", "auditor", "run", str(place / "work" / "audit.toml")]
    pipe = subprocess.PIPE
    folder, default = place / "work", lambda: of_terminal(signal.SIG_DFL)
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, preexec_fn=default
    )


def wait_for(file: Path) -> None:
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert file.exists()


def living(place: Path) -> list[str]:
    """Give the processes that were started with our folder of temporary files or of words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(place).encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def assert_nothing_is_left(place: Path) -> None:
    assert list((place / "tmp").iterdir()) == []
    until = time.monotonic() + 10
    while living(place) and time.monotonic() < until:  # a killed process takes its time to end
        time.sleep(0.02)
    assert living(place) == []


COMMAND = f"""
import duckdb, pathlib
from auditor.cli.exits import end_by_signals, exiting

def count():
    duckdb.sql("SET threads = 1")  # where another thread counts, the first may wait and hear of no signal
    pathlib.Path("counting").touch()
    duckdb.sql("SELECT count(*) FROM range({10**15}) t(i) WHERE i % 7 = 3").fetchall()

end_by_signals()
try:
    exiting(count)()
except RuntimeError as error:
    raise SystemExit(error.exit_code)
"""


def start_counting(place: Path, otherwise: signal.Handlers) -> subprocess.Popen[str]:
    """Start it with what a shell or `nohup` says of the signals of a terminal."""
    command, pipe = [sys.executable, "-c", COMMAND], subprocess.PIPE
    return subprocess.Popen(command, cwd=place, stderr=pipe, text=True, preexec_fn=lambda: of_terminal(otherwise))


def of_terminal(handler: signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, handler)


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    """`nohup` lets a program outlive its terminal."""
    with start_counting(tmp_path, signal.SIG_IGN) as counting:
        wait_for(tmp_path / "counting")
        time.sleep(0.3)
        for number in (signal.SIGHUP, signal.SIGINT):
            counting.send_signal(number)
            with pytest.raises(subprocess.TimeoutExpired):
                counting.wait(0.5)
        counting.terminate()
        assert counting.wait(30) == 143


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_in_a_call_of_a_library_is_no_bug_of_ours(tmp_path, number, code):
    """DuckDB raises a RuntimeError of its own in the place of what the handler has raised."""
    with start_counting(tmp_path, signal.SIG_DFL) as counting:
        wait_for(tmp_path / "counting")
        time.sleep(0.3)
        counting.send_signal(number)
        _, errors = counting.communicate(timeout=30)
    assert (counting.returncode, errors) == (code, "interrupted; nothing half-written was left\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("word", "targets"),
    [
        ("starting", {"one": "m:quick", "two": "slow:read", "three": "m:quick"}),
        ("hanging", {"one": "m:quick", "two": "m:hangs"}),
    ],
    ids=["while a worker starts", "while a string hangs"],
)
def test_a_signal_ends_the_audit_at_once(place, word, targets, number, code):
    write_spec(place, **targets)
    with start_audit(place) as audit:
        wait_for(place / "says" / word)
        audit.send_signal(number)
        _, errors = audit.communicate(timeout=30)
    assert audit.returncode == code, errors
    assert "Traceback" not in errors
    assert_nothing_is_left(place)


def test_a_consumer_that_cannot_start_ends_the_others_at_once(place):
    write_spec(place, slow="slow:read", dies="dies:read")
    with start_audit(place) as audit:
        _, errors = audit.communicate(timeout=30)
    assert audit.returncode == 2
    assert "consumer dies: could not be started" in errors
    assert_nothing_is_left(place)


def test_a_consumer_that_fails_while_it_decodes_ends_the_others_at_once(place):
    (place / "work" / "changes.py").write_text(CHANGES)
    write_spec(place, hangs="m:hangs", changes="changes:read")
    with start_audit(place) as audit:
        _, errors = audit.communicate(timeout=30)
    assert audit.returncode == 2, errors
    assert "changed while they were audited" in errors
    assert_nothing_is_left(place)


def test_a_session_is_interrupted_from_another_thread():
    with open_consumer(PARSERS, {"f": "poison:read"}, timeout=float(ENDLESS)) as session:
        assert shown(session.decode("f", quoted(["order 5"]))) == ["int:5"]
        timer = threading.Timer(0.2, session.interrupt)
        timer.start()
        with pytest.raises(Stopped):
            session.decode("f", quoted(["busy_hang"]))
        with pytest.raises(Stopped):
            session.decode("f", quoted(["order 5"]))
        timer.join()
    session.interrupt()


def test_cases_that_cannot_be_read_end_the_workers_that_start_meanwhile(place):
    write_spec(place, one="m:quick", slow="slow:read")
    (place / "work" / "records.csv").write_text("case_id,field,prediction,reference\nC-1,f,a,a\nC-1,f,a,a\n")
    with start_audit(place) as audit:
        _, errors = audit.communicate(timeout=30)
    assert audit.returncode == 2
    assert "occurs 2 times" in errors
    assert_nothing_is_left(place)


class Interrupted(ThreadPoolExecutor):
    """A pool whose caller is interrupted when its work has just begun: a signal comes between any two steps."""

    def submit(self, *arguments, **options):
        super().submit(*arguments, **options)
        raise KeyboardInterrupt


def test_an_interrupt_while_consumers_are_asked_ends_those_that_are_asked_already(place, monkeypatch):
    monkeypatch.setenv("SAYS", str(place / "says"))
    write_spec(place, one="m:hangs")
    spec = (place / "work" / "audit.toml").read_text().replace(f"timeout = {ENDLESS}", "timeout = 10")
    (place / "work" / "audit.toml").write_text(spec)
    (place / "work" / "records.csv").write_text("case_id,field,prediction,reference\n1,f,a,a\n")
    monkeypatch.setattr("auditor.audit.consumers.ThreadPoolExecutor", Interrupted)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        auditor.run(place / "work", probe="off")
    assert time.monotonic() - began < 15
