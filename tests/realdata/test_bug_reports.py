"""Cases after public bug reports: the decodings that real parsers gave, and the finding that is due.

Runs those consumers whose library is installed here in the very version that was measured.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import re
from decimal import Decimal, InvalidOperation

import duckdb
import pytest

import auditor
from tests.realdata.plain import needs_real_data, records

pytestmark = needs_real_data

#: Case → type of the field, a reference for it, and the finding among those that need one environment only.
CASES = {
    "B29": ("money", "987654.32", None),  # needs price-parser, which is not installed
    "B57": ("date", "2031-07-09", "value-disagreement"),
    "B59": ("decimal", "987654", None),  # the engines that collapse are others
    "B71": ("boolean", "true", "value-disagreement"),
    "B73": ("datetime", "2031-07-09T00:00:00", "value-disagreement"),
    "B75": ("decimal", "987654.32", None),  # pydantic 2.1.1 refuses, and is not installed
    "B79": ("date", "2031-07-09", None),
    "B85": ("datetime", "2031-07-09T00:00:00", "acceptance-disagreement"),
    "B101": ("boolean", "true", "value-disagreement"),
    "B103": ("date", "2031-07-09", "format-ceiling"),
    "B01": ("datetime", "2031-07-09T00:00:00", None),
    "B05": ("datetime", "2031-07-09T00:00:00", None),
    "B11": ("datetime", "2031-07-09T00:00:00", None),
    "B13": ("date", "2031-07-09", None),
    "B25": ("money", "987654.32", None),
    "B55": ("date", "2031-07-09", "value-disagreement"),
}

KINDS = {"boolean": "bool", "money": "number", "decimal": "number", "date": "moment", "datetime": "moment"}

LIBRARIES = ("python-dateutil", "babel", "pydantic", "duckdb")


def is_here(consumer):
    package, version = consumer.get("package"), consumer["version"]
    if (":raw" in consumer["how"] and consumer["kind"] != "sql") or "rows" in consumer["how"]:
        return False
    if package == "stdlib":
        return consumer["kind"] == "python"
    try:
        return package in LIBRARIES and importlib.metadata.version(package) == version
    except importlib.metadata.PackageNotFoundError:
        return False


def spec_of(case, consumers, field_type, variant, folder):
    found = {}
    for number, consumer in enumerate(consumers):
        if consumer["kind"] == "sql":
            reads = {"value": consumer["how"].replace(":raw", "{value}")}
            found[f"c{number}"] = {"adapter": "sql", "engine": "duckdb", "reads": reads}
            continue
        source = f"{consumer.get('setup') or ''}\n\n\ndef read(raw):\n    return {consumer['how']}\n"
        (folder / f"c{number}").mkdir()
        (folder / f"c{number}" / "parser.py").write_text(source, encoding="utf-8")
        found[f"c{number}"] = {
            "adapter": "python",
            "root": f"c{number}",
            "env": variant.get("environment", {}),
            "reads": {"value": "parser:read"},
        }
    clock = variant.get("clock", "2024-03-08T09:05:07Z").replace("Z", "+00:00")
    value = {"type": field_type, **({"currency": "ignored"} if field_type == "money" else {})}
    return {
        "name": case["id"],
        "cases": {"predictions": "records.jsonl", "references": "records.jsonl"},
        "fields": {"value": value},
        "consumers": found,
        "environment": {"clock": clock},
    }


def as_measured(text):
    """Read what was observed, written as Python or the engine printed it."""
    if text.startswith("error"):
        return ("rejected",)
    if text in ("NULL", "None", "nan", "NaT"):
        return ("null",)
    if text.lower() in ("true", "false"):
        return "bool", text.lower()
    number = re.fullmatch(r"Decimal\('?(.*?)'?\)", text)
    return as_value(number[1] if number else text)


def as_value(text):
    try:
        return "number", Decimal(text).normalize()
    except InvalidOperation:
        try:
            return "moment", datetime.datetime.fromisoformat(text)
        except ValueError:
            return "text", text.strip("'")


def as_decoded(decoding):
    if decoding.status != "value":
        return (decoding.status,)
    tag, _, content = decoding.value.partition(":")
    return (tag, content) if tag == "bool" else as_value(content)


@pytest.mark.parametrize("name", CASES)
def test_decodings_are_those_that_were_measured(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    field_type, reference, finding = CASES[name]
    [case] = [case for case in records("bug_cases.jsonl") if case["id"] == name] or [None]
    if case is None:
        pytest.skip(f"{name} is in another part of the set")
    consumers = [consumer for consumer in case["consumers"] if is_here(consumer)]
    if not consumers:
        pytest.skip(f"no library of {name} is installed in the version that was measured")
    variant, context = next(iter(case["context"]["variants"].items()))
    rows = [
        {"case_id": str(number), "value": text, "reference": reference} for number, text in enumerate(case["inputs"])
    ]
    (tmp_path / "records.jsonl").write_text(
        "".join(
            json.dumps(
                {"case_id": row["case_id"], "field": "value", "prediction": row["value"], "reference": reference}
            )
            + "\n"
            for row in rows
        ),
        encoding="utf-8",
    )
    spec = spec_of(case, consumers, field_type, context, tmp_path)
    readings = auditor.read("value", *case["inputs"], spec=spec, probe="off")
    for reading, text in zip(readings, case["inputs"], strict=True):
        for number, consumer in enumerate(consumers):
            measured = as_measured(case["observed"][consumer["name"]][variant][text])
            decoded = reading.decodings[f"c{number}"]
            if (decoded.error or "").startswith("unexpected type"):
                assert measured[0] != KINDS[field_type], (consumer["name"], text, decoded)
                continue
            assert as_decoded(decoded) == measured, (consumer["name"], text, decoded)
    if finding and len(consumers) > 1:
        run = auditor.run(spec, store=False, probe="off")
        assert finding in {one.code for one in run.findings}, duckdb.__version__
