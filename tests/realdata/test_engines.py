"""What a real DuckDB made of strings, against a whole audit with the SQL adapter."""

from __future__ import annotations

import collections
import json
import re
from decimal import Decimal

import duckdb
import pytest

import auditor
from tests.realdata.plain import FOLDER, needs_real_data

pytestmark = needs_real_data

FIELDS = {
    "DATE": ("date", "2031-07-09"),
    "TIMESTAMP": ("datetime", "2031-07-09T00:00:00"),
    "TIMESTAMPTZ": ("datetime", "2031-07-09T00:00:00"),
    "DECIMAL(18,2)": ("decimal", "98765.43"),
    "DOUBLE": ("decimal", "98765.43"),
    "BIGINT": ("integer", "98765"),
    "BOOLEAN": ("boolean", "true"),
}

STATUS = {"accepted": "v", "null": "n", "rejected": "r"}

#: Values of the engine that neither a date of Python nor a number holds.
BEYOND = re.compile(r"-?inf(inity)?|.*\(BC\).*|\d{5,}-.*")

UNESCAPED = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}


def measured():
    """Give the rows measured with the DuckDB that is installed, by expression and session settings."""
    with (FOLDER / "warehouse_truth.tsv").open(encoding="utf-8", newline="\n") as file:
        head, *lines = [line.rstrip("\n").split("\t") for line in file]
    groups = collections.defaultdict(list)
    for line in lines:
        row = dict(zip(head, line, strict=True))
        version, _, settings = row["version"].partition(";")
        if (row["engine"], version) == ("duckdb", duckdb.__version__):
            groups[row["expression"], settings, row["sql_type"]].append(row)
    return dict(groups)


def reading_of(field, expression):
    """Write what was measured as a consumer's keys: an expression, or the column that is loaded."""
    load = re.fullmatch(r"(INSERT INTO|COPY) t\(v (.*)\) (?:VALUES|FROM) .*", expression)
    if load is None:
        return {"reads": {field: expression.replace("{col}", "{value}")}}
    return {"statement": "insert" if load[1] == "INSERT INTO" else "copy", "reads": {field: load[2]}}


def plain(value, field):
    """Write a value of the engine's text and of ours in one way."""
    if field in ("decimal", "integer"):
        return Decimal(value)
    moment = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", value.replace("T", " ")).replace(". ", " ").rstrip(".")
    moment = re.sub(r"([+-]\d\d):00$", r"\1", moment)
    return re.sub(r" 00:00:00$", "", moment)


def test_each_cell_of_an_audit_is_what_the_engine_gave(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    groups = measured()
    if not groups:
        pytest.skip(f"no rows were measured with DuckDB {duckdb.__version__}")
    consumers, records, raws = {}, [], collections.defaultdict(set)
    for number, ((expression, settings, sql_type), rows) in enumerate(groups.items()):
        field = FIELDS[sql_type][0]
        consumers[f"c{number}"] = {
            "adapter": "sql",
            "engine": "duckdb",
            "settings": dict(part.split("=") for part in settings.split(";") if part),
            **reading_of(field, expression),
        }
        raws[FIELDS[sql_type]].update(json.loads(row["raw"]) for row in rows)
    for (field, reference), texts in raws.items():
        records += [
            {"case_id": f"{field} {number}", "field": field, "prediction": text, "reference": reference}
            for number, text in enumerate(sorted(texts))
        ]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    run = auditor.run(
        {
            "name": "truth",
            "cases": {"predictions": "records.jsonl", "references": "records.jsonl"},
            "fields": {field: {"type": field} for field, _ in FIELDS.values()},
            "consumers": consumers,
        },
        probe="off",
    )
    table = run.table("outcomes")
    cells = [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]
    of_string = {(cell["field"], json.loads(cell["token"])): cell for cell in cells}
    compared = 0
    for number, ((expression, _, sql_type), rows) in enumerate(groups.items()):
        field = FIELDS[sql_type][0]
        for row in rows:
            cell = of_string[field, json.loads(row["raw"])]
            status, value = cell[f"s{number}"], cell[f"v{number}"]
            expected = re.sub(r"\\[\\tnr]", lambda found: UNESCAPED[found.group()], row["value"])
            where = (expression, row["raw"], row["outcome"], expected, status, value)
            if row["outcome"] == "accepted" and (BEYOND.fullmatch(expected) or expected == "nan"):
                assert status in "rn", where
                continue
            compared += 1
            assert status == STATUS[row["outcome"]], where
            if status == "v":
                assert plain(value.partition(":")[2], field) == plain(expected, field), where
    assert compared > 1000
    assert any("statement" in consumer for consumer in consumers.values())
