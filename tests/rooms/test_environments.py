"""An environment is made from outside, in one way or another, and what could not be made is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.decode import locales
from auditor.decode.clock import CLOCKS, PRELOAD, TIME_MACHINE, VDSO, can_attribute, can_fix_clock
from auditor.decode.launches import OFFLINE
from auditor.decode.plan import ELSEWHERE
from auditor.decode.session import Session
from auditor.model.environment import BASE_CLOCK, Environment
from auditor.spec.models import ConsumerSpec
from tests.sessions import open_consumer, quoted, shown

PARSERS = """
import os, time

def now(text):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())

def zone(text):
    return "%s %s" % (time.tzname[0], os.environ["TZ"])

def pivot(text):
    import dateutil.parser
    return dateutil.parser.parse(text).date()

def ctime(text):
    return time.ctime()[-4:]

def numpy(text):
    import numpy
    return str(numpy.datetime64("today"))[:4]

def sqlite(text):
    import sqlite3
    return sqlite3.connect(":memory:").execute("select strftime('%Y')").fetchone()[0]

def duckdb(text):
    import duckdb
    return str(duckdb.connect().execute("select extract(year from current_date)").fetchall()[0][0])

def other_process(text):
    import subprocess, sys
    return subprocess.run([sys.executable, "-c", "import time; print(time.gmtime().tm_year)"],
                          stdout=subprocess.PIPE).stdout.decode().strip()

def german(text):
    import locale
    locale.setlocale(locale.LC_ALL, "")
    return str(time.strptime(text, "%d. %B %Y").tm_mon)

def setlocale(text):
    import locale
    return locale.setlocale(locale.LC_ALL, text)

def connect(text):
    import socket
    host, _, port = text.partition(":")
    connection = socket.socket()
    connection.settimeout(5)
    connection.connect((host, int(port)))
    return "connected"

def date_program(text):
    import subprocess
    return subprocess.run(["date", "-u", "+%Y-%m-%d %H:%M:%S"], capture_output=True, text=True).stdout.strip()

def waits(text):
    import ctypes, time
    class timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]
    began = time.monotonic()
    until = timespec(int(time.time()) + 1, 500)
    ctypes.CDLL(None).clock_nanosleep(0, 1, ctypes.byref(until), None)
    return str(time.monotonic() - began > 0.5)  # one that never ends times out

def child_waits(text):
    import subprocess, sys
    code = "import m; print(m.waits('x'))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=text).stdout.strip()

def place(text):
    open("made", "w").close()
    made = os.stat("made")
    same = os.path.realpath(os.environ["HOME"]) == os.getcwd()
    return "%s %s %o %s" % (os.path.basename(os.getcwd()), same, made.st_mode & 0o777, made.st_uid == os.getuid())
"""

needs_clock = pytest.mark.skipif(not can_fix_clock(), reason="the vDSO is patched on Linux x86-64 only")
needs_compiler = pytest.mark.skipif(
    bool(can_attribute(ConsumerSpec(name="c", adapter="python"))), reason="no C compiler, or not Linux"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(PARSERS)
    return tmp_path


def one(folder: Path, function: str, text: str = "x", **more: object) -> str:
    with open_consumer(folder, {"f": f"m:{function}"}, **more) as session:
        (value,) = shown(session.decode("f", quoted([text])))
        return value


# The clock: which way serves.


@pytest.mark.parametrize(
    "clock",
    [
        pytest.param(VDSO, marks=needs_clock),
        pytest.param(PRELOAD, marks=needs_compiler),
        TIME_MACHINE,
    ],
)
@pytest.mark.parametrize("instant", [BASE_CLOCK, "2031-08-31T18:45:07+00:00", "2000-02-29T06:06:07+00:00"])
def test_each_way_fixes_the_clock_and_is_named(folder, clock, instant):
    if clock == TIME_MACHINE:
        pytest.importorskip("time_machine")
    environment = Environment("probe", instant, "Pacific/Kiritimati")
    reads = {"now": "m:now", "zone": "m:zone", "pivot": "m:pivot"}
    with open_consumer(folder, reads, environment=environment, clocks=(clock,)) as session:
        assert (session.readiness.not_fixed, session.readiness.clock_by) == ((), clock)
        moment = datetime.fromisoformat(instant).strftime("%Y-%m-%d %H:%M:%S")
        assert shown(session.decode("now", ['"x"'])) == [f"text:{moment}"]
        assert shown(session.decode("zone", ['"x"'])) == ["text:+14 Pacific/Kiritimati"]
        # dateutil: within 50 years of the year in which it was imported
        year = 2079 if instant > "2029" else 1979
        assert shown(session.decode("pivot", ['"1/2/79"'])) == [f"date:{year}-01-02"]


@needs_clock
@needs_compiler
def test_the_next_way_is_tried_where_one_does_not_serve(folder):
    """What a script starts has a fresh vDSO, while preloading is inherited."""
    shim = folder / "python"
    shim.write_text(f'#!/bin/sh\n{sys.executable} "$@"\n')
    shim.chmod(0o755)
    for _ in range(2):
        with open_consumer(folder, {"f": "m:now"}, interpreter="python") as session:
            assert (session.readiness.not_fixed, session.readiness.clock_by) == ((), PRELOAD)
            assert shown(session.decode("f", ['"x"'])) == ["text:2024-03-08 09:05:07"]


def test_the_last_way_is_the_consumers_own_time_machine(folder):
    pytest.importorskip("time_machine")
    shim = folder / "python"
    shim.write_text(f'#!/bin/sh\nunset LD_PRELOAD\n{sys.executable} "$@"\n')
    shim.chmod(0o755)
    with open_consumer(folder, {"f": "m:now"}, interpreter="python") as session:
        readiness = session.readiness
        assert shown(session.decode("f", ['"x"'])) == ["text:2024-03-08 09:05:07"]
    assert (readiness.not_fixed, readiness.clock_by) == ((), TIME_MACHINE)
    (note,) = readiness.not_varied
    for blind in ("numpy", "sqlite", "duckdb", "time.ctime", "other processes"):
        assert blind in note


@needs_compiler
@pytest.mark.parametrize("clocks", [CLOCKS, (PRELOAD,)])
@pytest.mark.parametrize("instant", [BASE_CLOCK, "2031-08-31T18:45:07+00:00"])
def test_a_program_that_a_parser_starts_sees_the_same_clock(folder, clocks, instant):
    """Its vDSO is a fresh one; without this it reads the day of the run, in every environment."""
    moment = datetime.fromisoformat(instant).strftime("%Y-%m-%d %H:%M:%S")
    environment = Environment("probe", instant, "UTC")
    assert one(folder, "date_program", environment=environment, clocks=clocks) == f"text:{moment}"


@needs_compiler
def test_a_wait_until_an_instant_ends_in_what_a_parser_starts(folder):
    assert one(folder, "child_waits", str(folder)) == "text:True"


@needs_clock
def test_a_way_that_was_asked_for_is_not_kept(folder):
    with open_consumer(folder, {"f": "m:now"}, clocks=()):
        pass
    with open_consumer(folder, {"f": "m:now"}, clocks=(TIME_MACHINE,)):
        pass
    with open_consumer(folder, {"f": "m:now"}) as session:
        assert session.readiness.clock_by == VDSO


def test_where_no_way_serves_the_clock_is_not_fixed(folder):
    with open_consumer(folder, {"f": "m:now"}, clocks=()) as session:
        assert (session.readiness.not_fixed, session.readiness.clock_by) == (("clock",), "")
        (seen,) = shown(session.decode("f", ['"x"']))
    assert seen[:9] >= f"text:{datetime.now(UTC).year}"


@pytest.mark.parametrize("function", ["ctime", "numpy", "sqlite", "duckdb", "other_process"])
def test_what_time_machine_does_not_reach_is_what_is_said(folder, function):
    pytest.importorskip("time_machine")
    if function in ("numpy", "duckdb"):
        pytest.importorskip(function)
    assert one(folder, function, clocks=(TIME_MACHINE,)) >= f"text:{datetime.now(UTC).year}"
    if can_fix_clock() and function != "other_process":
        assert one(folder, function, clocks=(VDSO,)) == "text:2024"


# Locales.


@pytest.mark.parametrize("name", ["de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "en_GB.UTF-8"])
def test_a_locale_that_is_not_installed_is_built(folder, name):
    if locales.locale_state(name) == "missing":
        pytest.skip(f"{name} is not installed, nor are localedef and its sources")
    with open_consumer(folder, {"f": "m:setlocale"}, environment=Environment(locale=name)) as session:
        assert session.readiness.not_fixed == ()
        assert shown(session.decode("f", quoted(["", "C.UTF-8", "C"]))) == [f"text:{name}", "text:C.UTF-8", "text:C"]


def test_a_built_locale_is_the_language_that_it_names(folder):
    if locales.locale_state("de_DE.UTF-8") == "missing":
        pytest.skip("de_DE.UTF-8 is not installed, nor are localedef and its sources")
    german = Environment(locale="de_DE.UTF-8")
    assert one(folder, "german", "1. März 2024", environment=german) == "text:3"
    assert one(folder, "german", "1. März 2024").startswith("rejected: ValueError")


def test_a_locale_that_nobody_has_is_not_fixed(folder):
    with open_consumer(folder, {"f": "m:now"}, environment=Environment(locale="xx_XX.UTF-8")) as session:
        assert session.readiness.not_fixed == ("locale",)
    assert locales.locale_variables("xx_XX.UTF-8") is None
    assert locales.locale_variables("C.UTF-8") == {}
    assert locales.locale_variables("../../etc.UTF-8") is None


def test_several_audits_build_a_locale_at_once(tmp_path):
    if locales.locale_state("et_EE.UTF-8") != "buildable":
        pytest.skip("et_EE.UTF-8 is installed, or cannot be built")
    code = "from auditor.decode.locales import locale_variables; print(locale_variables('et_EE.UTF-8')['LOCPATH'])"
    command = [sys.executable, "-c", code]
    with ThreadPoolExecutor(3) as pool:
        done = list(
            pool.map(
                lambda _: subprocess.run(
                    command, capture_output=True, text=True, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
                ),
                range(3),
            )
        )
    assert [one.stderr for one in done] == ["", "", ""]
    (place,) = {one.stdout.strip() for one in done}
    assert os.listdir(place) == ["et_EE.UTF-8"]


# No network.


@pytest.fixture
def listening():
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("clock", CLOCKS)
def test_without_network_nothing_can_be_reached(folder, listening, clock):
    assert one(folder, "connect", listening, clocks=(clock,)) == "text:connected"
    offline = Environment(network=False)
    with open_consumer(folder, {"f": "m:connect"}, environment=offline, clocks=(clock,), memory=512 << 20) as session:
        if "network" in session.readiness.not_fixed:
            pytest.skip("this machine does not let a process leave the network")
        assert set(session.readiness.not_fixed) <= {"clock"}
        (seen,) = shown(session.decode("f", quoted([listening])))
    assert seen.startswith("rejected: OSError: [Errno 101]")


def test_a_network_that_is_still_there_is_said(folder):
    with open_consumer(folder, {"f": "m:now"}, environment=Environment(network=False)) as session:
        plan = session.plan
    with Session(replace(plan, command=tuple(word for word in plan.command if word != "offline"))) as session:
        assert session.readiness.not_fixed == ("network",)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can become nobody")
def test_nobody_may_leave_the_network_and_stays_who_it_is(tmp_path):
    python = next((path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(path)), None)
    if python is None:
        pytest.skip("no interpreter that nobody can read")
    place = Path("/var/tmp") / f"auditor-test-{os.getpid()}"
    place.mkdir()
    try:
        for name in ("without_network.py", "empty_network.py", "become.py"):
            shutil.copy(OFFLINE.with_name(name), place)
        place.chmod(0o755)
        code = (
            "import os; names = [line.split(':')[0].strip() for line in open('/proc/self/net/dev')][2:];"
            "print(os.getuid(), os.getgid(), names)"
        )
        plain = [python, "-c", code]
        command = [python, "-I", "-S", str(place / "without_network.py"), "--", *plain]
        before, after = (
            subprocess.run(argv, capture_output=True, text=True, user="nobody", group="nogroup", cwd="/", timeout=30)
            for argv in (plain, command)
        )
    finally:
        shutil.rmtree(place)
    assert after.stderr == ""
    assert after.stdout.split()[:2] == before.stdout.split()[:2]
    assert after.stdout.split(maxsplit=2)[2].strip() in ("['lo']", before.stdout.split(maxsplit=2)[2].strip())


def test_a_program_that_is_not_there_says_so():
    command = [sys.executable, "-I", "-S", str(OFFLINE), "--", "/no/such/program"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 127
    assert "/no/such/program" in done.stderr


# Elsewhere.


def test_elsewhere_is_another_folder_home_and_umask(folder):
    before = os.umask(0o022)
    try:
        base, elsewhere = one(folder, "place"), one(folder, "place", environment=Environment(elsewhere=True))
        own_home = one(folder, "place", environment=Environment(elsewhere=True), env={"HOME": "/"})
    finally:
        os.umask(before)
    assert base.startswith("text:auditor-worker-")
    assert base.endswith(" True 644 True")
    assert elsewhere == own_home == f"text:{ELSEWHERE} True 600 True"
