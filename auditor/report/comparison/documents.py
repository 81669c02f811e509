"""Comparisons for programs: JSON with everything, CSV with a line per column."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from auditor.model.document import json_text_of, plain
from auditor.model.drift import ColumnDrift, Drift
from auditor.model.verdicts import BLOCKING
from auditor.report.csv import cell

if TYPE_CHECKING:
    from auditor.model.redecoding import Redecoding


def json_text(comparison: Drift | Redecoding) -> str:
    """Give the whole comparison; `kind` says what it is, and each column of a drift whether it is a `drop`."""
    document: dict[str, Any] = {"schema": comparison.schema, "kind": type(comparison).__name__.lower()}
    document.update(plain(comparison))
    if isinstance(comparison, Drift):
        for column, one in zip(comparison.columns, document["columns"], strict=True):
            one["drop"] = column.is_drop
    return json_text_of(document)


def csv_text(comparison: Drift | Redecoding) -> str:
    """Give a line per column, every number in full, nothing that a spreadsheet would run."""
    if isinstance(comparison, Drift):
        rows = [_drift_row(column) for column in comparison.columns]
        head = _DRIFT_HEAD
    else:
        from auditor.report.comparison.redecoding import CSV_HEAD, csv_row

        rows, head = [csv_row(column) for column in comparison.columns], CSV_HEAD
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([cell(name, row[name]) for name in head] for row in rows)
    return out.getvalue()


_SIDE = ("support", "judged", "blocked", "broken_references", "ok", "content_rate")
_PAIRED = ("judged_in_both", "ok_in_old_only", "ok_in_new_only", "discordant", "exact_p", "mid_p", "difference")
_DRIFT_HEAD = (
    *("field", "consumer", "arm", "split", "suppressed", "untrusted", "drop"),
    *(
        f"{side}_{name}"
        for side in ("old", "new")
        for name in (*_SIDE, "interval_low", "interval_high", *(f"blocked_{name}" for name in BLOCKING))
    ),
    *(*_PAIRED, "difference_low", "difference_high", "flipped", "flips"),
)


def _drift_row(column: ColumnDrift) -> dict[str, Any]:
    row: dict[str, Any] = {
        "field": column.field,
        "consumer": column.consumer,
        "arm": column.arm,
        "split": column.split,
        "suppressed": column.suppressed,
        "untrusted": " ".join(column.untrusted),
        "drop": column.is_drop,
        "flipped": column.flipped,
        "flips": json.dumps({f"{flip.old} to {flip.new}": flip.count for flip in column.flips}),
    }
    for name, side in (("old", column.old), ("new", column.new)):
        row |= {f"{name}_{key}": getattr(side, key) for key in _SIDE}
        row |= {f"{name}_blocked_{key}": side.blocked_by.get(key, 0) for key in BLOCKING}
        bounds = (side.interval.low, side.interval.high) if side.interval else (None, None)
        row[f"{name}_interval_low"], row[f"{name}_interval_high"] = bounds
    row |= {key: getattr(column.paired, key) if column.paired else None for key in _PAIRED}
    interval = column.paired.interval if column.paired else None
    row["difference_low"], row["difference_high"] = (interval.low, interval.high) if interval else (None, None)
    return row
