"""Strings, expressions and servers that try to have one value pay for another, or for the machine."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.worker import server as server_module
from auditor.worker.trouble import Broken, Ended, StartError
from tests.engines.adapters import adapter_of, decode, need

#: What a CSV, a driver or a joint of texts could take for its own.
HOSTILE = [
    "a\rb",
    "abc\r",
    "abc\r\n",
    "\r",
    "a\n\\.\nb",
    "\\.",
    "\\N",
    "a\tb",
    'a"b',
    '"',
    "a,b",
    " x ",
    "\\",
    "é",
    "🧾",
    "\x1e",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    need("postgres")
    adapter = adapter_of("postgres", {"f": "{value}::date"})
    yield adapter.engine
    adapter.close()


def connected(server: Any, target: str, kind: str = "identifier", database: str = "postgres", **config: Any) -> Any:
    """Open another session on the server."""
    url = f"host={server.server.folder}/socket user=auditor dbname={database}"
    return adapter_of("postgres", {"f": target}, kind, connection=url, **config)


@pytest.mark.parametrize("statement", ["copy", "insert"])
def test_a_loaded_text_is_stored_as_it_is_whatever_it_holds_and_whoever_is_beside_it(
    server: Any, statement: str
) -> None:
    adapter = connected(server, "text", statement=statement)
    for texts in (HOSTILE, HOSTILE[::-1], *([text] for text in HOSTILE)):
        assert decode(adapter, "f", texts) == [("value", "text:" + text, "") for text in texts]


def test_a_row_that_copy_refuses_is_the_one_that_its_own_line_names(server: Any) -> None:
    server.run(
        "CREATE FUNCTION no_bad(t text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN\n\n\n"
        "IF t = 'bad' THEN RAISE EXCEPTION 'no bad'; END IF; RETURN true; END$$"
    )
    server.run("CREATE DOMAIN no_bad_text AS text CHECK (no_bad(VALUE))")
    adapter = connected(server, "no_bad_text", statement="copy")
    texts = [*(f"line\nfeeds {number}" for number in range(6)), "bad", "x", "y"]
    found = decode(adapter, "f", texts)
    assert found == [
        ("rejected", "P0001 no bad", "") if text == "bad" else ("value", "text:" + text, "") for text in texts
    ]


def test_a_row_for_which_copy_takes_too_long_is_late_and_alone(server: Any) -> None:
    server.run(
        "CREATE FUNCTION not_slow(t text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN\n"
        "IF t = 'slow' THEN PERFORM pg_sleep(20); END IF; RETURN true; END$$"
    )
    server.run("CREATE DOMAIN slow_text AS text CHECK (not_slow(VALUE))")
    adapter = connected(server, "slow_text", statement="copy", settings={"statement_timeout": "1s"})
    found = decode(adapter, "f", ["a", "b", "slow", "c"])
    assert [status for status, _, _ in found] == ["value", "value", "timed_out", "value"]


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
@pytest.mark.parametrize(("statement", "target"), [("cast", "{value}::text"), ("insert", "text"), ("copy", "text")])
def test_a_database_of_another_encoding_is_spoken_to_in_utf_8(
    server: Any, encoding: str, statement: str, target: str
) -> None:
    name = f"in_{encoding}_{statement}".lower()
    server.run(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")
    found = decode(connected(server, target, database=name, statement=statement), "f", ["a", "é", "€", ""])
    if statement == "copy":  # an empty text that is not in quotes is NULL
        assert found.pop()[0] == "null"
    expected = ["value", "value", "value" if encoding == "SQL_ASCII" else "rejected", "value"][: len(found)]
    assert [status for status, _, _ in found] == expected
    assert [text for status, text, _ in found if status == "value"][:2] == ["text:a", "text:é"]
    if encoding == "LATIN1":
        assert "no equivalent in encoding" in found[2][1]


def test_another_encoding_of_the_client_is_refused(server: Any) -> None:
    with pytest.raises(StartError, match="UTF-8"):
        connected(server, "{value}::text", settings={"client_encoding": "LATIN1"})


RAISING = (
    "CREATE FUNCTION raising(t text) RETURNS text LANGUAGE plpgsql AS $$BEGIN\n"
    "IF length(t) = 5 THEN RAISE EXCEPTION 'no luck' USING ERRCODE = t; END IF; RETURN t; END$$"
)


def test_what_the_machine_lacks_refuses_no_value(server: Any) -> None:
    server.run(RAISING)
    adapter = connected(server, "raising({value})")
    assert [status for status, _, _ in decode(adapter, "f", ["a", "22023", "P0001"])] == ["value", *["rejected"] * 2]
    for code in ("53200", "58030"):  # out of memory, an error of the disk
        with pytest.raises(Ended, match="PostgreSQL failed"):
            adapter.decode_batch("f", [code])
    with pytest.raises(Broken) as caught:
        adapter.decode_batch("f", ["a", "53100", "b"])
    assert caught.value.what == "its engine has no room left"


def test_a_warehouse_that_took_too_long_or_lacks_memory_has_rejected_nothing(server: Any) -> None:
    need("sqlalchemy")
    server.run(RAISING.replace("raising", "elsewhere"))
    url = f"postgresql+psycopg://auditor@/postgres?host={server.server.folder}/socket"
    slow = "case when {value} = 'slow' then (select {value} from pg_sleep(20)) else elsewhere({value}) end"
    adapter = adapter_of(
        "sqlalchemy", {"f": slow}, "identifier", connection=url, settings={"statement_timeout": "1000"}
    )
    found = decode(adapter, "f", ["a", "slow", "22023", "b"])
    assert [status for status, _, _ in found] == ["value", "timed_out", "rejected", "value"]
    with pytest.raises(Ended, match="could not do its work"):
        adapter.decode_batch("f", ["53200"])


@pytest.mark.parametrize(
    "expression", ["replace({value}, '\\', '/')", "{value} || '\\:x'", "{value} || ':x::y'", "{value} || '%s %% ?'"]
)
def test_an_expression_reaches_the_warehouse_as_it_is_written(expression: str) -> None:
    need("sqlalchemy")
    texts = ["a\\b", ":x", "", "%"]
    found = decode(adapter_of("sqlalchemy", {"f": expression}, "identifier", connection="sqlite://"), "f", texts)
    sql = f"SELECT {expression.replace('{value}', 'v')} FROM (SELECT CAST(? AS TEXT) AS v)"
    direct = [sqlite3.connect(":memory:").execute(sql, (text,)).fetchone()[0] for text in texts]
    assert found == [("value", "text:" + text, "") for text in direct]


SEVERAL = {
    "datafusion": "unnest(string_to_array({value}, ','))",
    "clickhouse": "arrayJoin(if({value} = '', emptyArrayString(), splitByChar(',', {value})))",
}


@pytest.mark.parametrize("engine", SEVERAL)
def test_rows_that_are_as_many_as_the_values_are_not_theirs_for_that(engine: str) -> None:
    need(engine)
    adapter = adapter_of(engine, {"f": SEVERAL[engine]}, "identifier")
    found = decode(adapter, "f", ["x", "a,b", "", "y"])
    assert [(status, text[:18]) for status, text, _ in found] == [
        ("value", "text:x"),
        ("rejected", "the expression giv"),
        ("rejected", "the expression giv"),
        ("value", "text:y"),
    ]
    adapter.close()


def test_clickhouse_keeps_bytes_apart_that_are_no_text() -> None:
    need("clickhouse")
    adapter = adapter_of("clickhouse", {"f": "substring({value}, 2, 1)"}, "identifier")
    first, second = (text for _, text, _ in decode(adapter, "f", ["é", "ê"]))
    assert first != second
    adapter.close()


def test_a_statement_that_clickhouse_stops_has_rejected_nothing() -> None:
    need("clickhouse")
    slow = "if(sleepEachRow(2) = 0, {value}, '')"
    adapter = adapter_of("clickhouse", {"f": slow}, "identifier", settings={"max_execution_time": "1"})
    assert [status for status, _, _ in decode(adapter, "f", ["a"])] == ["timed_out"]
    adapter.close()


def test_an_integer_that_sqlite_cuts_or_holds_back_carries_a_warning() -> None:
    texts = ["3", "3.0", "-0", "3.7", "1e3", "9223372036854775808", "12 EUR"]
    found = decode(adapter_of("sqlite", {"f": "cast({value} as integer)"}, "integer"), "f", texts)
    direct = sqlite3.connect(":memory:")
    values = [direct.execute("SELECT CAST(? AS INTEGER)", (text,)).fetchone()[0] for text in texts]
    assert [text for _, text, _ in found] == [f"int:{value}" for value in values]
    assert [bool(warning) for _, _, warning in found] == [False, False, False, True, True, True, True]
    assert found[3][2] == "gave 3 for 3.7, and no error"


@pytest.mark.parametrize("target", ["INTEGER PRIMARY KEY", "INTEGER UNIQUE", "TEXT PRIMARY KEY"])
def test_a_key_whose_values_are_in_each_others_way_is_refused(target: str) -> None:
    with pytest.raises(StartError, match="the column is a key"):
        adapter_of("sqlite", {"f": target}, "integer", statement="insert")


@pytest.mark.parametrize("mode", ["", "STRICT_ALL_TABLES"])
def test_a_private_mariadb_stores_every_character(mode: str) -> None:
    need("mariadb")
    adapter = adapter_of("mariadb", {"f": "varchar(20)"}, "identifier", statement="insert", settings={"sql_mode": mode})
    assert decode(adapter, "f", HOSTILE) == [("value", "text:" + text, "") for text in HOSTILE]
    adapter.close()


def test_a_table_of_mariadb_that_is_full_ends_the_audit() -> None:
    need("mariadb")
    adapter = adapter_of(
        "mariadb",
        {"f": "varchar(1000)"},
        "identifier",
        statement="insert",
        settings={"default_tmp_storage_engine": "MEMORY", "max_heap_table_size": "16384"},
    )
    with pytest.raises(Broken) as caught:
        adapter.decode_batch("f", ["a" * 900] * 40)
    assert "full" in caught.value.seen
    adapter.close()


def test_a_server_that_waits_for_ever_is_ended_and_its_last_word_told(monkeypatch: pytest.MonkeyPatch) -> None:
    need("postgres")
    monkeypatch.setattr(server_module, "START", 1.5)
    with tempfile.TemporaryDirectory() as place:  # the server's own user has to reach it
        folder = Path(place)
        folder.chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", place)
        for name, does in (("initdb", "exit 0"), ("postgres", "echo waiting for room on the disk >&2; sleep 600")):
            (folder / name).write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "postgres 0" && exit\n{does}\n')
            (folder / name).chmod(0o755)
        with pytest.raises(StartError, match="it printed last: waiting for room on the disk"):
            adapter_of("postgres", {"f": "{value}::date"}, server=place)
        assert list(folder.glob("auditor-worker-server-*")) == []
