"""What the tests on real data share: an audit in a folder of its own, and the same verdicts by a plain script.

The script reads the file with `json`, calls each parser once per string and compares in Python; it shares with the
auditor the parsers and nothing else.
"""

from __future__ import annotations

import collections
import datetime
import json
import os
import re
import types
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import auditor

FOLDER = Path(os.environ.get("AUDITOR_REAL_DATA", ""))

needs_real_data = pytest.mark.skipif(
    not os.environ.get("AUDITOR_REAL_DATA"), reason="AUDITOR_REAL_DATA is not set: no real records to audit"
)

#: Numbers have more digits than the 28 of Python's own context.
WIDE = Context(prec=200)

Outcome = tuple[str, Any]

COUNTS = ("support", "ok", "wrong", "rejected", "null", "absent", "broken_references", "unexpected")


class Number(str):
    """Source text of a JSON number, as a consumer of texts receives it."""


def records(name: str) -> list[dict[str, Any]]:
    """Read a file of the folder, numbers as their source text."""
    with (FOLDER / name).open(encoding="utf-8") as lines:
        return [json.loads(line, parse_float=Number, parse_int=Number) for line in lines]


class Pipeline:
    """One audit over one list of rows (`case_id`, `field`, `prediction`, `reference`), and its plain counterpart."""

    def __init__(self, folder: Path, rows: list[dict[str, Any]] | str, source: str, spec: dict[str, Any]) -> None:
        """Take rows, or the name of a file of the folder that holds them as the auditor can read them."""
        (folder / "parsers.py").write_text(source, encoding="utf-8")
        path = str(FOLDER / rows) if isinstance(rows, str) else "records.jsonl"
        self.rows, self.spec = records(rows) if isinstance(rows, str) else rows, spec
        self.module = types.ModuleType("parsers_called_directly")
        exec(source, self.module.__dict__)
        if not isinstance(rows, str):
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / "records.jsonl").write_text(lines, encoding="utf-8")
        spec["cases"] = {"predictions": path, "references": path}
        for consumer in spec["consumers"].values():
            if consumer["adapter"] == "python":
                consumer["root"] = "."
        self.decoded: dict[tuple[str, str], dict[str, Outcome]] = {}

    def audit(self, **options: Any) -> auditor.AuditedRun:
        return auditor.run(self.spec, **options)

    def readers(self, field: str) -> list[str]:
        return [name for name, consumer in self.spec["consumers"].items() if field in consumer["reads"]]

    def strings(self, field: str) -> list[str]:
        of_field = [row for row in self.rows if row["field"] == field]
        return sorted(
            {row[side] for row in of_field for side in ("prediction", "reference") if row.get(side) is not None}
        )

    def decode(self, field: str, consumer: str) -> dict[str, Outcome]:
        """Call a parser once per string of a field."""
        known = self.decoded.get((field, consumer))
        if known is None:
            target = self.spec["consumers"][consumer]["reads"][field]
            called = self.sql(field, target) if "{value}" in target else self.python(field, target)
            known = self.decoded[field, consumer] = called
        return known

    def python(self, field: str, target: str) -> dict[str, Outcome]:
        parse: Callable[[str], Any] = getattr(self.module, target.partition(":")[2])
        found = {}
        for text in self.strings(field):
            try:
                found[text] = self.at_grain(field, parse(text))
            except Exception:  # noqa: BLE001 - whatever a parser raises, it rejects
                found[text] = ("rejected", None)
        return found

    def sql(self, field: str, expression: str) -> dict[str, Outcome]:
        """Let DuckDB read a column; the expressions of these tests raise nothing."""
        texts = self.strings(field)
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t AS SELECT unnest($texts) AS raw", {"texts": texts})
            values = connection.execute(f"SELECT raw, {expression.replace('{value}', 'raw')} FROM t").fetchall()
        return {text: self.at_grain(field, value) for text, value in values}

    def at_grain(self, field: str, value: Any) -> Outcome:
        if value is None:
            return "null", None
        spec = self.spec["fields"][field]
        if spec["type"] in ("money", "decimal"):
            number, step = Decimal(str(value)), Decimal(spec.get("grain", "1e-12"))
            return "value", WIDE.multiply(WIDE.divide(number, step).quantize(Decimal(1), ROUND_HALF_UP, WIDE), step)
        if spec["type"] == "date" and isinstance(value, datetime.datetime):
            value = value.date()
        return "value", value

    def verdict(self, row: dict[str, Any], consumer: str) -> str:
        field = row["field"]
        if row.get("reference") in (None, ""):
            return "unreferenced"
        decoder = self.spec["fields"][field]["reference"]
        status, truth = self.decode(field, consumer if decoder == "each" else decoder)[row["reference"]]
        if status != "value":
            return "broken_references"
        if row.get("prediction") is None:
            return "absent"
        status, value = self.decode(field, consumer)[row["prediction"]]
        return status if status != "value" else "ok" if value == truth else "wrong"

    def columns(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Count everything that a column says, row by row."""
        found = {}
        for field in self.spec["fields"]:
            rows = [row for row in self.rows if row["field"] == field]
            verdicts = {name: [self.verdict(row, name) for row in rows] for name in self.readers(field)}
            for consumer, mine in verdicts.items():
                counts = collections.Counter(mine)
                given = [row.get("prediction") is not None for row in rows]
                counts["unexpected"] = sum(x == "unreferenced" and y for x, y in zip(mine, given, strict=True))
                counts["support"] = sum(counts[name] for name in ("ok", "wrong", "rejected", "null", "absent"))
                column: dict[str, Any] = {name: counts[name] for name in COUNTS}
                accepted, support = counts["ok"] + counts["wrong"], counts["support"]
                column["ceiling"] = accepted / support if support else None
                column["recoverable"] = sum(
                    verdict in ("rejected", "null") and any(verdicts[name][i] == "ok" for name in verdicts)
                    for i, verdict in enumerate(mine)
                )
                found[field, consumer] = column
        return found

    def differing(self) -> dict[tuple[str, tuple[str, ...]], int]:
        """Count the strings that both of two consumers accept and read differently."""
        counts: collections.Counter[tuple[str, tuple[str, ...]]] = collections.Counter()
        for field in self.spec["fields"]:
            readers = self.readers(field)
            for place, left in enumerate(readers):
                for right in readers[place + 1 :]:
                    one, two = self.decode(field, left), self.decode(field, right)
                    both = [text for text in one if one[text][0] == two[text][0] == "value"]
                    if differ := sum(one[text] != two[text] for text in both):
                        counts[field, tuple(sorted((left, right)))] = differ
        return dict(counts)


def columns_of(run: auditor.AuditedRun) -> dict[tuple[str, str], dict[str, Any]]:
    """Give what the audit says of each column, under the names of `Pipeline.columns`."""
    return {
        (column.field, column.consumer): {
            **{name: column.verdicts.get(name, 0) for name in COUNTS},
            **{name: getattr(column, name) for name in (*COUNTS, "ceiling", "recoverable") if hasattr(column, name)},
        }
        for column in run.columns
    }


def differing_in(run: auditor.AuditedRun) -> dict[tuple[str, tuple[str, ...]], int]:
    """Add up the distinct strings of the value disagreements of each pair, whatever their causes."""
    counts: collections.Counter[tuple[str, tuple[str, ...]]] = collections.Counter()
    for finding in run.findings:
        if finding.code == "value-disagreement":
            number = re.search(r"([\d,]+) distinct strings?", finding.detail)
            assert number, finding.detail
            counts[finding.field, tuple(sorted(finding.consumers))] += int(number[1].replace(",", ""))
    return dict(counts)
