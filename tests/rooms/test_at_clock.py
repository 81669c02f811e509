"""A launched program sees the instant, and nothing else about it changes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auditor.decode.clock import LAUNCHER, at_clock, can_fix_clock

INSTANT = "2024-03-08T09:05:07+00:00"
EPOCH = 1709888707

#: A year after the instant: no real clock stands before it, and the frozen one does.
LATER = EPOCH + 365 * 86400

pytestmark = pytest.mark.skipif(not can_fix_clock(), reason="clocks are fixed on Linux x86-64 only")


def run_at(instant: str, *command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        at_clock(list(command), instant), capture_output=True, text=True, timeout=30, **options
    )


def python_at(instant: str, code: str, **options: object) -> str:
    done = run_at(instant, sys.executable, "-c", code, **options)
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.strip()


@pytest.fixture(scope="module", autouse=True)
def tracing_is_allowed() -> None:
    if python_at(INSTANT, "import time; print(int(time.time()))") != str(EPOCH):
        pytest.skip("this machine does not let one process trace another")


def test_every_wall_clock_reads_the_instant_to_the_microsecond() -> None:
    code = """
import time
from datetime import datetime, timezone
print(time.time_ns(), time.clock_gettime_ns(time.CLOCK_REALTIME), int(time.clock_gettime(5)))
print(datetime.now(timezone.utc))
"""
    seen = python_at("2000-02-29T06:06:07.250001+00:00", code)
    nanoseconds = "951804367250001000"
    assert seen == f"{nanoseconds} {nanoseconds} 951804367\n2000-02-29 06:06:07.250001+00:00"


@pytest.mark.parametrize(
    "instant", ["1969-12-31T23:59:58.500000+00:00", "2031-08-31T18:45:07+00:00", "2070-01-01T00:00:00+05:30"]
)
def test_instants_before_the_epoch_and_far_ahead_are_seen_too(instant: str) -> None:
    code = "from datetime import datetime, timezone; print(datetime.now(timezone.utc).timestamp())"
    from datetime import datetime

    assert float(python_at(instant, code)) == datetime.fromisoformat(instant).timestamp()


def test_what_is_read_at_import_is_the_instant() -> None:
    """dateutil takes the century of two-digit years from the clock while it is imported, and the day on every call."""
    code = (
        "from dateutil.parser import parse; print(*(parse(raw).date() for raw in ('March 2001', '1/1/75', '1/1/49')))"
    )
    assert python_at("2000-02-29T06:06:07+00:00", code) == "2001-03-29 1975-01-01 2049-01-01"
    assert python_at("2031-08-31T18:45:07+00:00", code) == "2001-03-31 2075-01-01 2049-01-01"


def test_sleeps_and_waits_take_their_real_time() -> None:
    code = """
import queue, threading, time
start = time.monotonic()
time.sleep(0.05)
assert not threading.Event().wait(0.05)
try:
    queue.Queue().get(timeout=0.05)
except queue.Empty:
    pass
print(time.monotonic() - start >= 0.15)
"""
    for instant in ("2000-02-29T06:06:07+00:00", "2031-08-31T18:45:07+00:00"):
        assert python_at(instant, code) == "True"


def test_a_child_that_only_forks_keeps_the_instant() -> None:
    code = "import os, time\nif os.fork() == 0:\n    print(int(time.time()), flush=True)\nelse:\n    os.wait()"
    assert python_at(INSTANT, code) == str(EPOCH)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("date", ["-u", "+%s"]),
        ("node", ["-e", "setTimeout(() => console.log(Math.floor(Date.now() / 1000)), 20)"]),
        ("perl", ["-e", "print time"]),
    ],
)
def test_programs_of_other_languages_see_it(program: str, arguments: list[str]) -> None:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    assert run_at(INSTANT, path, *arguments).stdout.strip() == str(EPOCH)


@pytest.mark.parametrize("status", [0, 1, 77])
def test_the_exit_status_passes_through(status: int) -> None:
    assert run_at(INSTANT, sys.executable, "-c", f"raise SystemExit({status})").returncode == status


def test_a_death_by_signal_passes_through() -> None:
    assert run_at(INSTANT, sys.executable, "-c", "import os; os.abort()").returncode == -signal.SIGABRT


def test_a_signal_to_the_launched_pid_reaches_the_program() -> None:
    child = subprocess.Popen(
        at_clock([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(60)"], INSTANT),
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.terminate()
    assert child.wait(10) == -signal.SIGTERM
    child.stdout.close()


def test_the_program_keeps_pid_parent_arguments_environment_and_no_child() -> None:
    code = """
import os, sys
try:
    os.wait()
except ChildProcessError:
    environment = open("/proc/self/environ").read().rstrip("\\0").split("\\0")
    print(os.getpid(), os.getppid(), sys.argv[1:], sorted(environment))
"""
    child = subprocess.Popen(
        at_clock([sys.executable, "-S", "-E", "-X", "utf8", "-c", code, "a b", ""], INSTANT),
        stdout=subprocess.PIPE,
        env={"ONE": "1", "LC_ALL": ""},
    )
    stdout, _ = child.communicate(timeout=30)
    assert stdout.decode().strip() == f"{child.pid} {os.getpid()} ['a b', ''] ['LC_ALL=', 'ONE=1']"


def test_no_signal_is_left_ignored() -> None:
    """The interpreter ignores SIGPIPE for itself; a program that inherited that would not end with its reader."""
    assert run_at(INSTANT, "/bin/sh", "-c", "kill -PIPE $$; echo alive").returncode == -signal.SIGPIPE


def test_no_signal_is_left_blocked() -> None:
    """ClickHouse's library blocks SIGPIPE in the process that loads it, and that would be inherited, too."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        done = run_at(INSTANT, "/bin/sh", "-c", "kill -PIPE $$; echo alive")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert done.returncode == -signal.SIGPIPE


def test_inherited_descriptors_pass_and_close_with_the_program() -> None:
    to_child, from_parent = os.pipe()
    to_parent, from_child = os.pipe()
    code = f"import os; os.write({from_child}, os.read({to_child}, 100).upper())"
    child = subprocess.Popen(at_clock([sys.executable, "-c", code], INSTANT), pass_fds=(to_child, from_child))
    os.close(to_child)
    os.close(from_child)
    os.write(from_parent, b"hello")
    assert os.read(to_parent, 100) == b"HELLO"
    assert os.read(to_parent, 100) == b""
    assert child.wait(10) == 0
    os.close(from_parent)
    os.close(to_parent)


def test_a_program_that_is_not_there_says_so() -> None:
    done = run_at(INSTANT, "/no/such/program")
    assert done.returncode == 127
    assert "/no/such/program" in done.stderr


def test_the_program_runs_where_no_tracer_can_be_started() -> None:
    """No descriptor is left for the tracer: the real clock is seen, and nothing else is lost."""
    limit = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_NOFILE, (5, 5)); os.execv(sys.argv[1], sys.argv[1:])"
    program = [sys.executable, "-c", "import time; print(int(time.time()))"]
    done = subprocess.run(
        [sys.executable, "-c", limit, *at_clock(program, INSTANT)], capture_output=True, text=True, timeout=30
    )
    assert int(done.stdout) > LATER


def test_a_program_of_another_kind_of_image_runs_at_the_real_clock(tmp_path: Path) -> None:
    script = tmp_path / "shim"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import time; print(int(time.time()))'\n")
    script.chmod(0o755)
    seen = int(run_at(INSTANT, str(script)).stdout)
    assert seen > LATER, "what a shim starts has a fresh vDSO: name the real interpreter"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become nobody")
def test_it_works_as_nobody(tmp_path: Path) -> None:
    python = next((path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(path)), None)
    date = shutil.which("date")
    if python is None or date is None:
        pytest.skip("no interpreter that nobody can read")
    for beside in ("vdso.py", "empty_network.py", "become.py"):
        shutil.copy(LAUNCHER.with_name(beside), tmp_path)
    launcher = shutil.copy(LAUNCHER, tmp_path / "at_clock.py")
    for folder in (launcher.parent, *launcher.parents):
        if not os.stat(folder).st_mode & 1:
            folder.chmod(0o755)
        if folder == tmp_path.parents[2]:
            break
    done = subprocess.run(
        [python, "-I", "-S", str(launcher), str(EPOCH * 10**9), "--", date, "-u", "+%s"],
        capture_output=True,
        text=True,
        user="nobody",
        cwd="/",
        timeout=30,
    )
    assert (done.stdout.strip(), done.stderr) == (str(EPOCH), "")


def test_a_hundred_launches_leave_nothing_behind() -> None:
    date = shutil.which("date")
    assert date is not None
    for _ in range(100):
        assert run_at(INSTANT, date, "-u", "+%s").stdout.strip() == str(EPOCH)
    deadline = time.monotonic() + 5
    while (left := launchers_alive()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def launchers_alive() -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if f"{LAUNCHER} {EPOCH}" in command or (state[0] == "Z" and state[1] == str(os.getpid())):
            found.append(f"{folder.name} {state[:2]} {command}")
    return found


def test_command_is_wrapped_with_our_own_interpreter() -> None:
    assert at_clock(["/bin/true"], "2024-03-08T10:05:07+01:00") == [
        sys.executable,
        "-I",
        "-S",
        str(LAUNCHER),
        f"{EPOCH}000000000",
        "--",
        "/bin/true",
    ]
