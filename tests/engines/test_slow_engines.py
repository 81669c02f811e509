"""Spark and GoogleSQL's reference implementation, where they are installed: a column against its values alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.model.environment import Environment
from auditor.worker.trouble import StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown

STRINGS = [
    "2024-03-01",
    "2024-3-1",
    "01/03/2024",
    "2024-02-30",
    "N/A",
    "",
    "1.005",
    "12",
    "true",
    "é",
    "'",
    "a\0b",
    "%s",
]

EXPRESSIONS = {
    "googlesql": {
        "cast": "CAST({value} AS DATE)",
        "number": "CAST({value} AS NUMERIC)",
        "safe": "SAFE.PARSE_DATE('%d/%m/%Y', {value})",
        "text": "UPPER({value}) -- all of it",
    },
    "spark": {
        "cast": "cast({value} as date)",
        "number": "cast({value} as decimal(18,2))",
        "safe": "try_to_date({value}, 'dd/MM/yyyy')",
        "text": "upper({value}) -- all of it",
    },
}


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
    """Ask the engine itself about one value."""
    if name == "spark":
        engine.session.createDataFrame(engine.arrow.table({"value": [value]})).createOrReplaceTempView("t")
        try:
            sql = f"SELECT CAST((\n{expression.replace('{value}', 'value')}\n) AS STRING) AS x FROM t"
            [row] = engine.session.sql(sql).collect()
        except engine.errors as error:
            return "rejected", str(error)
        return ("null", None) if row.x is None else ("value", row.x)
    from zetasql.api import PreparedExpression

    options = engine.types.AnalyzerOptions(language_options=engine.language, default_timezone="UTC")
    sql = f"CAST((\n{expression.replace('{value}', 'c')}\n) AS STRING)"
    try:
        found = PreparedExpression(sql, options, engine.catalog).execute(columns={"c": engine.value.string(value)})
        return "value", found.get_string()
    except engine.errors as error:
        return "rejected", str(error)
    except AttributeError:  # the package has no other way to say NULL
        return "null", None


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, found in EXPRESSIONS.items() for field in found])
def test_a_column_reads_as_each_of_its_rows_does_alone(opened: dict[str, Any], name: str, field: str) -> None:
    adapter = engine_of(opened, name)
    for value, (status, text, _) in zip(STRINGS, decode(adapter, field, STRINGS), strict=True):
        expected, written = alone(name, adapter.engine, EXPRESSIONS[name][field], value)
        assert status == expected, (value, text, written)
        if status == "value":
            assert text.partition(":")[2] == written, value
        if status == "rejected":
            assert text[:60] in str(written), value


def test_refusals_of_a_plain_cast_are_worded_as_spark_words_them(opened: dict[str, Any]) -> None:
    adapter = engine_of(opened, "spark")
    values = [f"no date {number}" for number in range(20)]
    for value, (status, text, _) in zip(values, decode(adapter, "cast", values), strict=True):
        assert status == "rejected" and f"The value '{value}' of the type" in text


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_no_expression_is_refused_at_the_start(name: str) -> None:
    need(name)
    for target in ("cast({value} as", "nosuch({value})"):
        with pytest.raises(StartError) as caught:
            adapter_of(name, {"f": target})
        assert target in caught.value.tried


def test_googlesql_has_the_clock_and_zone_of_the_environment(tmp_path: Path) -> None:
    need("googlesql")
    now = "IF({value} = 'now', CURRENT_DATE(), CAST({value} AS DATE))"
    elsewhere = Environment("there", clock="2031-07-09T00:00:00+00:00", zone="America/Los_Angeles")
    for environment, today in ((None, "2024-03-08"), (elsewhere, "2031-07-08")):
        with open_consumer(
            tmp_path, {"f": now}, adapter="sql", engine="googlesql", environment=environment, memory=2**36
        ) as session:
            assert session.readiness.not_fixed == ()
            assert shown(session.decode("f", quoted(["now", "2024-03-01"]))) == [f"date:{today}", "date:2024-03-01"]
