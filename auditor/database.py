"""DuckDB in the parent: little memory as a rule, more of it where single values need it."""

from __future__ import annotations

import errno
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import duckdb

#: DuckDB's share of the parent's memory, in bytes; larger work spills to the temporary folder.
USUAL_MEMORY = 700 * 10**6

#: Share of the memory that is free which DuckDB may come to use: the rest is for Python and for the workers.
MOST_OF_FREE = 0.8

#: Bytes of input up to which one thread is done sooner than several that wait for each other.
ONE_THREAD = 1 << 20

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_FULL = (errno.ENOSPC, errno.EDQUOT)
_DISK = ("max_temp_directory_size", "No space left on device")

Result = TypeVar("Result")


@dataclass(frozen=True)
class NoRoom:
    """Memory or disk ran out: `what` is which of them, `step` is what to do."""

    what: Literal["memory", "disk"]
    step: str

    @property
    def cause(self) -> str:
        """What happened, in words."""
        return "memory ran out" if self.what == "memory" else "the disk is full"


def connect(spill: str, memory: int = USUAL_MEMORY) -> duckdb.DuckDBPyConnection:
    """Open a database in memory that writes to the folder `spill` what does not fit into `memory` bytes.

    A statement that runs out of memory is run again with more, as long as the machine has some: DuckDB spills rows,
    but it holds the value at hand several times, and a value may have megabytes.
    """
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{memory} B'")
    connection.execute("SET temp_directory = $folder", {"folder": spill})
    connection.execute("SET preserve_insertion_order = true")
    connection.execute("SET enable_progress_bar = false")
    # The class of DuckDB's connection cannot be derived from; this has all of it.
    return cast(duckdb.DuckDBPyConnection, _Growing(connection))


def suit(connection: duckdb.DuckDBPyConnection, source_bytes: int) -> None:
    """Let a connection use one thread where its input is small."""
    if source_bytes <= ONE_THREAD:
        connection.execute("SET threads = 1")


#: The text of the RuntimeError that DuckDB puts in the place of what a signal's handler has raised, Ctrl-C's as a rule.
INTERRUPTED = "Query interrupted"


class _Growing:
    """A connection whose statements, each of them whole or not at all, get the memory that they need."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._streams: set[str] = set()

    def execute(self, query: str, parameters: object = None) -> duckdb.DuckDBPyConnection:
        """Run a statement, again with more memory where that ran out."""
        return self._grown(query, lambda: self._connection.execute(query, parameters))

    def sql(self, query: str, *, params: object = None) -> _Query:
        """Prepare a query, which runs when its rows are asked for."""
        return _Query(self, query, params)

    def arrow_reader(self, query: str, params: object, rows: int) -> Any:
        """Run a query whose rows come as Arrow batches of so many."""
        return self._grown(query, lambda: self._connection.sql(query, params=params).to_arrow_reader(rows))

    def register(self, name: str, rows: Any) -> None:
        """Show rows as a table; those that can be read once only are remembered."""
        self._connection.register(name, rows)
        if not hasattr(rows, "num_rows"):
            self._streams.add(name)

    def unregister(self, name: str) -> None:
        """Take a table away."""
        self._connection.unregister(name)
        self._streams.discard(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _grown(self, query: str, run: Callable[[], Result]) -> Result:
        while True:
            try:
                return run()
            except duckdb.OutOfMemoryException:
                # A second run of a statement that reads a stream would find the stream at its end, and no rows.
                is_spent = any(name in query for name in self._streams)
                if is_spent or not raise_memory_limit(self._connection):
                    raise
            except RuntimeError as error:
                if str(error) != INTERRUPTED:
                    raise
                raise KeyboardInterrupt from None


@dataclass(frozen=True)
class _Query:
    """A query that has not run."""

    connection: _Growing
    query: str
    params: object

    def to_arrow_reader(self, rows: int) -> Any:
        """Run it; its rows come as Arrow batches of so many."""
        return self.connection.arrow_reader(self.query, self.params, rows)


def raise_memory_limit(connection: duckdb.DuckDBPyConnection) -> bool:
    """Double the memory that a connection may use; False where the machine has no more."""
    limit = _setting(connection)
    used = connection.execute("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()").fetchall()[0][0]
    connection.execute("RESET memory_limit")
    most = _setting(connection)  # DuckDB's own limit, which knows of containers
    free = _free_memory()
    if free is not None:
        most = min(most, used + int(free * MOST_OF_FREE))
    raised = max(limit, min(2 * limit, most))
    connection.execute(f"SET memory_limit = '{raised} B'")
    # Less than that is not worth another run of the statement.
    return raised > limit * 1.05


def no_room(error: BaseException) -> NoRoom | None:
    """Say whether memory or disk ran out, and what helps; None where the error is another."""
    text = str(error)
    if (isinstance(error, OSError) and error.errno in _FULL) or any(sign in text for sign in _DISK):
        return NoRoom("disk", f"free space in {tempfile.gettempdir()}, or set TMPDIR to another folder")
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return NoRoom("memory", "free memory, or take out values of many megabytes, or audit fewer rows")
    return None


def first_line(error: BaseException) -> str:
    """Give the first line of what an error says, or its type."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _setting(connection: duckdb.DuckDBPyConnection) -> int:
    """Give the memory limit in bytes; DuckDB shows it as `667.5 MiB`."""
    shown = connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", shown).groups()  # type: ignore[union-attr]
    return int(float(number) * _UNITS[unit])


def _free_memory() -> int | None:
    """Give the bytes that can be had without swapping, or None where the system does not say."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    return None
