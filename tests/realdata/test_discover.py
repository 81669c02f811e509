"""What discovery takes out of models, on the strings that real engines were measured with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.realdata.plain import FOLDER, needs_real_data
from tests.rooms.discovered_models import MODELS, differences, engine, model_in

pytestmark = needs_real_data


@pytest.mark.parametrize("name", MODELS)
def test_the_expression_reads_what_the_model_reads(tmp_path: Path, name: str) -> None:
    with (FOLDER / "warehouse_truth.tsv").open(encoding="utf-8", newline="\n") as file:
        place = file.readline().rstrip("\n").split("\t").index("raw")
        strings = sorted({json.loads(line.split("\t")[place]) for line in file})
    assert len(strings) > 100
    assert differences(engine(), MODELS[name], model_in(tmp_path, MODELS[name]), strings) == []
