"""The reference pipeline's own parsers, called directly: nothing of ours stands between a test and the parser."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from base64 import b64encode
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import duckdb
from pydantic import TypeAdapter

from tests.engines.adapters import adapter_of, missing

FOLDER = Path(__file__).parents[1] / "consumers"
PROGRAMS = Path(__file__).parent / "programs"
SPEC = tomllib.loads((FOLDER / "audit.toml").read_text())
#: Those that run here: the others need a program that is not installed, and are left out of an audit too.
CONSUMERS: dict[str, Any] = {
    name: one
    for name, one in SPEC["consumers"].items()
    if all(not missing(need) if need == one.get("engine") else shutil.which(need) for need in one.get("needs", ()))
}


def decode(consumer: str, field: str, token: str) -> str:
    """Read a raw value (its JSON text) as production does: tagged text, or `null`, or `rejected`."""
    if CONSUMERS[consumer]["adapter"] == "process":
        return {"portal": _ask_portal, "erp": _ask_erp}[consumer](_FUNCTIONS[field], token)
    reader = {"python": _call, "pydantic": _validate, "sql": _select}[CONSUMERS[consumer]["adapter"]]
    try:
        value = reader(consumer, field, token)
    except Exception:  # noqa: BLE001 - whatever a parser raises, it rejects
        return "rejected"
    return "null" if value is None else tagged(field, value)


#: The functions of the portal and of the ERP that read a field.
_FUNCTIONS = {
    "effective_date": "effectiveDate",
    "total_amount": "totalAmount",
    "term_months": "termMonths",
    "auto_renew": "autoRenew",
    "billing_cycle": "billingCycle",
    "po_number": "poNumber",
}


def _ask_portal(function: str, token: str) -> str:
    return _answer(_portal(), json.dumps([function, token]))


def _ask_erp(function: str, token: str) -> str:
    return _answer(_erp(), f"{function} {b64encode(_content(token).encode()).decode()}")


def _answer(program: subprocess.Popen[str], line: str) -> str:
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(line + "\n")
    program.stdin.flush()
    return program.stdout.readline().rstrip("\n")


@cache
def _portal() -> subprocess.Popen[str]:
    return _started(["node", str(PROGRAMS / "call_portal.mjs")])


@cache
def _erp() -> subprocess.Popen[str]:
    classes = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, classes, ignore_errors=True)
    sources = [FOLDER / "erp" / "Contracts.java", PROGRAMS / "CallContracts.java"]
    subprocess.run(["javac", "-d", classes, *map(str, sources)], check=True)
    return _started(["java", "-cp", classes, "CallContracts"])


def _started(command: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "TZ": "UTC"}
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(program.kill)
    return program


def tagged(field: str, value: Any) -> str:
    """Write a value with its type, as the contract between the rooms does."""
    kind = SPEC["fields"][field]["type"]
    if isinstance(value, bool):
        return f"bool:{str(value).lower()}"
    if isinstance(value, (datetime, date)):
        return f"{type(value).__name__}:{value.isoformat()}"
    if kind == "money":
        return f"money:{value[0]} {value[1]}"
    if kind == "quantity" and hasattr(value, "magnitude"):
        return f"quantity:{value.magnitude} {value.units:~}"
    names = {int: "int", str: "text", Decimal: "decimal"}
    return f"{names[type(value)]}:{value}"


def _call(consumer: str, field: str, token: str) -> Any:
    module, function = CONSUMERS[consumer]["reads"][field].split(":")
    parse = getattr(_module(consumer, module), function)
    return parse(json.loads(token) if CONSUMERS[consumer]["receives"] == "python" else _content(token))


def _validate(consumer: str, field: str, token: str) -> Any:
    module, name = CONSUMERS[consumer]["model"].split(":")
    model = getattr(_module(consumer, module), name)
    info = model.model_fields[CONSUMERS[consumer]["reads"][field]]
    strict = model.model_config.get("strict", False)
    return TypeAdapter(Annotated[info.annotation, info]).validate_json(token, strict=strict)


def _select(consumer: str, field: str, token: str) -> Any:
    model = (FOLDER / CONSUMERS[consumer]["model"]).read_text()
    source = SPEC["fields"][field].get("reference_path", field)
    sources = sorted({SPEC["fields"][name].get("reference_path", name) for name in SPEC["fields"]})
    row = ", ".join(f"{'$1' if name == source else 'null'}::varchar as {name}" for name in sources)
    output = CONSUMERS[consumer]["reads"][field]
    if CONSUMERS[consumer]["engine"] == "postgres":
        connection = _replica(*sources)
        connection.execute("delete from raw.contract_extractions")
        connection.execute(f"insert into raw.contract_extractions ({source}) values (%s)", [_content(token)])
        return connection.execute(f'select "{output}" from ({model}) as mart').fetchone()[0]
    connection = _warehouse()
    connection.execute(f"create or replace table raw.contract_extractions as select {row}", [_content(token)])
    return connection.execute(f'select "{output}" from ({model})').fetchone()[0]


@cache
def _replica(*columns: str) -> Any:
    adapter = adapter_of("postgres", {}, {})
    atexit.register(adapter.close)
    adapter.engine.connection.execute("create schema raw")
    described = ", ".join(f"{name} varchar" for name in ("contract_id", *columns))
    adapter.engine.connection.execute(f"create table raw.contract_extractions ({described})")
    return adapter.engine.connection


@cache
def _warehouse() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("create schema raw")
    return connection


def _content(token: str) -> str:
    """Give a string's content, and any other value's own text."""
    return str(json.loads(token)) if token.startswith('"') else token


@cache
def _module(consumer: str, name: str) -> ModuleType:
    path = FOLDER / CONSUMERS[consumer]["root"] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"reference_{consumer}_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
