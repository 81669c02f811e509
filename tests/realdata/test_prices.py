"""Prices from web shops, read by parsers with different marks."""

from __future__ import annotations

from tests.realdata.plain import Pipeline, columns_of, differing_in, needs_real_data, records

pytestmark = needs_real_data

SOURCE = r"""
import re
from decimal import Decimal


def comma_groups(text):
    return Decimal(re.sub(r"[^0-9.,-]", "", text).replace(",", ""))


def point_groups(text):
    return Decimal(re.sub(r"[^0-9.,-]", "", text).replace(".", "").replace(",", "."))


def plain(text):
    return Decimal(text)


def first(text):
    return float(re.search(r"\d+(\.\d+)?", text).group())
"""


def test_verdicts_are_those_of_a_plain_script_that_calls_the_parsers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "case_id": row["case_id"],
            "field": "price",
            "prediction": row["raw"],
            "reference": (row["expected"] or {}).get("amount"),
        }
        for row in records("price_parser.jsonl")
    ]
    names = ("comma_groups", "point_groups", "plain", "first")
    consumers = {name: {"adapter": "python", "reads": {"price": f"parsers:{name}"}} for name in names}
    reads = {"price": "try_cast({value} as decimal(18,2))"}
    consumers["warehouse"] = {"adapter": "sql", "engine": "duckdb", "reads": reads}
    price = {"type": "money", "currency": "ignored", "grain": "0.01", "reference": "plain"}
    spec = {"name": "prices", "fields": {"price": price}, "consumers": consumers}
    plain = Pipeline(tmp_path, rows, SOURCE, spec)
    run = plain.audit(store=False)
    assert columns_of(run) == plain.columns()
    assert differing_in(run) == plain.differing()
    codes = {finding.code for finding in run.findings}
    assert {"format-ceiling", "value-disagreement", "acceptance-disagreement"} <= codes
    assert not codes & {"sentinel-collapse", "constant-output", "broken-reference"}
