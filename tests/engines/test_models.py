"""Model files on engines other than DuckDB, against the same model on a table of one row that the driver fills."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from auditor.worker.engine_model_adapter import ModelAdapter
from auditor.worker.trouble import StartError
from tests.engines.adapters import need
from tests.engines.models import model_of

STRINGS = {
    "d": [
        "2024-03-01",
        "2024-3-1",
        "2024-02-30",
        "24-03-01",
        "N/A",
        "",
        " ",
        "'",
        "\\",
        "a\nb",
        "é",
        "%s",
        "$1",
        "{value}",
    ],
    "n": ["12.345", "12", " 7 ", "1,234.50", "1e3", "N/A", "", "-0.005", "12abc", "99999999999999999999"],
    "b": ["yes", " NO ", "true", "maybe", "", "N/A"],
    "k": ["monthly", "void", "", "VOID", "'; drop table raw.extractions; --"],
}
KINDS = {"d": "date", "n": "decimal", "b": "boolean", "k": "category"}

MODEL = """-- One row per contract; 100 % of them
with extracted as (
    select id, d, n, b, k from raw.extractions
),
cleaned as (
    select id, d as day, trim(n) as number, lower(trim(b)) as token, k as cycle from extracted
)
select
    id,
    {date} as d,
    {number} as n,
    case when token in ('yes', 'true') then {true} when token = 'no' then {false} end as b,
    cycle as k
from cleaned
where cycle is null or cycle <> 'void' -- a contract that is void is none
"""

WRITTEN = {
    "postgres": ("cast(day as date)", "number::numeric(10, 2)", "true", "false"),
    "sqlite": ("date(day)", "cast(number as real)", "1", "0"),
    "mariadb": ("cast(day as date)", "cast(number as decimal(10, 2))", "true", "false"),
    "datafusion": ("cast(day as date)", "cast(number as decimal(10, 2))", "true", "false"),
    "clickhouse": ("toDateOrNull(day)", "toDecimal64OrNull(number, 2)", "true", "false"),
}
STRICT = ("postgres", "datafusion")


def model_text(engine: str) -> str:
    date, number, true, false = WRITTEN[engine]
    return MODEL.format(date=date, number=number, true=true, false=false)


class Direct:
    """The driver, on a table of our own."""

    def __init__(self, name: str, engine: Any) -> None:
        self.name, self.engine = name, engine
        self.run: Callable[[str], Any] = getattr(self, "_" + name)
        text = {"mariadb": "longtext", "clickhouse": "String"}.get(name, "varchar")
        storage = " engine = Memory" if name == "clickhouse" else ""
        if name == "sqlite":
            self.run("attach ':memory:' as truth")
        else:
            self.run("create database truth" if name in ("mariadb", "clickhouse") else "create schema truth")
        columns = ", ".join(f"{column} {text}" for column in ("id", *STRINGS))
        self.run(f"create table truth.extractions ({columns}){storage}")

    def _postgres(self, sql: str) -> Any:
        cursor = self.engine.connection.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def _mariadb(self, sql: str) -> Any:
        cursor = self.engine.connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    def _sqlite(self, sql: str) -> Any:
        return self.engine.connection.execute(sql).fetchall()

    def _datafusion(self, sql: str) -> Any:
        batches = self.engine.context.sql(sql).collect()
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def _clickhouse(self, sql: str) -> Any:
        found = self.engine.session.query(sql, "JSONCompact").bytes()
        return json.loads(found)["data"] if found else []

    def written(self, text: str | None) -> str:
        """Write a literal: hexadecimal where backslashes mean something."""
        if text is None:
            return "''" if self.name == "clickhouse" else "null"
        if self.name in ("mariadb", "clickhouse"):
            digits = text.encode().hex()
            return f"_utf8mb4 x'{digits}'" if self.name == "mariadb" else f"unhex('{digits}')"
        return "'" + text.replace("'", "''") + "'"

    def of(self, row: dict[str, str]) -> list[str] | str:
        """Give the texts of d, n, b and k for one row, or what became of it."""
        self.run("truncate table truth.extractions" if self.name == "clickhouse" else "delete from truth.extractions")
        cells = ", ".join(["'1'", *(self.written(row.get(column)) for column in STRINGS)])
        self.run(f"insert into truth.extractions values ({cells})")
        text = {"mariadb": "char", "clickhouse": "Nullable(String)"}.get(self.name, "varchar")
        model = model_text(self.name).replace("raw.extractions", "truth.extractions")
        columns = ", ".join(f"cast({column} as {text})" for column in STRINGS)
        try:
            found = self.run(f"select {columns} from ({model}\n) r")
        except Exception:  # noqa: BLE001 - of whatever class each driver has
            return "rejected"
        assert len(found) <= 1
        return list(found[0]) if found else "dropped"


@pytest.fixture(scope="module", params=list(WRITTEN))
def opened(request: Any, tmp_path_factory: Any) -> Iterator[tuple[str, ModelAdapter, Direct]]:
    need(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    adapter = model_of(folder, request.param, model_text(request.param), KINDS, frozenset(STRINGS))
    yield request.param, adapter, Direct(request.param, adapter.engine)
    adapter.close()


def shown(found: tuple[list[str | None], dict[int, list[str]], dict[int, str]]) -> list[tuple[str, str]]:
    texts, faults, _ = found
    return [
        (faults[index][0], faults[index][1]) if text is None else ("value", text.partition(":")[2])
        for index, text in enumerate(texts)
    ]


def expected(engine: str, field: str, direct: list[str] | str) -> tuple[str, str]:
    if isinstance(direct, str):
        return direct, ""
    text = direct[list(STRINGS).index(field)]
    if text is None:
        return "null", ""
    if field == "b":
        text = {"1": "true", "0": "false"}.get(str(text), str(text))
    return "value", str(text)


def agree(found: tuple[str, str], wanted: tuple[str, str]) -> bool:
    """A value has its text, and a number may be written in another way; what is none has its kind."""
    if wanted[0] != "value" or found[0] != "value":
        return found[0] == wanted[0]
    return found == wanted or (wanted[1][:1] in "-0123456789" and same_number(found[1], wanted[1]))


def same_number(one: str, other: str) -> bool:
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


@pytest.mark.parametrize("field", list(STRINGS))
def test_a_value_alone_is_what_the_model_makes_of_a_row_with_it(opened: Any, field: str) -> None:
    engine, adapter, direct = opened
    found = shown(adapter.decode_batch(field, STRINGS[field]))
    wanted = [expected(engine, field, direct.of({field: value})) for value in STRINGS[field]]
    assert [one for one in zip(STRINGS[field], found, wanted, strict=True) if not agree(*one[1:])] == []
    assert len(set(wanted)) > 1


def test_whole_rows_are_what_the_model_makes_of_each_alone(opened: Any) -> None:
    engine, adapter, direct = opened
    longest = max(map(len, STRINGS.values()))
    rows = [{field: texts[at % len(texts)] for field, texts in STRINGS.items()} for at in range(longest)]
    rows += [{**row, "k": "monthly", "d": "2024-03-01"} for row in rows]
    order = adapter.plan["rows"]["names"]
    sent = [json.dumps([row[name] for name in order]) for row in rows]
    wanted = [direct.of(row) for row in rows]
    for field in STRINGS:
        found = shown(adapter.decode_payloads(field, sent))
        told = [expected(engine, field, one) for one in wanted]
        assert [one for one in zip(rows, found, told, strict=True) if not agree(*one[1:])] == []
    assert {"dropped"} < {one if isinstance(one, str) else "value" for one in wanted}
    assert engine not in STRICT or "rejected" in wanted


def test_a_bad_value_costs_its_neighbours_nothing(opened: Any) -> None:
    _, adapter, _ = opened
    many = [f"20{year:02}-03-{day:02}" for year in range(40) for day in range(1, 29)]
    sound = shown(adapter.decode_batch("d", many))
    assert sound == [("value", text) for text in many]
    mixed = [*many[:500], "N/A", *many[500:]]
    found = shown(adapter.decode_batch("d", mixed))
    assert found[:500] + found[501:] == sound
    assert found[500][0] in ("rejected", "null")


def test_the_engines_own_message_stands_beside_what_a_model_refuses(opened: Any) -> None:
    engine, adapter, _ = opened
    _, faults, warnings = adapter.decode_batch("d", ["2024-02-30"])
    if engine == "postgres":
        assert faults[0] == ["rejected", '22008 date/time field value out of range: "2024-02-30"']
    if engine == "mariadb":
        assert "Incorrect datetime value: '2024-02-30'" in warnings[0]
        row = json.dumps([{"d": "2024-02-30", "n": "1"}.get(name) for name in adapter.plan["rows"]["names"]])
        assert "Incorrect datetime value: '2024-02-30'" in adapter.decode_payloads("d", [row])[2][0]
        assert adapter.decode_payloads("n", [row])[2] == {}, "the warning is about the day"


def test_the_report_says_which_model_ran(opened: Any) -> None:
    _, adapter, _ = opened
    ready = adapter.ready()
    assert ready["settings"]["model"] == "model.sql"
    assert ready["reads"]["d"] == "model.sql:10 d"
    assert ready["scope"] == "payload"
    assert "where cycle is null" in ready["version_parts"]["model"]


def test_a_database_that_names_begin_with_is_entered(tmp_path: Path) -> None:
    """dbt compiles the names of PostgreSQL with the database in front."""
    need("postgres")
    model = 'select "ID", cast(Due as date) as Due from "Analytics"."raw".Extractions'
    adapter = model_of(tmp_path, "postgres", model, {"due": "date"}, settings={"DateStyle": "ISO, DMY"})
    found = shown(adapter.decode_batch("due", ["01/03/2024", "2024-03-01", "x"]))
    adapter.close()
    assert [one[0] for one in found] == ["value", "value", "rejected"]
    assert found[0][1] == "2024-03-01", "the setting holds in the database that was entered"


def test_what_a_nullable_source_makes_of_a_text_is_the_consumers_to_say(tmp_path: Path) -> None:
    """ClickHouse's toDate gives NULL for a text that it cannot read where its column is Nullable, else an error."""
    need("clickhouse")
    plain = "select id, toDate(d) as d from clicks.plain"
    adapter = model_of(tmp_path, "clickhouse", plain, {"d": "date"})
    assert [one[0] for one in shown(adapter.decode_batch("d", ["2024-03-01", "N/A"]))] == ["value", "rejected"]
    made = "create table clicks.made (id String, d Nullable(String)) engine = Memory;\n"
    adapter = model_of(tmp_path, "clickhouse", made + plain.replace("plain", "made"), {"d": "date"})
    assert [one[0] for one in shown(adapter.decode_batch("d", ["2024-03-01", "N/A"]))] == ["value", "null"]


@pytest.mark.parametrize("kind", ["table", "view"])
@pytest.mark.parametrize("engine", ["sqlite", "datafusion"])
def test_tables_and_views_that_a_file_creates_are_made_anew(tmp_path: Path, engine: str, kind: str) -> None:
    need(engine)
    create = f"create {'temp view' if (engine, kind) == ('sqlite', 'view') else kind} made as\n"
    adapter = model_of(tmp_path, engine, create + "select id, n from src where n <> 'x'", {"n": "identifier"})
    for values in (["1", "x"], ["2", "y", "1"]):
        found = shown(adapter.decode_batch("n", values))
        assert found == [("dropped", found[1][1]) if value == "x" else ("value", value) for value in values]


def test_a_model_that_refuses_everything_is_no_audit(tmp_path: Path) -> None:
    """In ClickHouse a column that is not filled is an empty text, which no strict conversion takes."""
    need("clickhouse")
    model = "select id, d, toDate(other) as due from clicks.refusing"
    with pytest.raises(StartError, match="refuses whatever the value is"):
        model_of(tmp_path, "clickhouse", model, {"d": "identifier"})
