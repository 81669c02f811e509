"""Both runs opened in one database: each in a schema of its own, `old` and `new`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from auditor.database import connect, first_line, no_room
from auditor.decode.folders import open_spill
from auditor.drift.stored import create_run_cases
from auditor.errors import AuditorError, InternalError, LoadError, StoreError
from auditor.model.drift import ColumnKey, key_of
from auditor.model.run import Column, Run
from auditor.spec.models import AuditSpec
from auditor.store.reading import StoredRun

Name = Literal["old", "new", "old_again", "new_again"]


@dataclass(frozen=True)
class Side:
    """A run with its cases in the schema `name` of a database."""

    name: Name
    run: Run
    folder: Path
    spec: AuditSpec  # cases and fields alone

    @property
    def columns(self) -> dict[ColumnKey, Column]:
        """The columns by what identifies them."""
        return {key_of(column): column for column in self.run.columns}

    def readers(self, field: str) -> list[str]:
        """Give the consumers of a field in the order of the letters of its patterns."""
        return list(dict.fromkeys(key.consumer for key in self.columns if key.field == field and key.is_whole))

    def number(self, consumer: str) -> int:
        """Give the number of a consumer in the columns of `outcomes`."""
        return [one.name for one in self.run.consumers].index(consumer)


@contextmanager
def opened(runs: Sequence[tuple[Name, StoredRun]]) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[Side]]]:
    """Open runs side by side; StoreError names the one whose folder does not hold what it should, or goes meanwhile."""
    with ExitStack() as folders, closing(connect(open_spill(folders))) as connection:
        try:
            yield connection, [_open(connection, name, stored) for name, stored in runs]
        except (duckdb.Error, MemoryError, OSError) as error:
            lack = no_room(error)
            if lack is None and isinstance(error, (duckdb.IOException, FileNotFoundError)):
                raise _gone(runs, error) from error
            if lack is None:
                raise
            raise AuditorError(
                f"the runs could not be compared: {lack.cause}\n  seen:  {first_line(error)}\n  next:  {lack.step}"
            ) from error


def _gone(runs: Sequence[tuple[Name, StoredRun]], error: Exception) -> StoreError:
    """Say that files were there and are no more: who serves runs reads them while others remove some."""
    named = " or ".join(dict.fromkeys(stored.run.run_id for _, stored in runs))
    return StoreError(
        f"run {named}: files of it were removed or changed while it was read\n"
        f"  seen:  {first_line(error)}\n  next:  ask again; if it is gone, name another run"
    )


def _open(connection: duckdb.DuckDBPyConnection, name: Name, stored: StoredRun) -> Side:
    connection.execute(f"CREATE SCHEMA {name}")
    connection.execute(f"USE {name}")
    try:
        spec = create_run_cases(connection, stored.run, stored.folder)
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, InternalError, LoadError, StoreError) as error:
        raise StoreError(
            f"the {name.partition('_')[0]} run {stored.run.run_id} cannot be compared: its folder does not hold what it"
            f" should\n  where: {stored.folder}\n  seen:  {first_line(error)}\n"
            "  cause: it was stored by an older version, or its files were changed or removed\n"
            "  next:  run that audit again"
        ) from error
    finally:
        connection.execute("USE main")
    return Side(name, stored.run, stored.folder, spec)
