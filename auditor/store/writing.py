"""Write a run aside and rename it whole."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import duckdb

from auditor.database import first_line, no_room
from auditor.errors import StoreError
from auditor.model.document import to_json_text
from auditor.model.run import Run
from auditor.spec.models import AuditSpec
from auditor.sql import literal

#: What a raw value is elsewhere, where that is not what it is in the base: in which environment, or in which company.
_MOVES = """
    WITH found AS (
        SELECT unit, consumer, string_agg(DISTINCT code, ' ' ORDER BY code) AS codes FROM movers GROUP BY ALL
    )
    SELECT unit, consumer, codes, environment, s, v, k, error
    FROM (FROM moves UNION ALL FROM shown_moves) FULL JOIN found USING (unit, consumer)
    UNION ALL SELECT * FROM neighbour_moves
    ORDER BY unit, consumer, codes, environment"""

#: Tables of a run. `pairs` has the verdicts and points into `outcomes`, which has the raw values and every decoding.
TABLES = {
    "pairs": "SELECT * FROM judged",
    "outcomes": "SELECT * FROM outcomes",
    "faults": "SELECT * FROM faults",
    "warnings": "SELECT * FROM warnings",
    "moves": _MOVES,
}

#: The folder of the input files in a run, and the file that says how they are read: cases and fields of the spec.
SOURCES = "sources"
CONTRACT = f"{SOURCES}/contract.json"

_NUMBER = re.compile(r"^\d{3,}-")

_PARTIAL = re.compile(r"\.partial-(\d+)-")


def write_run(
    connection: duckdb.DuckDBPyConnection,
    run: Run,
    runs_folder: Path,
    spec: AuditSpec,
    sources: Sequence[Path],
    texts: Mapping[str, str] = {},
) -> Path:
    """Write the run with its tables, input files and further `texts` (by name) under `runs_folder`; gives its folder.

    Raises StoreError (disk full, no permission) and leaves nothing behind then.
    """
    final = runs_folder / run.run_id
    partial = runs_folder / f".partial-{os.getpid()}-{uuid4().hex}"
    try:
        with contextlib.ExitStack() as failed:
            failed.callback(shutil.rmtree, partial, ignore_errors=True)
            runs_folder.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(runs_folder)
            partial.mkdir()
            _write_tables(connection, partial)
            _copy_sources(partial / SOURCES, spec.file, sources)
            _write_durably(partial / CONTRACT, _contract_text(spec))
            for name, text in texts.items():
                _write_durably(partial / name, text)
            _write_durably(partial / "run.json", to_json_text(run))
            _replace(partial, final)
            failed.pop_all()
    except (OSError, duckdb.Error) as error:
        raise StoreError(_unwritable(final, error)) from error
    return final


def _contract_text(spec: AuditSpec) -> str:
    """Give cases and fields of the spec, and how each consumer is asked."""
    contract = spec.model_dump(mode="json", include={"cases", "fields", "not_judged"})
    contract["consumers"] = {
        name: {"receives": consumer.receives, "batch": consumer.batch} for name, consumer in spec.consumers.items()
    }
    return json.dumps(contract, indent=2, ensure_ascii=False) + "\n"


def _replace(partial: Path, final: Path) -> None:
    """Put the run in its place; an equal run that is there already (the same second, the same content) goes after."""
    if final.exists():
        old = partial.with_name(f"{partial.name}-old")
        final.rename(old)
        partial.rename(final)
        shutil.rmtree(old)
    else:
        partial.rename(final)


def _write_tables(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    for name, query in TABLES.items():
        path = literal(str(folder / f"{name}.parquet"))
        # Texts are mostly distinct: looking for a dictionary of them would take a third of the time.
        options = "FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT 100"
        connection.execute(f"COPY ({query}) TO {path} ({options})")


def _copy_sources(folder: Path, spec_file: Path, sources: Sequence[Path]) -> None:
    """Keep the input as it was, so that a later parser can read the same raw outputs again."""
    folder.mkdir()
    if spec_file.is_file():
        shutil.copyfile(spec_file, folder / "audit.toml")
    for number, source in enumerate(sources):
        # What is itself kept by a run has its number already.
        name = _NUMBER.sub("", source.name) if source.parent.name == SOURCES else source.name
        shutil.copyfile(source, folder / f"{number:03d}-{name}")


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove_abandoned(runs_folder: Path) -> None:
    """Remove what killed runs left: folders that were never renamed and whose process is gone."""
    for folder in runs_folder.glob(".partial-*"):
        match = _PARTIAL.match(folder.name)
        if match is not None and not _is_alive(int(match.group(1))):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True


def _unwritable(folder: Path, error: Exception) -> str:
    lack = no_room(error)
    cause, step = "the disk is full, or the folder may not be written", "free space or permissions there and run again"
    if lack is not None and lack.what == "memory":
        cause, step = lack.cause, lack.step
    return (
        f"the run could not be written to {folder}\n"
        f"  seen:  {first_line(error)}\n"
        f"  cause: {cause}\n"
        f"  next:  {step}; nothing half-written was left"
    )
