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

#: Characters up to which they do: a list is copied into the table, which megabytes of text are not worth.
SHORT_TEXT = 16 << 20

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

    @classmethod
    def packed(cls, kind: type[str] | type[int] | type[bool], column: Any) -> Cells:
        """Give an Arrow column, chunked as it may be, as cells, copying nothing."""
        cells = cls(kind)
        column = column.cast(cells._type())
        cells._packed = [column.slice(start, CHUNK) for start in range(0, len(column), CHUNK)]
        return cells

    def __len__(self) -> int:
        """Count the values."""
        return len(self._open) + sum(map(len, self._packed))

    @property
    def is_short(self) -> bool:
        """Whether the column is a plain list still."""
        return not self._packed and _travels_as_list(len(self._open)) and self._is_short_text

    @property
    def _is_short_text(self) -> bool:
        return self.kind is not str or sum(map(len, filter(None, self._open))) <= SHORT_TEXT

    def chunks(self) -> Iterator[list[Any]]:
        """Give the values as lists, one packed chunk at a time."""
        for array in self._packed:
            yield array.to_pylist()
        if self._open or not self._packed:
            yield self._open

    @property
    def chunk_count(self) -> int:
        """Count the chunks; all but the last hold CHUNK values, so that columns of one length have the same."""
        return len(self._packed) + bool(self._open or not self._packed)

    def chunk(self, number: int) -> list[Any]:
        """Give one chunk as a list."""
        chunk: list[Any] = self._packed[number].to_pylist() if number < len(self._packed) else self._open
        return chunk

    def values(self) -> list[Any]:
        """Give all values as a list."""
        return [value for chunk in self.chunks() for value in chunk]

    def spread(self, most: int) -> list[Any]:
        """Give at most so many values, evenly over the column, the first among them.

        >>> Cells(int, range(10)).spread(4)
        [0, 3, 6, 9]
        """
        step = max(1, -(-len(self) // most))
        found: list[Any] = []
        start = 0
        for array in self._packed:
            found += [array[at].as_py() for at in range(-start % step, len(array), step)]
            start += len(array)
        return found + self._open[-start % step :: step]

    def arrow(self) -> Any:
        """Give the column as a chunked Arrow array."""
        import pyarrow as pa

        packed = [*self._packed, self._array()]
        # Arrow itself cuts a column of more than two gigabytes of text.
        return pa.chunked_array(
            [part for one in packed for part in (one.chunks if isinstance(one, pa.ChunkedArray) else [one])]
        )

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
    if _travels_as_list(rows):
        columns = {name: Cells(kind) for name, kind in kinds.items()}
        for chunk in fetched(connection, query, parameters, rows):
            for column, values in zip(columns.values(), chunk, strict=True):
                column.extend(values)
        return columns
    table = connection.sql(query, params=dict(parameters)).to_arrow_reader(CHUNK).read_all()
    return {name: Cells.packed(kind, column) for (name, kind), column in zip(kinds.items(), table.columns, strict=True)}
