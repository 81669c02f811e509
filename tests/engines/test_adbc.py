"""The ADBC adapter over connections of its own: SQLite's, DuckDB's and a PostgreSQL that runs."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from auditor.worker.trouble import Ended, StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

SQLITE = "adbc_driver_sqlite::memory:"
DUCKDB = 'adbc_driver_duckdb:{"path": ":memory:"}'

HOSTILE = ["2024-03-01", "N/A", "'); DROP TABLE x; --", "$1", "?", ":v0", "%s", "é", "", "\u202e", "01/03/2024"]


@pytest.fixture
def running() -> Any:
    """Start a PostgreSQL, and give its adapter and how it is reached."""
    need("adbc")
    need("postgres")
    private = adapter_of("postgres", {"f": "{value}::date"})
    socket = os.path.join(private.engine.server.folder, "socket")
    yield private, f"adbc_driver_postgresql:postgresql://auditor:hunter2@/postgres?host={socket}"
    private.close()


def test_values_are_bound_and_each_has_its_own_fate() -> None:
    need("adbc")
    reads = {"d": "date({value})", "j": "json_extract({value}, '$.a:b') -- 100 %", "n": "cast({value} as real)"}
    adapter = adapter_of("adbc", reads, {"d": "date", "j": "identifier", "n": "decimal"}, connection=SQLITE)
    with sqlite3.connect(":memory:") as engine:
        alone = [engine.execute("SELECT date(?)", [value]).fetchone()[0] for value in HOSTILE]
    assert [found[:2] for found in decode(adapter, "d", HOSTILE)] == [
        ("null", "NULL") if text is None else ("value", f"date:{text}") for text in alone
    ]
    many = ['{"a:b": 7}' if number % 3 else "no json" for number in range(250)]
    for number, (status, text, _) in enumerate(decode(adapter, "j", many)):
        assert (status, text) == ("value", "text:7") if number % 3 else "malformed JSON" in text
    assert [found[1] for found in decode(adapter, "n", ["1.5", "x"])] == ["decimal:1.5", "decimal:0.0"]
    assert adapter.ready()["settings"]["engine"].startswith("sqlite 3.")


def test_a_postgres_answers_over_adbc_as_over_its_own_driver(running: Any) -> None:
    private, connection = running
    values = [*HOSTILE, "infinity", "10000-01-01", "0044-03-15 BC", "March 1, 2024", *map(str, range(120))]
    adapter = adapter_of("adbc", {"f": "{value}::date"}, connection=connection)
    assert adapter.engine.name.startswith("postgresql ")
    found = decode(adapter, "f", values)
    socket = os.path.join(private.engine.server.folder, "socket")
    with psycopg.connect(host=socket, dbname="postgres", user="auditor", autocommit=True) as engine:
        for value, (status, text, _) in zip(values, found, strict=True):
            try:
                [stored] = engine.execute("SELECT (%s::text)::date::text", [value]).fetchone() or [None]
            except psycopg.Error as error:
                assert status == "rejected" and (error.diag.message_primary or "?") in text, value
                continue
            assert text.partition(":")[2] == stored or stored in text, value


def test_a_warehouse_is_asked_as_it_is(running: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, connection = running
    monkeypatch.setenv("WAREHOUSE", connection)
    consumer: dict[str, Any] = {"adapter": "sql", "engine": "adbc", "connection": "env:WAREHOUSE"}
    with open_consumer(
        tmp_path, {"f": "{value}::date"}, types={"f": "date"}, settings={"DateStyle": "ISO, DMY"}, **consumer
    ) as session:
        found = shown(session.decode("f", quoted(["01/03/2024", "2024-02-30", "2024-03-01"])))
        assert found[::2] == ["date:2024-03-01", "date:2024-03-01"]
        assert found[1].startswith("rejected: ") and "out of range" in found[1]
        assert {"clock", "zone", "locale"} <= set(session.readiness.not_fixed)
        assert "hunter2" not in repr(session.readiness)
    adapter = adapter_of("adbc", {"f": "{value}::date"}, connection=connection)
    private.close()
    with pytest.raises(Ended, match="postgresql"):
        adapter.decode_batch("f", ["2024-03-01"])


def test_a_statement_that_took_too_long_has_rejected_nothing(running: Any) -> None:
    _, connection = running
    slow = "CASE WHEN {value} = 'slow' THEN pg_sleep(5)::text ELSE {value} END"
    adapter = adapter_of(
        "adbc", {"f": slow}, "identifier", connection=connection, settings={"statement_timeout": "200"}
    )
    statuses = [found[0] for found in decode(adapter, "f", ["a", "slow", "b"])]
    assert statuses == ["value", "timed_out", "value"]


def test_the_options_of_a_driver_are_a_json_object() -> None:
    need("adbc")
    adapter = adapter_of("adbc", {"f": "cast({value} as date)"}, connection=DUCKDB)
    found = decode(adapter, "f", ["2024-03-01", "N/A"])
    assert found[0][:2] == ("value", "date:2024-03-01") and found[1][0] == "rejected"
    assert adapter.engine.name.startswith("duckdb ")


@pytest.mark.parametrize(
    ("connection", "seen"),
    [
        ("adbc_driver_postgresql:postgresql://auditor:hunter2@127.0.0.1:1/wh", "refused"),
        ("adbc_driver_nosuch:nosuch://auditor:hunter2@127.0.0.1/wh", "adbc_driver_nosuch"),
        ("json:hunter2", "json"),
        ('adbc_driver_postgresql:{"uri": "hunter2"', "no JSON"),
        (
            "adbc_driver_postgresql:"
            + json.dumps({"uri": "postgresql://auditor@127.0.0.1:1/wh", "password": "hunter2"}),
            "",
        ),
        ("hunter2", ""),
    ],
)
def test_a_warehouse_that_does_not_answer_is_named_without_its_password(connection: str, seen: str) -> None:
    need("adbc")
    with pytest.raises(StartError) as caught:
        adapter_of("adbc", {"f": "{value}"}, connection=connection)
    assert seen in caught.value.seen + caught.value.tried
    assert "hunter2" not in caught.value.seen + caught.value.tried


@pytest.mark.parametrize("target", ["cast({value} as", "nosuch({value})", "max({value})"])
def test_what_is_no_expression_of_one_value_is_refused_at_the_start(target: str) -> None:
    need("adbc")
    with pytest.raises(StartError):
        adapter_of("adbc", {"f": target}, connection=SQLITE)
