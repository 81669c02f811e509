"""Whose values move where a column moves: the consumer's own, or those of the reader of its references."""

from __future__ import annotations

import re
from typing import Final

from auditor.model.run import Column, Run

#: Codes of findings about what a value depends on besides the string.
CODES: Final = (
    "clock-dependent",
    "timezone-dependent",
    "locale-dependent",
    "hash-seed-dependent",
    "order-dependent",
    "neighbour-dependent",
    "unstable",
)

_CODE_OF: Final = {
    "clock": "clock-dependent",
    "zone": "timezone-dependent",
    "locale": "locale-dependent",
    "hash_seed": "hash-seed-dependent",
    "order": "order-dependent",
}

_MIXES: Final = {"everything": "everything changed at once", "rest": "everything but clock and zone changed"}


def dependences(run: Run, column: Column) -> tuple[str, ...]:
    """Name the codes of findings that say what a column depends on."""
    return _dependences(run, column.field, column.consumer)


def _dependences(run: Run, field: str, consumer: str) -> tuple[str, ...]:
    codes = {finding.code for finding in run.findings if finding.field == field and consumer in finding.consumers}
    return tuple(code for code in CODES if code in codes)


def mover(run: Run, column: Column, factor: str) -> str:
    """Name the reader of the references where its values alone move a column; nothing where the consumer's own do."""
    readers = [one.reference for one in run.fields if one.field == column.field]
    if not readers or readers[0] in ("", "typed", "each", column.consumer):
        return ""
    own, reader = dependences(run, column), _dependences(run, column.field, readers[0])
    code = _CODE_OF.get(factor, "")
    if code in own or not reader:
        return ""
    return readers[0] if code in reader or not own else ""


def environment_name(name: str) -> str:
    """Name an environment for people: ``everything 2`` is one in which everything is changed at once."""
    match = re.fullmatch(r"(everything|rest) (\d+)", name)
    return f"{_MIXES[match[1]]} ({match[2]})" if match else name
