"""A parser of one field that remembers what it read of another: the order of the fields is no property of a string."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import auditor

#: The second field of a file is read after the first: once a day above 12 was seen, all dates are taken day first.
REMEMBERS = """
import datetime

day_first = False

def signed(text):
    global day_first
    day_first = day_first or text.startswith("13/")
    return text

def due(text):
    return datetime.datetime.strptime(text, "%d/%m/%Y" if day_first else "%m/%d/%Y").date()
"""

KEEPS_APART = """
import datetime

def signed(text):
    return text

def due(text):
    return datetime.datetime.strptime(text, "%d/%m/%Y").date()
"""


@pytest.mark.parametrize("level", ["full", "quick"])
@pytest.mark.parametrize("fields", [("signed", "due"), ("due", "signed")], ids=["before", "after"])
@pytest.mark.parametrize(
    ("parsers", "found"), [(REMEMBERS, {("order-dependent", "due")}), (KEEPS_APART, set())], ids=["remembers", "twin"]
)
def test_state_that_another_field_leaves_is_found(
    tmp_path: Path, parsers: str, found: set[tuple[str, str]], fields: tuple[str, str], level: str
) -> None:
    (tmp_path / "parsers.py").write_text(parsers)
    rows = [{"case_id": str(n), "signed": "13/01/2024", "due": f"0{n}/03/2024"} for n in (1, 2, 3)]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    truth = [row | {"due": f"2024-03-0{row['case_id']}"} for row in rows]
    (tmp_path / "references.jsonl").write_text("".join(json.dumps(row) + "\n" for row in truth))
    spec = {
        "name": "state",
        "cases": {name: str(tmp_path / f"{name}.jsonl") for name in ("predictions", "references")},
        "fields": {name: {"type": "date" if name == "due" else "identifier"} for name in fields},
        "consumers": {
            "ledger": {
                "adapter": "python",
                "root": str(tmp_path),
                "reads": {name: f"parsers:{name}" for name in fields},
            }
        },
    }
    run = auditor.run(spec, probe=level, store=False)
    assert {(one.code, one.field) for one in run.findings if one.code.endswith("dependent")} == found
