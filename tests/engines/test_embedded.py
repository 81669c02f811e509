"""DataFusion and ClickHouse inside our process: a column against each of its values alone, in a plain query."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from auditor.worker.engine_common import Column
from auditor.worker.engine_texts import tag_column
from auditor.worker.trouble import StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

STRINGS = [
    *("2024-03-01", "2024-3-1", "20240301", "01/03/2024", "2024-02-30", "0000-00-00", "2024-03-01T10:00:00", "N/A"),
    *("", " ", "1.005", "1.995", "1,234.56", "12", "-7", "1e3", "9223372036854775808", "true", "on", "é", "a\0b"),
    *("'", '"', "\\", "%s", "{value}", "'); DROP TABLE mock; --", "\u20ac" * 60, "a\nb\tc"),
]

EXPRESSIONS = {
    "datafusion": {
        "cast": "cast({value} as date)",
        "tried": "try_cast({value} as decimal(18,2))",
        "number": "cast({value} as decimal(18,2))",
        "double": "cast({value} as double)",
        "whole": "cast({value} as bigint)",
        "truth": "cast({value} as boolean)",
        "parsed": "to_date({value}, '%d/%m/%Y')",
        "chosen": "case when {value} = 'N/A' then null else cast({value} as date) end -- 100 %",
        "text": "nullif(trim({value}), '')",
    },
    "clickhouse": {
        "cast": "toDate({value})",
        "tried": "toDateOrNull({value})",
        "number": "cast({value} as Decimal(18,2))",
        "double": "toFloat64({value})",
        "whole": "toInt64({value})",
        "truth": "toBool({value})",
        "parsed": "toDate(parseDateTime({value}, '%d/%m/%Y'))",
        "chosen": "if({value} = 'N/A', null, toDate({value})) -- 100 %",
        "text": "nullIf(trim({value}), '')",
    },
}

CASES = [(engine, field) for engine, fields in EXPRESSIONS.items() for field in fields]


@pytest.fixture(scope="module")
def opened() -> dict[str, Any]:
    return {}


def engine_of(opened: dict[str, Any], name: str) -> Any:
    """Open each engine once."""
    need(name)
    if name not in opened:
        opened[name] = adapter_of(name, EXPRESSIONS[name], "date")
    return opened[name]


def alone(name: str, engine: Any, expression: str, value: str) -> tuple[str, str | None]:
    """Ask the engine itself about a table of one row."""
    sql = f"(\n{expression.replace('{value}', 'value')}\n)"
    if name == "datafusion":
        import datafusion
        import pyarrow as pa

        context = datafusion.SessionContext()
        context.register_record_batches("t", [[pa.record_batch({"value": pa.array([value])})]])
        try:
            batches = context.sql(f"SELECT CAST({sql} AS VARCHAR) AS x FROM t").collect()
        except Exception as error:  # noqa: BLE001 - the bindings raise no class of their own
            return "rejected", str(error)
        text = batches[0].column(0)[0].as_py()
    else:
        engine.session.query("CREATE OR REPLACE TABLE t (value String) ENGINE = Memory")
        engine.session.query(f"INSERT INTO t SELECT unhex('{value.encode().hex()}')")
        try:
            found = engine.session.query(f"SELECT hex(toString({sql})) FROM t", "TabSeparatedRaw").bytes().decode()
        except (RuntimeError, UnicodeDecodeError) as error:
            return "rejected", str(error)
        last = found.removesuffix("\n").rpartition("\n")[2]
        text = None if last == "\\N" else bytes.fromhex(last).decode()
    return ("null", None) if text is None else ("value", text)


@pytest.mark.parametrize(("name", "field"), CASES)
def test_a_column_reads_as_each_of_its_rows_does_alone(opened: dict[str, Any], name: str, field: str) -> None:
    adapter = engine_of(opened, name)
    for value, (status, text, _) in zip(STRINGS, decode(adapter, field, STRINGS), strict=True):
        expected, written = alone(name, adapter.engine, EXPRESSIONS[name][field], value)
        assert status == expected, (value, text, written)
        if status == "value":
            tag, _, content = text.partition(":")
            same = float(content) == float(str(written)) if tag in ("decimal", "int") else content == written
            assert same, value


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_order_and_company_change_nothing(opened: dict[str, Any], name: str) -> None:
    adapter = engine_of(opened, name)
    for field in ("cast", "chosen", "number"):
        together = [found[:2] if found[0] == "value" else found[0] for found in decode(adapter, field, STRINGS)]
        turned = [found[:2] if found[0] == "value" else found[0] for found in decode(adapter, field, STRINGS[::-1])]
        assert turned == together[::-1]


@pytest.mark.parametrize(
    ("name", "target", "seen"),
    [
        ("datafusion", "cast({value} as", "ParserError|Expected"),
        ("datafusion", "nosuch({value})", "nosuch"),
        ("clickhouse", "cast({value} as", "Syntax error"),
        ("clickhouse", "nosuch({value})", "nosuch"),
        ("clickhouse", "{value}) FROM mock; DROP TABLE mock; --", "Syntax error|Multi-statements"),
    ],
)
def test_what_is_no_expression_is_refused_at_the_start(name: str, target: str, seen: str) -> None:
    need(name)
    with pytest.raises(StartError) as caught:
        adapter_of(name, {"f": target})
    assert re.search(seen, caught.value.seen) and target in caught.value.tried


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_setting_that_the_engine_does_not_know_is_refused(name: str) -> None:
    need(name)
    for setting in ("no_such_setting", "x'; DROP TABLE mock; --"):
        with pytest.raises(StartError, match=r"setting|letters|could not|not found|no_such"):
            adapter_of(name, {"f": "trim({value})"}, settings={setting: "1"})


def test_clickhouse_wraps_cuts_and_carries_over_with_a_warning(opened: dict[str, Any]) -> None:
    adapter = engine_of(opened, "clickhouse")
    wrapped, whole = decode(adapter, "whole", ["9223372036854775808", "7"])
    assert wrapped[1] == "int:-9223372036854775808" and "wrapped" in wrapped[2]
    assert whole == ("value", "int:7", "")
    cut, exact = decode(adapter, "number", ["1.995", "1.5"])
    assert cut[1] == "decimal:1.99" and "cut digits" in cut[2] and exact[2] == ""
    carried, zero, right = decode(adapter, "cast", ["2024-02-30", "0000-00-00", "2024-03-01"])
    assert (carried[1], zero[1], right) == ("date:2024-03-01", "date:1970-01-01", ("value", "date:2024-03-01", ""))
    assert "2024-02-30" in carried[2] and "0000-00-00" in zero[2]


def test_the_clock_reaches_datafusion_and_is_said_not_to_reach_clickhouse(tmp_path: Path) -> None:
    need("datafusion")
    now = "case when {value} = 'now' then cast(now() as timestamp) else cast({value} as timestamp) end"
    with open_consumer(tmp_path, {"f": now}, adapter="sql", engine="datafusion", memory=64 * 1024**3) as session:
        assert session.readiness.not_fixed == ()
        assert shown(session.decode("f", quoted(["now"]))) == ["datetime:2024-03-08T09:05:07"]
    need("clickhouse")
    with open_consumer(tmp_path, {"f": "toDate({value})"}, adapter="sql", engine="clickhouse", memory=2**36) as session:
        assert session.readiness.not_fixed == ("clock",)
        assert shown(session.decode("f", quoted(["2024-03-01"]))) == ["date:2024-03-01"]


def test_a_refusal_has_the_engines_own_message_after_many_others(opened: dict[str, Any]) -> None:
    adapter = engine_of(opened, "datafusion")
    values = [*(f"no number {number}" for number in range(20)), "99999999999999999999", "1.2.3", "x'y", "\u20ac 5"]
    for value, (status, text, _) in zip(values, decode(adapter, "number", values), strict=True):
        expected, message = alone("datafusion", adapter.engine, EXPRESSIONS["datafusion"]["number"], value)
        assert (status, expected) == ("rejected", "rejected"), value
        assert text in str(message), value


@pytest.mark.parametrize(
    ("tag", "texts"),
    [
        ("date", ["2024-03-01", "0001-01-01"]),
        ("date", ["2024-03-01", "2024-03-01\n2024-03-02"]),
        ("date", ["2024-03-01\n", ""]),
        ("date", ["2024-03-01", "10000-01-01"]),
        ("date", ["2024-03-01", None]),
        ("int", ["1", "-20", "007"]),
        ("int", ["1", ""]),
        ("int", ["1\n2", "3"]),
        ("int", []),
    ],
)
def test_a_column_has_the_tags_of_its_texts(tag: str, texts: list[str | None]) -> None:
    """One look at the whole of it changes nothing."""
    each = [tag_column(Column([text]), tag, "kind") for text in texts]
    found, faults = tag_column(Column(list(texts)), tag, "kind")
    assert found == [one for (one,), _ in each]
    assert faults == {index: why[0] for index, (_, why) in enumerate(each) if why}
