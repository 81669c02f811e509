"""Hints of an SQL text: what it calls that DuckDB's own catalogue does not call consistent, zones, years, collations.

The words on stability are asked from the engine here as they are in a run; what DuckDB's manual says of a function is
what a hint is held against, never our own list.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from auditor.decode.sql_hints import hints_of
from auditor.worker.sql_adapter import open_adapter
from auditor.worker.sql_engine import Engine
from tests.rooms.test_sql_model import plan_of

ENGINE = Engine({}, "UTC", 2 * 1024**4)


def hints(sql: str) -> tuple[str, ...]:
    return hints_of(sql, ENGINE.stabilities(sql))


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("coalesce(try_cast(value as date), current_date)", ["current_date", "the clock", "CONSISTENT_WITHIN_QUERY"]),
        ("coalesce(try_cast(value as date), today())", ["the clock", "CONSISTENT_WITHIN_QUERY"]),
        ("coalesce(try_cast(value as timestamp), now()::timestamp)", ["calls now", "the clock"]),
        ("coalesce(try_cast(value as timestamp), current_timestamp)", ["current_timestamp", "the clock"]),
        ("coalesce(try_cast(value as timestamp), localtimestamp)", ["the clock"]),
        ("age(try_cast(value as timestamp))", ["age", "the clock"]),
        ("value || random()::varchar", ["chance", "VOLATILE"]),
        ("coalesce(value, gen_random_uuid()::varchar)", ["chance", "VOLATILE"]),
        ("coalesce(value, uuid()::varchar)", ["chance", "VOLATILE"]),
        ("coalesce(value, getvariable('fallback'))", ["getvariable", "the session", "CONSISTENT_WITHIN_QUERY"]),
        ("coalesce(value, current_setting('TimeZone'))", ["current_setting", "the session"]),
        ("coalesce(value, txid_current()::varchar)", ["txid_current", "CONSISTENT_WITHIN_QUERY"]),
        ("(value::timestamptz at time zone 'Europe/Berlin')::date", ["converts between time zones", "Europe/Berlin"]),
        ("(value::timestamptz)::date", ["takes a date from an instant", "session's time zone"]),
        ("cast(cast(value as timestamp with time zone) as date)", ["takes a date from an instant"]),
        ("try_cast(value as timestamptz)", ["a text without offset", "session's time zone"]),
        ("date_trunc('day', value::timestamptz)", ["session's time zone"]),
        ("try_strptime(value, '%d/%m/%y')::date", ["two digits", "%d/%m/%y"]),
        ("try_strptime(value, ['%Y-%m-%d', '%m/%d/%y'])::date", ["two digits", "%m/%d/%y"]),
        ("strptime(value, '%d/%m/%y')", ["two digits"]),
        ("value collate de", ["collation"]),
    ],
)
def test_what_may_move_is_hinted_at(sql: str, parts: list[str]) -> None:
    duckdb.connect().execute(f"SELECT {sql} FROM (SELECT '2024-03-01' AS value) LIMIT 0")
    found = " | ".join(hints(sql))
    assert [part for part in parts if part not in found] == []


@pytest.mark.parametrize(
    "sql",
    [
        "try_cast(value as date)",
        "cast(value as timestamp)::date",
        "date_trunc('day', value::timestamp)",
        "strftime(value::date, '%y')",
        "try_strptime(value, ['%Y-%m-%d', '%d.%m.%Y'])::date",
        "lower(trim(regexp_replace(value, '[^a-z]', '', 'g')))",
        "try_cast(replace(value, ',', '') as decimal(18, 2))",
        "case when value in ('yes', 'now', 'today', '%y') then true end",
        "age(value::date, date '2024-01-01')",
        "value::date + interval 1 day",
        "this is no SQL at all (",
    ],
)
def test_what_rests_on_the_text_alone_has_no_hint(sql: str) -> None:
    assert hints(sql) == ()


def test_a_hint_is_said_once() -> None:
    assert len(hints("coalesce(current_date, current_date)")) == 1


def test_an_engine_without_a_catalogue_still_knows_the_clock() -> None:
    assert hints_of("coalesce(value::date, current_date)", {}) == ("calls current_date (the clock)",)


def test_the_engine_gives_its_own_words_and_is_not_asked_without_need() -> None:
    assert ENGINE.stabilities("random() + abs(value) + date_trunc('day', value)") == {
        "random": "VOLATILE",
        "date_trunc": "CONSISTENT CONSISTENT_WITHIN_QUERY",
    }
    assert ENGINE.stabilities("try_cast(value as date)") == {}


MODEL = """
with source as (select id, d, other, random() as noise, now() as loaded_at from raw.src),
typed as (select id, coalesce(try_cast(d as date), current_date) as d, try_cast(other as date) as other, loaded_at
from source)
select id, d, other, loaded_at from typed
"""


def test_a_models_column_has_the_hints_of_what_it_is_made_of(tmp_path: Path) -> None:
    plan, _ = plan_of(tmp_path, MODEL, ["d", "other"])
    functions = ENGINE.stabilities(plan["text"])
    assert hints_of(plan["statement"], functions, plan["fields"]["d"]["output"]) == (
        "calls current_date (the clock; DuckDB: CONSISTENT_WITHIN_QUERY)",
    )
    assert hints_of(plan["statement"], functions, plan["fields"]["other"]["output"]) == ()


def test_a_filter_concerns_every_column(tmp_path: Path) -> None:
    model = "select id, d, other from raw.src where d > current_date::varchar"
    plan, _ = plan_of(tmp_path, model, ["d", "other"])
    for field in ("d", "other"):
        [hint] = hints_of(plan["statement"], {}, plan["fields"][field]["output"])
        assert hint == "calls current_date (the clock)"


def test_the_adapter_asks_the_engine_only_where_it_is_told_to(tmp_path: Path) -> None:
    config = {"settings": {}, "memory": 2 * 1024**4, "plan": None, "fields": {"d": "date"}}
    config["reads"] = {"d": "coalesce(try_cast({value} as date), current_date)"}
    assert open_adapter(config).ready()["functions"] == {}
    asked = open_adapter({**config, "catalogue": True}).ready()["functions"]
    assert asked == {"current_date": "CONSISTENT_WITHIN_QUERY"}


@pytest.mark.parametrize("kind", ["date", "BIGINT", "decimal(12, 2)", "Boolean", "varchar", "double", "numeric"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mysql", "sqlite", "spark", "clickhouse", "bigquery"])
def test_a_plain_cast_has_no_hint_whether_it_is_parsed_or_not(kind: str, dialect: str) -> None:
    for cast in (f"try_cast(value as {kind})", f" CAST ( value AS {kind} ) "):
        assert hints_of(cast, {}, dialect=dialect) == hints_of(f"({cast})", {}, dialect=dialect) == ()


def test_a_cast_to_an_instant_is_not_plain() -> None:
    [hint] = hints_of("try_cast(value as timestamptz)", {})
    assert "the session's time zone" in hint
