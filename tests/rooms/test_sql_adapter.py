"""The SQL adapter against DuckDB itself, asked about one row of a table at a time."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from auditor.worker.sql_adapter import SqlAdapter, open_adapter
from auditor.worker.sql_engine import Column, parts_of
from auditor.worker.trouble import StartError

STRINGS = [
    *("2024-03-01", "2024-3-1", "2024-02-30", "2024-02-29", "0000-00-00", "0001-01-01", "9999-12-31", "10000-01-01"),
    *("0044-03-15 (BC)", "infinity", "-infinity", "epoch", "today", "now", "March 1, 2024", "01/03/2024", "24-03-01"),
    *("2024-03-01T00:00:00Z", "2024-03-01 23:30:00-08:00", "2024-03-01 10:00:00.5", "2024-03-01T10:00:00.123456789"),
    *("12:30", "12:30:00.25", "24:00:00", "1", "0", "-1", "3.5", "2.5", "1e3", "1e400", "1e-7", "0x1F", "1_000", "007"),
    *("1,234.56", "$5", "NaN", "inf", "-0", "99999999999999999999", "170141183460469231731687303715884105727", "٣"),
    *(
        "true",
        "False",
        "t",
        "yes",
        "no",
        "on",
        "",
        " ",
        " 2024-03-01 ",
        "N/A",
        "null",
        "NULL",
        "a\0b",
        "\0",
        "é",
        "e\u0301",
    ),
    *("'", '"', "%s", "{value}", "\x1e", "a\x1eb", "\x1f\x1e\x1c\x1d", "\n", "\u202eabc", "'); drop table mock; --"),
]

EXPRESSIONS = [
    "try_cast({value} as date)",
    "cast({value} as date)",
    "{value}::timestamp",
    "try_cast({value} as timestamptz)",
    "cast({value} as timestamp_ns)",
    "cast({value} as time)",
    "cast({value} as timetz)",
    "try_cast({value} as decimal(18, 2))",
    "cast({value} as double)",
    "cast({value} as float)",
    "try_cast({value} as hugeint)",
    "cast({value} as bigint) + 1",
    "cast({value} as utinyint)",
    "cast({value} as boolean)",
    "{value}",
    "nullif(trim({value}), '')",
    "cast(strptime({value}, '%Y-%m-%d') as date)",
    "try_strptime({value}, ['%B %d, %Y', '%d/%m/%Y'])::date",
    "coalesce(try_cast({value} as date), date '1970-01-01')",
    "coalesce(try_cast({value} as integer), cast({value} as integer))",
    "case when {value} like '2%' then cast({value} as date) end",
    "case when {value} = 'N/A' then error('no value') else {value} end",
    "regexp_extract({value}, '([0-9]+)', 1)::integer",
    "cast(regexp_replace({value}, '[^0-9.-]', '', 'g') as decimal(18, 2))",
    "cast(try_cast({value} as date) as varchar)",
    "cast({value} as date) + interval 1 day",
    "cast({value} as date) is null",
    "try(cast({value} as date))",
    "1 / try_cast({value} as integer)",
    "cast({value} as enum('yes', 'no'))",
    "cast({value} as json)",
    "try_cast({value} as uuid)",
    "interval 1 day + try_cast({value} as interval)",
    "[{value}]",
    "nullif({value}, {value})",
    "case when {value} is null then null end",
    "-- the warehouse's own words: 100 % of them\n try_cast({value} as date) -- done",
    "(select max({value}))",
    "try_cast({value} as date) <= current_date",
]


def adapter_of(reads: dict[str, str], **settings: str) -> SqlAdapter:
    return open_adapter(
        {
            "settings": settings,
            "memory": 2 * 1024**4,
            "plan": None,
            "reads": reads,
            "fields": dict.fromkeys(reads, "date"),
        }
    )


def decode(expression: str, values: list[str], **settings: str) -> list[tuple[str, str]]:
    """Decode with one expression; a status and the tagged text or the error."""
    texts, faults = adapter_of({"field": expression}, **settings).decode_batch("field", values)
    assert len(texts) == len(values)
    assert all((texts[index] is None) == (index in faults) for index in range(len(values)))
    return [
        (faults[index][0], faults[index][1]) if text is None else ("value", text) for index, text in enumerate(texts)
    ]


def engine_says(connection: duckdb.DuckDBPyConnection, expression: str, value: str) -> tuple[str, str | None, str]:
    """Ask DuckDB about a table of one row: status, the engine's text, the type."""
    connection.execute("CREATE OR REPLACE TABLE alone (value VARCHAR)")
    connection.execute("INSERT INTO alone VALUES (?)", [value])
    alone = f"(SELECT (\n{expression.replace('{value}', 'value')}\n) AS x FROM alone)"
    try:
        [(text, kind)] = connection.execute(f"SELECT CAST(x AS VARCHAR), typeof(x) FROM {alone}").fetchall()
    except duckdb.Error as error:
        return "rejected", None, str(error).split("\n\nLINE ")[0].strip()
    return ("null", None, "") if text is None or text == "nan" else ("value", text, kind)


def same(found: tuple[str, str], said: tuple[str, str | None, str]) -> bool:
    """Hold a decoding against the engine's own text: only its form differs."""
    status, text = found
    expected, written, kind = said
    if expected == "rejected":
        return found[0] == "rejected" and text == kind
    if expected == "null" or written is None:
        return status == "null"
    if status == "rejected":
        return text == f"unexpected type: {written} of type {kind}" and not fits(written, kind)
    tag, _, content = text.partition(":")
    if tag in ("date", "int", "bool"):
        return content == written
    if tag == "text":
        return content == written
    if tag == "decimal":
        return "e" not in content and float(content) == float(written) and (kind != "DECIMAL" or content == written)
    return tag in ("datetime", "time") and plain(content) == plain(written.replace(" ", "T"))


def fits(written: str, kind: str) -> bool:
    """Say whether a tag exists for the engine's text."""
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return "(BC)" not in written and "infinity" not in written and written[4] == "-"
    return kind not in ("INTERVAL", "VARCHAR[]") and written not in ("inf", "-inf")


def plain(moment: str) -> str:
    """Leave out what the ISO form adds: trailing zeros of the fraction, minutes of the offset."""
    for sign in ("+", "-"):
        head, found, offset = moment.rpartition(sign)
        if found and "T" in head + "T" and ":" in head:
            moment, zone = head, sign + offset.removesuffix(":00")
            break
    else:
        zone = ""
    whole, _, fraction = moment.partition(".")
    return whole + "." + fraction.rstrip("0") + zone


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_column_reads_as_each_of_its_rows_does_alone(expression: str) -> None:
    if "try(" in expression and not adapter_of({"field": "try_cast({value} as date)"}).readers["field"].can_try:
        pytest.skip("this engine has no TRY")
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    for value, found in zip(STRINGS, decode(expression, STRINGS), strict=True):
        said = engine_says(connection, expression, value)
        if expression == "(select max({value}))":
            assert found == ("value", "text:" + value)
        else:
            assert same(found, said), (value, found, said)


@pytest.mark.parametrize("expression", ["cast({value} as date)", "try_cast({value} as bigint)", "{value}"])
def test_order_and_company_change_nothing(expression: str) -> None:
    forward = decode(expression, STRINGS)
    assert decode(expression, STRINGS[::-1]) == forward[::-1]
    adapter = adapter_of({"field": expression})
    for value, (status, text) in zip(STRINGS, forward, strict=True):
        [alone], faults = adapter.decode_batch("field", [value])
        assert (alone, faults) == ((text, {}) if status == "value" else (None, {0: [status, text]}))


def test_rows_of_a_long_column_come_back_in_their_places() -> None:
    values = [str(number) if number % 3 else f"x{number}" for number in range(20_000)]
    for index, (status, text) in enumerate(decode("try_cast({value} as integer)", values)):
        assert (status, text) == (("value", f"int:{index}") if index % 3 else ("null", "NULL"))


@pytest.mark.parametrize(
    ("expression", "value", "text"),
    [
        ("{'amount': {value}::decimal(9, 2), 'currency': 'EUR'}", "12.5", "money:12.50 EUR"),
        ("{'Amount': {value}::double, 'Currency': 'EUR'}", "1e20", "money:100000000000000000000.0 EUR"),
        ("{'amount': {value}::integer, 'currency': null::varchar}", "3", "int:3"),
        ("{'value': {value}::double, 'unit': 'kg'}", "12.5", "quantity:12.5 kg"),
        ("{'magnitude': {value}::decimal(4, 1), 'unit': 'kg'}", "12.5", "quantity:12.5 kg"),
        ("{value}::double", "1e-7", "decimal:0.0000001"),
        ("{value}::float", "0.1", "decimal:0.1"),
        ("{value}::double", "3", "decimal:3.0"),
        ("{value}::double", "10000000000000001", "decimal:10000000000000000.0"),
        ("{value}::float", "1e10", "decimal:10000000000.0"),
        ("{'value': {value}::double, 'unit': null::varchar}", "1e20", "decimal:100000000000000000000.0"),
        ("{value}::timestamp", "2024-03-01", "datetime:2024-03-01T00:00:00"),
        ("{value}::timestamp", "2024-03-01 10:00:00.5", "datetime:2024-03-01T10:00:00.500000"),
        ("{value}::timestamp_ns", "2024-03-01 10:00:00.123456789", "datetime:2024-03-01T10:00:00.123456789"),
        ("{value}::timestamptz", "2024-03-01T00:00:00-05", "datetime:2024-03-01T05:00:00+00:00"),
        ("{value}::time", "12:30:00.25", "time:12:30:00.250000"),
        ("{value}::timetz", "12:30:00+05:30", "time:12:30:00+05:30"),
        ("{value}::uuid", "C3E7CF5F-3EF2-493A-B31C-753D190D309E", "text:c3e7cf5f-3ef2-493a-b31c-753d190d309e"),
    ],
)
def test_types_and_their_tags(expression: str, value: str, text: str) -> None:
    assert decode(expression, [value]) == [("value", text)]


@pytest.mark.parametrize(
    "expression",
    [
        "{'amount': {value}::double, 'currency': 'EUR'}",
        "{'amount': {value}, 'currency': 'EUR'}",
        "{'a': {value}}",
        "[{value}]",
    ],
)
def test_what_no_tag_can_hold_is_unexpected(expression: str) -> None:
    [(status, error)] = decode(expression, ["inf"])
    assert status == "rejected"
    assert error.startswith("unexpected type: ")


def test_offsets_follow_the_zone_of_the_session() -> None:
    expression = "{value}::timestamptz"
    assert decode(expression, ["2024-03-01T00:00:00Z"], TimeZone="America/Los_Angeles") == [
        ("value", "datetime:2024-02-29T16:00:00-08:00")
    ]
    assert decode(expression, ["1800-03-01T00:00:00Z"], TimeZone="Asia/Kolkata")[0][1].startswith(
        "datetime:1800-03-01T05:53:28+05:53"
    )
    assert decode(f"cast({expression} as date)", ["2024-03-01T00:00:00Z"], TimeZone="America/Los_Angeles") == [
        ("value", "date:2024-02-29")
    ]


def test_a_lone_surrogate_costs_itself_alone() -> None:
    values = ["2024-03-01", "\ud800", "x", "2024-\udfff", "2024-03-02"]
    found = decode("cast({value} as date)", values)
    assert [status for status, _ in found] == ["value", "rejected", "rejected", "rejected", "value"]
    assert found[1] == found[3] == ("rejected", "a lone surrogate: no text of the engine can hold it")
    assert found[4] == ("value", "date:2024-03-02")
    assert decode("{value}", ["\ud800"])[0][0] == "rejected"


def test_long_strings_and_many_of_them() -> None:
    long = "x" * 10_000_000
    found = decode("coalesce(try_cast({value} as date)::varchar, {value})", [long, "2024-03-01", long + "y"])
    assert found == [("value", f"text:{long}"), ("value", "text:2024-03-01"), ("value", f"text:{long}y")]
    [(status, error)] = decode("cast({value} as date)", [long])
    assert status == "rejected"
    assert len(error) < 1000
    assert [len(part) for part in parts_of(["a" * 5_000_000] * 3 + ["b"])] == [1, 1, 2]


def test_no_value_is_cut_by_what_joins_the_values() -> None:
    signs = "\x1e\x1f\x1c\x1d"
    for values in (
        [signs, "\x1d\x1e" * 4, "\x1e" * 9 + "\x1d", "", "\x1d"],
        ["", ""],
        [""],
        ["\x1e"],
        ["a\x1e", "\x1eb"],
    ):
        column = Column(values)
        assert column.text.split(column.separator) == values
        assert decode("{value}", values) == [("value", f"text:{value}") for value in values]


def test_every_message_is_the_engines_own() -> None:
    """However many were rejected before: one string in thousands has the message that it has alone."""
    found = decode("cast({value} as integer)", [f"a{number}" for number in range(2_500)])
    for number, (status, error) in enumerate(found):
        assert status == "rejected"
        assert error.startswith(f"Conversion Error: Could not convert string 'a{number}' to INT32")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_reject_is_confirmed_by_the_expression_itself(expression: str) -> None:
    """The short way to a message gives what a table of one row gives, or leaves the answer to it."""
    reader = adapter_of({"field": expression}).readers["field"]
    for value in STRINGS:
        message = reader._message(value)
        assert message is None or [message] == reader._one_by_one([value])


def test_what_try_rejects_and_the_expression_does_not_is_no_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = adapter_of({"field": "try_cast({value} as integer)"})
    if not adapter.readers["field"].can_try:
        pytest.skip("this engine has no TRY")
    monkeypatch.setattr(adapter.readers["field"], "_together", lambda values: ["r"] * len(values))
    texts, faults = adapter.decode_batch("field", ["1", "x", "2" * 5000])
    assert texts == ["int:1", None, None]
    assert faults == {1: ["null", "NULL"], 2: ["null", "NULL"]}


def test_a_volatile_expression_is_evaluated_once_a_value() -> None:
    """Each branch of the tagging would otherwise draw its own number."""
    found = decode("case when {value} = 'x' then error('boo') else (random() > 0.5)::integer end", ["a"] * 50 + ["x"])
    assert {text for _, text in found[:-1]} == {"int:0", "int:1"}
    assert found[-1] == ("rejected", "Invalid Input Error: boo")


def test_rows_of_one_value_that_multiply_are_rejected() -> None:
    assert decode("unnest([{value}, {value}])", ["a"])[0] == ("rejected", "the expression gives 2 rows for one value")


@pytest.mark.parametrize(
    ("expression", "seen"),
    [
        ("try_cast({value} as dat)", "dat"),
        ("nosuch({value})", "nosuch"),
        ("try_cast({value} as date", "syntax error"),
        ("{value}); drop table mock; select (1", "more than one statement"),
        ("{value}) as a, (1", "gives the columns"),
        ("{value}) as x, (2", "gives the columns x, x"),
        ("{value}), (2", "gives the columns"),
        ("{value})) as x, ((2", "syntax error"),
        ("{value}) as x from (select 1 as value) -- ", "syntax error"),
        ("{value} as y", "syntax error"),
        ("trim({value}) -- ) as x, (", None),
        ("cast(total as date)", "does not mention {value}"),
        ("concat({value}, other)", "other"),
        ("", "does not mention"),
    ],
)
def test_an_expression_that_cannot_run_is_a_start_error(expression: str, seen: str) -> None:
    if seen is None:
        assert decode(expression, ["a "]) == [("value", "text:a")]
        return
    with pytest.raises(StartError) as raised:
        adapter_of({"field": expression})
    assert seen in raised.value.seen
    assert "reads.field" in raised.value.tried


def test_settings_are_applied_and_recorded() -> None:
    adapter = adapter_of({"field": "1 / {value}::integer"}, integer_division="true")
    assert adapter.decode_batch("field", ["2"]) == (["int:0"], {})
    ready = adapter.ready()
    assert ready["reads"] == {"field": "1 / {value}::integer"}
    assert ready["settings"]["integer_division"] == "true"
    assert ready["settings"]["engine"] == ready["version_parts"]["engine"] == f"duckdb v{duckdb.__version__}"
    assert ready["version_parts"]["reads"] == {"field": "1 / {value}::integer"}
    with pytest.raises(StartError, match="nosuch"):
        adapter_of({"field": "{value}"}, nosuch="1")
    with pytest.raises(StartError):
        adapter_of({"field": "{value}"}, TimeZone="Mars/Olympus'; drop table x; --")


def test_the_environment_names_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    adapter = adapter_of({"field": "{value}::timestamptz"})
    assert adapter.ready()["settings"]["TimeZone"] == "Asia/Kolkata"
    assert adapter.decode_batch("field", ["2024-03-01"])[0] == ["datetime:2024-03-01T00:00:00+05:30"]


def test_files_are_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(StartError, match="disabled"):
        adapter_of({"field": f"(select any_value({{value}}) from read_csv('{tmp_path}/x.csv'))"})
    adapter = adapter_of(
        {"field": f"(select max(a)::varchar || {{value}} from read_csv('{tmp_path}/x.csv'))"},
        enable_external_access="true",
    )
    assert adapter.decode_batch("field", ["z"]) == (["text:1z"], {})


def test_values_are_no_sql() -> None:
    values = ["'); drop table mock; --", '"; select 1; --', "{value}", "$1", "?", "%s", "\\"]
    assert decode("{value}", values) == [("value", f"text:{value}") for value in values]


def truth_rows() -> list[Any]:
    folder = os.environ.get("AUDITOR_REAL_DATA")
    if not folder:
        return []
    with (Path(folder) / "warehouse_truth.tsv").open(encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    head, rows = lines[0], [dict(zip(lines[0], line, strict=False)) for line in lines[1:]]
    assert head[0] == "engine"
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        version, _, settings = row["version"].partition(";")
        if (
            row["engine"] == "duckdb"
            and version == duckdb.__version__
            and not row["expression"].startswith(("COPY", "INSERT"))
        ):
            groups.setdefault((row["expression"], settings), []).append(row)
    return sorted(groups.items())


@pytest.mark.skipif(not os.environ.get("AUDITOR_REAL_DATA"), reason="AUDITOR_REAL_DATA is not set")
def test_the_truth_that_was_measured_elsewhere() -> None:
    groups = truth_rows()
    if not groups:
        pytest.skip(f"no rows were measured with DuckDB {duckdb.__version__}")
    unescape = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    for (expression, named), rows in groups:
        settings = dict(part.split("=") for part in named.split(";") if part)
        found = decode(expression.replace("{col}", "{value}"), [json.loads(row["raw"]) for row in rows], **settings)
        for row, (status, text) in zip(rows, found, strict=True):
            where = (expression, row["raw"], row["value"], status, text)
            if row["outcome"] != "accepted":
                assert status == row["outcome"] or row["value"] == "nan", where
                continue
            value = re.sub(r"\\[\\tnr]", lambda found: unescape[found.group()], row["value"])
            if status != "value":
                assert (status == "null" and value == "nan") or text.startswith(f"unexpected type: {value}"), where
            else:
                assert plain(text.partition(":")[2]) == plain(value.replace(" ", "T")) or float(
                    text.partition(":")[2]
                ) == float(value), where
