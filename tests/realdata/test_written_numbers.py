"""Amounts, numbers, measures and answers in seventeen languages, read by parsers as production has them."""

from __future__ import annotations

import re

from tests.realdata.plain import Pipeline, columns_of, differing_in, needs_real_data, records

pytestmark = needs_real_data

SOURCE = r"""
import re
from decimal import Decimal

ANSWERS = {"yes": True, "no": False, "si": True, "oui": True, "non": False, "true": True, "false": False}


def decimal(text):
    return Decimal(text)


def floating(text):
    return float(text)


def comma_groups(text):
    return Decimal(re.sub(r"[^0-9.,-]", "", text).replace(",", ""))


def point_groups(text):
    return Decimal(re.sub(r"[^0-9.,-]", "", text).replace(".", "").replace(",", "."))


def digits(text):
    return int("".join(filter(str.isdigit, text)))


def first_number(text):
    found = re.search(r"[-+]?\d+([.,]\d+)?", text)
    return Decimal(found.group().replace(",", ".")) if found else None


def answer(text):
    return ANSWERS[text.strip().casefold()]


def truthy(text):
    return text.strip().lower() in ("true", "yes", "y", "1", "on")
"""
NUMBERS = ("decimal", "floating", "comma_groups", "point_groups", "digits", "first_number")
KINDS = {"money": "decimal", "number": "decimal", "quantity": "decimal", "boolean": "boolean"}


def rows():
    """Give the texts with what they mean, where that is a number or a truth value."""
    for row in records("recognizers_text.jsonl"):
        if row["type"] in KINDS:
            meant = row["expected"] if row["type"] == "boolean" else (row["expected"] or {}).get("value")
            reference = str(meant).lower() if row["type"] == "boolean" else meant
            is_number = row["type"] == "boolean" or re.fullmatch(r"-?\d{1,20}(\.\d{1,9})?", reference or "")
            taken = {"case_id": row["case_id"], "field": row["type"], "prediction": row["raw"]}
            yield taken | {"reference": reference if is_number else None}


def test_verdicts_are_those_of_a_plain_script_that_calls_the_parsers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numeric = [field for field, kind in KINDS.items() if kind == "decimal"]
    consumers = {name: {"adapter": "python", "reads": dict.fromkeys(numeric, f"parsers:{name}")} for name in NUMBERS}
    consumers |= {name: {"adapter": "python", "reads": {"boolean": f"parsers:{name}"}} for name in ("answer", "truthy")}
    reads = dict.fromkeys(numeric, "try_cast({value} as decimal(28, 9))") | {"boolean": "try_cast({value} as boolean)"}
    consumers["warehouse"] = {"adapter": "sql", "engine": "duckdb", "reads": reads}
    fields = {
        field: {"type": kind, "reference": "decimal" if kind == "decimal" else "answer"}
        | ({"grain": "1e-9"} if kind == "decimal" else {})
        for field, kind in KINDS.items()
    }
    plain = Pipeline(tmp_path, list(rows()), SOURCE, {"name": "numbers", "fields": fields, "consumers": consumers})
    run = plain.audit(store=False)
    assert columns_of(run) == plain.columns()
    assert differing_in(run) == plain.differing()
