"""Models over one source, run whole on one row and by the expressions that discovery takes out of them, in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb

from auditor.discover import discover
from auditor.discover.found import Model

#: Each model gives `x` made of `raw.src.d`; those that filter are marked by their clause.
MODELS = {
    "plain cast": "select try_cast(d as date) as x from raw.src",
    "strict cast": "select d::date as x from raw.src",
    "nested casts": "select cast(cast(trim(d) as timestamp) as date) as x from raw.src",
    "amount": """with c as (select regexp_extract(d, '[0-9][0-9,]*(\\.[0-9]+)?') as digits from raw.src)
        select try_cast(replace(digits, ',', '') as decimal(18, 2)) as x from c""",
    "operators": "with c as (select d || '0' as e from raw.src) select try_cast(e as integer) * 2 as x from c",
    "token map": """with c as (select lower(trim(d)) as token from raw.src)
        select case when token in ('true', 'yes', 'y', '1') then true
                    when token in ('false', 'no', 'n', '0') then false end as x from c""",
    "words": "select case lower(d) when 'yes' then 'Y' when 'no' then 'N' else '?' end as x from raw.src",
    "default": "select coalesce(try_cast(nullif(d, '') as date), date '1970-01-01') as x from raw.src",
    "formats": """select coalesce(try_strptime(d, '%d/%m/%Y'), try_strptime(d, ['%Y-%m-%d', '%B %d, %Y']))::date as x
        from raw.src""",
    "star": "with a as (select * from raw.src), b as (select a.* from a) select cast(b.d as double) as x from b",
    "renamed": """with c(k, e) as (select id, d from raw.src)
        select s.f::bigint as x from (select k, e from c) as s(k, f)""",
    "commented": """with c as (select d -- as it comes
        || '' as e from raw.src) select /* what ( is */ try_cast(e as int) as x from c""",
    "boolean": "select try_cast(d as boolean) as x from raw.src",
    "precedence": "with c as (select try_cast(d as int) - 1 as n from raw.src) select 10 - n as x from c",
    "negation": "with c as (select d = 'x' or d = 'y' as b from raw.src) select not b as x from c",
    "filter": "select try_cast(d as date) as x from raw.src where d like '2024%'",
    "filter that coerces": "select d as x from raw.src where cast(d as integer) > 10",
    "filter on the type": "select try_cast(d as integer) as x from raw.src qualify try_cast(d as integer) is not null",
}  # fmt: skip


def model_in(folder: Path, sql: str) -> Model:
    """Discover one model."""
    (folder / "model.sql").write_text(sql, encoding="utf-8")
    [model] = discover([folder / "model.sql"]).models
    return model


def engine() -> duckdb.DuckDBPyConnection:
    """Open DuckDB with a source of one row."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE SCHEMA raw; CREATE TABLE raw.src (id VARCHAR, d VARCHAR)")
    connection.execute("INSERT INTO raw.src VALUES ('1', '')")
    return connection


def differences(connection: duckdb.DuckDBPyConnection, sql: str, model: Model, strings: Iterable[str]) -> list[str]:
    """Give the strings that the expression reads otherwise than the model; a dropped row needs a filter."""
    [column] = [column for column in model.columns if column.name == "x"]
    [path] = column.paths
    assert path.sources == ("raw.src.d",)
    assert path.reads is not None
    expression = (
        f"SELECT CAST(({path.reads.replace('{value}', 'value')}) AS VARCHAR) FROM (SELECT d AS value FROM raw.src)"
    )
    found = []
    for string in strings:
        connection.execute("UPDATE raw.src SET d = ?", [string])
        whole = _outcome(connection, f"SELECT CAST(x AS VARCHAR) FROM ({sql})")
        alone = _outcome(connection, expression)
        filtered = whole == "dropped" or (whole == "rejected" and any(one.coerced for one in model.filters))
        if whole != alone and not (filtered and model.filters):
            found.append(f"{string!r}: whole {whole}, alone {alone}")
    return found


def _outcome(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    try:
        rows = connection.execute(sql).fetchall()
    except duckdb.Error:
        return "rejected"
    return "dropped" if not rows else f"value {rows[0][0]}" if rows[0][0] is not None else "null"
