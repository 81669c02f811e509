"""The scripts of `auditor record`, run by real engines with clients of their own: the records are as the engine is."""

from __future__ import annotations

import csv
import io
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.decode.records import contract_of
from auditor.record.attempts import COLUMNS
from auditor.record.literals import literal
from auditor.record.script import Script, make_script
from auditor.spec.models import ConsumerSpec
from auditor.worker.recorded_adapter import open_adapter
from auditor.worker.sql_adapter import open_adapter as open_duckdb
from tests.engines.adapters import adapter_of, need
from tests.engines.test_postgres import STRINGS as OF_POSTGRES

STRINGS = [
    *OF_POSTGRES,
    *(
        "2024/03/01",
        "20240301",
        "2024-03",
        "01-Mar-2024",
        "3/1/24",
        "0000-00-00",
        "2024-02-29",
        "1e400",
        "-0",
        "+5",
        "5.",
    ),
    *("yes", "NO", "on", "t", "1", "0", "12:30:00", "2024-03-01 10:00:00", "2024-03-01 10:00:00+02", "null", "NULL"),
    *(
        "it's",
        '"quoted"',
        "\\'",
        "\\\\n",
        "a\r\nb",
        "\ttab",
        "\N{GRINNING FACE}",
        "\x01\x7f\x80",
        "$1 $(x) ${y} &z :w ?",
        "%d",
    ),
    *(
        "\N{RIGHT SINGLE QUOTATION MARK}",
        "日本",
        "\N{NO-BREAK SPACE}1",
        "--",
        "/* */",
        ";",
        "{}",
        "{value}",
        "@x",
        "#",
        "$$",
    ),
]

KINDS = {"date": "date", "moment": "datetime", "number": "decimal", "double": "decimal", "whole": "integer"}
KINDS |= {"truth": "boolean", "text": "identifier", "length": "integer"}

CASTS = {
    "date": "cast({value} as date)",
    "moment": "cast({value} as timestamp)",
    "number": "cast({value} as decimal(18, 2))",
    "double": "cast({value} as double precision)",
    "whole": "cast({value} as bigint)",
    "text": "nullif(trim({value}), '') -- 100 % of them",
    "length": "length({value})",
}

READS = {
    "duckdb": {**CASTS, "double": "{value}::double", "truth": "{value}::bool", "date": "strptime({value}, '%d/%m/%Y')"},
    "postgres": {
        **CASTS,
        "truth": "{value}::boolean",
        "date": "case when {value} = 'N/A' then null else {value}::date end",
    },
    "sqlite": {**CASTS, "date": "date({value})", "moment": "datetime({value})", "text": "json_extract({value}, '$')"},
    "mariadb": {
        **{field: text for field, text in CASTS.items() if field not in ("moment", "double", "whole")},
        "moment": "cast({value} as datetime)",
        "whole": "cast({value} as signed)",
        "double": "json_value({value}, '$')",
        "text": "if({value} = 'true', (select 1 union select 2), {value})",
    },
    "clickhouse": {
        "date": "toDate({value})",
        "moment": "parseDateTimeBestEffort({value}, 'UTC')",
        "number": "toDecimal64({value}, 2)",
        "double": "toFloat64OrNull({value})",
        "whole": "toInt64({value})",
        "text": "nullIf(trim({value}), '')",
        "length": "length({value})",
    },
}

Rows = Iterable[Iterable[Any]]


def consumer_of(engine: str, **spec: Any) -> ConsumerSpec:
    """Describe the consumer that is recorded."""
    described = {"name": "warehouse", "adapter": "recorded", "engine": engine, "results": "warehouse.csv"}
    return ConsumerSpec(**described | {"reads": READS[engine]} | spec)


def in_duckdb(script: Script) -> str:
    with duckdb.connect() as connection:
        for statement in script.statements:
            found = connection.execute(statement)
        return as_csv(found.fetchall())


def as_csv(rows: Rows) -> str:
    """Write a result as a client exports it."""
    out = io.StringIO()
    csv.writer(out).writerows([COLUMNS.upper().split(", "), *rows])
    return out.getvalue()


def in_sqlite(script: Script) -> str:
    done = subprocess.run(
        ["sqlite3", "-csv", "-header", ":memory:"], input=script.text.encode(), capture_output=True, check=False
    )
    return done.stdout.decode()


def in_postgres(script: Script) -> str:
    adapter = adapter_of("postgres", {"one": "{value}"})
    try:
        info = adapter.engine.connection.info
        (Path(info.host) / "script.sql").write_text(script.text)
        command = ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", info.host, "-p", str(info.port)]
        command += ["-U", info.user, "-d", info.dbname, "-f", str(Path(info.host) / "script.sql")]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()
    finally:
        adapter.close()


def in_mariadb(script: Script) -> str:
    adapter = adapter_of("mariadb", {"one": "{value}"})
    try:
        with adapter.engine.connection.cursor() as cursor:
            for statement in script.statements:
                cursor.execute(statement)
            return as_csv(cursor.fetchall())
    finally:
        adapter.close()


def in_clickhouse(script: Script) -> str:
    from chdb.session import Session

    with Session() as session:
        for statement in script.statements:
            try:
                found = session.query(statement, "CSVWithNames").bytes()
            except (RuntimeError, UnicodeDecodeError):  # clickhouse-client --ignore-error
                found = b""
        return found.decode("utf-8", "replace")


RUN: dict[str, Callable[[Script], str]] = {
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
    "mariadb": in_mariadb,
    "clickhouse": in_clickhouse,
}


@pytest.fixture(params=RUN)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give each engine that is here."""
    if request.param != "duckdb":
        need(request.param)
    yield request.param


def native(engine: str) -> Any:
    kinds = {field: KINDS[field] for field in READS[engine]}
    if engine == "duckdb":
        config = {"settings": {}, "memory": 2**30, "plan": None, "reads": READS[engine], "fields": kinds}
        return open_duckdb(config)
    return adapter_of(engine, READS[engine], kinds)


def outcomes(found: Any) -> list[tuple[str, str]]:
    texts, faults = found[:2]
    return [("value", text) if text is not None else (faults[at][0], "") for at, text in enumerate(texts)]


def test_the_records_are_what_the_engine_itself_gives(engine: str, tmp_path: Path) -> None:
    consumer = consumer_of(engine)
    script = make_script(consumer, dict.fromkeys(consumer.reads, STRINGS))
    assert not script.left_out
    assert script.text.isascii()
    (tmp_path / "warehouse.csv").write_text(RUN[engine](script))
    record: dict[str, Any] = {"file": str(tmp_path / "warehouse.csv"), "shown": "warehouse.csv", "lists": False}
    record["contracts"] = {field: contract_of(consumer, field) for field in consumer.reads}
    kinds = {field: KINDS[field] for field in consumer.reads}
    recorded = open_adapter(
        {"consumer": "warehouse", "engine": engine, "record": record, "reads": consumer.reads, "fields": kinds}
    )
    assert recorded.ready()["settings"]["engine"].split()[0] in (engine, "PostgreSQL")
    adapter = native(engine)
    differ = {}
    for field in consumer.reads:
        expected = outcomes(adapter.decode_batch(field, STRINGS))
        given_ = outcomes(recorded.decode_batch(field, STRINGS))
        differ |= {(field, s): (e, g) for s, e, g in zip(STRINGS, expected, given_, strict=True) if e != g}
        assert {status for status, _ in expected} >= {"value"}
    if engine != "duckdb":
        adapter.close()
    assert not differ


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


def test_a_literal_is_read_back_byte_for_byte(engine: str) -> None:
    adapter = None if engine == "duckdb" else adapter_of(engine, {"one": "{value}"}, "identifier")
    read_back = {
        "duckdb": lambda sql: duckdb.execute(f"SELECT encode({sql})").fetchall()[0][0],
        "sqlite": lambda sql: bytes.fromhex(sqlite3.connect(":memory:").execute(f"SELECT hex({sql})").fetchone()[0]),
        "postgres": lambda sql: bytes(adapter.engine.run(f"SELECT convert_to({sql}, 'UTF8')").fetchone()[0]),
        "mariadb": lambda sql: bytes.fromhex(adapter.engine.one(f"SELECT HEX({sql})")),
        "clickhouse": lambda sql: bytes.fromhex(adapter.engine.columns(f"SELECT hex({sql})")[0][0]),
    }[engine]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(TEXTS)
    def is_read_back(text: str) -> None:
        written = literal(engine, text)
        assert written.isascii()
        assert read_back(written) == text.encode()

    is_read_back()
    for text in STRINGS:
        assert read_back(literal(engine, text)) == text.encode()
    if adapter is not None:
        adapter.close()


def test_what_no_engine_can_be_asked_is_left_out_and_said(engine: str) -> None:
    consumer = consumer_of(engine)
    field = next(iter(consumer.reads))
    script = make_script(consumer, {field: ["1", "a\0b", "\ud800"]})
    assert script.strings == 1
    assert [line.split(": ")[1] for line in script.left_out] == ['"a\\u0000b"', '"\\ud800"']
    assert "it holds a NUL" in script.left_out[0]
    assert "a lone surrogate" in script.left_out[1]
    assert all(f"-- Not asked: {line}" in script.text for line in script.left_out)
