"""The MariaDB adapter against a private MariaDB, asked about one row of a table at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.model.environment import Environment
from auditor.worker.trouble import Broken, Ended, StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

STRINGS = [
    *("2024-03-01", "2024-3-1", "20240301", "01/03/2024", "24-03-01", "2024-02-30", "0000-00-00", "2024-03-01 10:00"),
    *("2024-03-01T23:30:00-08:00", "2024-03-01 to 2025", "1709251200", "N/A", "", " ", "1.005", "1,234.56", "12abc"),
    *("1e3", "-0.00", "9223372036854775808", "true", "٣", "é", "'", '"', "\\", "%s", "{value}", "a\0b", "x' value: 'y"),
    *("'); DROP TABLE t; --", "\u20ac" * 60, "2" * 200, "a\nb"),
]

EXPRESSIONS = {
    "date": "cast({value} as date)",
    "moment": "cast({value} as datetime(3))",
    "number": "cast({value} as decimal(18,2))",
    "double": "cast({value} as double)",
    "whole": "cast({value} as signed)",
    "truth": "{value} is true",
    "parsed": "str_to_date({value}, '%d/%m/%Y')",
    "trimmed": "cast(trim({value}) as date) -- as the load does",
    "text": "nullif(upper({value}), '')",
}

LOADS = {"date": "DATE", "number": "DECIMAL(18,2)", "whole": "TINYINT", "text": "VARCHAR(10)"}


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Any]:
    need("mariadb")
    adapter = adapter_of("mariadb", EXPRESSIONS, "date")
    yield adapter
    adapter.close()


def own(message: str) -> str:
    """Leave out the place in a table."""
    return message.split(" for column ")[0].split(" at row ")[0]


def alone(connection: Any, expression: str, value: str) -> tuple[str | None, list[str]]:
    """Ask MariaDB about a table of one row: its text of the value, and its warnings."""
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE IF NOT EXISTS t (value LONGTEXT CHARACTER SET utf8mb4)")
    cursor.execute("TRUNCATE TABLE t")
    cursor.execute("INSERT INTO t VALUES (%s)", [value])
    sql = expression.replace("{value}", "value")
    cursor.execute(f"SELECT CAST(x AS CHAR) FROM (SELECT (\n{sql}\n) AS x FROM t) AS r")
    ((text,),) = cursor.fetchall()
    cursor.execute("SHOW WARNINGS")
    return text, [own(row[2]) for row in cursor.fetchall()]


@pytest.mark.parametrize("field", EXPRESSIONS)
def test_a_column_reads_and_warns_as_each_of_its_rows_does_alone(mariadb: Any, field: str) -> None:
    for value, (status, text, warning) in zip(STRINGS, decode(mariadb, field, STRINGS), strict=True):
        written, warned = alone(mariadb.engine.connection, EXPRESSIONS[field], value)
        assert all(one in warning for one in warned) and bool(warned) == bool(warning), value
        if written is None:
            assert status == "null", value
        elif status == "rejected":
            assert text.startswith(f"unexpected type: {written[:200]} of type") and "00-00" in written, value
        elif field in ("number", "double", "whole", "truth"):
            assert float(text.partition(":")[2]) == float(written), value
        else:
            assert text.partition(":")[2].replace("T", " " if field == "moment" else "T")[:23] == written[:23], value


def test_order_and_company_change_nothing(mariadb: Any) -> None:
    for field in ("number", "trimmed"):
        together = decode(mariadb, field, STRINGS)
        assert decode(mariadb, field, STRINGS[::-1]) == together[::-1]
        assert [decode(mariadb, field, [value])[0] for value in STRINGS] == together


def test_a_number_made_of_no_number_carries_the_engines_warning(mariadb: Any) -> None:
    assert decode(mariadb, "number", ["N/A", "12.5"]) == [
        ("value", "decimal:0.00", "Warning 1292 Truncated incorrect DECIMAL value: 'N/A'"),
        ("value", "decimal:12.50", ""),
    ]


@pytest.mark.parametrize("mode", ["STRICT_TRANS_TABLES", "", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"])
def test_each_value_is_inserted_as_it_is_alone(mode: str) -> None:
    import pymysql

    need("mariadb")
    adapter = adapter_of("mariadb", LOADS, "date", statement="insert", settings={"sql_mode": mode})
    assert adapter.ready()["settings"]["sql_mode"] == mode
    cursor = adapter.engine.connection.cursor()
    for field, kind in LOADS.items():
        cursor.execute("DROP TEMPORARY TABLE IF EXISTS t")
        cursor.execute(f"CREATE TEMPORARY TABLE t (v {kind})")
        for value, (status, text, warning) in zip(STRINGS, decode(adapter, field, STRINGS), strict=True):
            cursor.execute("DELETE FROM t")
            try:
                cursor.execute("INSERT INTO t VALUES (%s)", [value])
            except pymysql.Error as error:
                assert (status, own(text)) == ("rejected", own(f"{error.args[0]} {error.args[1]}")), value
                continue
            cursor.execute("SHOW WARNINGS")
            warned = [own(row[2]) for row in cursor.fetchall()]
            assert all(one in warning for one in warned) and bool(warned) == bool(warning), value
            cursor.execute("SELECT CAST(v AS CHAR) FROM t")
            ((written,),) = cursor.fetchall()
            assert written in text, value
    adapter.close()


@pytest.mark.parametrize(
    ("target", "statement", "seen"),
    [
        ("cast({value} as", "cast", "syntax"),
        ("{value}, 1", "cast", "should contain 1 column"),
        ("max({value})", "cast", "1 rows for 2 values"),
        ("{value}) FROM t; DROP TABLE t; --", "cast", "syntax"),
        ("DATE, w INT", "insert", "2 columns"),
    ],
)
def test_what_is_no_expression_of_one_value_is_refused_at_the_start(target: str, statement: str, seen: str) -> None:
    need("mariadb")
    with pytest.raises(StartError) as caught:
        adapter_of("mariadb", {"f": target}, statement=statement)
    assert seen in caught.value.seen


def test_the_clock_and_zone_of_a_private_server_are_those_of_the_environment(tmp_path: Path) -> None:
    need("mariadb")
    now = "case when {value} = 'now' then now() else cast({value} as datetime) end"
    elsewhere = Environment("there", clock="2031-07-09T00:00:00+00:00", zone="America/Los_Angeles")
    for environment, seen in ((None, "2024-03-08T09:05:07"), (elsewhere, "2031-07-08T17:00:00")):
        with open_consumer(
            tmp_path, {"f": now}, adapter="sql", engine="mariadb", environment=environment, types={"f": "datetime"}
        ) as session:
            assert session.readiness.not_fixed == ()
            found = session.decode("f", quoted(["now", "x"]))
            assert shown(found) == [f"datetime:{seen}", "null: NULL"]
            assert found.engine_warnings == {1: "Warning 1292 Incorrect datetime value: 'x'"}


@pytest.mark.parametrize("code", [1021, 1114])
def test_a_server_that_fails_refuses_no_value(mariadb: Any, code: int) -> None:
    """A full disk, a full table: the same whatever the value is."""
    mariadb.engine.run("DROP FUNCTION IF EXISTS test.failing")
    mariadb.engine.run(
        "CREATE FUNCTION test.failing(v TEXT) RETURNS DATE BEGIN IF v = 'x' THEN "
        f"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'no space left'; END IF; RETURN v; END"
    )
    reader = mariadb.engine.reader("failing", "test.failing({value})", "date")
    assert reader.read(["2024-03-01"]).texts == ["2024-03-01"]
    with pytest.raises(Broken, match=f"{code} no space left"):
        reader.read(["2024-03-01", "x"])


def test_a_server_that_is_gone_is_no_rejection() -> None:
    need("mariadb")
    adapter = adapter_of("mariadb", {"f": "cast({value} as date)"})
    folder = Path(adapter.engine.server.folder)
    adapter.engine.server.close()
    with pytest.raises(Ended, match="MariaDB"):
        adapter.decode_batch("f", ["2024-03-01"])
    assert not folder.exists()


def test_a_server_that_refuses_is_named_without_its_password() -> None:
    need("mariadb")
    for url in ("mysql://root:hunter2@127.0.0.1:1/wh", "http://root:hunter2@127.0.0.1/wh"):
        start = time.monotonic()
        with pytest.raises(StartError) as caught:
            adapter_of("mariadb", {"f": "cast({value} as date)"}, connection=url)
        assert time.monotonic() - start < 12
        assert "hunter2" not in caught.value.seen + caught.value.tried


def test_wrong_credentials_are_told(tmp_path: Path) -> None:
    need("mariadb")
    private = adapter_of("mariadb", {"f": "cast({value} as date)"})
    socket = Path(private.engine.server.folder) / "socket" / "s"
    with pytest.raises(StartError, match="Access denied"):
        adapter_of("mariadb", {"f": "{value}"}, connection=f"mysql://nobody:hunter2@x/test?unix_socket={socket}")
    user = adapter_of("mariadb", {"f": "upper({value})"}, connection=f"mysql://root@x/test?unix_socket={socket}")
    assert decode(user, "f", ["a"]) == [("value", "text:A", "")]
    private.close()
