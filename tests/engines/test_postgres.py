"""The PostgreSQL adapter against a private PostgreSQL, asked about one row of a table at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ConsumerError
from auditor.model.environment import Environment
from auditor.worker.trouble import Broken, Ended, StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

STRINGS = [
    *(
        "2024-03-01",
        "2024-3-1",
        "03/01/2024",
        "13/01/2024",
        "March 1, 2024",
        "2024-02-30",
        "infinity",
        "epoch",
        "24-03-01",
    ),
    *(
        "2024-03-01T23:30:00-08:00",
        "2024-03-01 10:00:00.5",
        "10000-01-01",
        "0044-03-15 BC",
        "12:30",
        "N/A",
        "",
        " ",
        "true",
    ),
    *(
        "tr",
        "1.005",
        "1,234.56",
        "1e3",
        "NaN",
        "0x1F",
        "1_000",
        "007",
        "9223372036854775808",
        "é",
        "e\u0301",
        "\u20ac" * 200,
    ),
    *("'", '"', "%s", "{value}", "$auditor$", "'); DROP TABLE t; --", "\\", "a\nb", "\u202eabc", "\N{MINUS SIGN}5"),
]

EXPRESSIONS = {
    "date": "cast({value} as date)",
    "moment": "{value}::timestamp",
    "instant": "{value}::timestamptz",
    "number": "cast({value} as numeric(18, 2))",
    "double": "cast({value} as double precision)",
    "whole": "cast({value} as bigint)",
    "truth": "cast({value} as boolean)",
    "parsed": "to_date({value}, 'DD/MM/YYYY')",
    "cleaned": "nullif(regexp_replace({value}, '[^0-9.%-]', '', 'g'), '')::numeric",
    "text": "nullif(trim({value}), '') -- 100 % of them",
    "chosen": "case when {value} = 'N/A' then null else {value}::date end",
    "length": "length({value})",
    "fixed": "{value}::varchar(3)",
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    need("postgres")
    adapter = adapter_of("postgres", EXPRESSIONS, "date", settings={"DateStyle": "ISO, DMY"})
    yield adapter
    adapter.close()


def alone(connection: Any, expression: str, value: str) -> tuple[str, str | None]:
    """Ask PostgreSQL about a table of one row: `value` and its text, `null`, or `rejected` and the message."""
    import psycopg

    connection.execute("CREATE TEMPORARY TABLE IF NOT EXISTS t (value text)")
    connection.execute("TRUNCATE t")
    connection.execute("INSERT INTO t VALUES (%s)", [value])
    sql = expression.replace("{value}", "value")
    try:
        (text,) = connection.execute(f"SELECT CAST((\n{sql}\n) AS text) FROM t").fetchone()
    except psycopg.Error as error:
        return "rejected", error.diag.message_primary
    return ("null", None) if text is None else ("value", text)


def plain(text: str) -> str:
    """Leave out what the ISO form adds."""
    moment = (
        text.replace("T", " ").removesuffix(":00") if text[:1].isdigit() and "+" in text else text.replace("T", " ")
    )
    return moment.replace(".500000", ".5")


@pytest.mark.parametrize("field", EXPRESSIONS)
def test_a_column_reads_as_each_of_its_rows_does_alone(postgres: Any, field: str) -> None:
    for value, (status, text, _) in zip(STRINGS, decode(postgres, field, STRINGS), strict=True):
        expected, written = alone(postgres.engine.connection, EXPRESSIONS[field], value)
        if status == "rejected" and text.startswith("unexpected type: "):
            assert expected == "value" and not fits(str(written)), value
        elif expected == "rejected":
            assert status == "rejected" and str(written)[:100].rstrip("\ufffd") in text, value
        elif expected == "null" or (written == "NaN" and field in ("number", "double")):
            assert status == "null", value
        elif field == "truth":
            assert text == "bool:" + str(written), value
        elif field in ("number", "double", "cleaned"):
            assert float(text.partition(":")[2]) == float(str(written)), value
        elif text.startswith("text:"):
            assert text == f"text:{written}", value
        else:
            assert plain(text.partition(":")[2]) == plain(str(written)), value


def fits(written: str) -> bool:
    """Say whether a date of Python could be what the engine wrote."""
    return "BC" not in written and "inf" not in written and written[4:5] == "-"


def test_order_and_company_change_nothing(postgres: Any) -> None:
    together = decode(postgres, "date", STRINGS)
    assert decode(postgres, "date", STRINGS[::-1]) == together[::-1]
    assert [decode(postgres, "date", [value])[0] for value in STRINGS] == together


def test_what_is_no_text_costs_itself_alone(postgres: Any) -> None:
    found = decode(postgres, "date", ["2024-03-01", "a\0b", "\ud800", "2024-03-02"])
    assert [status for status, _, _ in found] == ["value", "rejected", "rejected", "value"]


@pytest.mark.parametrize("style", ["ISO, DMY", "SQL, DMY", "German, DMY", "Postgres, DMY"])
def test_a_date_is_written_in_iso_form_whatever_the_session_writes(style: str) -> None:
    need("postgres")
    reads = {"read": "{value}::date", "written": "{value}::date::text"}
    adapter = adapter_of("postgres", reads, "date", settings={"DateStyle": style})
    assert decode(adapter, "read", ["2024-03-01"]) == [("value", "date:2024-03-01", "")]
    styles = {"ISO": "2024-03-01", "SQL": "01/03/2024", "German": "01.03.2024", "Postgres": "01-03-2024"}
    assert decode(adapter, "written", ["2024-03-01"]) == [("value", "text:" + styles[style.split(",")[0]], "")]
    assert adapter.ready()["settings"]["DateStyle"] == style
    adapter.close()


@pytest.mark.parametrize("statement", ["insert", "copy"])
def test_values_are_loaded_into_a_column(statement: str) -> None:
    need("postgres")
    adapter = adapter_of(
        "postgres", {"d": "date", "n": "numeric(6, 2)", "t": "varchar(3)"}, "date", statement=statement
    )
    values = ["2024-03-01", "2024-02-30", "", 'a"b', "x,y", "a\nb", "1.005", "12345.67"]
    connection = adapter.engine.connection
    for field, kind in (("d", "date"), ("n", "numeric(6, 2)"), ("t", "varchar(3)")):
        for value, (status, text, _) in zip(values, decode(adapter, field, values), strict=True):
            expected, written = alone(connection, "{value}::" + ("text" if field == "t" else kind), value)
            if field == "t" and len(value) > 3:  # a cast cuts what an assignment refuses
                expected, written = "rejected", "value too long for type character varying(3)"
            if statement == "copy" and not value:  # an empty text that is not in quotes is NULL
                expected = "null"
            assert (status, str(written) in text) == (expected, True) or (status, expected) == ("null", "null"), value
    adapter.close()


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("cast({value} as", "syntax error"),
        ("{value}::date) AS a, ({value}", "2 columns"),
        ("{value}) FROM (SELECT '' AS auditor_value) t; DROP TABLE pg_class; --", "syntax error"),
        ("nosuch({value})", "does not exist"),
    ],
)
def test_what_is_no_expression_of_one_value_is_refused_at_the_start(target: str, seen: str) -> None:
    need("postgres")
    with pytest.raises(StartError) as caught:
        adapter_of("postgres", {"f": target})
    assert seen in caught.value.seen and target in caught.value.tried


def test_a_setting_that_the_server_does_not_take_is_named() -> None:
    need("postgres")
    with pytest.raises(StartError) as caught:
        adapter_of("postgres", {"f": "{value}::date"}, settings={"DateStyle": "no such style"})
    assert "DateStyle" in caught.value.tried and "invalid value" in caught.value.seen


def test_a_value_that_takes_too_long_for_the_server_is_late_and_alone() -> None:
    need("postgres")
    slow = "case when {value} = 'slow' then (select {value}::date from pg_sleep(5)) else {value}::date end"
    adapter = adapter_of("postgres", {"f": slow}, settings={"statement_timeout": "200ms"})
    found = decode(adapter, "f", ["2024-03-01", "slow", "2024-03-02"])
    assert [status for status, _, _ in found] == ["value", "timed_out", "value"]
    adapter.close()


def test_the_clock_of_a_private_server_is_that_of_the_environment(tmp_path: Path) -> None:
    need("postgres")
    elsewhere = Environment("there", clock="2031-07-09T00:00:00+00:00", zone="America/Los_Angeles")
    for environment, today in ((None, "2024-03-08"), (elsewhere, "2031-07-08")):
        with open_consumer(
            tmp_path, {"f": "{value}::date"}, adapter="sql", engine="postgres", environment=environment
        ) as session:
            assert session.readiness.not_fixed == ()
            assert shown(session.decode("f", quoted(["today", "2024-03-01"]))) == [f"date:{today}", "date:2024-03-01"]


def test_a_value_that_ends_its_connection_costs_itself_alone(tmp_path: Path) -> None:
    need("postgres")
    deadly = "case when {value} = 'boom' then pg_terminate_backend(pg_backend_pid())::text else {value} end"
    with open_consumer(tmp_path, {"f": deadly}, adapter="sql", engine="postgres") as session:
        found = shown(session.decode("f", quoted(["a", "boom", "b"])))
    assert found[::2] == ["text:a", "text:b"]
    assert found[1].startswith("crashed: ") and "PostgreSQL" in found[1]


PLAIN = ["date", "timestamp", "timestamp with time zone", "numeric(18, 2)", "double precision", "bigint", "boolean"]


@pytest.mark.parametrize("kind", PLAIN)
def test_a_plain_cast_reads_at_once_what_it_reads_in_a_block_for_each(postgres: Any, kind: str) -> None:
    """Few refusals or many, and a value that holds what joins the others: nothing shows."""
    strings = [text for text in STRINGS if "\0" not in text]
    sound = {"date": "2024-03-01", "bigint": "12", "boolean": "true"}.get(
        kind, "2024-03-01" if "time" in kind else "1.50"
    )
    engine = postgres.engine
    together = engine.reader("together", f"cast({{value}} as {kind})", "date")
    apart = engine.reader("apart", f"cast(({{value}}) as {kind})", "date")
    assert together.bulk or int(engine.one("SHOW server_version_num")) < 160000
    assert apart.bulk == []
    for values in (
        [*strings, *strings],
        [sound] * 99 + ["N/A"],
        [sound] * 50,
        ["N/A\x1e", *strings],
        [""],
        ["", sound],
    ):
        found, wanted = together.read(values), apart.read(values)
        assert (found.texts, found.errors) == (wanted.texts, wanted.errors)


def test_a_cast_that_cuts_is_no_reading_of_a_text(postgres: Any) -> None:
    reader = postgres.engine.reader("cut", "{value}::varchar(3)", "identifier")
    assert reader.bulk == []
    assert reader.read(["abcdef", "ab"]).texts == ["abc", "ab"]


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("53100", Broken, "53100 no space left"),
        ("58030", Ended, "PostgreSQL failed: 58030 no space left"),
        ("57P01", Ended, "PostgreSQL failed: 57P01 no space left"),
    ],
)
def test_a_server_that_fails_refuses_no_value(postgres: Any, code: str, error: type[BaseException], says: str) -> None:
    """A full disk, an input or output error, a shutdown: the same whatever the value is."""
    postgres.engine.run(
        "CREATE OR REPLACE FUNCTION pg_temp.failing(text) RETURNS date LANGUAGE plpgsql AS "
        f"$$ BEGIN IF $1 = 'x' THEN RAISE EXCEPTION 'no space left' USING ERRCODE = '{code}'; END IF; RETURN $1; END $$"
    )
    reader = postgres.engine.reader("failing", "pg_temp.failing({value})", "date")
    assert reader.read(["2024-03-01", "N/A"]).errors == {1: '22007 invalid input syntax for type date: "N/A"'}
    with pytest.raises(error, match=says):
        reader.read(["2024-03-01", "x"])


def test_a_server_that_is_gone_is_no_rejection() -> None:
    need("postgres")
    adapter = adapter_of("postgres", {"f": "{value}::date"})
    adapter.engine.server.close()
    with pytest.raises(Ended, match="PostgreSQL"):
        adapter.decode_batch("f", ["2024-03-01"])


def test_a_server_ends_with_the_process_that_started_it_however_that_ends() -> None:
    need("postgres")
    script = (
        "import time; from tests.engines.adapters import adapter_of\n"
        "adapter = adapter_of('postgres', {'f': '{value}::date'})\n"
        "print(adapter.engine.server.folder, adapter.engine.one('SELECT pg_backend_pid()'), flush=True)\n"
        "adapter.engine.run('SELECT pg_sleep(60)')"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    folder, backend = process.stdout.readline().split()
    assert Path(folder).is_dir()
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 10
    while time.monotonic() < until and (Path(folder).exists() or Path(f"/proc/{backend}").exists()):
        time.sleep(0.05)
    assert not Path(folder).exists()
    assert not Path(f"/proc/{backend}").exists()


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql://auditor:hunter2@127.0.0.1:1/wh", "refused"),
        ("host=127.0.0.1 port=1 password=hunter2", "refused"),
        ("postgresql://auditor:hunter2@127.0.0.1:notaport/wh", "port"),
    ],
)
def test_a_server_that_does_not_answer_is_named_without_its_password(url: str, seen: str) -> None:
    need("postgres")
    with pytest.raises(StartError) as caught:
        adapter_of("postgres", {"f": "{value}::date"}, connection=url)
    error = caught.value
    assert seen in error.seen and "hunter2" not in error.seen + error.tried + error.hint


def test_the_users_own_server_is_named_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("postgres")
    private = adapter_of("postgres", {"f": "{value}::date"})
    socket = os.path.join(private.engine.server.folder, "socket")
    consumer: dict[str, Any] = {"adapter": "sql", "engine": "postgres", "connection": "env:WAREHOUSE_URL"}
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    with pytest.raises(ConsumerError, match="WAREHOUSE_URL is not set"):
        open_consumer(tmp_path, {"f": "{value}::date"}, **consumer)
    for database, password in (("nosuch", "hunter2"), ("postgres", "hunter2")):
        monkeypatch.setenv("WAREHOUSE_URL", f"host={socket} user=auditor dbname={database} password={password}")
        if database == "nosuch":
            with pytest.raises(ConsumerError, match='database "nosuch" does not exist') as caught:
                open_consumer(tmp_path, {"f": "{value}::date"}, **consumer)
            assert password not in str(caught.value)
            continue
        with open_consumer(tmp_path, {"f": "{value}::date"}, **consumer) as session:
            assert shown(session.decode("f", quoted(["2024-03-01"]))) == ["date:2024-03-01"]
            assert "clock" in session.readiness.not_fixed and "locale" in session.readiness.not_fixed
            assert password not in repr(session.readiness)
    private.close()
