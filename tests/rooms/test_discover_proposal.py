"""The fragment of a spec: the spec reader takes it, whatever is in the files, and it leaves nothing out silently."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from auditor.discover import discover
from auditor.discover.proposal import propose
from auditor.spec.models import AuditSpec
from auditor.spec.read import read_spec

HEAD = 'name = "n"\n[cases]\npredictions = "p.csv"\nreferences = "r.csv"\n'


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths of a fragment are relative to where the command runs."""
    monkeypatch.chdir(tmp_path)


def fragment_of(dialect: str = "duckdb", **files: str) -> str:
    for name, text in files.items():
        Path(f"{name}.sql").write_text(text, encoding="utf-8")
    return propose(discover([f"{name}.sql" for name in files], dialect))


def spec_of(fragment: str) -> AuditSpec:
    Path("audit.toml").write_text(HEAD + fragment, encoding="utf-8")
    return read_spec(Path("audit.toml"))


def test_a_model_that_runs_whole_is_named(tmp_path: Path) -> None:
    sql = """with c as (select id, trim(total) as t, d, f from raw.src where d <> '')
select id, cast(t as decimal(18, 3)) as amount, try_cast(d as date) as d,
  case lower(f) when 'y' then true when 'n' then false end as flag, case f when 'y' then 'Y' end as word
from c"""
    spec = spec_of(fragment_of(contracts=sql))
    consumer = spec.consumers["contracts"]
    assert (consumer.engine, consumer.model, consumer.scope) == ("duckdb", "contracts.sql", "payload")
    assert consumer.reads == {name: name for name in ("id", "amount", "d", "flag", "word")}
    assert {name: (field.type, field.prediction_path.text, field.grain) for name, field in spec.fields.items()} == {
        "id": ("identifier", "id", None),
        "amount": ("decimal", "total", "0.001"),
        "d": ("date", "d", "day"),
        "flag": ("boolean", "f", None),
        "word": ("category", "f", None),
    }


def test_models_of_several_files_are_read_by_expressions() -> None:
    fragment = fragment_of(
        stg="select id, trim(total) as t from raw.src where cast(total as int) > 0",
        mart="select id, t::decimal(18, 2) as total\nfrom stg",
    )
    spec = spec_of(fragment)
    assert list(spec.consumers) == ["mart"]
    assert spec.consumers["mart"].reads == {"id": "{value}", "total": "trim({value})::decimal(18, 2)"}
    assert "# put together of stg.sql:1 → mart.sql:1" in fragment
    assert "#   drops rows: WHERE cast(total as int) > 0 (stg.sql:1" in fragment.replace("# drops", "#   drops")
    assert "# stg (stg.sql:1) is read by other models and is followed in them" in fragment


@pytest.mark.parametrize(
    ("dialect", "engine", "connection"),
    [
        ("postgres", "postgres", None),
        ("sqlite", "sqlite", None),
        ("mysql", "mariadb", None),
        ("bigquery", "googlesql", None),
        ("databricks", "spark", None),
        ("snowflake", "sqlalchemy", "env:WAREHOUSE_URL"),
        ("tsql", "sqlalchemy", "env:WAREHOUSE_URL"),
    ],
)
def test_a_dialect_has_the_engine_that_runs_it(dialect: str, engine: str, connection: str | None) -> None:
    consumer = spec_of(fragment_of(dialect, m="select cast(d as date) as d from src.t")).consumers["m"]
    assert (consumer.engine, consumer.connection) == (engine, connection)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select * from raw.t", "left out: *: * over raw.t: which columns it has is not known"),
        ("select our_udf(d) as x from t", "left out: x: its type is not known: choose one; unknown function: our_udf"),
        ("select 'a' as x from t", "left out: x: it is made of no source column: 'a'"),
        ("select cast(d as date) from t", "left out: d#1: it has no name of its own: write an alias in m.sql:1"),
        ("select cast(d as time) as x from t", "left out: x: its type is time, which is no type of field"),
        ("select cast(j->>'a' as int) as x from t", "left out: x: the column is a JSON text"),
        ("select a::date as x from t union all select b::date from u", "the branches of a union make it of different"),
        ("select '{value}' || d as x from t join u on t.d = u.d", "left out: x: "),
        ("create table t (d date); select d as x from t", "left out: x: t.d is date already, not a text"),
    ],
)
def test_what_is_left_out_has_its_reason(sql: str, reason: str) -> None:
    fragment = fragment_of(m=sql)
    assert tomllib.loads(fragment) == {}
    assert reason in fragment


def test_a_text_that_looks_like_a_place_is_not_taken_for_one() -> None:
    fragment = fragment_of("postgres", m="select cast(d || '{value}' as date) as x from t")
    assert tomllib.loads(fragment) == {}
    assert "its text holds {value}, which stands for the column in a spec" in fragment


def test_records_that_meet_are_read_field_by_field() -> None:
    consumer = spec_of(fragment_of(m="select id, max(cast(d as date)) as d from raw.t group by id")).consumers["m"]
    assert (consumer.model, consumer.scope) == ("m.sql", "field")


def test_two_columns_of_one_name_are_one_field_and_a_reason() -> None:
    fragment = fragment_of(m="select a.id, cast(a.d as date) as x, b.id, b.x from a join b on a.id = b.id")
    assert list(spec_of(fragment).fields) == ["id", "x"]
    assert "# left out: id#3: it has no name of its own: write an alias in m.sql:1" in fragment
    assert "# left out: x#4: it has no name of its own" in fragment


def test_a_model_that_calls_what_is_not_known_says_so() -> None:
    fragment = fragment_of(m="select id, our_udf(e) as x, cast(d as date) as d from raw.t")
    assert spec_of(fragment).consumers["m"].reads == {"id": "id", "d": "d"}
    assert "# it runs only where the engine has our_udf: a UDF, a macro or a function" in fragment


def test_fields_of_one_name_and_two_types_are_two_fields() -> None:
    spec = spec_of(fragment_of(a="select cast(d as date) as d from t", b="select cast(d as int) as d from t"))
    assert {name: field.type for name, field in spec.fields.items()} == {"d": "date", "b_d": "integer"}
    assert (spec.consumers["a"].reads, spec.consumers["b"].reads) == ({"d": "d"}, {"b_d": "d"})


def test_an_expression_over_lines_stays_readable() -> None:
    fragment = fragment_of("redshift", m="select case\n  when d = 'y' then true\nend as x from t")
    assert "reads.x = '''\ncase\n  when {value} = 'y' then true\nend'''\n" in fragment
    assert spec_of(fragment).consumers["m"].reads["x"] == "case\n  when {value} = 'y' then true\nend"


#: Names that a quoted identifier may have: anything but a NUL.
NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(
        [
            '"',
            "'''",
            '"""',
            "a.b",
            "x\ny",
            "\r",
            "# no",
            "]",
            "[fields.x]",
            "\x7f",
            "{value}",
            "é",
            "\u2028",
            "\x9b2J",
            "\u202e",
        ]
    ),
    st.text("a", min_size=90, max_size=120),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=NAMES, column=NAMES, alias=NAMES, text=NAMES, dialect=st.sampled_from(["duckdb", "postgres"]))
def test_no_name_and_no_text_breaks_the_fragment(table: str, column: str, alias: str, text: str, dialect: str) -> None:
    is_blank = not column.strip()
    table, column, alias = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (table, column, alias))
    literal = text.replace("'", "''").replace("{%", "").replace("{{", "")
    sql = f"""select cast({column} || '{literal}' as date) as {alias}, {column} as ok
        from raw.{table} where {column} <> '{literal}'"""
    assume("{{" not in sql and "{%" not in sql)  # a template is not read
    fragment = fragment_of(dialect, m=sql)
    assert [one for one in fragment if not one.isprintable() and one not in "\n\t"] == []
    if is_blank:
        assert "is blank, and a spec cannot hold it" in fragment
        assert tomllib.loads(fragment) == {}
    else:
        assert "ok" in spec_of(fragment).consumers["m"].reads


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_no_file_name_breaks_the_fragment(name: str) -> None:
    assume(name not in (".", "..") and len(name.encode()) < 100)
    Path("typed").mkdir(exist_ok=True)
    file = Path("typed") / f"{name}.sql"
    file.write_text("select cast(d as date) as d from raw.t", encoding="utf-8")
    spec = spec_of(propose(discover([file])))
    [consumer] = spec.consumers.values()
    assert consumer.reads == {"d": "d"}
    assert consumer.model == str(file)
    file.unlink()
