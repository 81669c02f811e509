"""What cannot be read is told with file, line and reason, and costs nothing else; nothing crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.discover import DiscoverError, discover

GOOD = "select try_cast(d as date) as d from raw.t"


def problems_of(folder: Path, text: str | bytes, dialect: str = "duckdb") -> list[str]:
    """Read a bad file beside a good one, which is read whatever the other is."""
    (folder / "good.sql").write_text(GOOD)
    (folder / "bad.sql").write_bytes(text.encode() if isinstance(text, str) else text)
    found = discover([folder], dialect)
    assert "good" in [model.name for model in found.models]
    return [f"{Path(problem.place.file).name}:{problem.place.line} {problem.what}" for problem in found.unread]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("select 1 as a;\n\nselect from where;", "bad.sql:3 sqlglot cannot parse it: "),
        ("select *\nfrom {{ ref('stg') }}", "bad.sql:2 is a template, not SQL yet: {{ ref('stg') }}"),
        ("{% macro m() %}\nselect 1\n{% endmacro %}", "bad.sql:1 is a template, not SQL yet: {% macro m() %}"),
        (b"select 1;\nselect '\xff'", "bad.sql:2 is not UTF-8: byte 0xff"),
        ("select 'no end", "bad.sql:0 sqlglot cannot parse it: "),
        ("select a\0 from t", "bad.sql:1 has a NUL in it"),
        ("select " + "(" * 5000 + "a" + ")" * 5000 + " as x from t", "bad.sql:1 it is nested too deeply"),
        (")))(((", "bad.sql:1 sqlglot cannot parse it: "),
    ],
)
def test_a_file_that_cannot_be_read_costs_no_other(tmp_path: Path, text: str | bytes, seen: str) -> None:
    [problem] = problems_of(tmp_path, text)
    assert problem.startswith(seen)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- nothing but a comment",
        "set search_path = 'a'; drop table if exists t;",
        "select " + "cast(" * 300 + "a" + " as text)" * 300 + " as x from t",
        "select * from " + "(select * from " * 100 + "t" + ") q" * 100,
        " union all ".join(f"select cast(a{number} as date) as d from t{number}" for number in range(120)),
        "select a from t where " + " and ".join(f"a <> '{number}'" for number in range(500)),
        "select " + " || ".join(["a"] * 1000) + " as x from t",
        "with c0 as (select a from t)"
        + "".join(f", c{n} as (select trim(a) || lower(a) as a from c{n - 1})" for n in range(1, 100))
        + " select cast(a as date) as a from c99",
        "with c0 as (select * from t)"
        + "".join(f", c{n} as (select * from c{n - 1})" for n in range(1, 300))
        + " select cast(a as date) as a from c299",
    ],
    ids=["empty", "comment", "settings", "casts", "subqueries", "unions", "ands", "concat", "doubling", "chain"],
)
def test_deep_and_long_queries_are_read(tmp_path: Path, text: str) -> None:
    assert problems_of(tmp_path, text) == []


def test_an_expression_that_doubles_with_each_step_is_not_written_out(tmp_path: Path) -> None:
    steps = "".join(f", c{n} as (select trim(a) || lower(a) as a from c{n - 1})" for n in range(1, 40))
    (tmp_path / "m.sql").write_text(f"with c0 as (select a from t){steps} select a from c39")
    [path] = discover([tmp_path]).models[0].columns[0].paths
    assert path.reads is None
    assert path.sources == ("t.a",)
    assert len(path.steps) == 39
    assert "its steps put into each other have more than 20,000 characters" in [flag.note for flag in path.flags]


def test_unions_of_unions_end(tmp_path: Path) -> None:
    unions = " union all ".join(f"select cast(a{number} as date) as d from t{number}" for number in range(120))
    (tmp_path / "m.sql").write_text(unions)
    paths = discover([tmp_path]).models[0].columns[0].paths
    assert [path.sources for path in paths[:2]] == [("t0.a0",), ("t1.a1",)]
    assert len(paths) == 50
    assert "unions give more than 50 paths" in [flag.note for flag in paths[-1].flags]


def test_files_folders_and_globs_are_read_once(tmp_path: Path) -> None:
    for name in ("a", "b", "deep/c"):
        path = tmp_path / f"{name}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text(GOOD)
    found = discover([tmp_path, str(tmp_path / "*.sql"), tmp_path / "a.sql"])
    assert [Path(file).name for file in found.files] == ["a.sql", "b.sql", "c.sql"]


def test_the_tests_that_dbt_compiles_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "models" / "schema.yml").mkdir(parents=True)
    (tmp_path / "models" / "a.sql").write_text(GOOD)
    (tmp_path / "models" / "schema.yml" / "not_null_a.sql").write_text("select d from a where d is null")
    found = discover([tmp_path / "models"])
    assert [model.name for model in found.models] == ["a"]
    assert [problem.what for problem in found.problems] == [
        "1 file left out: dbt compiles its tests into such a folder"
    ]
    assert found.unread == ()


@pytest.mark.parametrize(
    ("arguments", "dialect", "seen"),
    [
        (["nowhere.sql"], "duckdb", "nowhere.sql: there is no such file or folder, and nothing matches it as a glob"),
        (["."], "postgre", "--dialect postgre: there is no such dialect\n  next: did you mean postgres?"),
        (["."], "duckdb", "nothing could be read\n  only.sql:1: is a template, not SQL yet: {{ x }}"),
        (["empty"], "duckdb", "empty: has no .sql file in it"),
    ],
)
def test_what_cannot_be_searched_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], dialect: str, seen: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "only.sql").write_text("select {{ x }}")
    with pytest.raises(DiscoverError) as error:
        discover(arguments, dialect)
    assert str(error.value).startswith(seen)
