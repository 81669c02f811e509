"""Which line reads the clock, and whether the value comes from it: proven by changing the clock of that line alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from auditor.decode.clock import CLOCKS, PRELOAD, VDSO, can_attribute, can_fix_clock
from auditor.decode.preload import NoLibrary, library
from auditor.errors import ConsumerError
from auditor.model.dependence import Site, Watch
from auditor.spec.models import ConsumerSpec
from tests.rooms.test_decode_start import other_pythons
from tests.sessions import open_consumer, quoted, shown

#: Where no two-digit year, day or month is what the base clock (2024-03-08) gives.
LOW = "2000-02-29T06:06:07+00:00"

PARSERS = """
import datetime, logging, time
from concurrent.futures import ThreadPoolExecutor

def dateutil(text):
    import dateutil.parser
    return dateutil.parser.parse(text)

def in_a_pool(text):
    import dateutil.parser
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(dateutil.parser.parse, text).result()

def pandas(text):
    import pandas
    return pandas.to_datetime(text).isoformat()

def pendulum(text):
    import pendulum
    return pendulum.parse(text, strict=False).isoformat()

def dateparser(text):
    import dateparser
    return dateparser.parse(text).isoformat()

def numpy(text):
    import numpy
    return str(numpy.datetime64(text))

def sqlite(text):
    import sqlite3
    return sqlite3.connect(":memory:").execute("select date(?)", [text]).fetchone()[0]

def duckdb(text):
    import duckdb
    return duckdb.connect().execute("select current_date").fetchall()[0][0]

def strict(text):
    logging.getLogger("strict").error("read %s", text)
    return datetime.date.fromisoformat(text)

def two_lines(text):
    first = time.gmtime().tm_year
    second = time.gmtime().tm_year
    return "%d %d" % (first, second)

def waits(text):
    import threading
    threading.Event().wait(0.01)
    time.sleep(0.01)
    return str(threading.Lock().acquire(timeout=0.01))
"""

needs_compiler = pytest.mark.skipif(
    bool(can_attribute(ConsumerSpec(name="c", adapter="python"))), reason="no C compiler, or not Linux"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(PARSERS)
    return tmp_path


def sites_of(folder: Path, function: str, text: str, **more: object) -> tuple[list[str], tuple[Site, ...]]:
    with open_consumer(folder, {"f": f"m:{function}"}, watch=Watch(), **more) as session:
        values = shown(session.decode("f", quoted([text])))
        assert not session.candidates_only
        assert (session.readiness.not_fixed, session.readiness.clock_by) == ((), PRELOAD)
        return values, session.sites()


def causes_of(folder: Path, function: str, text: str, clock: str = LOW) -> list[Site]:
    """Give the sites whose clock alone moves the value."""
    base, sites = sites_of(folder, function, text)
    causes = []
    for site in sites:
        with open_consumer(folder, {"f": f"m:{function}"}, watch=Watch(site, clock)) as session:
            if shown(session.decode("f", quoted([text]))) != base:
                causes.append(site)
    return causes


#: What the libraries' own sources say: where the default date, the pivot of two-digit years, "now" is read.
CAUSES = [
    ("dateutil", "March 2024", "dateutil/parser/_parser.py", "parse", "datetime.datetime.now()", False),
    ("in_a_pool", "March 2024", "dateutil/parser/_parser.py", "parse", "datetime.datetime.now()", False),
    ("dateutil", "1/2/59", "dateutil/parser/_parser.py", "__init__", "time.localtime().tm_year", True),
    ("pandas", "10:30", "pandas/core/arrays/datetimes.py", "objects_to_datetime64", "array_to_datetime", False),
    ("pendulum", "10:30", "pendulum/parsing/__init__.py", "_normalize", "now", False),
    ("dateparser", "March 2024", "dateparser/utils/__init__.py", "_now", "now", False),
    ("dateparser", "2 days ago", "dateparser/freshness_date_parser.py", "_parse_with_parts", "now", False),
    ("numpy", "today", "m.py", "numpy", "numpy.datetime64(text)", False),
    ("sqlite", "now", "m.py", "sqlite", "sqlite3.connect", False),
]


@needs_compiler
@pytest.mark.parametrize(("function", "text", "file", "name", "code", "at_import"), CAUSES)
def test_the_line_that_the_value_comes_from_is_found(folder, function, text, file, name, code, at_import):
    pytest.importorskip(function if function not in ("in_a_pool", "sqlite") else "dateutil")
    (site,) = causes_of(folder, function, text)
    assert site.file.endswith(file)
    assert (site.function, site.at_import) == (name, at_import)
    assert site.reads >= 1
    line = Path(site.file).read_text(encoding="utf-8").splitlines()[site.line - 1]
    assert code in line or code in "".join(
        Path(site.file).read_text(encoding="utf-8").splitlines()[site.line - 3 :][:5]
    )


@needs_compiler
@pytest.mark.parametrize(("function", "text"), [("dateutil", "2024-03-01"), ("strict", "2024-03-01")])
def test_a_line_that_reads_the_clock_need_not_be_a_cause(folder, function, text):
    _, sites = sites_of(folder, function, text)
    assert sites
    assert causes_of(folder, function, text) == []


@needs_compiler
def test_a_thread_that_python_does_not_know_is_named_by_its_library(folder):
    (site,) = [site for site in sites_of(folder, "duckdb", "x")[1] if "duckdb" in site.file and site.line == 0]
    assert Path(site.file).name.startswith("_duckdb.")


@needs_compiler
def test_a_parser_of_compiled_code_alone_is_named_by_its_library(tmp_path):
    pytest.importorskip("pandas")
    with open_consumer(tmp_path, {"f": "pandas:Timestamp"}, watch=Watch()) as session:
        base = shown(session.decode("f", ['"10:30"']))
        (site,) = [site for site in session.sites() if site.line == 0 and "pandas" in site.file]
    with open_consumer(tmp_path, {"f": "pandas:Timestamp"}, watch=Watch(site, LOW)) as session:
        moved = shown(session.decode("f", ['"10:30"']))
    assert (base, moved) == (["datetime:2024-03-08T10:30:00"], ["datetime:2000-02-29T10:30:00"])


@needs_compiler
def test_two_lines_of_one_function_are_two_sites(folder):
    values, sites = sites_of(folder, "two_lines", "x")
    assert values == ["text:2024 2024"]
    first, second = (site for site in sites if site.function == "two_lines")
    for site, expected in ((first, "text:2000 2024"), (second, "text:2024 2000")):
        with open_consumer(folder, {"f": "m:two_lines"}, watch=Watch(site, LOW)) as session:
            assert shown(session.decode("f", ['"x"'])) == [expected]


@needs_compiler
def test_reads_are_counted_over_restarts_of_the_worker(folder):
    (folder / "m.py").write_text(
        "import os, time\ndef read(text):\n    if text == 'leave':\n        os._exit(3)\n    return str(time.time())\n"
    )
    with open_consumer(folder, {"f": "m:read"}, watch=Watch()) as session:
        session.decode("f", quoted(["a", "b"]))
        session.decode("f", quoted(["leave"]))
        session.decode("f", quoted(["c"]))
        (site,) = [site for site in session.sites() if site.function == "read"]
    assert site.line == 5
    assert site.reads >= 3


@needs_compiler
def test_sleeps_and_waits_end_under_the_preloaded_clock(folder):
    with open_consumer(folder, {"f": "m:waits"}, clocks=(PRELOAD,)) as session:
        assert shown(session.decode("f", ['"x"'])) == ["text:True"]
        assert session.readiness.clock_by == PRELOAD


@needs_compiler
@pytest.mark.parametrize("interpreter", other_pythons() or [None])
def test_any_python_is_watched(folder, interpreter):
    if interpreter is None:
        pytest.skip("no other Python was found on PATH or under ~/.pyenv")
    values, sites = sites_of(folder, "two_lines", "x", interpreter=interpreter)
    assert values == ["text:2024 2024"]
    assert [site.reads for site in sites if site.function == "two_lines"] == [1, 1]


@pytest.mark.parametrize("interpreter", [None, *other_pythons()])
def test_without_the_preloaded_clock_calls_are_candidates(folder, interpreter):
    without = tuple(clock for clock in CLOCKS if clock != PRELOAD)
    consumer = {"interpreter": interpreter} if interpreter else {}
    with open_consumer(folder, {"f": "m:two_lines"}, watch=Watch(), clocks=without, **consumer) as session:
        assert shown(session.decode("f", ['"x"'])) == ["text:2024 2024"] or not can_fix_clock()
        assert session.candidates_only
        assert session.readiness.clock_by == VDSO or "clock" in session.readiness.not_fixed
        found = [site for site in session.sites() if site.function == "two_lines"]
    lines = [number for number, line in enumerate(PARSERS.splitlines(), 1) if "time.gmtime()" in line]
    assert [(site.line, site.at_import) for site in found] == [(line, False) for line in lines]


def test_candidates_name_the_default_date_and_the_pivot_of_dateutil(folder):
    with open_consumer(folder, {"f": "m:in_a_pool"}, watch=Watch(), clocks=(VDSO,)) as session:
        session.decode("f", ['"March 2024"'])
        found = {(Path(site.file).name, site.function, site.at_import) for site in session.sites()}
    assert {("_parser.py", "parse", False), ("_parser.py", "__init__", True)} <= found


def test_the_clock_of_one_line_needs_the_preloaded_clock(folder):
    watch = Watch(Site("m.py", 1, "f", False), LOW)
    with pytest.raises(ConsumerError, match=r"change the clock of m\.py:1 alone"):
        open_consumer(folder, {"f": "m:strict"}, watch=watch, clocks=(VDSO,))


def test_a_watch_has_a_site_and_a_clock_or_neither():
    with pytest.raises(ValueError, match="neither"):
        Watch(Site("m.py", 1, "f", False))


def test_a_consumer_that_is_no_python_process_cannot_be_attributed():
    consumer = ConsumerSpec(name="portal", adapter="python")
    object.__setattr__(consumer, "adapter", "process")
    assert can_attribute(consumer) == "the consumer is no Python process"


@needs_compiler
def test_the_library_is_compiled_once_and_by_renaming(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from auditor.decode import preload

    preload._library.cache_clear()
    try:
        first = library()
        made = first.stat().st_mtime_ns
        preload._library.cache_clear()
        assert library() == first
    finally:
        preload._library.cache_clear()
    assert first.stat().st_mtime_ns == made
    assert os.listdir(tmp_path / "auditor") == [first.name]


@pytest.mark.parametrize("name", ["my cache", "a:b", "tab\there"])
def test_what_the_loader_would_split_is_no_place_for_a_library(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    from auditor.decode.caches import cache_folder

    assert not set(str(cache_folder())) & set(" :\t")
    assert list((tmp_path / name).iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="a clock is preloaded on Linux only")
def test_no_compiler_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    from auditor.decode import preload

    preload._library.cache_clear()
    try:
        with pytest.raises(NoLibrary, match="no C compiler on PATH"):
            library()
        assert "no C compiler" in can_attribute(ConsumerSpec(name="c", adapter="python"))
    finally:
        preload._library.cache_clear()
