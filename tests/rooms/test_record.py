"""The SQL of `auditor record` for warehouses that cannot run here, and the way from the command to a column."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app
from auditor.errors import AuditorError
from auditor.record.literals import literal
from auditor.record.script import Script, make_script
from auditor.spec.models import ConsumerSpec

TARGETS = {
    "bigquery": "PARSE_DATE('%m/%d/%Y', {value})",
    "databricks": "to_date({value}, 'yyyy-MM-dd')",
    "mysql": "str_to_date({value}, '%d/%m/%Y')",
    "redshift": "to_date({value}, 'YYYY-MM-DD', true)",
    "snowflake": "try_to_date({value}, 'AUTO') -- whatever AUTO is",
    "spark": "cast({value} as date)",
    "trino": "date_parse({value}, '%Y-%m-%d')",
    "tsql": "convert(date, {value}, 103)",
}
TEXTS = ["2024-03-01", "it's \\ \u00e9 \U0001f600\r\n", '"', ""]

#: Where the name of a variable is no SQL of the dialect by itself.
VARIABLES = re.compile(r":auditor_(at|error)")


def script_of(engine: str, target: str, **spec: Any) -> Script:
    described = {"name": "warehouse", "adapter": "recorded", "engine": engine, "results": "w.csv"}
    return make_script(ConsumerSpec(**described | {"reads": {"signed on": target}} | spec), {"signed on": TEXTS})


def statements_in(script: Script) -> list[str]:
    """Give the plain statements of a script, those inside its blocks as well."""
    found = []
    for statement in script.statements:
        block = re.search(r"\b(BEGIN|EXECUTE IMMEDIATE|CALL|PROCEDURE|DECLARE)\b", statement)
        if block is None:
            found.append(statement)
        else:
            found += re.findall(r"^\s*((?:INSERT INTO|SELECT CAST)[^;]*);", statement, re.MULTILINE)
    return found


@pytest.mark.parametrize("engine", TARGETS)
def test_every_statement_is_sql_of_its_dialect_and_has_the_text_as_it_is(engine: str) -> None:
    script = script_of(engine, TARGETS[engine])
    statements = statements_in(script)
    assert len(statements) >= (2 if engine == "trino" else 8)
    dialect = {"tsql": "tsql"}.get(engine, engine)
    for statement in statements:
        plain = VARIABLES.sub("1", statement)
        assert sqlglot.parse_one(plain, dialect=dialect).sql(), statement
    assert script.text.isascii()
    before, _, after = TARGETS[engine].partition("{value}")
    assert any(before in statement and after in statement for statement in script.statements)


@pytest.mark.parametrize("engine", TARGETS)
def test_a_block_ends_with_the_row_that_it_cannot_read(engine: str) -> None:
    """What each product's documentation says of errors in its blocks."""
    text = script_of(engine, TARGETS[engine]).text
    handler = {
        "bigquery": "EXCEPTION WHEN ERROR THEN",
        "databricks": "DECLARE EXIT HANDLER FOR SQLEXCEPTION",
        "mysql": "DECLARE EXIT HANDLER FOR SQLEXCEPTION",
        "redshift": "NONATOMIC AS $auditor$",  # elsewhere a handled error is raised again
        "snowflake": "WHEN OTHER THEN",
        "spark": "DECLARE EXIT HANDLER FOR SQLEXCEPTION",
        "trino": "TRY(ARRAY[(",  # an empty result is an error, an array that holds NULL is NULL
        "tsql": "BEGIN CATCH",
    }[engine]
    assert handler in text
    assert text.count("'rejected'") == 1


def test_literals_follow_the_documentation_of_products_that_are_not_here() -> None:
    text = "it's \u00e9"
    assert literal("snowflake", text) == "HEX_DECODE_STRING('6974277320c3a9')"
    assert literal("bigquery", text) == "SAFE_CONVERT_BYTES_TO_STRING(FROM_HEX('6974277320c3a9'))"
    assert literal("redshift", text) == "CAST(FROM_HEX('6974277320c3a9') AS VARCHAR(65535))"
    assert literal("databricks", text) == "CAST(unhex('6974277320c3a9') AS STRING)"
    assert literal("trino", text) == "from_utf8(from_hex('6974277320c3a9'))"
    assert literal("tsql", text) == "CONVERT(NVARCHAR(MAX), 0x6900740027007300" + "2000e900)"
    assert literal("tsql", "2024-03-01") == "N'2024-03-01'"
    assert literal("mysql", "a\\b") == "_utf8mb4 X'615c62'"


def test_mysql_is_told_where_a_procedure_ends_and_sql_server_where_a_batch_does() -> None:
    assert "\nDELIMITER //\nCREATE PROCEDURE auditor_read_1()" in script_of("mysql", TARGETS["mysql"]).text
    assert script_of("tsql", TARGETS["tsql"]).text.count("\nGO\n") == len(script_of("tsql", TARGETS["tsql"]).statements)


def test_settings_are_set_and_are_part_of_what_is_recorded() -> None:
    settings = {"DATE_INPUT_FORMAT": "DD/MM/YYYY"}
    script = script_of("snowflake", TARGETS["snowflake"], settings=settings)
    assert script.statements[0] == "ALTER SESSION SET DATE_INPUT_FORMAT = 'DD/MM/YYYY'"
    plain = script_of("snowflake", TARGETS["snowflake"])
    contracts = [re.search(r"contract.*?'about', '(\w+)'", one.text) for one in (script, plain)]
    assert contracts[0] and contracts[1] and contracts[0][1] != contracts[1][1]
    assert script_of("tsql", TARGETS["tsql"], settings={"DATEFORMAT": "dmy"}).statements[0] == "SET DATEFORMAT dmy"


@pytest.mark.parametrize(
    ("engine", "spec", "says"),
    [
        ("snowflake", {"reads": {"signed on": "$${value}$$"}}, "holds $$"),
        ("snowflake", {"settings": {"a b": "1"}}, "cannot be written"),
        ("tsql", {"settings": {"DATEFORMAT": "dmy; DROP TABLE t"}}, "cannot be written"),
        ("snowflake", {"settings": {"a": "\\"}}, "a backslash"),
        ("sqlalchemy", {"adapter": "sql"}, "on sqlalchemy"),
        (None, {"adapter": "python"}, "a python consumer"),
        ("postgres", {"adapter": "sql", "statement": "insert"}, 'statement = "insert"'),
    ],
)
def test_what_cannot_be_recorded_says_why(engine: str, spec: dict[str, Any], says: str) -> None:
    with pytest.raises(AuditorError, match=re.escape(says)):
        script_of(engine, "cast({value} as date)", **spec)


SPEC = """
name = "contracts"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.effective_date]
type = "date"
[fields.total]
type = "decimal"
[consumers.warehouse]
adapter = "recorded"
engine = "duckdb"
results = "recorded/warehouse.csv"
reads.effective_date = "strptime({value}, '%d/%m/%Y')"
reads.total = "try_cast({value} as decimal(18, 2))"
[consumers.native]
adapter = "sql"
engine = "duckdb"
reads.effective_date = "strptime({value}, '%d/%m/%Y')"
reads.total = "try_cast({value} as decimal(18, 2))"
"""


def test_from_the_command_to_the_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text(SPEC)
    (tmp_path / "predictions.csv").write_text('id,effective_date,total\n1,01/03/2024,1.5\n2,"it\'s\u00e9",x\n3,,2\n')
    (tmp_path / "references.csv").write_text(
        "id,effective_date,total\n1,2024-03-01,1.50\n2,2024-03-02,3\n3,2024-03-03,2\n"
    )
    (tmp_path / "audit.toml").write_text(SPEC.replace("[cases]", '[cases]\nid = "id"'))
    runner = CliRunner()
    missing = runner.invoke(app, ["run"])
    assert missing.exit_code == 2
    assert "auditor record" in missing.output
    told = runner.invoke(app, ["record", "warehouse", "-o", "warehouse.sql"])
    assert told.exit_code == 0, told.output
    assert "save what it gives as recorded/warehouse.csv" in told.output
    assert (tmp_path / "warehouse.sql").read_text() == runner.invoke(app, ["record", "warehouse"]).stdout
    (tmp_path / "recorded").mkdir()
    with duckdb.connect() as connection, open(tmp_path / "recorded" / "warehouse.csv", "w", newline="") as file:
        found = connection.execute((tmp_path / "warehouse.sql").read_text())
        csv.writer(file).writerows([[column[0] for column in found.description], *found.fetchall()])
    run = auditor.run(tmp_path / "audit.toml")
    for field in ("effective_date", "total"):
        recorded, native = (run.column(field, name) for name in ("warehouse", "native"))
        assert (recorded.verdicts, recorded.blocked_by) == (native.verdicts, {})
        assert (recorded.label, native.label) == ("recorded", "native")
    assert not [finding for finding in run.findings if finding.code.startswith(("value-", "acceptance-"))]


def test_an_unknown_consumer_is_named_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text(SPEC)
    told = CliRunner().invoke(app, ["record", "warehous"])
    assert told.exit_code == 2
    assert "did you mean 'warehouse'" in told.output
