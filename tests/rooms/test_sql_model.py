"""A warehouse model on a mocked source, against the same model on a source of one row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from auditor.decode.sql_model import model_plan
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from auditor.worker.sql_adapter import SqlAdapter, open_adapter
from auditor.worker.trouble import StartError

STRINGS = ["2024-03-01", "2024-3-1", "", "N/A", "x", "12", "007", "yes", "No", "1,234.50", "2024-02-30", "\x1e", "12"]


def plan_of(
    tmp_path: Path, model: str, fields: list[str] | dict[str, str] | None = None, **reads: str
) -> tuple[dict[str, Any], list[str]]:
    (tmp_path / "models").mkdir(exist_ok=True)
    (tmp_path / "models" / "model.sql").write_text(model, encoding="utf-8")
    names = list(fields or ["d"])
    kinds = {name: FieldSpec(name=name, type="date") for name in names}
    consumer = ConsumerSpec(name="warehouse", adapter="sql", engine="duckdb", model="models/model.sql", reads=reads)
    spec = AuditSpec(
        name="contracts",
        file=tmp_path / "audit.toml",
        folder=tmp_path,
        cases=CasesSpec(predictions=("p",), references=("r",)),
        fields=kinds,
        consumers={"warehouse": consumer},
    )
    return model_plan(spec, consumer, kinds), names


def adapter_of(tmp_path: Path, model: str, fields: list[str] | None = None, **reads: str) -> SqlAdapter:
    plan, names = plan_of(tmp_path, model, fields, **reads)
    return open_adapter(
        {
            "settings": {},
            "memory": 2 * 1024**4,
            "plan": plan,
            "reads": reads,
            "fields": dict.fromkeys(names, "date"),
        }
    )


def decode(adapter: SqlAdapter, values: list[str], field: str = "d") -> list[str]:
    """Decode into tagged texts, or statuses and errors."""
    texts, faults = adapter.decode_batch(field, values)
    return [text if text is not None else ": ".join(faults[index]) for index, text in enumerate(texts)]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE SCHEMA raw")
    connection.execute("CREATE TABLE raw.src (id VARCHAR, d VARCHAR, other VARCHAR)")
    connection.execute("INSERT INTO raw.src (id) VALUES ('1')")
    return connection


def alone(connection: duckdb.DuckDBPyConnection, model: str, value: str) -> str:
    """Run the model on a source of one row, with everything but the value NULL."""
    connection.execute("UPDATE raw.src SET d = ?", [value])
    try:
        connection.execute(f"CREATE OR REPLACE TABLE found AS {model}")
        rows = connection.execute("SELECT CAST(d AS VARCHAR), typeof(d) FROM found").fetchall()
    except duckdb.Error as error:
        return "rejected: " + str(error).split("\n\nLINE ")[0]
    if not rows:
        return "dropped: the model gives no row for the value"
    if len(rows) > 1:
        return f"rejected: model gives several rows for one value: {len(rows)}"
    [(text, kind)] = rows
    tag = {"DATE": "date", "INTEGER": "int", "BOOLEAN": "bool", "VARCHAR": "text"}.get(kind, "decimal")
    return "null: NULL" if text is None else f"{tag}:{text}"


MODELS = {
    "plain": "select id, try_cast(d as date) as d from raw.src",
    "strict": "select id, cast(d as date) as d from raw.src",
    "strict cast beside": "select id, try_cast(d as date) as d, cast(d as integer) as number from raw.src",
    "cte": "with s as (select * from raw.src), t as (select id, trim(d) x from s) select id, x::date as d from t",
    "star of a cte": "with s as (select id, try_cast(d as integer) as d from raw.src) select * from s",
    "star replaced": "select * replace (try_cast(d as date) as d) from (select id, d, other from raw.src)",
    "star without": "with s as (select id, d, other from raw.src) select * exclude (other, d), d from s",
    "renamed": "with s as (select * rename (d as x) from (select id, d from raw.src)) select id, x::date as d from s",
    "case map": "select id, case lower(d) when 'yes' then true when 'no' then false end as d from raw.src",
    "coalesce": "select id, coalesce(try_cast(d as date), date '1970-01-01') as d from raw.src",
    "filter": "select id, d::date as d from raw.src where d like '2024-%'",
    "filter on a cast": "select id, d from raw.src where cast(d as integer) > 10",
    "filter on another": "select id, d from raw.src where other is null",
    "unions": "select id, d from raw.src union all select id, d || '!' from raw.src",
    "no duplicates": "select id, d from raw.src union select id, d from raw.src",
    "latest": "select id, d from raw.src qualify row_number() over (partition by id order by other desc) = 1",
    "latest of another key": "select id, d from raw.src qualify row_number() over (partition by other order by id) = 1",
    "grouped": "select id, max(d) as d from raw.src group by id",
    "without a key": "select try_cast(d as integer) as d from raw.src where d <> 'x'",
    "only its own": "select d from raw.src where d <> 'x'",
    "own, cast": "select cast(d as integer) as d from raw.src",
    "cast key": "select cast(id as bigint) as number, try_cast(d as date) as d from raw.src",
    "neighbours": "select id, last_value(try_cast(d as date) ignore nulls) over (order by id) as d from raw.src",
    "limit": "select id, d from raw.src order by d limit 1",
    "joined to itself": "select a.id, b.d::integer as d from raw.src a join raw.src b on a.id = b.id",
    "joined by using": "select id, b.d from raw.src a join raw.src b using (id)",
    "lateral alias": "select id, trim(src.d) as day, try_cast(day as date) as d from raw.src as src",
    "subquery": "select id, (select try_cast(x.d as date)) as d from raw.src x",
    "derived": "select s.id, s.d from (select id, try_cast(d as date) d from raw.src) s order by 1",
    "quoted": 'select "id", cast("d" as date) as "d" from "raw"."src" -- the end',
    "from first": "from raw.src select id, try_cast(d as date) as d",
    "the largest": "select id, d from raw.src where d = (select max(d) from raw.src)",
    "one of each": "select distinct on (lower(d)) id, d from raw.src order by id desc",
    "first of its kind": "select id, d from raw.src qualify row_number() over (partition by lower(d) order by id) = 1",
    "totals": "select max(id) as id, max(d) as d from raw.src",
    "none larger": "select id, d from raw.src s where not exists (select 1 from raw.src t where t.d > s.d)",
    "none larger by a join": "select x.id, x.d from raw.src x left join raw.src y on x.d < y.d where y.d is null",
    "each with each": "select s.id, s.d from raw.src s, raw.src t",
    "larger than any": "select id, d from raw.src where d >= any (select d from raw.src)",
    "in a subquery": "select id, d from raw.src where id in (select id from raw.src where d > '2')",
    "itself by a subquery": "select id, d from raw.src s where exists (select 1 from raw.src t where t.id = s.id)",
    "cte twice": "with c as (select * from raw.src) select a.id, b.d from c a join c b using (id)",
    "cte twice, untied": "with c as (select id, d from raw.src) select a.id, a.d from c a cross join c b",
    "tied in an or": "select a.id, a.d from raw.src a join raw.src b on a.id = b.id or a.d < b.d",
    "tied by the value": "select a.id, a.d from raw.src a join raw.src b on a.d = b.d",
    "tied by three": "select a.id, c.d from raw.src a join raw.src b on a.id = b.id join raw.src c on b.id = c.id",
    "two of three": "select a.id, c.d from raw.src a join raw.src b on a.id = b.id, raw.src c",
    "lateral": "select s.id, s.d from raw.src s, lateral (select 1 as one from raw.src t where t.d >= s.d) x",
    "counted": "select id, d from raw.src a where (select count(*) from raw.src t where t.d < a.d) = 0",
    "first of two": "(select id, d from raw.src) union all (select id, d from raw.src) order by d limit 1",
    "grouped beside": "select s.id, s.d from raw.src s, (select max(d) m from raw.src group by other) g where s.d = m",
    "equal to the key": "select id, d from raw.src where d <> '12' or d = id",
    "known key": "select id, d from raw.src where id is not null and cast(id as integer) > 0 and length(id) > 0",
    "double": "select id, try_cast(replace(d, ',', '') as decimal(18, 2)) as d from raw.src",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_batch_reads_as_each_row_does_alone(tmp_path: Path, name: str, engine: duckdb.DuckDBPyConnection) -> None:
    adapter = adapter_of(tmp_path, MODELS[name])
    expected = [alone(engine, MODELS[name], value) for value in STRINGS]
    assert decode(adapter, STRINGS) == expected
    assert decode(adapter, STRINGS[::-1]) == expected[::-1]


def test_long_batches_keep_their_places(tmp_path: Path) -> None:
    values = [str(number) if number % 5 else f"x{number}" for number in range(5_000)]
    adapter = adapter_of(tmp_path, "select id, try_cast(d as integer) as d from raw.src where d <> 'x500' order by d")
    found = decode(adapter, values)
    assert found[500].startswith("dropped")
    assert [text for index, text in enumerate(found) if index % 5] == [f"int:{n}" for n in range(5_000) if n % 5]


def test_one_bad_value_costs_no_other(tmp_path: Path) -> None:
    values = [f"2024-01-{day:02d}" for day in range(1, 29)] * 20
    values[77], values[300] = "x", "\ud800"
    found = decode(adapter_of(tmp_path, "select id, cast(d as date) as d from raw.src"), values)
    assert [index for index, text in enumerate(found) if not text.startswith("date:")] == [77, 300]
    assert found[77].startswith('rejected: Conversion Error: invalid date field format: "x"')
    assert found[300].startswith("rejected: a lone surrogate")


def test_two_sources_meet_at_their_keys(tmp_path: Path) -> None:
    model = """
    with named as (select c.customer_id, c.name from raw.customers as c)
    select s.id, try_cast(s.d as date) as d, named.name
    from raw.src as s left join named on s.customer = named.customer_id
    """
    assert decode(adapter_of(tmp_path, model), ["2024-03-01", "x"]) == ["date:2024-03-01", "null: NULL"]
    inner = model.replace("left join", "inner join")
    assert decode(adapter_of(tmp_path, inner), ["2024-03-01", "x"]) == ["date:2024-03-01", "null: NULL"]
    crossed = "select s.id, s.d, c.rate from src s cross join config c"
    assert decode(adapter_of(tmp_path, crossed), ["a", "b"]) == ["text:a", "text:b"]


@pytest.mark.parametrize("create", ["create table mart.t as", "create or replace table mart.t as", "create view t as"])
def test_what_the_model_creates_is_what_is_read(tmp_path: Path, create: str) -> None:
    adapter = adapter_of(tmp_path, f"{create}\nselect id, try_cast(d as date) as d from raw.src;\n")
    for _ in range(2):
        assert decode(adapter, ["2024-03-01", "x"]) == ["date:2024-03-01", "null: NULL"]


def test_earlier_statements_are_set_up(tmp_path: Path) -> None:
    model = """
    create schema raw; create table raw.src (id varchar, d varchar, loaded_at timestamp);
    create macro day(x) as try_cast(trim(x) as date);
    select id, day(d) as d from raw.src where loaded_at is null or loaded_at > current_date - 30;
    """
    adapter = adapter_of(tmp_path, model)
    assert decode(adapter, [" 2024-03-01", "x"]) == ["date:2024-03-01", "null: NULL"]
    assert "raw.src.loaded_at" in adapter.ready()["settings"]["rows depend on"]


def test_reads_name_output_columns(tmp_path: Path) -> None:
    model = "select id, net_weight::double as kilos, date as effective from deliveries"
    adapter = adapter_of(tmp_path, model, ["weight", "day", "id"], weight="kilos", day="Effective")
    assert decode(adapter, ["12.5"], "weight") == ["decimal:12.5"]
    assert decode(adapter, ["a"], "day") == ["text:a"]
    ready = adapter.ready()
    assert ready["reads"]["weight"] == "models/model.sql:1 kilos"
    assert ready["version_parts"]["model"] == model
    assert ready["version_parts"]["reads"]["weight"] == "kilos"


def test_reads_of_a_model_may_be_expressions_too(tmp_path: Path) -> None:
    adapter = adapter_of(tmp_path, MODELS["plain"], ["d", "total"], total="{value}::integer")
    assert decode(adapter, ["3"], "total") == ["int:3"]


def test_names_are_no_sql(tmp_path: Path) -> None:
    model = """select "i""d", cast("a b; drop" as date) as "d" from "r""aw"."s;rc" """
    assert decode(adapter_of(tmp_path, model), ["2024-03-01", "'); drop"])[0] == "date:2024-03-01"


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("select id, efective_date as dd from raw.src", "the model has no such column; it gives id, dd"),
        ("select * from raw.src", "gives every column of raw.src"),
        (
            "select a.id, d from raw.src a join raw.other b on a.id = b.id",
            "column d may come from raw.other or raw.src",
        ),
        ("select id, a || b as d from raw.src", "several columns: raw.src.a, raw.src.b"),
        ("select id, current_date as d from raw.src", "made of no column"),
        ("select id, payload->>'$.d' as d from raw.src", "taken out of a JSON text"),
        ("select id, d from read_csv('x.csv')", "it reads READ_CSV"),
        ("select id, d from {{ ref('src') }}", "has a template, {{"),
        ("insert into t values (1)", "its last statement is INSERT"),
        ("-- nothing", "it has no statement"),
        ("select id, (d from raw.src", "Expecting )"),
    ],
)
def test_what_cannot_be_located_is_a_start_error(tmp_path: Path, model: str, seen: str) -> None:
    with pytest.raises(ConsumerError) as raised:
        plan_of(tmp_path, model, d="d")
    assert seen in raised.value.seen
    assert str(Path("models/model.sql")) in raised.value.tried


def test_a_field_that_the_model_does_not_give_is_not_read(tmp_path: Path) -> None:
    plan, _ = plan_of(tmp_path, "select id, d from raw.src", ["d", "total"])
    assert list(plan["fields"]) == ["d"]
    with pytest.raises(ConsumerError, match="no field has such a name"):
        plan_of(tmp_path, "select id, d from raw.src", ["total"])
    with pytest.raises(ConsumerError, match="did you mean effective_date"):
        plan_of(tmp_path, "select id, effective_date from raw.src", ["day"], day="efective_date")


def test_of_several_sources_the_fields_own_is_mocked(tmp_path: Path) -> None:
    adapter = adapter_of(tmp_path, "select id, coalesce(d, fallback)::date as d from raw.src")
    assert decode(adapter, ["2024-03-01"]) == ["date:2024-03-01"]


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("select id, nosuch(d) as d from raw.src", "nosuch"),
        ("select id, d from raw.src where d > current_date", "explicit type casts|compare|VARCHAR"),
        ("create table src (id varchar, d date); select id, d from src", "src.d is DATE"),
        ("create table src (id varchar); select id, d from src", 'column "d" not found'),
    ],
)
def test_a_model_that_cannot_run_is_a_start_error(tmp_path: Path, model: str, seen: str) -> None:
    with pytest.raises(StartError) as raised:
        adapter_of(tmp_path, model)
    assert re.search(seen, raised.value.seen)
    assert "models/model.sql" in raised.value.tried


UNFULFILLED = [
    ("select id, d from raw.src where id like 'C-%'", "id LIKE 'C-%' (of raw.src.id)"),
    ("select id, d from raw.src where status = 'active' and d <> ''", "status = 'active' (of raw.src.status)"),
    ("with s as (select * from raw.src where status in ('a')) select id, d from s", "status IN ('a')"),
    ("select s.id, s.d from raw.src s join raw.c on s.c = c.id and c.kind = 'x'", "c.kind = 'x' (of raw.c.kind)"),
    ("select s.id, s.d from raw.src s join raw.codes c on s.d = c.code", "s.d = c.code"),
    ("select id, d from raw.src where d in (select code from raw.codes)", "IN (SELECT code FROM raw.codes)"),
    ("create table t as select id, d from raw.src where cast(id as integer) > 100", "> 100"),
    ("select id, d from raw.src where d = id", "d = id (of raw.src.d, raw.src.id)"),
    ("select id, d from raw.src where d = 'x' qualify count(*) over (partition by id) > 1", "COUNT(*) OVER"),
]


@pytest.mark.parametrize(("model", "seen"), UNFULFILLED)
def test_a_filter_that_the_mock_never_fulfils_is_a_start_error(tmp_path: Path, model: str, seen: str) -> None:
    with pytest.raises(StartError) as raised:
        adapter_of(tmp_path, model)
    assert seen in raised.value.seen
    assert "for field d" in raised.value.tried
    assert "reads.d" in raised.value.hint


@pytest.mark.parametrize(
    "model",
    [
        "select id, d from raw.src where id is not null and d like 'INV-%'",
        "select id, d from raw.src where d like 'INV-%' or status = 'active'",
        "select id, d from raw.src where coalesce(status, 'active') = 'active' and d like 'INV-%'",
        "select s.id, s.d from raw.src s left join raw.codes c on s.d = c.code where s.d like 'INV-%'",
        "select id, d from raw.src where cast(id as integer) > 0 and d like 'INV-%'",
        "select id, d from raw.src where id in (select id from raw.src where d like 'INV-%')",
        "with c as (select id from raw.src where d like 'INV-%') select id, d from raw.src where id in (from c)",
    ],
)
def test_a_filter_that_a_value_fulfils_is_none(tmp_path: Path, model: str) -> None:
    adapter = adapter_of(tmp_path, model)
    found = decode(adapter, ["x", "INV-1"])
    assert found == ["dropped: the model gives no row for the value", "text:INV-1"]


def test_a_file_in_the_place_of_a_table_is_mocked_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,d\n0,from the file\n")
    adapter = adapter_of(tmp_path, f"select id, d from '{tmp_path}/x.csv'")
    assert decode(adapter, ["a"]) == ["text:a"]


def test_columns_that_a_cte_or_a_subquery_names_by_position_are_followed(tmp_path: Path) -> None:
    model = """with c(k, x) as (select id, d from raw.src)
        select s.k, try_cast(s.y as date) as d from (select * from c) s(k, y)"""
    adapter = adapter_of(tmp_path, model)
    assert decode(adapter, ["2024-03-01", "x"]) == ["date:2024-03-01", "null: NULL"]


def test_a_name_that_the_select_gives_itself_is_no_column_of_the_source(tmp_path: Path) -> None:
    """The source of production has no such column: a mock that had one would pass the value by the first step."""
    adapter = adapter_of(tmp_path, "select id, replace(raw_d, '!', '') as e, try_cast(e as date) as d from raw.src")
    assert decode(adapter, ["2024-03-01!", "2024-03-02"]) == ["date:2024-03-01", "date:2024-03-02"]
