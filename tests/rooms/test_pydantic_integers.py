"""Seven values as strict and lax integers, in Python and in JSON: each Pydantic itself, and through the adapters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sessions import open_consumer, shown
from tests.versions import python_of

PROGRAM = Path(__file__).parents[1] / "programs" / "pydantic_integers.py"
PAIRS = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[1] / "pairs" / "integers.txt").read_text().splitlines()
    if not line.startswith("#")
]
VALUES = ["3", "0", "true", "3.0", '"3"', "3.7", "null"]
PYDANTIC_1 = "1.10.26"

MODELS = """
import pydantic


class Lax(pydantic.BaseModel):
    count: int


class Strict(pydantic.BaseModel):
    count: pydantic.StrictInt


def lax(raw):
    return Lax.parse_raw('{"count": %s}' % raw).count


def strict(raw):
    return Strict.parse_raw('{"count": %s}' % raw).count


def lax_of_value(value):
    return Lax.parse_obj({"count": value}).count


def strict_of_value(value):
    return Strict.parse_obj({"count": value}).count
"""


def expected(version: str, mode: str, arrival: str) -> list[str]:
    found = {pair[0]: pair[4] for pair in PAIRS if pair[1:4] == (version, mode, arrival)}
    return [found[value] for value in VALUES]


def test_the_table_has_every_value_of_both_versions() -> None:
    assert len({pair[:4] for pair in PAIRS}) == len(PAIRS) == 7 * 2 * 2 * 2


@pytest.mark.parametrize("version", ["pydantic 2", "pydantic 1"])
def test_the_table_is_what_each_version_gives(version: str) -> None:
    python = sys.executable if version == "pydantic 2" else python_of("pydantic", PYDANTIC_1)
    said = subprocess.run([python, str(PROGRAM)], capture_output=True, text=True, check=True).stdout
    assert [tuple(line.split("\t")) for line in said.splitlines()] == [pair for pair in PAIRS if pair[1] == version]


@pytest.mark.parametrize("mode", ["lax", "strict"])
@pytest.mark.parametrize("arrival", ["json", "python"])
@pytest.mark.parametrize("payloads", [True, False])
def test_the_pydantic_adapter_reads_as_the_table_says(tmp_path: Path, mode: str, arrival: str, payloads: bool) -> None:
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    consumer = {"adapter": "pydantic", "model": f"models:{mode.title()}", "receives": arrival}
    with open_consumer(tmp_path, types={"count": "integer"}, **consumer) as session:
        whole = [f'{{"count": {value}}}' for value in VALUES] if payloads else None
        found = shown(session.decode("count", VALUES, payloads=whole))
    for text, pair in zip(found, expected("pydantic 2", mode, arrival), strict=True):
        outcome, _, code = pair.partition(" ")
        assert text == pair if not code else text.startswith(f"{outcome}: ") and text.endswith(f"[{code}]")


@pytest.mark.parametrize("mode", ["lax", "strict"])
@pytest.mark.parametrize("arrival", ["json", "python"])
def test_functions_around_a_model_of_pydantic_1_read_as_the_table_says(tmp_path: Path, mode: str, arrival: str) -> None:
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    function = mode if arrival == "json" else f"{mode}_of_value"
    consumer = {"interpreter": python_of("pydantic", PYDANTIC_1), "receives": arrival}
    with open_consumer(tmp_path, {"count": f"models:{function}"}, types={"count": "integer"}, **consumer) as session:
        found = shown(session.decode("count", VALUES))
    for text, pair in zip(found, expected("pydantic 1", mode, arrival), strict=True):
        outcome, _, code = pair.partition(" ")
        assert text == pair if not code else text.startswith(f"{outcome}: ") and f"(type={code})" in text
