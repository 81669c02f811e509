"""Whatever happens to a worker or its parent, no process and no folder of it stays."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from auditor.decode import folders, strays
from auditor.errors import AuditorError, ConsumerError
from tests.sessions import PARSERS, open_consumer, quoted, shown

ESCAPES = """
import os, subprocess, sys, time

def sleeps_in_a_session_of_its_own(text):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    return child.pid

def forks_into_a_session_of_its_own(text):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    return int(os.read(reading, 20))
"""


def lives(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """Give a folder of temporary files in which nothing is left, as a test that uses it must find."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="strays are found in /proc")
@pytest.mark.parametrize("function", ["sleeps_in_a_session_of_its_own", "forks_into_a_session_of_its_own"])
def test_a_child_that_left_the_group_ends_with_the_worker(tmp_path, function):
    (tmp_path / "m.py").write_text(ESCAPES)
    with open_consumer(tmp_path, {"f": f"m:{function}"}) as session:
        [child] = (int(text.removeprefix("int:")) for text in shown(session.decode("f", ['"x"'])))
        assert lives(child)
    until = time.monotonic() + 10
    while lives(child) and time.monotonic() < until:  # a killed process takes its time to end
        time.sleep(0.01)
    assert not lives(child)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="strays are found in /proc")
def test_a_child_that_is_just_becoming_another_program_is_found():
    """For a moment it has given up its old variables and has no new ones; it has inherited the mark all the same."""
    folder = f"/tmp/{folders.WORKER}strays-{os.getpid()}"
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    for _ in range(30):
        with subprocess.Popen(command, env={strays.MARK: folder}, start_new_session=True) as child:
            try:
                seen = strays._environment(child.pid)
                assert seen is None or f"{strays.MARK}={folder}".encode() in seen
                strays.end_strays(folder)
                assert child.wait(5) == -signal.SIGKILL
            finally:
                child.kill()


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted in /proc")
def test_a_start_without_descriptors_is_an_error_and_leaves_nothing(temporary):
    """At every number of free descriptors: whatever the start opens next may be what fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = open_descriptors()
    unused = [number for number in range(4096) if str(number) not in before]
    failures = 0
    try:
        for free in range(40):
            resource.setrlimit(resource.RLIMIT_NOFILE, (unused[free], hard))
            try:
                with open_consumer(PARSERS, {"f": "poison:read"}) as session:
                    assert shown(session.decode("f", quoted(["order 5"]))) == ["int:5"]
                break
            except AuditorError:
                failures += 1
            assert open_descriptors() == before
            assert list(temporary.iterdir()) == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert failures > 8
    assert open_descriptors() == before
    assert list(temporary.iterdir()) == []


NO_PROCESS = """
import os, resource
from auditor.errors import ConsumerError
from tests.privileges import as_nobody
from tests.sessions import PARSERS, open_consumer

before = os.listdir("/proc/self/fd")
soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (0, hard))
try:
    with as_nobody():
        open_consumer(PARSERS, {"f": "poison:read"})
except ConsumerError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
print(os.listdir("/proc/self/fd") == before)
"""


def test_a_program_that_cannot_be_started_is_an_error_and_leaves_nothing():
    """In a process of its own: where none may be started, a library that wants a thread takes its process down."""
    root = str(PARSERS.parents[2])
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        environment = os.environ | {"PYTHONPATH": root, "TMPDIR": place}
        done = subprocess.run(
            [sys.executable, "-c", NO_PROCESS], env=environment, cwd=root, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Resource temporarily unavailable" in done.stdout
        assert done.stdout.splitlines()[-1] == "True", "a descriptor is left open"
        # Where this is the first consumer of a process, that user's cache is made here, and stays.
        assert [name for name in os.listdir(place) if not name.startswith("auditor-cache-")] == []


def test_no_place_for_temporary_files_is_an_error(temporary):
    temporary.rmdir()
    with pytest.raises(ConsumerError, match="No such file or directory"):
        open_consumer(PARSERS, {"f": "poison:read"})


def test_the_folder_of_a_killed_parent_is_removed_by_the_next(temporary):
    script = (
        "import os, sys\n"
        "from tests.sessions import PARSERS, open_consumer\n"
        "session = open_consumer(PARSERS, {'f': 'poison:read'})\n"
        "print(os.getpid(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    root = str(PARSERS.parents[2])
    environment = os.environ | {"PYTHONPATH": root, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        parent.stdout.readline()
        [folder] = temporary.iterdir()
        age(folder)
        sweep(temporary)
        assert folder.exists(), "its parent lives"
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    age(folder)
    sweep(temporary)
    assert not folder.exists()


AUDIT = """
name = "killed"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.f]
type = "identifier"
[consumers.one]
adapter = "python"
timeout = "600 s"
reads.f = "m:read"
"""


def test_the_folders_of_a_killed_run_are_removed_by_the_next_and_those_of_a_live_one_are_not(temporary, tmp_path):
    (tmp_path / "audit.toml").write_text(AUDIT)
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,f,slow,slow\n")
    (tmp_path / "m.py").write_text("import time\n\ndef read(text):\n    time.sleep(600 if text == 'slow' else 0)\n")
    command = [sys.executable, "-m", "auditor"]
    options = {"cwd": tmp_path, "env": os.environ | {"TMPDIR": str(temporary)}, "stdout": subprocess.DEVNULL}
    kinds = [folders.SPILL, folders.WORKER]
    with subprocess.Popen([*command, "run", "--quiet"], **options) as run:
        until = time.monotonic() + 30
        while sorted(map(kind_of, temporary.iterdir())) != kinds and time.monotonic() < until:
            time.sleep(0.05)
        old = sorted(temporary.iterdir())
        assert [kind_of(folder) for folder in old] == kinds
        for folder in old:
            age(folder)
        subprocess.run([*command, "read", "f", "quick", "--probe", "off"], **options, check=True)
        assert sorted(temporary.iterdir()) == old, "its run lives"
        run.kill()
    for folder in old:
        age(folder)
    subprocess.run([*command, "read", "f", "quick", "--probe", "off"], **options, check=True)
    assert list(temporary.iterdir()) == []


def kind_of(folder: Path) -> str:
    """Give the part of a folder's name that says whose it is."""
    return folder.name.rpartition("-")[0] + "-"


def test_a_folder_that_is_just_being_made_is_left(temporary):
    young, other = temporary / f"{folders.WORKER}young", temporary / "auditor-other"
    young.mkdir()
    other.mkdir()
    age(other)
    sweep(temporary)
    assert young.exists()
    assert other.exists()


def age(folder: Path) -> None:
    """Make a folder look as if nobody had touched it for long."""
    os.utime(folder, (0, time.time() - 10 * folders.ABANDONED_AFTER))


def sweep(place: Path) -> None:
    """Do what the first start of a process does."""
    folders.remove_abandoned.cache_clear()
    folders.remove_abandoned(str(place))
