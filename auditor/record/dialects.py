"""What products write differently: tables, their own text and type of a value, their version and settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """How one product is written; templates have ``{x}`` for an expression.

    `text` is the engine's own text of a value, dates in ISO form whatever the session writes; `kind` names the type of
    a value, empty where the product has no function for it; `seen` is what it says of the string that it read. `told`
    are the settings in force, each an expression. `table` makes a table that goes with the session.
    """

    text: str
    kind: str = "''"
    seen: str = "md5({x})"
    version: str = "version()"
    now: str = "CAST(CURRENT_TIMESTAMP AS VARCHAR(64))"
    told: tuple[tuple[str, str], ...] = ()
    setting: str = "SET {name} = {value}"
    table: str = "CREATE TEMPORARY TABLE {name} ({columns})"
    name: str = "{}"
    string: str = "VARCHAR(65535)"
    number: str = "INTEGER"
    end: str = ";\n"
    limits: tuple[str, ...] = ()


_SNOWFLAKE_TEXT = (
    "CASE WHEN IS_DATE(TO_VARIANT({x})) THEN TO_VARCHAR(AS_DATE(TO_VARIANT({x})), 'YYYY-MM-DD')"
    " WHEN IS_TIMESTAMP_NTZ(TO_VARIANT({x}))"
    " THEN TO_VARCHAR(AS_TIMESTAMP_NTZ(TO_VARIANT({x})), 'YYYY-MM-DD HH24:MI:SS.FF6')"
    " WHEN IS_TIMESTAMP_LTZ(TO_VARIANT({x}))"
    " THEN TO_VARCHAR(AS_TIMESTAMP_LTZ(TO_VARIANT({x})), 'YYYY-MM-DD HH24:MI:SS.FF6TZH:TZM')"
    " WHEN IS_TIMESTAMP_TZ(TO_VARIANT({x}))"
    " THEN TO_VARCHAR(AS_TIMESTAMP_TZ(TO_VARIANT({x})), 'YYYY-MM-DD HH24:MI:SS.FF6TZH:TZM')"
    " ELSE TO_VARCHAR({x}) END"
)

_SLOW = "Each string is one statement or more: a thousand take minutes."

DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect(
        text="CAST({x} AS VARCHAR)",
        kind="typeof({x})",
        told=(("TimeZone", "current_setting('TimeZone')"),),
    ),
    "postgres": Dialect(
        # JSON writes dates in ISO form whatever DateStyle says, and everything else as its own text.
        text="to_json({x}) #>> '{}'",
        kind="CAST(pg_typeof({x}) AS text)",
        version="current_setting('server_version')",
        told=(("DateStyle", "current_setting('DateStyle')"), ("TimeZone", "current_setting('TimeZone')")),
        string="text",
    ),
    "sqlite": Dialect(
        text="CAST({x} AS TEXT)",
        kind="CASE typeof({x}) WHEN 'text' THEN '' ELSE typeof({x}) END",
        seen="hex({x})",
        version="sqlite_version()",
        now="datetime('now')",
        setting="PRAGMA {name} = {value}",
        string="TEXT",
        limits=("A statement that fails must not end the script: sqlite3 goes on where it is not started with -bail.",),
    ),
    "mariadb": Dialect(
        text="CAST({x} AS CHAR)",
        seen="MD5({x})",
        now="CAST(UTC_TIMESTAMP() AS CHAR)",
        told=(("sql_mode", "@@sql_mode"), ("time_zone", "@@time_zone")),
        string="LONGTEXT CHARACTER SET utf8mb4",
        limits=("It makes procedures named auditor_read_1 and so on in the current database.", _SLOW),
    ),
    "clickhouse": Dialect(
        text="toString({x})",
        kind="toTypeName({x})",
        seen="lower(hex(MD5({x})))",
        now="toString(now('UTC'))",
        told=(("timezone", "timezone()"),),
        string="String",
        number="Int32",
        limits=("A statement that fails must not end the script: clickhouse-client --ignore-error.",),
    ),
    "snowflake": Dialect(
        text=_SNOWFLAKE_TEXT,
        kind="SYSTEM$TYPEOF({x})",
        seen="MD5({x})",
        version="CURRENT_VERSION()",
        now="TO_VARCHAR(CONVERT_TIMEZONE('UTC', CURRENT_TIMESTAMP()), 'YYYY-MM-DD HH24:MI:SS')",
        setting="ALTER SESSION SET {name} = {value}",
        string="VARCHAR",
        limits=(
            "Session parameters (TIMEZONE, DATE_INPUT_FORMAT, TIMESTAMP_INPUT_FORMAT) are recorded where the spec's"
            " `settings` set them: no function reads them.",
            _SLOW,
        ),
    ),
    "bigquery": Dialect(
        text="CAST({x} AS STRING)",
        # %T writes a constant of the value's type: DATE "2024-03-01", NUMERIC "1.5", a string in its quotes.
        kind="IF(REGEXP_CONTAINS(FORMAT('%T', {x}), r'^[^A-Za-z0-9+-]'), 'STRING',"
        " COALESCE(REGEXP_EXTRACT(FORMAT('%T', {x}), r'^[A-Z]+'), ''))",
        seen="TO_HEX(MD5({x}))",
        version="'a service without versions'",
        now="FORMAT_TIMESTAMP('%F %T', CURRENT_TIMESTAMP())",
        told=(("time_zone", "@@time_zone"),),
        setting="SET @@{name} = {value}",
        table="CREATE TEMP TABLE {name} ({columns})",
        string="STRING",
        number="INT64",
        limits=("The SAFE. prefix is not for every function, so that each string is tried in a block.", _SLOW),
    ),
    "redshift": Dialect(
        text="CAST({x} AS VARCHAR(65535))",
        seen="MD5({x})",
        now="CAST(GETDATE() AS VARCHAR(64))",
        told=(("datestyle", "current_setting('datestyle')"), ("timezone", "current_setting('timezone')")),
        setting="SET {name} TO {value}",
        limits=(
            "It makes procedures named auditor_read_1 and so on in the current schema. They are NONATOMIC: only so is a"
            " handled error the end of one row and not of the procedure.",
            "It names no types: a text that an expression gives is taken for what the field's type makes of it.",
            "A text of the leader node alone, such as one of a setting, may have to be asked by itself.",
            _SLOW,
        ),
    ),
    "databricks": Dialect(
        text="CAST({x} AS STRING)",
        kind="typeof({x})",
        now="CAST(to_utc_timestamp(current_timestamp(), current_timezone()) AS STRING)",
        told=(("timezone", "current_timezone()"),),
        setting="SET {name} = {bare}",
        table="CREATE OR REPLACE TABLE {name} ({columns})",
        string="STRING",
        number="INT",
        limits=(
            "It makes the tables auditor_values and auditor_results in the current schema: drop them afterwards.",
            "It needs SQL scripting: Databricks SQL, Runtime 16.3 or newer, Spark 4.",
            _SLOW,
        ),
    ),
    "tsql": Dialect(
        text="CONVERT(NVARCHAR(4000), {x}, 126)",  # ISO 8601 for moments, all digits for numbers
        kind="@auditor_type",
        seen="LOWER(CONVERT(VARCHAR(32), HASHBYTES('MD5', {x}), 2))",
        version="@@VERSION",
        now="CONVERT(NVARCHAR(19), SYSUTCDATETIME(), 120)",
        told=(("language", "@@LANGUAGE"), ("datefirst", "CONVERT(NVARCHAR(8), @@DATEFIRST)")),
        setting="SET {name} {bare}",
        table="CREATE TABLE {name} ({columns})",
        name="#{}",
        string="NVARCHAR(MAX)",
        number="INT",
        end="\nGO\n",
        limits=("A text of more than 4,000 characters is cut in `value`.",),
    ),
    "trino": Dialect(
        text="CAST({x} AS VARCHAR)",
        kind="typeof({x})",
        seen="lower(to_hex(md5(to_utf8({x}))))",
        now="CAST(current_timestamp AT TIME ZONE 'UTC' AS VARCHAR)",
        told=(("timezone", "current_timezone()"),),
        setting="SET SESSION {name} = {value}",
        string="VARCHAR",
        limits=(
            "Each query gives rows of one result: export all of them, one after the other, into one file.",
            "TRY gives no message, and only errors of values: another error ends its query.",
        ),
    ),
}
DIALECTS["mysql"] = DIALECTS["mariadb"]
DIALECTS["spark"] = DIALECTS["databricks"]
