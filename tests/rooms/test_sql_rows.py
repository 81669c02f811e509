"""A warehouse model on whole rows, against the same text on a real table that holds those rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.decode.payload_rows import PayloadKeys, RowWriter, row_writer
from auditor.decode.sql_model import model_plan
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from auditor.worker.sql_adapter import SqlAdapter, open_adapter
from auditor.worker.trouble import StartError

KEYS = ("d", "e", "kind", "status")
Record = dict[str, str | None]


class Warehouse:
    """The adapter on a model, and what turns payloads into its rows."""

    def __init__(
        self,
        folder: Path,
        model: str,
        fields: Sequence[str] | dict[str, FieldSpec] = ("d", "e"),
        keys: PayloadKeys | None = None,
        receives: str = "text",
        scope: str = "payload",
    ) -> None:
        (folder / "model.sql").write_text(model, encoding="utf-8")
        specs = fields if isinstance(fields, dict) else {name: FieldSpec(name=name, type="date") for name in fields}
        consumer = ConsumerSpec(name="warehouse", adapter="sql", engine="duckdb", model="model.sql", scope=scope)
        spec = AuditSpec(
            name="contracts",
            file=folder / "audit.toml",
            folder=folder,
            cases=CasesSpec(predictions=("p",), references=("r",)),
            fields=specs,
            consumers={"warehouse": consumer},
        )
        keys = keys or PayloadKeys(frozenset(KEYS), frozenset(KEYS))
        plan = model_plan(spec, consumer, specs, keys)
        self.config = {"settings": {}, "memory": 2 * 1024**4, "plan": plan, "reads": {}, "receives": receives}
        self.adapter: SqlAdapter = open_adapter(self.config | {"fields": dict.fromkeys(specs, "date")})
        self.writer: RowWriter | None = row_writer(self.config)

    def decode(self, field: str, payloads: Sequence[str], role: Any = "prediction") -> list[str]:
        assert self.writer is not None
        tokens = [json.dumps(json.loads(payload).get(field)) for payload in payloads]
        rows = self.writer.rows(field, tokens, payloads, role)
        texts, faults = self.adapter.decode_payloads(field, rows)
        return [text if text is not None else ": ".join(faults[index]) for index, text in enumerate(texts)]

    def decode_records(self, field: str, records: Sequence[Record]) -> list[str]:
        return self.decode(field, [json.dumps({k: v for k, v in one.items() if v is not None}) for one in records])


def on_a_real_table(model: str, records: Sequence[Record], field: str) -> list[str]:
    """Run a model on one table that holds the records: what it gives for each, by its id."""
    rows = [(str(number), *(record.get(key) for key in KEYS)) for number, record in enumerate(records, 1)]
    try:
        found = _run(model, rows, field)
    except duckdb.Error:
        assert len(records) > 1, "what raises on one record is compared by the caller"
        raise
    return [_shown(found.get(str(number), [])) for number in range(1, len(records) + 1)]


def alone(model: str, record: Record, field: str) -> str:
    """Run a model on a table of one record."""
    try:
        found = _run(model, [("1", *(record.get(key) for key in KEYS))], field)
    except duckdb.Error as error:
        return "rejected: " + str(error).split("\n\nLINE ")[0]
    return _shown([cell for cells in found.values() for cell in cells])


#: Opened once: all that a model leaves behind is rolled back.
DATABASE = duckdb.connect(config={"threads": 1})


def _run(model: str, rows: Sequence[tuple[str | None, ...]], field: str) -> dict[str, list[tuple[str | None, str]]]:
    DATABASE.begin()
    try:
        return _found(DATABASE, model, rows, field)
    finally:
        DATABASE.rollback()


def _found(
    connection: duckdb.DuckDBPyConnection, model: str, rows: Sequence[tuple[str | None, ...]], field: str
) -> dict[str, list[tuple[str | None, str]]]:
    connection.execute(
        "CREATE SCHEMA raw; CREATE TABLE raw.src (id VARCHAR, d VARCHAR, e VARCHAR, kind VARCHAR, status VARCHAR)"
    )
    connection.executemany("INSERT INTO raw.src VALUES (?, ?, ?, ?, ?)", rows)
    *setup, statement = duckdb.extract_statements(model)
    for one in setup:
        connection.execute(one)
    connection.execute("CREATE TABLE found AS " + statement.query)
    has_id = "id" in {name for name, *_ in connection.execute("DESCRIBE found").fetchall()}
    query = f"SELECT {'id' if has_id else 'NULL'}, CAST({field} AS VARCHAR), typeof({field}) FROM found"
    cells: dict[str, list[tuple[str | None, str]]] = {}
    for number, text, kind in connection.execute(query).fetchall():
        cells.setdefault(number, []).append((text, kind))
    return cells


def _shown(cells: Sequence[tuple[str | None, str]]) -> str:
    if not cells:
        return "dropped: the model gives no row for the value"
    if len(cells) > 1:
        return f"rejected: model gives several rows for one payload: {len(cells)}"
    text, kind = cells[0]
    tag = {"DATE": "date", "INTEGER": "int", "BIGINT": "int", "BOOLEAN": "bool", "VARCHAR": "text"}[kind]
    return "null: NULL" if text is None else f"{tag}:{text}"


RECORDS: list[Record] = [
    {"d": d, "e": e, "kind": kind, "status": status}
    for d in ("2024-03-01", "03/2024", "12", "", None)
    for e in ("7", "2024-05-06", None)
    for kind in ("iso", "us", None)
    for status in ("active", "closed", None)
]

SEED = "create table codes as select * from (values ('iso', '01'), ('us', '0001')) c(kind, form);\n"

#: Models in which one column depends on another; each gives the id, as do the tables of production.
MODELS = {
    "case over two": "select id, case kind when 'iso' then try_cast(d as date) end as d, e from raw.src",
    "case over two in a cte": "with s as (select * from raw.src), t as (select id, e, case when kind = 'us' then"
    " try_strptime(d, '%m/%Y')::date else try_cast(d as date) end as d from s where status <> 'closed')"
    " select * from t",
    "coalesce": "select id, coalesce(try_cast(d as date), try_cast(e as date)) as d, e from raw.src",
    "first of two": "select id, coalesce(nullif(d, ''), e) as d, e from raw.src",
    "where on a sibling": "select id, d, e from raw.src where status = 'active'",
    "where on two": "select id, d, e from raw.src where status = 'active' or (kind = 'us' and d <> e)",
    "in a list": "select id, d, e from raw.src where status in ('active', 'open', 'new', 'x', 'y', 'z', '1', '2')",
    "filter on its own": "select id, try_cast(d as date) as d, e from raw.src where try_cast(d as date) is not null",
    "latest": "select id, d, e from raw.src qualify row_number() over (partition by id order by status desc) = 1",
    "latest in a cte": "with r as (select *, row_number() over (partition by id order by e) as n from"
    " (select id, d, e from raw.src)) select id, d, e from r where n = 1",
    "one of each": "select distinct on (id) id, d, e from raw.src order by id, e",
    "grouped": "select id, max(d) as d, min(e) as e from raw.src group by id",
    "grouped by numbers": "select id, d, max(e) as e from raw.src group by 1, 2",
    "grouped by all": "select id, d, max(e) as e from raw.src group by all",
    "joined to itself": "select a.id, b.d, a.e from raw.src a join raw.src b on a.id = b.id where b.kind = 'iso'",
    "seed": SEED + "select s.id, s.d || c.form as d, s.e from raw.src s join codes c on s.kind = c.kind",
    "seed on the left": SEED + "select s.id, coalesce(s.d || c.form, 'none') as d, s.e"
    " from raw.src s left join codes c using (kind)",
    "seed in a subquery": SEED + "select id, d, e from raw.src where kind in (select kind from codes)",
    "union": "select id, d, e from raw.src where kind = 'us' union all select id, e, d from raw.src where kind = 'iso'",
    "surrogate key": "select row_number() over (order by d) as sk, id, d, e from raw.src where status is not null",
    "correlated": "select id, d, e from raw.src s where exists"
    " (select 1 from raw.src t where t.id = s.id and t.e = '7')",
    "no duplicates": "select distinct id, d, e from raw.src where kind is distinct from 'us'",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_payload_reads_as_its_row_of_a_real_table(tmp_path: Path, name: str) -> None:
    warehouse = Warehouse(tmp_path, MODELS[name])
    for field in ("d", "e"):
        expected = on_a_real_table(MODELS[name], RECORDS, field)
        assert warehouse.decode_records(field, RECORDS) == expected
        assert warehouse.decode_records(field, RECORDS[::-1]) == expected[::-1]
    assert len(set(expected)) > 1


#: Models without an id: what comes back must be told apart by its order, or row by row.
NAMELESS = {
    "plain": "select case kind when 'iso' then try_cast(d as date) end as d, e from raw.src",
    "filtered": "select coalesce(d, e) as d, e from raw.src where status = 'active'",
    "filtered by a list": "select d, e from raw.src where status in ('active', 'open', 'new', 'x', 'y', 'z', '1', '2')",
    "filtered in a cte": "with s as materialized (select * from raw.src where kind = 'us'), t as (select d, e from s)"
    " select upper(d) as d, e from t where d <> ''",
    "unnested": "select d, unnest(case kind when 'us' then [] when 'iso' then [d, e] else [e] end) as e from raw.src",
    "unnested by a macro": "create macro each_of(x, y) as"
    " unnest(case x when 'us' then [] when 'iso' then [y, y] else [y] end);"
    " select d, each_of(kind, e) as e from raw.src",
    "ordered": "select d, e from raw.src order by e desc, d",
    "seed": SEED + "select s.d, s.e || c.form as e from raw.src s join codes c on s.kind = c.kind",
    "strict": "select cast(d as date) as d, cast(e as integer) as e from raw.src where kind = 'iso'",
}


@pytest.mark.parametrize("name", NAMELESS)
def test_without_an_id_a_batch_reads_as_each_row_does_alone(tmp_path: Path, name: str) -> None:
    warehouse = Warehouse(tmp_path, NAMELESS[name])
    for field in ("d", "e"):
        records = RECORDS[::4]  # every pair of values is among them
        expected = [alone(NAMELESS[name], record, field) for record in records]
        found = warehouse.decode_records(field, records)
        assert [one.split(":")[0] for one in found] == [one.split(":")[0] for one in expected]
        kept = [(one, other) for one, other in zip(found, expected, strict=True) if not one.startswith("rejected")]
        assert kept
        assert all(one == other for one, other in kept)


CELL = st.one_of(st.none(), st.sampled_from(["", "7", "12", "2024-03-01", "x", "iso", "us", "active", "\x1e", "é"]))
RECORD = st.fixed_dictionaries(dict.fromkeys(KEYS, CELL))


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Warehouse]:
    return {name: Warehouse(tmp_path_factory.mktemp("model"), MODELS[name]) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(RECORD, min_size=1, max_size=16))
def test_any_rows_read_as_in_a_real_table(warehouses: dict[str, Warehouse], name: str, records: list[Record]) -> None:
    for field in ("d", "e"):
        assert warehouses[name].decode_records(field, records) == on_a_real_table(MODELS[name], records, field)


STRICT = "select id, cast(d as date) as d, cast(e as integer) as e, kind from raw.src"


def test_a_row_on_which_the_model_raises_is_rejected_for_all_its_fields_and_names_the_fault(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, STRICT, ("d", "e", "kind"))
    payloads = [
        '{"d": "2024-03-01", "e": "7", "kind": "a"}',
        '{"d": "March", "e": "7", "kind": "b"}',
        '{"d": "2024-03-01", "e": "seven", "kind": "c"}',
        '{"d": "March", "e": "seven", "kind": "d"}',
    ] + [f'{{"d": "2024-03-{day:02d}", "e": "{day}", "kind": "x"}}' for day in range(1, 31)]
    date = alone(STRICT, {"d": "March"}, "d").removeprefix("rejected: ")
    number = alone(STRICT, {"e": "seven"}, "e").removeprefix("rejected: ")
    assert "March" in date
    assert "seven" in number
    assert warehouse.decode("d", payloads)[:4] == [
        "date:2024-03-01",
        "rejected: " + date,
        "rejected: payload rejected: e: " + number,
        "rejected: " + date,
    ]
    assert warehouse.decode("e", payloads)[:4] == [
        "int:7",
        "rejected: payload rejected: d: " + date,
        "rejected: " + number,
        "rejected: " + number,
    ]
    assert warehouse.decode("kind", payloads)[:4] == [
        "text:a",
        "rejected: payload rejected: d: " + date,
        "rejected: payload rejected: e: " + number,
        "rejected: payload rejected: d: " + date,
    ]
    assert [one.partition(":")[0] for one in warehouse.decode("e", payloads)[4:]] == ["int"] * 30


def test_a_fault_of_two_columns_together_is_both_columns_own(tmp_path: Path) -> None:
    model = "select id, case kind when 'iso' then cast(d as date) end as d, e, kind from raw.src"
    warehouse = Warehouse(tmp_path, model, ("d", "e", "kind"))
    payloads = ['{"d": "x", "e": "1", "kind": "iso"}', '{"d": "x", "e": "1", "kind": "us"}']
    message = alone(model, {"d": "x", "kind": "iso"}, "d").removeprefix("rejected: ")
    assert warehouse.decode("d", payloads) == ["rejected: " + message, "null: NULL"]
    assert warehouse.decode("kind", payloads) == ["rejected: " + message, "text:us"]
    assert warehouse.decode("e", payloads) == ["rejected: payload rejected: d: " + message, "text:1"]


def test_what_no_text_can_hold_is_no_row(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, STRICT, ("d", "e", "kind"))
    payloads = ['{"d": "2024-03-01", "e": "7", "kind": "\\ud800"}', '{"d": "2024-03-01", "e": "7", "kind": "a\\u0000"}']
    surrogate = "a lone surrogate: no text of the engine can hold it"
    assert warehouse.decode("kind", payloads)[0] == "rejected: " + surrogate
    assert warehouse.decode("d", payloads) == ["rejected: payload rejected: kind: " + surrogate, "date:2024-03-01"]


def test_values_arrive_as_their_source_texts(tmp_path: Path) -> None:
    model = "select id, d || '/' || coalesce(kind, 'NULL') as d, e from raw.src"
    payloads = [
        '{"d": 1.10, "kind": 3.0}',
        '{"d": true, "kind": null}',
        '{"d": [1, 2.50], "kind": {"a": 1e5}}',
        '{"d": "x"}',
        '{"d": NaN, "kind": 12345678901234567890}',
        '{"d": "a", "kind": "b", "kind": "c"}',
    ]
    warehouse = Warehouse(tmp_path, model)
    assert warehouse.writer is not None
    tokens = ["1.10", "true", "[1, 2.50]", '"x"', "NaN", '"a"']
    rows = warehouse.writer.rows("d", tokens, payloads, "prediction")
    assert warehouse.adapter.decode_payloads("d", rows)[0] == [
        "text:1.10/3.0",
        "text:true/NULL",
        '[1, 2.50]/{"a": 1e5}'.join(["text:", ""]),
        "text:x/NULL",
        "text:NaN/12345678901234567890",
        "text:a/c",
    ]
    json_texts = Warehouse(tmp_path, model, receives="json")
    assert json_texts.decode("d", ['{"d": "x", "kind": null}'])[0] == 'text:"x"/null'


def test_each_role_names_a_field_by_its_own_path(tmp_path: Path) -> None:
    fields = {
        "weight": FieldSpec(name="weight", type="decimal", path="shipment.weight", reference_path="gold_weight"),
        "unit": FieldSpec(name="unit", type="category", path="shipment.unit"),
    }
    model = "select id, case unit when 'kg' then 1000 else 1 end * weight::integer as weight, unit from raw.src"
    keys = PayloadKeys(frozenset({"shipment"}), frozenset({"gold_weight", "weight", "unit"}))
    warehouse = Warehouse(tmp_path, model, fields, keys)
    assert warehouse.writer is not None
    given = warehouse.writer.rows("weight", ['"2"'], ['{"shipment": {"weight": "2", "unit": "kg"}}'], "prediction")
    asserted = warehouse.writer.rows(
        "unit", ['"kg"'], ['{"gold_weight": "3", "weight": "9", "unit": "kg"}'], "reference"
    )
    assert warehouse.adapter.decode_payloads("weight", given)[0] == ["int:2000"]
    assert warehouse.adapter.decode_payloads("weight", asserted)[0] == ["int:3000"]


def test_keys_that_no_payload_carries_are_numbers_and_all_else_is_null_and_said(tmp_path: Path) -> None:
    model = "select id, case when region is null then d end as d, e from raw.src s where loaded_at is null"
    model += " qualify row_number() over (partition by s.batch order by s.updated_at) = 1"
    keys = PayloadKeys(frozenset({"d", "e"}), frozenset({"d"}))
    warehouse = Warehouse(tmp_path, model, keys=keys)
    ready = warehouse.adapter.ready()
    assert ready["scope"] == "payload"
    assert ready["scope_note"] == (
        "NULL, as no payload carries it: raw.src.loaded_at, raw.src.region, raw.src.updated_at; "
        "another one in each row: raw.src.batch"
    )
    assert warehouse.decode_records("d", [{"d": "a"}, {"d": "b"}]) == ["text:a", "text:b"]


def test_a_lookup_has_one_row_for_each_key(tmp_path: Path) -> None:
    model = "select s.id, s.d, s.e, v.country from raw.src s {} join raw.vendors v on s.kind = v.kind"
    records: list[Record] = [{"d": "a", "e": "1", "kind": "x"}, {"d": "b", "kind": "x"}, {"d": "c", "kind": None}]
    inner = Warehouse(tmp_path, model.format("inner"))
    assert inner.decode_records("d", records)[:2] == ["text:a", "text:b"]
    assert inner.decode_records("d", records)[2].startswith("dropped")
    assert inner.adapter.ready()["scope_note"] == "a row of NULLs for each key: raw.vendors"
    left = Warehouse(tmp_path, model.format("left"))
    assert left.decode_records("d", records) == ["text:a", "text:b", "text:c"]


MEETINGS = [
    (
        "select id, d, e from raw.src qualify row_number() over (partition by d order by e) = 1",
        "PARTITION BY) raw.src.d",
    ),
    ("select id, d, e from raw.src qualify row_number() over (order by d) = 1", "OVER (PARTITION BY)"),
    ("select id, d, last_value(e) over (order by id) as e from raw.src", "OVER (PARTITION BY)"),
    ("select d, max(e) as e from raw.src group by d", "GROUP BY raw.src.d"),
    ("select left(id, 1) as g, max(d) as d, max(e) as e from raw.src group by left(id, 1)", "GROUP BY raw.src.id"),
    ("select max(d) as d, max(e) as e from raw.src", "an aggregate without GROUP BY"),
    ("select id, d, e from raw.src order by d limit 10", "LIMIT"),
    ("select distinct on (d) id, d, e from raw.src", "DISTINCT ON raw.src.d"),
    ("select id, d, e from raw.src where d = (select max(d) from raw.src)", "more than once"),
    ("select a.id, a.d, a.e from raw.src a join raw.src b on a.d = b.d", "more than once"),
    ("select a.id, a.d, a.e from raw.src a, raw.src b", "more than once"),
    ("select id, d, e from raw.src s where not exists (select 1 from raw.src t where t.d > s.d)", "more than once"),
]


@pytest.mark.parametrize(("model", "seen"), MEETINGS)
def test_records_that_meet_are_refused(tmp_path: Path, model: str, seen: str) -> None:
    with pytest.raises(ConsumerError) as raised:
        Warehouse(tmp_path, model)
    assert seen in raised.value.seen
    assert "each prediction is read by itself" in raised.value.seen
    assert 'scope = "field"' in raised.value.hint
    assert Warehouse(tmp_path, model, scope="field").adapter.ready()["scope"] == "field"


@pytest.mark.parametrize(
    "model",
    [
        "select mean(length(d)) as d, arbitrary(e) as e from raw.src",
        "create macro top(x) as max(x); select top(d) as d, top(e) as e from raw.src",
        "create macro top1(x) as row_number() over (order by x) = 1; select id, d, e from raw.src qualify top1(d)",
    ],
)
def test_what_only_the_engine_knows_to_bring_records_together_is_refused(tmp_path: Path, model: str) -> None:
    with pytest.raises(StartError, match="the records of one table meet"):
        Warehouse(tmp_path, model)


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("select id, d, e from raw.src where region = 'EU' and status = 'active'", "region = 'EU' (of raw.src.region)"),
        ("select id, d, e from raw.src where id like 'C-%'", "id LIKE 'C-%'"),
        ("select s.id, s.d, s.e from raw.src s join raw.c on s.kind = c.kind and c.open = 'y'", "c.open = 'y'"),
        ("select id, d, e from raw.src where d in (select code from raw.codes)", "IN (SELECT code FROM raw.codes)"),
        ("select id, d, e from raw.src where d = id", "d = id"),
    ],
)
def test_a_filter_that_no_payload_can_fulfil_is_a_start_error(tmp_path: Path, model: str, seen: str) -> None:
    with pytest.raises(StartError) as raised:
        Warehouse(tmp_path, model)
    assert seen in raised.value.seen
    assert "on whole rows" in raised.value.tried


def test_a_value_made_of_a_key_that_nothing_carries_is_refused(tmp_path: Path) -> None:
    model = "select id, coalesce(d, batch) as d, e from raw.src qualify row_number() over (partition by batch) = 1"
    with pytest.raises(ConsumerError, match=r"field d is made of raw.src.batch, a key that no payload carries"):
        Warehouse(tmp_path, model)


def test_one_column_at_two_places_is_refused(tmp_path: Path) -> None:
    fields = {
        "d": FieldSpec(name="d", type="date", path="a"),
        "e": FieldSpec(name="e", type="date", path="b"),
    }
    keys = PayloadKeys(frozenset("ab"), frozenset("ab"))
    with pytest.raises(ConsumerError, match=r"raw.src.day is read for several fields"):
        Warehouse(tmp_path, "select id, day as d, upper(day) as e from raw.src", fields, keys)


@pytest.mark.parametrize("scope", ["payload", "field"])
def test_a_key_that_is_a_time_costs_no_value(tmp_path: Path, scope: str) -> None:
    setup = "create schema raw; create table raw.src (loaded_at timestamp, d varchar, e varchar, kind varchar);\n"
    model = setup + "select loaded_at, d, e from raw.src qualify row_number() over (partition by loaded_at) = 1"
    warehouse = Warehouse(tmp_path, model, scope=scope)
    if scope == "field":
        assert warehouse.adapter.decode_batch("d", ["a", "b"])[0] == ["text:a", "text:b"]
    else:
        assert warehouse.decode_records("d", [{"d": "a"}, {"d": "b"}]) == ["text:a", "text:b"]


def test_a_typed_column_takes_what_the_load_takes(tmp_path: Path) -> None:
    setup = "create schema raw; create table raw.src (id varchar, d varchar, e varchar, kind integer);\n"
    warehouse = Warehouse(tmp_path, setup + "select id, d, kind + 1 as n, e from raw.src where kind > 1")
    found = warehouse.decode_records("d", [{"d": "a", "kind": "7"}, {"d": "b", "kind": "1"}, {"d": "c", "kind": "x"}])
    assert found[:2] == ["text:a", "dropped: the model gives no row for the value"]
    assert found[2].startswith("rejected: payload rejected: kind: Conversion Error: Could not convert string 'x'")
