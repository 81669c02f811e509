"""How each product tries the consumer's own text on a row so that an error costs that row alone.

The text stands in the SQL as it is in the spec: no parser writes it again. `n` numbers the strings from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from auditor.record.dialects import Dialect

COLUMNS = "field, raw_json, status, value, type, error, seen"

#: The quote around a body that holds the consumer's text.
_QUOTE = "$auditor$"


@dataclass(frozen=True)
class Attempt:
    """One field of a consumer: its number, its text, and the numbers of its strings, `first` to `last`."""

    dialect: Dialect
    number: int
    target: str
    first: int
    last: int
    given: str = ""  # the strings themselves, where there are no tables

    @property
    def values(self) -> str:
        """Name the table of strings, or what stands for it."""
        return self.given or self.dialect.name.format("auditor_values")

    @property
    def results(self) -> str:
        """Name the table of results."""
        return self.dialect.name.format("auditor_results")

    @property
    def rows(self) -> str:
        """Say which strings are this field's."""
        return f"n BETWEEN {self.first} AND {self.last}"

    def expression(self, column: str = "string") -> str:
        """Write the consumer's text with the column in its place, on lines of its own: its comments end there."""
        return "(\n" + self.target.replace("{value}", column) + "\n)"

    @property
    def seen(self) -> str:
        """Write what the engine says of the string that it read."""
        return filled(self.dialect.seen, "string")

    def answered(self, source: str, x: str = "x") -> str:
        """Write the columns of a result of `source`, which has field, raw_json, seen and the value `x`."""
        text, kind = filled(self.dialect.text, x), filled(self.dialect.kind, x)
        return (
            f"SELECT field, raw_json, CASE WHEN {x} IS NULL THEN 'null' ELSE 'value' END AS status, "
            f"CASE WHEN {x} IS NULL THEN '' ELSE {text} END AS value, "
            f"CASE WHEN {x} IS NULL THEN '' ELSE {kind} END AS type, '' AS error, seen FROM {source}"
        )

    def one(self, condition: str) -> str:
        """Write the insert of the answers to the strings of a condition."""
        read = f"SELECT field, raw_json, {self.seen} AS seen, {self.expression()} AS x"
        read += f" FROM {self.values} WHERE {condition}"
        return f"INSERT INTO {self.results} ({COLUMNS}) {self.answered(f'({read}) one_row')}"

    def refused(self, condition: str, message: str) -> str:
        """Write the insert of a rejection."""
        chosen = (
            f"SELECT field, raw_json, 'rejected', '', '', {message}, {self.seen} FROM {self.values} WHERE {condition}"
        )
        return f"INSERT INTO {self.results} ({COLUMNS}) {chosen}"


def filled(template: str, expression: str) -> str:
    """Put an expression in all places of a template."""
    return template.replace("{x}", expression)


def _duckdb(attempt: Attempt) -> Iterator[str]:
    tried = f"TRY({{'x': {attempt.expression()}}}) AS tried"  # NULL is an error; a structure that holds NULL is NULL
    inner = f"SELECT field, raw_json, {attempt.seen} AS seen, {tried} FROM {attempt.values} WHERE {attempt.rows}"
    answered = attempt.answered(f"({inner}) WHERE tried IS NOT NULL", "tried.x")
    yield f"INSERT INTO {attempt.results} ({COLUMNS}) {answered}"


def _postgres(attempt: Attempt) -> Iterator[str]:
    text, kind = filled(attempt.dialect.text, "x"), filled(attempt.dialect.kind, "x")
    name = f"pg_temp.auditor_read_{attempt.number}"
    yield f"""CREATE FUNCTION {name}(string text) RETURNS text[] LANGUAGE plpgsql AS {_QUOTE}
BEGIN
  RETURN (SELECT CASE WHEN x IS NULL THEN ARRAY['null', '', '', ''] ELSE ARRAY['value', {text}, {kind}, ''] END
    FROM (SELECT {attempt.expression()} AS x) one_row);
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY['rejected', '', '', SQLSTATE || ': ' || SQLERRM];
END {_QUOTE}"""
    columns = f"field, raw_json, a[1], a[2], a[3], a[4], {attempt.seen}"
    source = f"SELECT *, {name}(string) AS a FROM {attempt.values} WHERE {attempt.rows}"
    yield f"INSERT INTO {attempt.results} ({COLUMNS}) SELECT {columns} FROM ({source} OFFSET 0) one_row"


def _one_by_one(attempt: Attempt) -> Iterator[str]:
    """A statement for each string; those that fail leave no row."""
    for number in range(attempt.first, attempt.last + 1):
        yield attempt.one(f"n = {number}")


def _mysql(attempt: Attempt) -> Iterator[str]:
    # A value goes into a variable, not into a table: a strict insert refuses what the expression alone gives.
    name, at = f"auditor_read_{attempt.number}", "n = auditor_at"
    kinds = f"auditor_type_{attempt.number}"
    yield f"CREATE TABLE {kinds} AS SELECT {attempt.expression()} AS x FROM {attempt.values} LIMIT 0"
    of_x = f"table_schema = DATABASE() AND table_name = '{kinds}' AND column_name = 'x'"
    yield f"SET @auditor_type = (SELECT data_type FROM information_schema.columns WHERE {of_x})"
    yield f"DROP TABLE {kinds}"
    yield f"""CREATE PROCEDURE {name}()
BEGIN
  DECLARE auditor_at INT DEFAULT {attempt.first};
  WHILE auditor_at <= {attempt.last} DO
    BEGIN
      DECLARE EXIT HANDLER FOR SQLEXCEPTION
      BEGIN
        GET DIAGNOSTICS CONDITION 1 @auditor_error = MESSAGE_TEXT;
        {attempt.refused(at, "@auditor_error")};
      END;
      SELECT CAST({attempt.expression()} AS CHAR) INTO @auditor_text FROM {attempt.values} WHERE {at};
      INSERT INTO {attempt.results} ({COLUMNS})
        SELECT field, raw_json, CASE WHEN @auditor_text IS NULL THEN 'null' ELSE 'value' END,
          COALESCE(@auditor_text, ''), @auditor_type, '', {attempt.seen} FROM {attempt.values} WHERE {at};
    END;
    SET auditor_at = auditor_at + 1;
  END WHILE;
END"""
    yield f"CALL {name}()"
    yield f"DROP PROCEDURE {name}"


def _snowflake(attempt: Attempt) -> Iterator[str]:
    yield f"""EXECUTE IMMEDIATE {_QUOTE.replace("auditor", "")}
DECLARE
  auditor_at INTEGER DEFAULT {attempt.first};
  auditor_error VARCHAR DEFAULT '';
BEGIN
  WHILE (auditor_at <= {attempt.last}) DO
    BEGIN
      {attempt.one("n = :auditor_at")};
    EXCEPTION
      WHEN OTHER THEN
        auditor_error := SQLERRM;
        {attempt.refused("n = :auditor_at", ":auditor_error")};
    END;
    auditor_at := auditor_at + 1;
  END WHILE;
END;
$$"""


def _redshift(attempt: Attempt) -> Iterator[str]:
    name = f"auditor_read_{attempt.number}"
    yield f"""CREATE OR REPLACE PROCEDURE {name}() NONATOMIC AS {_QUOTE}
DECLARE
  auditor_at INTEGER := {attempt.first};
BEGIN
  WHILE auditor_at <= {attempt.last} LOOP
    BEGIN
      {attempt.one("n = auditor_at")};
    EXCEPTION WHEN OTHERS THEN
      {attempt.refused("n = auditor_at", "SQLERRM")};
    END;
    auditor_at := auditor_at + 1;
  END LOOP;
END;
{_QUOTE} LANGUAGE plpgsql"""
    yield f"CALL {name}()"
    yield f"DROP PROCEDURE {name}()"


def _bigquery(attempt: Attempt) -> Iterator[str]:
    yield f"""BEGIN
  DECLARE auditor_at INT64 DEFAULT {attempt.first};
  WHILE auditor_at <= {attempt.last} DO
    BEGIN
      {attempt.one("n = auditor_at")};
    EXCEPTION WHEN ERROR THEN
      {attempt.refused("n = auditor_at", "@@error.message")};
    END;
    SET auditor_at = auditor_at + 1;
  END WHILE;
END"""


def _databricks(attempt: Attempt) -> Iterator[str]:
    yield f"""BEGIN
  DECLARE auditor_at INT DEFAULT {attempt.first};
  WHILE auditor_at <= {attempt.last} DO
    BEGIN
      DECLARE EXIT HANDLER FOR SQLEXCEPTION
      BEGIN
        DECLARE auditor_error STRING DEFAULT '';
        GET DIAGNOSTICS CONDITION 1 auditor_error = MESSAGE_TEXT;
        {attempt.refused("n = auditor_at", "auditor_error")};
      END;
      {attempt.one("n = auditor_at")};
    END;
    SET auditor_at = auditor_at + 1;
  END WHILE;
END"""


def _tsql(attempt: Attempt) -> Iterator[str]:
    expression = attempt.expression("@auditor_string")
    inner = (
        f"SELECT field, raw_json, {attempt.seen} AS seen, {expression} AS x FROM {attempt.values} WHERE n = @auditor_at"
    )
    answered = attempt.answered(f"({inner}) one_row")
    kinds = f"#auditor_type_{attempt.number}"
    yield f"SELECT TOP 0 {attempt.expression()} AS x INTO {kinds} FROM {attempt.values}"
    of_x = f"object_id = OBJECT_ID(N'tempdb..{kinds}') AND name = N'x'"
    yield f"""DECLARE @auditor_at INT = {attempt.first}, @auditor_string NVARCHAR(MAX), @auditor_type NVARCHAR(128);
SELECT @auditor_type = TYPE_NAME(system_type_id) FROM tempdb.sys.columns WHERE {of_x};
WHILE @auditor_at <= {attempt.last}
BEGIN
  SELECT @auditor_string = string FROM {attempt.values} WHERE n = @auditor_at;
  BEGIN TRY
    INSERT INTO {attempt.results} ({COLUMNS}) {answered};
  END TRY
  BEGIN CATCH
    {attempt.refused("n = @auditor_at", "ERROR_MESSAGE()")};
  END CATCH;
  SET @auditor_at += 1;
END"""


def _trino(attempt: Attempt) -> Iterator[str]:
    """One query for each field and part of its strings: without tables, it gives rows of the result itself."""
    tried = f"TRY(ARRAY[{attempt.expression()}]) AS tried"
    inner = f"SELECT field, raw_json, {attempt.seen} AS seen, {tried} FROM {attempt.values}"
    text, kind = filled(attempt.dialect.text, "tried[1]"), filled(attempt.dialect.kind, "tried[1]")
    yield f"""SELECT field, raw_json,
  CASE WHEN tried IS NULL THEN 'rejected' WHEN tried[1] IS NULL THEN 'null' ELSE 'value' END AS status,
  COALESCE({text}, '') AS value, {kind} AS type, '' AS error, seen
FROM ({inner})"""


ATTEMPTS: dict[str, Callable[[Attempt], Iterator[str]]] = {
    "bigquery": _bigquery,
    "clickhouse": _one_by_one,
    "databricks": _databricks,
    "duckdb": _duckdb,
    "mariadb": _mysql,
    "mysql": _mysql,
    "postgres": _postgres,
    "redshift": _redshift,
    "snowflake": _snowflake,
    "spark": _databricks,
    "sqlite": _one_by_one,
    "trino": _trino,
    "tsql": _tsql,
}

#: What may not stand in a consumer's text, since it ends the body around it.
ENDS = {"postgres": _QUOTE, "redshift": _QUOTE, "snowflake": "$$"}
