"""Columns into and out of DuckDB: plain lists while they are short, Arrow where its import is worth it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Up to here values travel as Python lists (0.7 us each); importing Arrow costs as much as half a million of them.
SHORT = 50_000

#: Up to here they do so even where Arrow is already there.
VERY_SHORT = 1_000

#: Values of a column that are packed at once: bounds the memory of texts in flight.
CHUNK = 262_144

_TYPES = {bool: "BOOLEAN", int: "BIGINT", str: "VARCHAR"}


class Cells:
    """A column that grows chunk by chunk: long ones are packed as Arrow arrays, a tenth of the size of Python texts."""

    def __init__(self, kind: type[str] | type[int] | type[bool], values: Iterable[Any] = ()) -> None:
        self.kind = kind
        self._open: list[Any] = list(values)
        self._packed: list[Any] = []

    def extend(self, values: Iterable[Any]) -> None:
        """Append values; None stands for NULL."""
        self._open.extend(values)
        while len(self._open) >= CHUNK:
            rest, self._open = self._open[CHUNK:], self._open[:CHUNK]
            self._packed.append(self._array())
            self._open = rest

    def pack(self, array: Any) -> None:
        """Append an Arrow array as it is, to a column of nothing but such arrays."""
        self._packed.append(array.cast(self._type()))

    def __len__(self) -> int:
        """Count the values."""
        return len(self._open) + sum(map(len, self._packed))

    @property
    def is_short(self) -> bool:
        """Whether the column is a plain list still."""
        return not self._packed and _travels_as_list(len(self._open))

    def chunks(self) -> Iterator[list[Any]]:
        """Give the values as lists, one packed chunk at a time."""
        for array in self._packed:
            yield array.to_pylist()
        if self._open or not self._packed:
            yield self._open

    def values(self) -> list[Any]:
        """Give all values as a list."""
        return [value for chunk in self.chunks() for value in chunk]

    def arrow(self) -> Any:
        """Give the column as a chunked Arrow array."""
        import pyarrow as pa

        return pa.chunked_array([*self._packed, self._array()])

    def _array(self) -> Any:
        import pyarrow as pa

        return pa.array(self._open, self._type())

    def _type(self) -> Any:
        import pyarrow as pa

        return {str: pa.string(), int: pa.int64(), bool: pa.bool_()}[self.kind]


def _travels_as_list(values: int) -> bool:
    return values <= (VERY_SHORT if "pyarrow" in sys.modules else SHORT)


@contextmanager
def shown(connection: DuckDBPyConnection, name: str, columns: Mapping[str, Cells]) -> Iterator[None]:
    """Show columns of one length to DuckDB as a table while the block runs."""
    if all(column.is_short for column in columns.values()):
        lists = ", ".join(
            f"unnest($c{i}::{_TYPES[column.kind]}[]) AS {key}" for i, (key, column) in enumerate(columns.items())
        )
        parameters = {f"c{i}": column.values() for i, column in enumerate(columns.values())}
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {lists}", parameters)
        yield
        connection.execute(f"DROP TABLE {name}")
        return
    import pyarrow as pa

    connection.register(name, pa.table({key: column.arrow() for key, column in columns.items()}))
    try:
        yield
    finally:
        connection.unregister(name)


def fetched(
    connection: DuckDBPyConnection, query: str, parameters: Mapping[str, object], rows: int
) -> Iterator[tuple[Sequence[Any], ...]]:
    """Run a query of about `rows` rows; gives its columns, chunk by chunk."""
    if _travels_as_list(rows):
        found = connection.execute(query, dict(parameters)).fetchall()
        if found:
            yield tuple(zip(*found, strict=True))
        return
    for batch in connection.sql(query, params=dict(parameters)).to_arrow_reader(CHUNK):
        yield tuple(column.to_pylist() for column in batch.columns)


def read_columns(
    connection: DuckDBPyConnection,
    query: str,
    parameters: Mapping[str, object],
    rows: int,
    kinds: Mapping[str, type[str] | type[int] | type[bool]],
) -> dict[str, Cells]:
    """Run a query of about `rows` rows; gives its columns, which have the names and kinds of `kinds`."""
    columns = {name: Cells(kind) for name, kind in kinds.items()}
    if _travels_as_list(rows):
        for chunk in fetched(connection, query, parameters, rows):
            for column, values in zip(columns.values(), chunk, strict=True):
                column.extend(values)
        return columns
    for batch in connection.sql(query, params=dict(parameters)).to_arrow_reader(CHUNK):
        for column, array in zip(columns.values(), batch.columns, strict=True):
            column.pack(array)
    return columns
