"""What must hold between the keys of an SQL consumer: each engine can do something else."""

from __future__ import annotations

import re
from pathlib import Path

from auditor.spec.emulation_rules import check_emulation
from auditor.spec.entry import Entry
from auditor.spec.mistakes import Mistakes
from auditor.spec.production import mistake_in
from auditor.spec.recorded_rules import WAREHOUSES

#: The statements that an engine has beside the cast.
STATEMENTS = {
    "duckdb": ("insert", "copy"),
    "sqlite": ("insert",),
    "postgres": ("insert", "copy"),
    "mariadb": ("insert",),
}

#: Engines that are servers: one that runs is named by `connection`.
CONNECTED = ("postgres", "mariadb", "spark", "sqlalchemy", "adbc")

#: Warehouses that the user runs, which are nothing without a connection.
ELSEWHERE = ("sqlalchemy", "adbc")

#: Engines whose server is started where none is named.
STARTED = ("postgres", "mariadb")

#: Engines on which a model file runs.
MODELLED = ("duckdb", "sqlite", "postgres", "mariadb", "clickhouse", "datafusion")

#: Bytes of address space of engines that reserve far more than they use.
MEMORY = dict.fromkeys(("clickhouse", "datafusion", "googlesql", "spark"), 64 * 1024**3)

#: Seconds that one string may take, of an engine whose first job alone takes longer than the usual limit.
TIMEOUT = {"spark": 60.0}

_VARIABLE = re.compile("env:[A-Za-z_][A-Za-z0-9_]*")


def statements_of(engine: str | None) -> tuple[str, ...]:
    """Give the statements that an engine has."""
    return ("cast", *STATEMENTS.get(engine or "", ()))


def check_sql(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    """Note the mistakes of an SQL consumer."""
    check_emulation(name, consumer, mistakes)
    engine = consumer.get("engine")
    if not consumer.has("engine"):
        mistakes.add(("consumers", name, "engine"), "is missing", 'add engine = "duckdb"')
    elif engine is not None and engine not in WAREHOUSES:
        _check_server(name, engine, consumer, mistakes)
        _check_production(name, engine, consumer, mistakes)
        if not consumer.has("memory") and engine in MEMORY:
            consumer.values["memory"] = MEMORY[engine]
        if not consumer.has("timeout") and engine in TIMEOUT:
            consumer.values["timeout"] = TIMEOUT[engine]
    if consumer.has("model"):
        _check_model(name, engine, consumer, folder, mistakes)
        return
    if consumer.has("scope") and consumer.get("scope") != "field":
        hint = "remove it; an expression reads its own column alone, and a model file is named by `model`"
        mistakes.add(("consumers", name, "scope"), "makes no sense without a model file", hint)
    if not consumer.has("reads"):
        hint = 'such as reads.total = "try_cast({value} as decimal(18, 2))", or model = "models/contracts.sql"'
        mistakes.add(("consumers", name), "a sql consumer needs either reads or model", hint)
    _check_targets(name, engine, consumer, mistakes)


def _check_model(name: str, engine: str | None, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    hint = 'name an expression for each field, such as reads.total = "cast({value} as decimal(18, 2))"'
    if engine not in (None, *MODELLED):
        what = f"a model file runs on {', '.join(MODELLED)}, not on {engine}"
        mistakes.add(("consumers", name, "model"), what, hint)
        return
    if consumer.has("connection"):
        what = "a model file runs on a private server only: the tables that it reads are made for it"
        mistakes.add(("consumers", name, "model"), what, "remove `connection`, or " + hint)
    if consumer.get("statement", "cast") != "cast":
        what = "makes no sense for a model file, which says itself what is cast and loaded"
        mistakes.add(("consumers", name, "statement"), what, "remove it")
    model = consumer.get("model")
    if model is not None and not (folder / consumer.get("root", ".") / model).is_file():
        what = f"there is no file {folder / consumer.get('root', '.') / model}"
        base = "the consumer's root" if consumer.has("root") else "the folder of the spec"
        mistakes.add(("consumers", name, "model"), what, f"the path is relative to {base}")


def _check_production(name: str, engine: str, consumer: Entry, mistakes: Mistakes) -> None:
    production = consumer.get("production")
    found = mistake_in(engine, production) if production is not None else None
    if found is not None:
        mistakes.add(("consumers", name, "production"), *found)


def _check_server(name: str, engine: str, consumer: Entry, mistakes: Mistakes) -> None:
    statement, connection = consumer.get("statement", "cast"), consumer.get("connection")
    if statement not in statements_of(engine):
        what = f"there is no {statement} for {engine}"
        mistakes.add(("consumers", name, "statement"), what, f"it has {', '.join(statements_of(engine))}")
    if consumer.has("connection") and engine not in CONNECTED:
        what = f"makes no sense for {engine}, which runs inside the auditor's own process"
        mistakes.add(("consumers", name, "connection"), what, "remove it")
    elif connection is not None and not _VARIABLE.fullmatch(connection):
        hint = 'put the URL into an environment variable and write connection = "env:WAREHOUSE_URL"'
        mistakes.add(("consumers", name, "connection"), "must be env: and the name of a variable", hint)
    if engine in ELSEWHERE and not consumer.has("connection"):
        hint = 'put its URL into an environment variable and write connection = "env:WAREHOUSE_URL"'
        mistakes.add(("consumers", name, "connection"), "is missing: nothing says which warehouse", hint)
    if consumer.has("server") and (engine not in STARTED or consumer.has("connection")):
        what = "makes no sense where no server is started"
        mistakes.add(("consumers", name, "server"), what, "it is for postgres and mariadb without a `connection`")


def _check_targets(name: str, engine: str | None, consumer: Entry, mistakes: Mistakes) -> None:
    statement = consumer.get("statement", "cast")
    if statement not in statements_of(engine):
        return
    loads = statement != "cast"
    for field, target in consumer.get("reads", {}).items():
        if loads and "{value}" in target:
            hint = f'such as reads.{field} = "date": the type of the column'
            what = f'"{target}" is an expression, but the statement loads values into a column'
            mistakes.add(("consumers", name, "reads", field), what, hint)
        elif not loads and "{value}" not in target:
            hint = f'such as reads.{field} = "try_cast({{value}} as date)"'
            what = f'the expression "{target}" has no {{value}}'
            mistakes.add(("consumers", name, "reads", field), what, hint)
