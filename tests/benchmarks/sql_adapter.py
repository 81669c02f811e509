"""What the SQL adapter costs beyond the engine: ``python tests/benchmarks/sql_adapter.py [STRINGS]``.

CPU time of this process, best of five, the parts of one round after each other so that a busy machine hits them
alike. `engine` is the cast of all strings in one statement, counted and not fetched; TRY is what an expression costs
whose errors must be told from NULL; `frames` sends the strings as the worker receives them, 8,192 at a time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from auditor.decode.sql_model import model_plan
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from auditor.worker.sql_adapter import SqlAdapter, open_adapter

FRAME = 8192
ROUNDS = 5
STRICT = "cast({value} as date)"
LENIENT = "try_cast({value} as date)"
MODEL = """
with s as (select case_id, trim(effective_date) as day from raw.contracts)
select case_id, try_cast(day as date) as effective_date from s
"""


def adapter_of(reads: dict[str, str], plan: dict[str, Any] | None = None, field: str = "field") -> SqlAdapter:
    return open_adapter(
        {"settings": {}, "memory": 8 * 1024**3, "plan": plan, "reads": reads, "fields": {field: "date"}}
    )


def plan_of_model() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.sql").write_text(MODEL)
        consumer = ConsumerSpec(name="warehouse", adapter="sql", engine="duckdb", model="m.sql")
        fields = {"effective_date": FieldSpec(name="effective_date", type="date")}
        cases = CasesSpec(predictions=("p",), references=("r",))
        spec = AuditSpec(
            name="b",
            file=Path(folder) / "a",
            folder=Path(folder),
            cases=cases,
            fields=fields,
            consumers={"w": consumer},
        )
        return model_plan(spec, consumer, fields)


def engine_of(values: list[str], sql: str) -> Callable[[], object]:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS value", [values])
    return lambda: connection.execute(sql).fetchall()


def in_frames(adapter: SqlAdapter, field: str, values: list[str]) -> Callable[[], object]:
    return lambda: [adapter.decode_batch(field, values[at : at + FRAME]) for at in range(0, len(values), FRAME)]


def measure(parts: dict[str, Callable[[], object]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, part in parts.items():
            start = time.process_time()
            part()
            best[name] = min(best.get(name, 1e9), time.process_time() - start)
    return best


def show(title: str, values: list[str], parts: dict[str, Callable[[], object]]) -> None:
    best = measure(parts)
    base = best["engine"]
    print(f"{title}: {len(values)} distinct strings")
    for name, seconds in best.items():
        each = 1e6 * seconds / len(values)
        print(f"  {name:28} {each:7.3f} us/string  {1e6 * (seconds - base) / len(values):+7.3f} beyond the engine")


def main(count: int) -> None:
    dates = [
        f"{1900 + number // 365 % 130}-{number % 12 + 1:02d}-{number % 28 + 1:02d} {number}" for number in range(count)
    ]
    accepted = [f"{number:04d}-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(1000, 10000)]
    mixed = [text if number % 2 else f"March {number}, 2024" for number, text in enumerate(dates)]
    digits = [str(number) for number in range(count)]
    lenient, strict = adapter_of({"field": LENIENT}), adapter_of({"field": STRICT})
    number = adapter_of({"field": "try_cast({value} as integer)"})
    model = adapter_of({}, plan_of_model(), "effective_date")
    cast = engine_of(mixed, "SELECT count(try_cast(value AS DATE)) FROM t")
    show(
        "try_cast, all NULL",
        mixed,
        {
            "engine": cast,
            "adapter": lambda: lenient.decode_batch("field", mixed),
            "adapter, frames": in_frames(lenient, "field", mixed),
        },
    )
    cast = engine_of(digits, "SELECT count(try_cast(value AS INTEGER)) FROM t")
    show(
        "try_cast, all values",
        digits,
        {
            "engine": cast,
            "adapter": lambda: number.decode_batch("field", digits),
            "adapter, frames": in_frames(number, "field", digits),
        },
    )
    cast = engine_of(accepted, "SELECT count(try_cast(value AS DATE)) FROM t")
    show(
        "dates, all values",
        accepted,
        {
            "engine": cast,
            "try_cast": lambda: lenient.decode_batch("field", accepted),
            "cast": lambda: strict.decode_batch("field", accepted),
            "model": lambda: model.decode_batch("effective_date", accepted),
        },
    )
    some = mixed[: min(count, 5000)]
    cast = engine_of(some, "SELECT count(TRY(cast(value AS DATE))) FROM t")
    show(
        "cast, all rejected (engine: TRY)",
        some,
        {"engine": cast, "adapter": lambda: strict.decode_batch("field", some)},
    )
    cast = engine_of(mixed, "SELECT count(try_cast(trim(value) AS DATE)) FROM t")
    show(
        "model, all NULL",
        mixed,
        {
            "engine": cast,
            "adapter": lambda: model.decode_batch("effective_date", mixed),
            "adapter, frames": in_frames(model, "effective_date", mixed),
        },
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
