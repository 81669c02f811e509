"""What compiled code may do around a clock read: hold the interpreter's lock, have an error set, wait until then."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from auditor.decode.clock import PRELOAD, can_attribute
from auditor.model.dependence import Site, Watch
from auditor.model.environment import Environment
from auditor.spec.models import ConsumerSpec
from tests.rooms.test_decode_start import other_pythons
from tests.sessions import open_consumer, quoted, shown

pytestmark = pytest.mark.skipif(
    bool(can_attribute(ConsumerSpec(name="c", adapter="python"))), reason="no C compiler, or not Linux"
)

READER = """
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

extern void *PyExc_ValueError;
extern void PyErr_SetString(void *, const char *);

static void *reads(void *out) { *(long *)out = time(0); return 0; }

long on_a_thread_that_is_waited_for(void)
{
    pthread_t thread;
    long seen = -1;
    pthread_create(&thread, 0, reads, &seen);
    pthread_join(thread, 0);
    return seen;
}

long with_an_error_set(void)
{
    PyErr_SetString(PyExc_ValueError, "set before the clock was read");
    return time(0);
}

long every_function_agrees(void)
{
    struct timespec a, b;
    struct timeval c;
    clock_gettime(CLOCK_REALTIME, &a);
    timespec_get(&b, TIME_UTC);
    gettimeofday(&c, 0);
    gettimeofday(0, 0);
    time_t d = time(0);
    return a.tv_sec == b.tv_sec && b.tv_sec == c.tv_sec && c.tv_sec == d ? d : -1;
}
"""

PARSERS = """
import ctypes, os, threading, time

def call(text):
    library = ctypes.PyDLL(os.path.join(os.path.dirname(__file__), "reader.so"))
    function = getattr(library, text)
    function.restype = ctypes.c_long
    return str(function())

def elapsed(act):
    start = time.monotonic()
    act()
    return "%.1f" % (time.monotonic() - start)

class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

def deadline(seconds):
    now = time.time_ns() + int(seconds * 1e9)
    return ctypes.byref(Timespec(now // 10**9, now % 10**9))

def wait(text):
    libc = ctypes.CDLL(None)
    room = ctypes.create_string_buffer(256)
    if text == "sem_timedwait":
        libc.sem_init(room, 0, 0)
        return elapsed(lambda: libc.sem_timedwait(room, deadline(0.3)))
    if text == "pthread_cond_timedwait":
        mutex = ctypes.create_string_buffer(256)
        libc.pthread_mutex_lock(mutex)
        return elapsed(lambda: libc.pthread_cond_timedwait(room, mutex, deadline(0.3)))
    if text == "clock_nanosleep":
        return elapsed(lambda: libc.clock_nanosleep(0, 1, deadline(0.3), None))
    if text == "Event.wait":
        return elapsed(lambda: threading.Event().wait(0.3))
    if text == "Lock.acquire":
        lock = threading.Lock()
        lock.acquire()
        return elapsed(lambda: lock.acquire(timeout=0.3))
    return elapsed(lambda: time.sleep(0.3))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(PARSERS)
    (tmp_path / "reader.c").write_text(READER)
    compiler = next(path for path in map(shutil.which, ("cc", "gcc", "clang")) if path)
    command = [compiler, "-shared", "-fPIC", "-w", "-o", "reader.so", "reader.c", "-lpthread"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


def call(folder: Path, function: str, watch: Watch) -> tuple[list[str], list[Site]]:
    with open_consumer(folder, {"f": "m:call"}, watch=watch) as session:
        assert not session.candidates_only
        values = shown(session.decode("f", quoted([function])))
        return values, [site for site in session.sites() if Path(site.file).parent == folder]


def test_every_function_of_the_c_library_sees_the_instant(folder):
    values, (site,) = call(folder, "every_function_agrees", Watch())
    assert values == ["text:1709888707"]
    assert (Path(site.file).name, site.function, site.reads) == ("m.py", "call", 5)
    other = Watch(site, "2000-02-29T06:06:07+00:00")
    assert call(folder, "every_function_agrees", other)[0] == ["text:951804367"]


def test_a_thread_that_is_waited_for_with_the_lock_held_does_not_hang(folder):
    values, (site,) = call(folder, "on_a_thread_that_is_waited_for", Watch())
    assert values == ["text:1709888707"]
    assert (Path(site.file).name, site.line, site.reads) == ("reader.so", 0, 1)
    other = Watch(site, "2000-02-29T06:06:07+00:00")
    assert call(folder, "on_a_thread_that_is_waited_for", other)[0] == ["text:951804367"]


def test_an_error_that_is_set_stays_set(folder):
    values, (site,) = call(folder, "with_an_error_set", Watch())
    assert values == ["rejected: ValueError: set before the clock was read"]
    assert (Path(site.file).name, site.function) == ("m.py", "call")


@pytest.mark.parametrize("clock", ["2000-02-29T06:06:07+00:00", "2031-08-31T18:45:07+00:00"])
@pytest.mark.parametrize("interpreter", [None, *other_pythons()[:1]])
def test_waits_take_as_long_as_they_should(folder, clock, interpreter):
    """Also waits until an instant of the wall clock: in the past they would end at once, in the future never."""
    waits = ["sem_timedwait", "pthread_cond_timedwait", "clock_nanosleep", "Event.wait", "Lock.acquire", "time.sleep"]
    consumer = {"interpreter": interpreter} if interpreter else {}
    environment = Environment(clock=clock)
    with open_consumer(
        folder, {"f": "m:wait"}, environment=environment, clocks=(PRELOAD,), timeout=60, **consumer
    ) as session:
        assert session.readiness.clock_by == PRELOAD
        seconds = [float(text.removeprefix("text:")) for text in shown(session.decode("f", quoted(waits)))]
    # One that never ends is no number: it times out. How long a wait may take is the machine's affair.
    assert all(taken >= 0.3 for taken in seconds), dict(zip(waits, seconds, strict=True))
