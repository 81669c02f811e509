"""Values of many megabytes, which no field should hold, cost memory and time, never the run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from tests.command_line import call

MEGABYTE = 2**20

#: Both consumers keep how long a text is, so that its length is the right answer.
PARSERS = "def length(text):\n    return len(text)\n"
MODELS = """
from typing import Annotated
from pydantic import BaseModel, BeforeValidator

class Document(BaseModel):
    length: Annotated[int, BeforeValidator(len)]
"""

SPEC = """
name = "huge"
[cases]
predictions = "{predictions}"
references = "references.csv"
[fields.length]
type = "integer"
[consumers.first]
adapter = "python"
reads.length = "parsers:length"
[consumers.second]
{second}
reads.length = "{reads}"
"""
PYTHON = {"second": 'adapter = "python"', "reads": "parsers:length"}
PAYLOAD = {"second": 'adapter = "pydantic"\nmodel = "models:Document"', "reads": "length"}


def texts_of(sizes: list[int]) -> list[str]:
    return [f"{number:02}{'x' * (size - 2)}" for number, size in enumerate(sizes)]


def as_csv(folder: Path, texts: list[str]) -> str:
    with (folder / "predictions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["case_id", "length"], *([number, text] for number, text in enumerate(texts))])
    return "predictions.csv"


def as_json_lines(folder: Path, texts: list[str]) -> str:
    lines = (json.dumps({"case_id": str(number), "length": text}) for number, text in enumerate(texts))
    (folder / "predictions.jsonl").write_text("\n".join(lines))
    return "predictions.jsonl"


def as_completions(folder: Path, texts: list[str]) -> str:
    replies = (json.dumps({"length": text}) for text in texts)
    rows = ({"case_id": str(n), "completion": reply, "finish_reason": "stop"} for n, reply in enumerate(replies))
    (folder / "completions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "completions.jsonl"


def as_parquet(folder: Path, texts: list[str]) -> str:
    ids = [str(number) for number in range(len(texts))]
    pyarrow.parquet.write_table(pyarrow.table({"case_id": ids, "length": texts}), folder / "predictions.parquet")
    return "predictions.parquet"


@pytest.mark.parametrize(
    ("write", "second", "sizes", "probe"),
    [
        (as_csv, PYTHON, [16 * MEGABYTE] * 6, "quick"),
        (as_parquet, PYTHON, [16 * MEGABYTE] * 6, "off"),
        (as_csv, PYTHON, [100 * MEGABYTE], "off"),
        (as_json_lines, PAYLOAD, [8 * MEGABYTE] * 12, "off"),
        (as_completions, PAYLOAD, [30 * MEGABYTE], "quick"),
    ],
)
def test_huge_values_are_decoded_like_any_other(tmp_path, write, second, sizes, probe):
    """The probes read them again alike, whatever file they came from: once as strings and once in payloads."""
    sizes = [*sizes, 5]
    (tmp_path / "parsers.py").write_text(PARSERS)
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "audit.toml").write_text(SPEC.format(predictions=write(tmp_path, texts_of(sizes)), **second))
    rows = [f"{number},{size}" for number, size in enumerate(sizes)]
    (tmp_path / "references.csv").write_text("\n".join(["case_id,length", *rows]))
    options = ("--quiet", "--fail-on", "never", "--probe", probe, "-o", "run.json")
    run = call("run", *options, folder=tmp_path, timeout=600)
    assert (run.returncode, run.stderr) == (0, "")
    document = (tmp_path / "run.json").read_text()
    assert len(document) < MEGABYTE, "a report shows the beginning of a value"
    columns = json.loads(document)["columns"]
    assert {column["consumer"]: column["ok"] for column in columns} == dict.fromkeys(("first", "second"), len(sizes))
