"""The columns of a run as CSV: a line per column, every number in full, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields
from typing import Any, Final

from auditor.model.agreement import Agreement
from auditor.model.document import to_document
from auditor.model.run import Column, ConsumerSummary, Run
from auditor.model.verdicts import BLOCKING, FIELD_VERDICTS
from auditor.report import environments
from auditor.report.movement import dependences
from auditor.report.text import DATA_LIMIT, WHOLE, visible

_PAIRS: Final = ("interval", "ceiling_interval")

#: Counts that a rate is made of.
_SCORED: Final = ("ok", "wrong", "recoverable", "accepted", "lost_to_value")

#: Cells that are made for a reader of the table: a row stands alone, without the head of a report.
_OF_ENVIRONMENTS: Final = ("range_low", "range_high", "range_flips", "depends", "probe", "not_varied")

#: Cells that are there only where a column has them.
_AGREEMENT: Final = tuple(f"agreement_{item.name}" for item in fields(Agreement))

#: Cells that a program reads: cut short, they would be no JSON any more.
_WHOLE: Final = frozenset({"by_environment", "flips", "turns"})

#: What makes a spreadsheet take a cell for a formula, the full-width forms included.
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")


def csv_text(run: Run) -> str:
    """Give the columns; an undefined rate is an empty cell, an interval two cells.

    Where rates are withheld, so are the counts that they are made of.
    """
    consumers = {consumer.name: consumer for consumer in run.consumers}
    left_out = () if any(column.agreement for column in run.columns) else _AGREEMENT
    rows = [
        _flat(document) | _of_environments(run, column, consumers.get(column.consumer))
        for document, column in zip(to_document(run)["columns"], run.columns, strict=True)
    ]
    if run.rates_withheld:
        rows = [_withheld(row) for row in rows]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name in (*_flat(_column_keys()), *_OF_ENVIRONMENTS) if name not in left_out])
    writer.writerows([cell(*item) for item in row.items() if item[0] not in left_out] for row in rows)
    return out.getvalue()


def _column_keys() -> dict[str, Any]:
    """Give the keys of a column's document with no values, so that a run without columns has a header too."""
    names = [item.name for item in fields(Column)]
    at = names.index("verdicts")
    names[at : at + 1] = FIELD_VERDICTS
    keys: dict[str, Any] = dict.fromkeys([*names, "accepted", "lost_to_shape", "lost_to_value"], "")
    return keys | {"blocked_by": {}}


def _flat(column: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in column.items():
        if key == "blocked_by":
            flat.update({f"blocked_{name}": value.get(name, 0) for name in BLOCKING})
        elif key in _PAIRS:
            flat[f"{key}_low"], flat[f"{key}_high"] = value or (None, None)
        elif key == "agreement":
            flat.update({name: (value or {}).get(name.removeprefix("agreement_")) for name in _AGREEMENT})
        elif key == "untrusted":
            flat[key] = " ".join(value)
        elif key == "hints":
            flat[key] = "; ".join(value)
        elif key in ("by_environment", "flips"):
            flat[key] = json.dumps(value) if value else ""
        else:
            flat[key] = value
    return flat


def _withheld(row: dict[str, Any]) -> dict[str, Any]:
    known = json.loads(row["by_environment"] or "[]")
    entries = [{key: value for key, value in entry.items() if key not in _SCORED} for entry in known]
    return row | dict.fromkeys(_SCORED) | {"by_environment": json.dumps(entries) if entries else ""}


def _of_environments(run: Run, column: Column, consumer: ConsumerSummary | None) -> dict[str, Any]:
    """Give what qualifies the rate: its range over environments, what it depends on, how far that was looked for."""
    rates = [entry["content_rate"] for entry in environments.entries(column) if entry["content_rate"] is not None]
    values = (
        min(rates, default=None),
        max(rates, default=None),
        max(column.flips.values(), default=None),
        " ".join(dependences(run, column)),
        run.probe.level if run.probe else "not probed",
        "; ".join(environments.not_varied(run, consumer)) if consumer else "",
    )
    return dict(zip(_OF_ENVIRONMENTS, values, strict=True))


def cell(key: str, value: Any) -> str:
    """Give a cell; a number stays a number, a text that would be a formula is quoted with an apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    shown = visible(value, WHOLE if key in _WHOLE else DATA_LIMIT)
    return f"'{shown}" if value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA) else shown
