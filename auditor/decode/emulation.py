"""A warehouse's SQL transpiled into DuckDB: what it is like there, which need not be what the warehouse gives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from auditor.errors import ConsumerError
from auditor.spec.models import ConsumerSpec

#: Stands for the column while the text is parsed.
_COLUMN = "auditor_value"

_WRITTEN = re.compile(rf'"?\b{_COLUMN}\b"?', re.IGNORECASE)


@dataclass(frozen=True)
class Emulation:
    """One text in DuckDB's dialect, and what sqlglot warned of."""

    target: str
    warnings: tuple[str, ...]


def emulated(consumer: ConsumerSpec, field: str) -> Emulation:
    """Transpile what reads a field; ConsumerError where sqlglot cannot read it."""
    from sqlglot import Dialect, ErrorLevel, parse_one  # takes 0.1 s, and most consumers have no use for it
    from sqlglot.errors import SqlglotError

    text = consumer.reads[field].replace("{value}", _COLUMN)
    try:
        tree = parse_one(text, read=consumer.engine)
        generator = Dialect.get_or_raise("duckdb").generator(unsupported_level=ErrorLevel.IGNORE)
        written = generator.generate(tree)
    except SqlglotError as error:
        tried = f"transpile reads.{field} = {consumer.reads[field]} from {consumer.engine} into duckdb"
        hint = 'record what the warehouse gives: adapter = "recorded", and `auditor record`'
        raise ConsumerError(consumer.name, tried, str(error).split("\n")[0], hint) from error
    warnings = tuple(dict.fromkeys(str(one) for one in generator.unsupported_messages))
    return Emulation(_WRITTEN.sub("{value}", written), warnings)


def emulation_config(consumer: ConsumerSpec) -> dict[str, Any]:
    """Give the parts of a worker's configuration that are another's: DuckDB, with the texts made for it.

    The settings are those of the warehouse, which DuckDB has not; what emulates is part of the consumer's version.
    """
    if not consumer.emulate:
        return {"emulates": {}}
    from importlib.metadata import version

    found = {field: emulated(consumer, field) for field in consumer.reads}
    told = {"emulates": str(consumer.engine), "sqlglot": version("sqlglot")}
    told |= {f"original.{field}": target for field, target in consumer.reads.items()}
    told |= {f"sqlglot.{field}": "; ".join(one.warnings) for field, one in found.items() if one.warnings}
    reads = {field: one.target for field, one in found.items()}
    return {"engine": "duckdb", "settings": {}, "reads": reads, "emulates": told}
