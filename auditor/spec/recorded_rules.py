"""What must hold between the keys of a recorded consumer: a warehouse out of reach, of which answers were taken."""

from __future__ import annotations

from pathlib import Path

from auditor.spec.entry import Entry
from auditor.spec.mistakes import Mistakes

#: Warehouses that no adapter can run.
WAREHOUSES = ("snowflake", "bigquery", "redshift", "databricks", "tsql", "trino", "mysql")

#: Engines whose SQL `auditor record` writes.
RECORDABLE = (*WAREHOUSES, "postgres", "mariadb", "clickhouse", "spark", "duckdb", "sqlite")


def check_recorded(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    """Note the mistakes of a recorded consumer; whether its file is there is seen when it is opened."""
    engine = consumer.get("engine")
    if not consumer.has("engine"):
        what = "is missing: nothing says which warehouse was recorded"
        mistakes.add(("consumers", name, "engine"), what, f"it is one of {', '.join(RECORDABLE)}")
    elif engine is not None and engine not in RECORDABLE:
        what = f"there is no SQL that records {engine}"
        mistakes.add(("consumers", name, "engine"), what, f"it is one of {', '.join(RECORDABLE)}")
    if not consumer.has("results"):
        hint = f'add results = "recorded/{name}.csv": what its warehouse gives for the SQL of `auditor record {name}`'
        mistakes.add(("consumers", name, "results"), "is missing: a recorded consumer answers from a file", hint)
    if not consumer.has("reads"):
        hint = 'such as reads.total = "try_cast({value} as decimal(18, 2))"'
        mistakes.add(("consumers", name, "reads"), "is missing: it says what the warehouse was asked", hint)
    for field, target in consumer.get("reads", {}).items():
        if "{value}" not in target:
            hint = f'such as reads.{field} = "try_cast({{value}} as date)"'
            mistakes.add(("consumers", name, "reads", field), f'the expression "{target}" has no {{value}}', hint)
    if consumer.get("receives", "text") != "text":
        mistakes.add(("consumers", name, "receives"), "makes no sense for a recorded consumer: it took texts")
