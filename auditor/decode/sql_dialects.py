"""What sqlglot calls the language of an engine, and how that engine reads a name."""

from __future__ import annotations

#: The nearest language where sqlglot has none for the engine.
_DIALECTS = {
    "sqlite": "sqlite",
    "postgres": "postgres",
    "mariadb": "mysql",
    "clickhouse": "clickhouse",
    "datafusion": "postgres",
    "spark": "spark",
    "googlesql": "bigquery",
}

#: Engines that fold a name to lower case unless it is quoted.
FOLDING = ("postgres", "datafusion")


def dialect_of(engine: str | None) -> str:
    """Give the language of an engine."""
    return _DIALECTS.get(engine or "", "duckdb")


def spelled(name: str, quoted: bool, engine: str | None) -> str:
    """Give a name as the engine stores it."""
    return name.lower() if engine in FOLDING and not quoted else name
