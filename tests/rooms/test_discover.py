"""The paths of columns through SQL files, in the text of the files, and what is not followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.discover import Discovery, discover
from auditor.discover.found import Column, Model
from auditor.discover.found import Path as Way


def found_in(folder: Path, dialect: str = "duckdb", **files: str) -> Discovery:
    """Write files, named without their suffix, and read the folder."""
    for name, text in files.items():
        path = folder / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return discover([folder], dialect)


def model_of(folder: Path, sql: str, dialect: str = "duckdb") -> Model:
    [model] = found_in(folder, dialect, model=sql).models
    return model


def column_of(model: Model, name: str) -> Column:
    [column] = [column for column in model.columns if column.name == name]
    return column


def path_of(folder: Path, sql: str, name: str = "x", dialect: str = "duckdb") -> Way:
    [path] = column_of(model_of(folder, sql, dialect), name).paths
    return path


def flags_of(path: Way) -> list[str]:
    return [flag.kind for flag in path.flags]


@pytest.mark.parametrize(
    ("sql", "source", "reads", "type_"),
    [
        ("select try_cast(d as date) as x from raw.t", "raw.t.d", "try_cast({value} as date)", "date"),
        ("select T.d::date as x from raw.t T", "raw.t.d", "{value}::date", "date"),
        ('select cast("the day" as date) as x from t', "t.the day", "cast({value} as date)", "date"),
        (
            "with c as (select trim(d) as e from t) select cast(e as int) as x from c",
            "t.d",
            "cast(trim({value}) as int)",
            "int",
        ),
        ("with c as (select d || '' as e from t) select e::int x from c", "t.d", "({value} || '')::int", "int"),
        (
            "with c as (select a.d::text as e from t as a) select cast(e as int) x from c",
            "t.d",
            "cast(({value}::text) as int)",
            "int",
        ),
        ("with c(k, e) as (select id, trim(d) from t) select e::int as x from c", "t.d", "trim({value})::int", "int"),
        ("select s.e::int as x from (select lower(d) as e from t) s", "t.d", "lower({value})::int", "int"),
        ("with c as (select * from t) select c.d::date as x from c", "t.d", "{value}::date", "date"),
        ("select trim(d) as e, e::int as x from t s join u on s.d = u.k", "", "", ""),
        ("with c as (select * exclude (d), d as e from t) select e::int as x from c", "t.d", "{value}::int", "int"),
        ("select x from t", "t.x", "{value}", "text"),
        (
            "with c as (select regexp_replace(d, '\\)', ')') e from t) select cast(e as int) x from c",
            "t.d",
            "cast((regexp_replace({value}, '\\)', ')')) as int)",
            "int",
        ),
    ],
)
def test_a_path_is_the_text_of_the_file(tmp_path: Path, sql: str, source: str, reads: str, type_: str) -> None:
    path = path_of(tmp_path, sql)
    if source:
        assert (path.sources, path.reads, path.type) == ((source,), reads, type_)
    else:
        assert path.reads is None
        assert "not followed" in flags_of(path)


def test_each_step_has_its_file_and_line_across_files(tmp_path: Path) -> None:
    staging = "select\n  id,\n  nullif(trim(total), '') as total_text\nfrom raw.contracts"
    mart = """with s as (
  select * from "db"."main"."stg_contracts"
)
select id,
  cast(total_text as decimal(18, 2)) as total
from s"""
    found = found_in(tmp_path, **{"staging/stg_contracts": staging, "marts/contracts": mart})
    [path] = column_of(next(model for model in found.models if model.name == "contracts"), "total").paths
    assert [(Path(step.place.file).name, step.place.line, step.text) for step in path.steps] == [
        ("stg_contracts.sql", 3, "nullif(trim(total), '')"),
        ("contracts.sql", 5, "cast(total_text as decimal(18, 2))"),
    ]
    assert path.sources == ("raw.contracts.total",)
    assert path.composed
    assert path.reads == "cast(nullif(trim({value}), '') as decimal(18, 2))"
    assert path.expression == "cast(nullif(trim(total), '') as decimal(18, 2))"


def test_a_union_gives_a_path_for_each_branch(tmp_path: Path) -> None:
    sql = """select id, cast(amount as int) as x from web
union all
select id, try_cast(replace(amt, '$', '') as int) from store
union all
select id, null from other"""
    paths = column_of(model_of(tmp_path, sql), "x").paths
    assert [(path.sources, path.reads) for path in paths] == [
        (("web.amount",), "cast({value} as int)"),
        (("store.amt",), "try_cast(replace({value}, '$', '') as int)"),
        ((), None),
    ]
    assert [[flag.note[-1] for flag in path.flags if flag.kind == "branch"] for path in paths] == [["1"], ["3"], ["5"]]


def test_a_union_in_a_cte_is_chosen_alike_for_all_columns_of_an_expression(tmp_path: Path) -> None:
    sql = """with u as (select a, b from t union all select c, d from s)
        select case when b = '1' then cast(a as int) end as x from u"""
    paths = column_of(model_of(tmp_path, sql), "x").paths
    assert [path.sources for path in paths] == [("t.b", "t.a"), ("s.d", "s.c")]


@pytest.mark.parametrize(
    ("expression", "kind", "note"),
    [
        (
            "case when lower(d) in ('y', 'yes') then true when d = 'n' then false end",
            "token map",
            "'y', 'yes' → TRUE; 'n' → FALSE; anything else → NULL",
        ),
        (
            "case d when 'kg' then 1000 else 0 end",
            "default",
            "ELSE 0: whatever else comes in gives this value, a sentinel",
        ),
        (
            "coalesce(try_cast(d as date), date '1970-01-01')",
            "default",
            "COALESCE … CAST('1970-01-01' AS DATE): a NULL becomes this value, a sentinel",
        ),
        ("case when length(d) > 3 then d end", "conditional", "CASE: what comes out depends on a condition"),
        ("current_date - cast(d as date)", "volatile", "calls current_date (the clock)"),
        ("strptime(d, '%d/%m/%y')", "volatile", "reads a year of two digits ('%d/%m/%y')"),
        ("max(cast(d as date))", "aggregate", "its value is made of several rows"),
        ("last_value(d) over (order by id)", "window", "its value depends on other rows (OVER)"),
        ("(select max(u.e) from u where u.id = t.id)", "subquery", "a subquery in it is not followed"),
        (
            "our_udf(d)",
            "unknown function",
            "our_udf: a UDF, a macro or a function that sqlglot does not know; not entered",
        ),
        (
            "cast(d->>'a' as int)",
            "unpacked",
            "the column is a JSON text, a structure or an array that the value is taken out of",
        ),
        ("d || e", "several columns", "made of t.d, t.e"),
        ("unnest(string_split(d, ','))", "not followed", "one value gives several rows"),
    ],
)
def test_what_a_reader_must_know_is_flagged(tmp_path: Path, expression: str, kind: str, note: str) -> None:
    path = path_of(tmp_path, f"select {expression} as x from t")
    assert (kind, note) in [(flag.kind, flag.note) for flag in path.flags]


@pytest.mark.parametrize(
    "expression", ["try_cast(d as date)", "trim(d)", "cast(replace(d, ',', '') as decimal(18, 2))", "d::date", "d"]
)
def test_a_plain_coercion_has_no_flag(tmp_path: Path, expression: str) -> None:
    assert flags_of(path_of(tmp_path, f"select {expression} as x from t")) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("select * from (select k, v from t) pivot (max(v) for k in ('a'))", "it passes a PIVOT"),
        (
            "with recursive r as (select x from t union all select x + 1 from r) select x from r",
            "it is in a recursive query",
        ),
        ("select u.x from t, unnest(t.list) as u(x)", "it comes out of UNNEST, LATERAL or a table function"),
        ("select x from a join b on a.id = b.id", "x may come from a or b"),
        ("with c as (select a.*, b.* from a join b on a.id = b.id) select x from c", "x comes from * over a, b"),
        ("with c as (select y from t) select c.x from c", "no source of the query has a column x"),
        ("select * from raw.t", "* over raw.t: which columns it has is not known"),
    ],
)
def test_what_is_not_followed_says_why(tmp_path: Path, sql: str, why: str) -> None:
    notes = [flag.note for column in model_of(tmp_path, sql).columns for path in column.paths for flag in path.flags]
    assert [note for note in notes if note.startswith(why)], notes


def test_the_columns_of_a_table_that_is_created_are_known(tmp_path: Path) -> None:
    schema = "create table raw.t (id bigint, d text, day date)"
    found = found_in(tmp_path, schema=schema, model="select *, cast(day as timestamp) as at from raw.t, lookup")
    [model] = found.models
    assert [(column.name, column.paths[0].type) for column in model.columns][:4] == [
        ("id", "bigint"), ("d", "text"), ("day", "date"), ("at", "timestamp"),
    ]  # fmt: skip
    assert "raw.t.day is date already, not a text" in [flag.note for flag in column_of(model, "at").paths[0].flags]
    assert flags_of(column_of(model, "d").paths[0]) == []
    assert found.schemas == ("raw.t",)


def test_filters_say_where_they_are_and_what_they_coerce(tmp_path: Path) -> None:
    sql = """with c as (
  select distinct id, d, e from t
  where cast(d as int) > 1
)
select c.id, try_cast(d as int) as x, e
from c
join u on u.id = c.id
left join v on v.id = c.id
where e <> '' and e < now()
qualify row_number() over (partition by c.id order by d) = 1
limit 5"""
    filters = model_of(tmp_path, sql).filters
    assert [(one.place.line, str(one), one.coerced) for one in filters] == [
        (2, "DISTINCT", ()),
        (3, "WHERE cast(d as int) > 1", ("x",)),
        (7, "INNER JOIN u on u.id = c.id", ()),
        (9, "WHERE e <> '' and e < now()", ()),
        (10, "QUALIFY row_number() over (partition by c.id order by d) = 1", ()),
        (11, "limit 5", ()),
    ]
    assert [one.volatile for one in filters if "now" in one.text] == [("calls now (the clock)",)]


@pytest.mark.parametrize(
    ("dialect", "sql", "reads", "kind"),
    [
        (
            "postgres",
            "select to_date(s.d, 'DD/MM/YYYY') as x from staging.s s",
            "to_date({value}, 'DD/MM/YYYY')",
            "date",
        ),
        (
            "bigquery",
            "select safe.parse_date('%m/%d/%Y', d) as x from `p.d.t`",
            "safe.parse_date('%m/%d/%Y', {value})",
            "date",
        ),
        (
            "snowflake",
            "select iff(upper(f) = 'Y', true, false) as x from t",
            "iff(upper({value}) = 'Y', true, false)",
            "boolean",
        ),
        ("snowflake", "select decode(f, 'A', 1, 0) as x from t", "decode({value}, 'A', 1, 0)", "integer"),
        ("tsql", "select x = try_convert(date, [d], 103) from [dbo].[t]", "try_convert(date, {value}, 103)", "date"),
        ("mysql", "select str_to_date(`d`, '%d/%m/%Y') as x from t", "str_to_date({value}, '%d/%m/%Y')", "date"),
        ("clickhouse", "select toInt64OrNull(d) as x from t", "toInt64OrNull({value})", "integer"),
        ("clickhouse", "select parseDateTimeBestEffort(d) as x from t", "parseDateTimeBestEffort({value})", "datetime"),
        (
            "trino",
            "select try(date_parse(d, '%m/%d/%Y')) as x from t",
            "try(date_parse({value}, '%m/%d/%Y'))",
            "datetime",
        ),
        ("spark", "select to_date(d, 'yyyy-MM-dd') as x from t", "to_date({value}, 'yyyy-MM-dd')", "date"),
        ("sqlite", "select cast(d as integer) as x from t", "cast({value} as integer)", "integer"),
        ("redshift", "select nvl(d::decimal(10,2), 0) as x from t", "nvl({value}::decimal(10,2), 0)", "decimal"),
    ],
)
def test_other_dialects_keep_their_own_text(tmp_path: Path, dialect: str, sql: str, reads: str, kind: str) -> None:
    path = path_of(tmp_path, sql, dialect=dialect)
    assert (path.reads, path.kind) == (reads, kind)


def test_branches_of_a_union_meet_by_position_whatever_their_names(tmp_path: Path) -> None:
    sql = """select id, cast(a as int) as x, cast(b as date) as y, c as z from t
union all
select null, null, cast(null as date), cast(e as int) from s"""
    model = model_of(tmp_path, sql)
    assert [path.sources for path in column_of(model, "y").paths] == [("t.b",), ()]
    assert [path.sources for path in column_of(model, "z").paths] == [("t.c",), ("s.e",)]


@pytest.mark.parametrize("other", ["select * from s", "select id, a, *, b from s", "select id from s"])
def test_a_branch_whose_columns_are_not_known_is_not_guessed(tmp_path: Path, other: str) -> None:
    model = model_of(tmp_path, f"select id, cast(a as int) as x from t union all {other}")
    first, second = column_of(model, "x").paths
    assert (first.sources, second.sources) == (("t.a",), ())
    assert "not followed" in flags_of(second)


def test_a_filter_that_coerces_one_column_is_not_said_to_coerce_another(tmp_path: Path) -> None:
    sql = "select n, d as x from t where n like 'INV%' and cast(d as int) > 0"
    assert [one.coerced for one in model_of(tmp_path, sql).filters] == [("x",)]


def test_a_union_that_drops_duplicates_is_a_filter(tmp_path: Path) -> None:
    assert [str(one) for one in model_of(tmp_path, "select x from t union select x from t").filters] == [
        "UNION without ALL"
    ]
    assert model_of(tmp_path, "select x from t union all select x from t").filters == ()


def test_the_scale_of_a_number_is_not_guessed(tmp_path: Path) -> None:
    assert path_of(tmp_path, "select try_to_decimal(d, 38, 2) as x from t", dialect="snowflake").scale is None
    assert path_of(tmp_path, "select d::number(38, 2) as x from t", dialect="snowflake").scale == 2


def test_a_condition_with_another_column_or_result_is_no_token_map(tmp_path: Path) -> None:
    assert flags_of(path_of(tmp_path, "select case when trim(d) = '' then null else trim(d) end as x from t")) == [
        "conditional"
    ]


@pytest.mark.parametrize(
    ("dialect", "sql", "source", "reads"),
    [
        ("duckdb", "select trim(d) as e, cast(e as int) as x from t", "t.d", "cast(trim({value}) as int)"),
        ("duckdb", "select trim(d) as d, cast(d as int) as x from t", "t.d", "cast({value} as int)"),
        ("duckdb", "select t.e as k, trim(d) as e, cast(e as int) as x from t", "t.e", "cast({value} as int)"),
        ("duckdb", "select e as k, trim(d) as e, cast(e as int) as x from t", "t.e", "cast({value} as int)"),
        ("snowflake", "select trim(d) as e, e::int as x from t", "t.d", "trim({value})::int"),
        ("clickhouse", "select trim(d) as d, cast(d as Int64) as x from t", "t.d", "cast(trim({value}) as Int64)"),
        ("postgres", "select trim(d) as e, cast(e as int) as x from t", "t.e", "cast({value} as int)"),
        ("bigquery", "select trim(d) as e, cast(e as int64) as x from t", "t.e", "cast({value} as int64)"),
    ],
)
def test_a_name_that_a_select_gives_itself_is_told_from_a_column(
    tmp_path: Path, dialect: str, sql: str, source: str, reads: str
) -> None:
    path = path_of(tmp_path, sql, dialect=dialect)
    assert (path.sources, path.reads) == ((source,), reads)


def test_days_between_days_are_not_called_a_day(tmp_path: Path) -> None:
    assert path_of(tmp_path, "select current_date - cast(d as date) as x from t").type == ""


def test_a_column_without_a_name_has_its_number(tmp_path: Path) -> None:
    model = model_of(tmp_path, "select id, cast(d as date), trim(e), x as id from t")
    columns = [(column.name.rpartition("#")[2], column.called) for column in model.columns]
    assert columns == [("id", True), ("2", False), ("3", False), ("4", False)]


def test_inserts_and_views_name_their_columns(tmp_path: Path) -> None:
    sql = """create view v (a, b) as select x, cast(y as int) from t;
insert into mart.w (day) with c as (select d from raw.s) select cast(d as date) from c;"""
    view, insert = found_in(tmp_path, both=sql).models
    assert (view.name, view.kind, [column.name for column in view.columns]) == ("v", "view", ["a", "b"])
    assert (insert.name, insert.kind, insert.place.line) == ("w", "insert", 2)
    assert column_of(insert, "day").paths[0].sources == ("raw.s.d",)


def test_a_model_called_like_its_source_is_no_circle(tmp_path: Path) -> None:
    found = found_in(
        tmp_path,
        stg_orders="select cast(id as int) as id from raw.orders",
        orders="select id from main.stg_orders",
        items="select id from main.orders",
        events="select id from raw.events",
    )
    models = {model.name: model for model in found.models}
    assert models["orders"].columns[0].paths[0].sources == ("raw.orders.id",)
    assert models["items"].columns[0].paths[0].reads == "cast({value} as int)"
    assert models["events"].tables == ("raw.events",)
    assert "stg_orders reads raw.orders, which is taken for a source table" in [one.what for one in found.problems]


def test_two_models_of_one_name_are_not_followed(tmp_path: Path) -> None:
    found = found_in(
        tmp_path, **{"a/s": "select cast(x as int) x from t", "b/s": "select x from t", "m": "select x from s"}
    )
    [m] = [model for model in found.models if model.name == "m"]
    assert (m.models, m.tables) == ((), ("s",))
    assert "m reads s, and 2 models have this name" in [problem.what for problem in found.problems]
