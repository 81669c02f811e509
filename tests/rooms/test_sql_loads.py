"""Values that DuckDB loads into a column, against DuckDB itself: one value a table, and one value a file."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from auditor.worker.sql_adapter import SqlAdapter
from auditor.worker.trouble import StartError
from tests.rooms.test_sql_adapter import STRINGS
from tests.sessions import open_consumer, quoted, shown

TYPES = ["date", "timestamp", "decimal(18, 2)", "double", "boolean", "varchar", "integer[]", "date not null"]
TYPES += ["integer check (v > 5) -- no less"]

#: What the reader of a file guesses a form for, and what its form of a file means something else for.
FILES = ["31/12/2024", "12/31/2024", "3/1/24", "2024.03.01", "'2024-03-01'", '"', '""', "a,b", '2024-03-01",2', "\r\n"]
FILES += ["2024-03-01\r", "#2024-03-01", "v", "v,i", "\\N", "\ufeff2024-03-01"]


def adapter_of(statement: str, target: str, **settings: str) -> SqlAdapter:
    config = {"settings": settings, "memory": 2**30, "plan": None, "reads": {"f": target}, "fields": {"f": "date"}}
    return SqlAdapter({**config, "statement": statement})


@pytest.fixture(scope="module")
def engine() -> Any:
    with duckdb.connect(":memory:", config={"threads": "1"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def stored_alone(engine: Any, statement: str, kind: str, value: str, folder: Path) -> tuple[str, str | None]:
    """Load one value into a table of its own, and give what is stored."""
    engine.execute(f"CREATE OR REPLACE TABLE loaded (v {kind}\n, i INTEGER)")
    file = folder / "one.csv"
    with file.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target).writerows([["v", "i"], [value, 1]])
    try:
        if statement == "insert":
            engine.execute("CREATE OR REPLACE TABLE source AS SELECT CAST(? AS VARCHAR) AS x", [value])
            engine.execute("INSERT INTO loaded SELECT x, 1 FROM source")
        else:
            engine.execute(f"COPY loaded FROM '{file}' (HEADER, DELIMITER ',', QUOTE '\"')")
    except duckdb.Error as error:
        return "rejected", str(error)
    [(stored,)] = engine.execute("SELECT CAST(v AS VARCHAR) FROM loaded").fetchall()
    return ("null", None) if stored is None else ("value", stored)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("statement", ["insert", "copy"])
def test_a_column_is_loaded_as_each_of_its_values_is_alone(
    tmp_path: Path, engine: Any, statement: str, kind: str
) -> None:
    values = [*STRINGS, *FILES]
    texts, faults = adapter_of(statement, kind).decode_batch("f", values)
    for at, value in enumerate(values):
        expected, stored = stored_alone(engine, statement, kind, value, tmp_path)
        if stored == "nan":  # a number that is none is no value
            assert faults[at][0] == "null"
        elif expected == "value":
            assert stored is not None
            said = texts[at].partition(":")[2] if texts[at] is not None else faults[at][1]
            beyond = said.startswith("unexpected type: " + stored[:150])  # a date that ISO 8601 has no form for
            assert beyond or plain(said) == plain(stored), (value[:60], said, stored)
        else:
            assert faults[at][0] == expected, (value[:60], texts[at], stored)
        if expected == "rejected":
            assert stored is not None and faults[at][1][-40:].rstrip("…") in stored, value[:60]
            assert "load-" not in faults[at][1]


def plain(text: str) -> str:
    """Write a moment and a number without what ISO's form and ours add."""
    moment = re.sub(r"(\.\d*?)0+$", r"\1", text.replace("T", " ") if re.match(r"\d{4}-", text) else text)
    try:
        return (
            str(float(moment)) if re.fullmatch(r"[-+.\de]+", moment) and moment.count("-") < 2 else moment.rstrip(".")
        )
    except ValueError:
        return moment


def test_a_line_that_is_too_long_for_the_reader_is_refused_alone() -> None:
    texts, faults = adapter_of("copy", "varchar").decode_batch("f", ["a", "1" * 3_000_000, "b"])
    assert (texts[0], texts[2]) == ("text:a", "text:b")
    assert faults == {1: ["rejected", "Invalid Input Error: Maximum line size of 2000000 bytes exceeded."]}


def test_a_load_reads_what_a_cast_refuses_and_the_other_way_round() -> None:
    values = ["31/12/2024", "3/1/24", "2024-03-01"]
    assert adapter_of("copy", "date").decode_batch("f", values)[0] == [
        "date:2024-12-31",
        "date:2024-01-03",
        "date:2024-03-01",
    ]
    texts, faults = adapter_of("insert", "date").decode_batch("f", values)
    assert texts == [None, "date:0003-01-24", "date:2024-03-01"]
    assert "31/12/2024" in faults[0][1]


@pytest.mark.parametrize("statement", ["insert", "copy"])
@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("date); drop table loaded; --", ""),
        ("date, w integer", "that makes 2 columns"),
        ("nosuch", "nosuch"),
        ("integer primary key", "the column is a key"),
        ("date unique", "the column is a key"),
        ("integer generated always as (1)", ""),
        ("date default (select 1 from read_csv('/etc/passwd'))", ""),
    ],
)
def test_what_is_no_type_of_one_column_is_refused_at_the_start(statement: str, target: str, seen: str) -> None:
    with pytest.raises(StartError) as caught:
        adapter_of(statement, target)
    assert seen in caught.value.seen and target in caught.value.tried


def test_files_other_than_the_values_stay_barred(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("v,i\n2024-03-01,1\n", encoding="utf-8")
    engine = adapter_of("copy", "date").engine
    for query in (f"SELECT * FROM read_csv('{other}')", f"COPY (SELECT 1) TO '{tmp_path}/written.csv'"):
        with pytest.raises(duckdb.PermissionException):
            engine.rows(query)
    assert os.listdir(tmp_path) == ["other.csv"]


@pytest.mark.parametrize("statement", ["insert", "copy"])
def test_a_consumer_that_loads_says_so_and_counts_each_value_by_itself(tmp_path: Path, statement: str) -> None:
    described: dict[str, Any] = {"adapter": "sql", "engine": "duckdb", "statement": statement, "settings": {}}
    with open_consumer(tmp_path, {"f": "decimal(18, 2)"}, **described) as session:
        assert session.readiness.settings["statement"] == statement
        values = ["1.005", "N/A", "1,234.56", *(str(number) for number in range(300))]
        found = shown(session.decode("f", quoted(values)))
    assert found[0] == "decimal:1.01" and found[3:] == [f"decimal:{number}.00" for number in range(300)]
    assert all(text.startswith("rejected: Conversion Error: ") for text in found[1:3]), found[:3]
