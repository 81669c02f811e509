"""The parent's database has little memory as a rule, and more where a statement needs it."""

from __future__ import annotations

import errno
import signal
import threading
from contextlib import closing

import duckdb
import pyarrow
import pytest

from auditor.database import connect, first_line, no_room, raise_memory_limit

#: Six texts of four megabytes, held at once, in sixteen megabytes.
LITTLE = 16 * 10**6
HUGE = "SELECT string_agg(repeat('x', 4000000) || i, '') AS text FROM range(6) t(i)"


@pytest.fixture
def little(tmp_path):
    """Give a connection that starts with little memory."""
    with closing(connect(str(tmp_path / "spill"), LITTLE)) as connection:
        yield connection


def test_the_statements_of_these_tests_need_more_than_they_have(little):
    plain = little.cursor()
    with pytest.raises(duckdb.OutOfMemoryException):
        plain.execute(HUGE)


def test_a_statement_gets_the_memory_that_it_needs(little):
    little.execute(f"CREATE TABLE huge AS {HUGE}")
    assert little.execute("SELECT length(text) FROM huge").fetchall() == [(6 * 4_000_001,)]


def test_a_query_that_comes_as_arrow_gets_the_memory_that_it_needs(little):
    [batch] = little.sql(HUGE + " WHERE i < $end", params={"end": 6}).to_arrow_reader(100)
    assert len(batch.column(0)[0].as_py()) == 6 * 4_000_001


def test_a_statement_over_a_stream_is_not_run_again_on_what_is_left_of_it(little):
    """A second run would find the stream at its end, and give an answer about no rows."""
    rows = pyarrow.table({"i": list(range(6))})
    little.register("once", pyarrow.RecordBatchReader.from_batches(rows.schema, iter(rows.to_batches())))
    with pytest.raises(duckdb.OutOfMemoryException):
        little.execute("SELECT string_agg(repeat('x', 4000000) || i, '') FROM once")
    little.register("often", rows)
    [(text,)] = little.execute("SELECT string_agg(repeat('x', 4000000) || i, '') FROM often").fetchall()
    assert len(text) == 6 * 4_000_001


def test_the_memory_is_raised_as_long_as_the_machine_has_some(little):
    with closing(duckdb.connect()) as plain:
        most = limit_of(plain)  # of DuckDB itself: four fifths of what the machine or its container has
    limits = [limit_of(little)]
    while raise_memory_limit(little):
        limits.append(limit_of(little))
    assert len(limits) > 3
    assert limits == sorted(limits)
    assert limits[-1] <= most
    assert not raise_memory_limit(little)


def limit_of(connection) -> float:
    """Give the memory limit in megabytes."""
    shown = connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    number, unit = shown.split()
    return float(number) * {"MiB": 1, "GiB": 1024}[unit]


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (duckdb.OutOfMemoryException("failed to allocate 1 GiB"), "memory"),
        (MemoryError(), "memory"),
        (duckdb.OutOfMemoryException("failed to offload: max_temp_directory_size is used up"), "disk"),
        (duckdb.IOException("could not write: No space left on device"), "disk"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk"),
        (PermissionError(errno.EACCES, "Permission denied"), None),
    ],
)
def test_memory_and_disk_are_told_apart(error, what):
    lack = no_room(error)
    assert (lack and lack.what) == what
    assert "\n" not in first_line(error)


#: No machine counts so far in the time of a test.
ENDLESS = "SELECT count(*) FROM range(1000000000000) t(i) WHERE i % 7 = 3"


def test_ctrl_c_in_a_statement_is_ctrl_c(little):
    little.execute("SET threads = 1")  # where another thread counts, the first may wait and hear of no signal
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        little.execute(ENDLESS)
    timer.join()
    assert little.execute("SELECT 1").fetchall() == [(1,)]
