"""The records of the reference pipeline: made again they are the same, and no reference is broken."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

from tests.pipeline import CONSUMERS, FOLDER, SPEC, decode

RECORDS = FOLDER / "records"
FILES = ("completions.jsonl", "references.csv")
BAD = ("rejected", "null")


def references() -> list[dict[str, str]]:
    """Give the rows of the references."""
    with (RECORDS / "references.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_records_are_made_again_byte_for_byte(tmp_path: Path) -> None:
    """Neither clock, locale, zone nor hash seed is in them."""
    environment = {"TZ": "Asia/Kolkata", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, RECORDS / "make_records.py", tmp_path], check=True, env=environment)
    assert [(tmp_path / name).read_bytes() for name in FILES] == [(RECORDS / name).read_bytes() for name in FILES]


def test_there_are_240_contracts_with_ids_of_their_own() -> None:
    """Two completions are missing, three were cut off, one was refused."""
    rows = [json.loads(line) for line in (RECORDS / "completions.jsonl").read_text().splitlines()]
    ids = {row["case_id"] for row in references()}
    assert len(references()) == len(ids) == 240
    assert len(rows) == 238
    assert {row["case_id"] for row in rows} < ids
    assert sorted(row["finish_reason"] for row in rows if row["finish_reason"] != "stop") == [
        "content_filter",
        "length",
        "length",
        "length",
    ]


def test_no_reference_is_broken() -> None:
    """Every decoder that the spec names gets a value out of every reference."""
    broken = []
    for field, spec in SPEC["fields"].items():
        readers = [name for name, consumer in CONSUMERS.items() if field in consumer["reads"]]
        decoders = {"typed": [], "each": readers}.get(spec["reference"], [spec["reference"]])
        raws = {row[spec.get("reference_path", field)] for row in references()} - {""}
        for raw in sorted(raws):
            broken += [(field, raw, name) for name in decoders if decode(name, field, json.dumps(raw)) in BAD]
    assert broken == []


def test_not_available_is_among_predictions_only() -> None:
    """A person who finds nothing leaves the cell empty."""
    assert "N/A" in (RECORDS / "completions.jsonl").read_text()
    assert "N/A" not in (RECORDS / "references.csv").read_text()
