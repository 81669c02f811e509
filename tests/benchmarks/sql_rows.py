"""What whole rows cost: ``python tests/benchmarks/sql_rows.py [ROWS]``, as ratios to the engine and to scope ``field``.

CPU time of this process, best of three. `engine` runs the model once on a table that holds the rows; `payload` decodes
ten fields of every row, written as the parent writes them and in frames as the worker receives them; `field` decodes
the distinct strings of the same fields, each alone.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from auditor.decode.payload_rows import PayloadKeys, row_writer
from auditor.decode.sql_model import model_plan
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from auditor.worker.sql_adapter import SqlAdapter, open_adapter

FRAME = 8192
FOLDER = Path(__file__).resolve().parents[2] / "consumers" / "warehouse" / "models"
NAMES = ["po_number", "effective_date", "signed_at", "total", "discount", "net_weight"]
NAMES += ["term_months", "risk_score", "auto_renew", "billing_cycle"]

#: The model of the reference pipeline, which passes no id on; the same with one; with a filter; and one that may raise.
MODELS = {
    "reference": "{}",
    "with an id": "{}, case_id from (select *, case_id as case_id from cleaned)",
    "filtered, no id": "{} where cycle_token <> 'annual'",
    "strict, no id": "{} where cast(term_months as integer) > 0",
}


def records(count: int) -> list[str]:
    random.seed(7)
    return [
        json.dumps(
            {
                "po_number": f"PO-{number:07d}",
                "effective_date": f"20{number % 30:02d}-{1 + number % 12:02d}-{1 + number % 28:02d}",
                "signed_at": f"2024-03-01T10:{number % 60:02d}:00",
                "total": f"EUR {random.randrange(10**6)}.00",
                "discount": f"{number % 90}%",
                "net_weight": f"{number % 5000} kg",
                "term_months": str(number % 60) if number % 1000 else "a year",
                "risk_score": str(1 + number % 5),
                "auto_renew": "yes" if number % 3 else "no",
                "billing_cycle": ("monthly", "annual", "quarterly")[number % 3],
            }
        )
        for number in range(count)
    ]


def adapter_of(model: str, folder: Path, scope: str) -> tuple[SqlAdapter, Any]:
    (folder / "m.sql").write_text(model)
    fields = {name: FieldSpec(name=name, type="identifier") for name in NAMES}
    reads = {name: {"total": "total_amount", "net_weight": "net_weight_g"}.get(name, name) for name in NAMES}
    consumer = ConsumerSpec(name="w", adapter="sql", engine="duckdb", model="m.sql", scope=scope, reads=reads)
    spec = AuditSpec(
        name="b",
        file=folder / "a",
        folder=folder,
        cases=CasesSpec(predictions=("p",), references=("r",)),
        fields=fields,
        consumers={"w": consumer},
    )
    plan = model_plan(spec, consumer, fields, PayloadKeys(frozenset(NAMES), frozenset(NAMES)))
    config = {"settings": {}, "memory": 8 * 1024**3, "plan": plan, "reads": {}, "receives": "text"}
    return open_adapter(config | {"fields": dict.fromkeys(NAMES, "identifier")}), row_writer(config)


def by_payload(adapter: SqlAdapter, writer: Any, payloads: list[str]) -> Callable[[], object]:
    def run() -> None:
        adapter.rows.known.clear()
        writer._kept.clear()
        for name in NAMES:
            rows = writer.rows(name, columns[name], payloads, "prediction")
            for at in range(0, len(rows), FRAME):
                adapter.decode_payloads(name, rows[at : at + FRAME])

    columns = {name: [json.dumps(json.loads(payload)[name]) for payload in payloads] for name in NAMES}
    return run


def by_field(adapter: SqlAdapter, payloads: list[str]) -> Callable[[], object]:
    values = {name: list(dict.fromkeys(json.loads(payload)[name] for payload in payloads)) for name in NAMES}

    def run() -> None:
        for name, strings in values.items():
            for at in range(0, len(strings), FRAME):
                adapter.decode_batch(name, strings[at : at + FRAME])

    return run


def by_engine(model: str, payloads: list[str]) -> Callable[[], object]:
    connection = duckdb.connect(config={"threads": 1})
    columns = ", ".join(f"{name} VARCHAR" for name in [*NAMES, "case_id"])
    connection.execute(f"CREATE SCHEMA raw; CREATE TABLE raw.contract_extractions ({columns})")
    rows = [[*json.loads(payload).values(), str(number)] for number, payload in enumerate(payloads)]
    table = {name: list(column) for name, column in zip([*NAMES, "case_id"], zip(*rows, strict=True), strict=True)}
    listed = ", ".join(f"unnest(${name}::VARCHAR[])" for name in table)
    connection.execute(f"INSERT INTO raw.contract_extractions SELECT {listed}", table)
    model = model.replace("cast(term_months as integer) > 0", "try_cast(term_months as integer) > 0")
    return lambda: connection.execute("CREATE OR REPLACE TEMP TABLE result AS " + model).fetchall()


def best(part: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        part()
        times.append(time.process_time() - start)
    return min(times)


def main(count: int, folder: Path) -> None:
    text = (FOLDER / "contracts.sql").read_text().strip().rstrip(";")
    payloads = records(count)
    for name, form in MODELS.items():
        model = text.replace("from cleaned", form.format("from cleaned").replace("from cleaned, case_id ", ""))
        if name == "with an id":
            model = text.replace("    po_number,\n", "    case_id, po_number,\n")
        adapter, writer = adapter_of(model, folder, "payload")
        engine, payload = best(by_engine(model, payloads)), best(by_payload(adapter, writer, payloads))
        field = best(by_field(adapter_of(model, folder, "field")[0], payloads)) if name == "with an id" else None
        print(f"{name}: {count} rows of {len(NAMES)} fields, {1e6 * payload / count / len(NAMES):.2f} us a value")
        print(
            f"  payload / engine {payload / engine:6.1f}"
            + (f"   payload / field {payload / field:6.2f}" if field else "")
        )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, Path(temporary))
