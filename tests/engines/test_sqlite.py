"""The SQLite adapter against SQLite, asked about one value at a time."""

from __future__ import annotations

import sqlite3

import pytest

from auditor.worker.trouble import StartError
from tests.engines.adapters import adapter_of, decode, need

STRINGS = [
    *(
        "2024-03-01",
        "2024-02-30",
        "2024",
        "12",
        "12.50",
        "1e3",
        "1e400",
        "-0",
        "0x1F",
        "9223372036854775808",
        "N/A",
        "",
    ),
    *(" 7 ", "12abc", "true", "1,234.56", "a\0b", "é", "'); DROP TABLE mock; --", "{value}", "%s", "?1", '"', "\n"),
]

EXPRESSIONS = [
    "date({value})",
    "datetime({value})",
    "CAST({value} AS DATE)",
    "CAST({value} AS DECIMAL(18,2))",
    "CAST({value} AS INTEGER)",
    "round(CAST({value} AS REAL), 2)",
    "nullif(trim({value}), '')",
    "json_extract({value}, '$')",
    "CASE WHEN {value} = 'N/A' THEN NULL ELSE {value} END -- as the load does",
]


def alone(sql: str, value: str) -> tuple[str, str | None]:
    """Ask SQLite about one row: storage class and its own text, or `error` and the message."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (value TEXT)")
    connection.execute("INSERT INTO t VALUES (?)", (value,))
    try:
        query = f"SELECT typeof(x), CAST(x AS TEXT) FROM (SELECT (\n{sql.replace('{value}', 'value')}\n) AS x FROM t)"
        return connection.execute(query).fetchone()
    except sqlite3.Error as error:
        return "error", str(error)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_column_reads_as_each_of_its_rows_does_alone(expression: str) -> None:
    adapter = adapter_of("sqlite", {"f": expression}, "identifier")
    for value, (status, text, _) in zip(STRINGS, decode(adapter, "f", STRINGS), strict=True):
        storage, written = alone(expression, value)
        if storage == "error":
            assert (status, text) == ("rejected", written), value
        elif storage == "null":
            assert status == "null", value
        elif storage == "text":
            assert (status, text) == ("value", f"text:{written}"), value
        elif storage == "real" and written is not None and "Inf" in written:
            assert status == "rejected" and "unexpected type" in text, value
        else:
            assert status == "value" and written is not None and float(text.partition(":")[2]) == float(written), value


def test_order_and_company_change_nothing() -> None:
    adapter = adapter_of("sqlite", {"f": "json_extract({value}, '$')"}, "identifier")
    together = decode(adapter, "f", STRINGS)
    assert decode(adapter, "f", STRINGS[::-1]) == together[::-1]
    assert [decode(adapter, "f", [value])[0] for value in STRINGS] == together


def test_a_number_made_of_no_number_carries_a_warning() -> None:
    adapter = adapter_of("sqlite", {"f": "CAST({value} AS DECIMAL(18,2))"}, "decimal")
    found = decode(adapter, "f", ["N/A", "", "12abc", "12.5", "7"])
    assert [text for _, text, _ in found] == ["int:0", "int:0", "int:12", "decimal:12.5", "int:7"]
    assert [bool(warning) for _, _, warning in found] == [True, True, True, False, False]


def test_a_column_stores_any_text_unless_its_table_is_strict() -> None:
    lax = adapter_of("sqlite", {"f": "DATE"}, "date", statement="insert")
    assert decode(lax, "f", ["2024-03-01", "N/A"]) == [
        ("value", "date:2024-03-01", ""),
        ("value", "text:N/A", "stored as text in a column of type DATE"),
    ]
    strict = adapter_of("sqlite", {"f": "INTEGER"}, "integer", statement="insert", settings={"STRICT": "on"})
    assert decode(strict, "f", ["7", "N/A"]) == [
        ("value", "int:7", ""),
        ("rejected", "cannot store TEXT value in INTEGER column loaded.v", ""),
    ]


def test_name_version_and_settings_are_part_of_the_consumer() -> None:
    ready = adapter_of(
        "sqlite", {"f": "CASE WHEN {value} LIKE 'A' THEN 1 END"}, settings={"foreign_keys": "on"}
    ).ready()
    assert sqlite3.sqlite_version in ready["settings"]["engine"]
    assert ready["settings"]["foreign_keys"] == "1"
    assert ready["version_parts"]["settings"] == ready["settings"]


@pytest.mark.parametrize(
    ("target", "statement", "seen"),
    [
        ("cast({value} as", "cast", "syntax error"),
        ("{value}, 1", "cast", "row value misused"),
        ("max({value})", "cast", "it gives 1 rows for 2 values"),
        ("{value}) FROM mock; DROP TABLE mock; --", "cast", "one statement"),
        ("nosuch({value})", "cast", "no such function"),
        ("DATE, w TEXT", "insert", "2 columns"),
    ],
)
def test_what_is_no_expression_of_one_value_is_refused_at_the_start(target: str, statement: str, seen: str) -> None:
    with pytest.raises(StartError) as caught:
        adapter_of("sqlite", {"f": target}, statement=statement)
    assert seen in caught.value.seen and target in caught.value.tried


@pytest.mark.parametrize("name", ["x; DROP TABLE mock", "no_such_pragma"])
def test_a_setting_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(StartError, match=r"letters, digits|no such PRAGMA"):
        adapter_of("sqlite", {"f": "{value}"}, settings={name: "1"})


@pytest.mark.parametrize(
    "values",
    [
        ["2024-03-01", "2024-02-29"],
        ["2024-03-01", "2024-03-01\ntext:2024-03-02"],
        ["2024-03-01", "2024-03-01\n"],
        ["2024-03-01", ""],
        ["text:2024-03-01", "2024-03-01"],
    ],
)
def test_a_column_of_dates_is_read_at_once_as_each_alone(values: list[str]) -> None:
    adapter = adapter_of("sqlite", {"f": "trim({value}, ' ')"}, "date")
    alone = [decode(adapter, "f", [value])[0] for value in values]
    assert decode(adapter, "f", values) == alone
    assert alone[0][1] == ("date:2024-03-01" if values[0][0] == "2" else "text:text:2024-03-01")


@pytest.mark.parametrize("engine", ["sqlite", "sqlalchemy"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [("date", "date:2024-03-01"), ("decimal", "decimal:1"), ("boolean", "bool:true"), ("integer", "int:1")],
)
def test_a_text_that_looks_like_a_tagged_value_is_a_text(engine: str, kind: str, text: str) -> None:
    need(engine)
    adapter = adapter_of(engine, {"f": "trim({value}, ' ')"}, kind, connection="sqlite://")
    assert decode(adapter, "f", [text])[0][1] == "text:" + text
