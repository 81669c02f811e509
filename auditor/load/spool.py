"""Rows that Python had to read (JSON lines, completions, awkward CSV), kept so that DuckDB can scan them repeatedly.

A small spool becomes a temporary table and needs no pyarrow; a large one is an Arrow stream in an unlinked temporary
file, so that ten million rows stay out of memory and a killed process leaves nothing behind.
"""

from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import duckdb

_HELD_ROWS = 50_000
_HELD_CHARACTERS = 16 << 20
_MOST_CHARACTERS = 256 << 20  # of a column in one Arrow batch, which ends at two gigabytes
_serial = itertools.count(1)


class Spool:
    """Rows of text columns `names`, each with its 1-based `ordinal`."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.count = 0
        self._held: list[list[str | None]] = [[] for _ in self.names]
        self._characters = 0
        self._file: BinaryIO | None = None
        self._table: tuple[duckdb.DuckDBPyConnection, str] | None = None
        self._registered: list[tuple[duckdb.DuckDBPyConnection, str]] = []
        self._writer: Any = None
        self._written = 0

    def add(self, columns: Sequence[Sequence[str | None]]) -> None:
        """Append rows, given as columns in the order of `names`."""
        rows = len(columns[0])
        if rows > 1 and max(sum(map(len, filter(None, column))) for column in columns) > _MOST_CHARACTERS:
            self.add([column[: rows // 2] for column in columns])
            self.add([column[rows // 2 :] for column in columns])
            return
        self.count += rows
        for held, column in zip(self._held, columns, strict=True):
            held.extend(column)
            self._characters += sum(map(len, filter(None, column)))
        if len(self._held[0]) >= _HELD_ROWS or self._characters >= _HELD_CHARACTERS:
            self._flush()

    def add_arrow(self, arrays: Sequence[Any]) -> None:
        """Append rows, given as Arrow arrays in the order of `names`."""
        self.count += len(arrays[0])
        self._write(arrays)

    def close(self) -> None:
        """End the writing; scans may follow."""
        if self._writer is not None:
            if self._held[0]:
                self._flush()
            self._writer.close()

    def scan(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Give the name of a relation over the rows, which one query may read."""
        if self._file is None:
            if self._table is None or self._table[0] is not connection:
                self._table = (connection, self._create_table(connection))
            return self._table[1]
        name = f"auditor_spool_{next(_serial)}"
        connection.register(name, self._reader())
        self._registered.append((connection, name))
        return name

    def release(self) -> None:
        """Take the relations away from their connections; the rows stay."""
        for connection, name in self._registered:
            connection.unregister(name)
        self._registered.clear()
        if self._table is not None:
            self._table[0].execute(f"DROP TABLE IF EXISTS {self._table[1]}")
            self._table = None

    def _create_table(self, connection: duckdb.DuckDBPyConnection) -> str:
        name = f"auditor_spool_{next(_serial)}"
        columns = ", ".join(f'unnest(${i + 2}::VARCHAR[]) AS "{column}"' for i, column in enumerate(self.names))
        connection.execute(
            f"CREATE TEMP TABLE {name} AS SELECT unnest($1::BIGINT[]) AS ordinal, {columns}",
            [list(range(1, self.count + 1)), *self._held],
        )
        return name

    def _flush(self) -> None:
        import pyarrow

        held, self._held, self._characters = self._held, [[] for _ in self.names], 0
        self._write([pyarrow.array(column, pyarrow.string()) for column in held])

    def _write(self, arrays: Sequence[Any]) -> None:
        import pyarrow

        if self._writer is None:
            fields = [("ordinal", pyarrow.int64()), *((name, pyarrow.string()) for name in self.names)]
            self._file = tempfile.TemporaryFile(prefix="auditor-")  # noqa: SIM115 - lives as long as the spool
            self._writer = pyarrow.ipc.new_stream(self._file, pyarrow.schema(fields))
        rows = len(arrays[0])
        ordinals = pyarrow.array(range(self._written + 1, self._written + rows + 1), pyarrow.int64())
        names = ["ordinal", *self.names]
        self._writer.write_batch(pyarrow.record_batch([ordinals, *arrays], names=names))
        self._written += rows

    def _reader(self) -> Any:
        import pyarrow

        assert self._file is not None
        self._file.flush()
        stream = pyarrow.ipc.open_stream(pyarrow.PythonFile(_Place(self._file.fileno()), mode="r"))
        return pyarrow.RecordBatchReader.from_batches(stream.schema, iter(stream))


class _Place(io.RawIOBase):
    """A place of its own in a file that other scans read at the same time."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._position = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes."""
        found = os.pread(self._descriptor, size, self._position)
        while 0 < len(found) < size and (
            more := os.pread(self._descriptor, size - len(found), self._position + len(found))
        ):
            found += more
        self._position += len(found)
        return found
