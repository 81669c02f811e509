"""Launch after launch in changing environments, nothing of them stays, not even where the parent is killed."""

from __future__ import annotations

import locale
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auditor.decode.clock import CLOCKS, PRELOAD, can_attribute
from auditor.decode.strays import MARK
from auditor.model.dependence import Watch
from auditor.model.environment import Environment
from auditor.probe.environments import course_of
from auditor.spec.models import ConsumerSpec
from tests.sessions import PARSERS, open_consumer, quoted, shown

#: Each environment with every way to fix its clock, watched and not. A thousand of them take minutes:
#: AUDITOR_LAUNCHES=1000 is for the hand.
LAUNCHES = int(os.environ.get("AUDITOR_LAUNCHES", "60"))

EVERYTHING = course_of(Environment(), {}, "full").everything
ROOT = PARSERS.parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")


def ours(place: Path) -> set[tuple[int, str]]:
    """Give the processes that carry the mark of a worker whose folder is in a place."""
    found, mark = set(), f"{MARK}={place}{os.sep}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in variables:
            found.add((int(folder.name), command))
    return found


def of_this_process() -> dict[str, object]:
    """Give what a launch must not change here."""
    return {
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL, None),
        "zone": (time.tzname, time.timezone),
        "folder": os.getcwd(),
        "umask": umask(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "children": Path("/proc/self/task", str(os.getpid()), "children").read_text().split(),
        "network": Path("/proc/self/net/dev").read_text().count("\n"),
    }


def shared_memory() -> set[str]:
    return set(os.listdir("/dev/shm")) if Path("/dev/shm").is_dir() else set()


def umask() -> int:
    """Give the umask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def clock_shift() -> float:
    """Give the distance of the wall clock from the monotonic one."""
    return time.time() - time.monotonic()


def launch(number: int) -> None:
    environment = EVERYTHING[number % len(EVERYTHING)]
    clocks = CLOCKS if number % 3 else CLOCKS[number // 3 % len(CLOCKS) :]
    watch = Watch() if number % 5 == 0 else None
    with open_consumer(PARSERS, {"f": "poison:read"}, environment=environment, clocks=clocks, watch=watch) as session:
        assert shown(session.decode("f", quoted(["order 5"]))) == ["int:5"]
        if number % 10 == 0:
            assert shown(session.decode("f", quoted(["leave"]))) == ["crashed: exit code 3"]


def test_no_launch_leaves_anything(tmp_path, monkeypatch):
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    launch(0)
    shared = shared_memory()
    before, shift = of_this_process(), clock_shift()
    for number in range(LAUNCHES):
        launch(number)
    assert of_this_process() == before
    assert abs(clock_shift() - shift) < 5
    assert list(place.iterdir()) == []
    assert gone(lambda: ours(place)) == set()
    assert gone(lambda: shared_memory() - shared) == set()


PARENT = """
import sys, threading
from tests.hostile.test_leaks import EVERYTHING
from auditor.model.dependence import Watch
from tests.sessions import PARSERS, open_consumer, quoted
from pathlib import Path

folder = Path(sys.argv[1])
for number, environment in enumerate(EVERYTHING):
    for watch in (None, Watch()):
        session = open_consumer(folder, {"f": "m:hang"}, environment=environment, watch=watch, timeout=600)
        threading.Thread(target=session.decode, args=("f", quoted(["x"])), daemon=True).start()
        print(session._supervisor.exchange.process._popen.pid, flush=True)
print("all", flush=True)
threading.Event().wait()
"""


def test_a_killed_parent_takes_its_workers_along(tmp_path):
    (tmp_path / "m.py").write_text("import time\n\ndef hang(text):\n    time.sleep(600)\n")
    shared = shared_memory()
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(line) for line in iter(parent.stdout.readline, "all\n")]
        assert len(workers) == 2 * len(EVERYTHING)
        assert set(workers) <= {pid for pid, _ in ours(tmp_path / "tmp")}
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone(lambda: ours(tmp_path / "tmp")) == set()
    assert gone(lambda: shared_memory() - shared) == set()


STARTS = """
import subprocess, sys

def hang(text):
    code = "import signal, time; signal.signal(signal.SIGIO, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=text == "x")
    time.sleep(600)
"""


@pytest.mark.parametrize("text", ["x", "y"], ids=["in a session of its own", "deaf to signals"])
def test_a_killed_parent_takes_what_its_workers_started_along(tmp_path, text):
    """The kernel ends the worker's group by SIGIO; a child that left the group, or ignores it, is ended by the heir."""
    (tmp_path / "m.py").write_text("import time\n" + STARTS)
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-c", PARENT.replace('["x"]', f'["{text}"]'), str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(line) for line in iter(parent.stdout.readline, "all\n")]
        until = time.monotonic() + 20
        while len(ours(tmp_path / "tmp")) < 2 * len(workers) and time.monotonic() < until:
            time.sleep(0.05)
        assert len(ours(tmp_path / "tmp")) >= 2 * len(workers)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone(lambda: ours(tmp_path / "tmp")) == set()


BARE = """
import subprocess, time

def read(text):
    bare = subprocess.Popen(["sleep", "600"], start_new_session=True, env={})
    script = "sleep 600 & echo $!; wait"
    options = {"start_new_session": True, "env": {}, "stdout": subprocess.PIPE, "text": True}
    shell = subprocess.Popen(["/bin/sh", "-c", script], **options)
    if text == "hang":
        print(bare.pid, shell.pid, shell.stdout.readline(), flush=True)
        time.sleep(600)
    return f"{bare.pid} {shell.pid} {shell.stdout.readline().strip()}"
"""


def test_a_child_in_a_session_of_its_own_and_without_variables_ends_with_its_worker(tmp_path):
    (tmp_path / "m.py").write_text(BARE)
    with open_consumer(tmp_path, {"f": "m:read"}) as session:
        (told,) = shown(session.decode("f", ['"x"']))
        started = [int(pid) for pid in told.removeprefix("text:").split()]
        assert len(started) == 3 and all(map(is_running, started))
    assert gone(lambda: [pid for pid in started if is_running(pid)]) == []


def is_running(pid):
    """Say whether a process runs still: one that has ended and that nobody waits for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(left):
    """Wait until nothing is left, and give what still is: a tracer ends shortly after its program has started."""
    until = time.monotonic() + 20
    while (still := left()) and time.monotonic() < until:
        time.sleep(0.05)
    return still


@pytest.mark.skipif(bool(can_attribute(ConsumerSpec(name="c", adapter="python"))), reason="no C compiler, or not Linux")
def test_what_a_consumer_starts_has_its_clock_and_goes_with_it(tmp_path):
    (tmp_path / "m.py").write_text(
        "import subprocess, sys\n"
        "def read(text):\n"
        "    code = 'import time; print(int(time.time()))'\n"
        "    return subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE).stdout.decode().strip()\n"
    )
    with open_consumer(tmp_path, {"f": "m:read"}, clocks=(PRELOAD,), watch=Watch()) as session:
        assert shown(session.decode("f", ['"x"'])) == ["text:1709888707"]
