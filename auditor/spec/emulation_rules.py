"""What must hold where a warehouse's SQL is transpiled: it decides nothing, so nothing may rest on it."""

from __future__ import annotations

from collections.abc import Mapping

from auditor.spec.entry import Entry
from auditor.spec.mistakes import Mistakes
from auditor.spec.recorded_rules import WAREHOUSES


def check_emulation(name: str, consumer: Entry, mistakes: Mistakes) -> None:
    """Note the mistakes of an SQL consumer as far as it is emulated, or should be."""
    engine, place = consumer.get("engine"), ("consumers", name)
    if consumer.get("emulate"):
        if engine is not None and engine not in WAREHOUSES:
            what = f"makes no sense for {engine}, which runs here itself"
            mistakes.add((*place, "emulate"), what, "remove it")
        for key in ("model", "production", "connection", "server"):
            if consumer.has(key):
                mistakes.add((*place, key), "makes no sense where expressions are emulated", "remove it")
        if consumer.get("statement", "cast") != "cast":
            mistakes.add((*place, "statement"), "makes no sense where expressions are emulated", "remove it")
        return
    if consumer.has("calibrate"):
        mistakes.add((*place, "calibrate"), "makes no sense without emulate = true", "remove it")
    if engine in WAREHOUSES:
        what = f"{engine} cannot be run here, so nothing here is what it would give"
        hint = (
            f'adapter = "recorded", results = "recorded/{name}.csv": `auditor record {name}` gives the SQL to run in it'
        )
        hint += "; or emulate = true, which transpiles the SQL into DuckDB and decides nothing"
        mistakes.add((*place, "engine"), what, hint)


def check_readers(fields: Mapping[str, Entry], consumers: Mapping[str, Entry], mistakes: Mistakes) -> None:
    """Note fields whose references an emulated consumer is to read: all other columns would rest on it."""
    for name, field in fields.items():
        reader = field.get("reference")
        if reader in consumers and consumers[reader].get("emulate"):
            what = f"{reader} is emulated, which decides nothing: every column would rest on how it reads references"
            mistakes.add(("fields", name, "reference"), what, 'name another consumer, "typed" or "each"')
