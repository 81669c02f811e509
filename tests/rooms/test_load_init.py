"""`init` looks at completions with the reader that the load room has, and says how many that reader refuses."""

from __future__ import annotations

import json

import pytest

from auditor.cli.records import sample
from auditor.load.payload import read_completion

OBJECT = '{"total": 12.5, "shipment": {"weight": "3"}}'
STRICT = [OBJECT, f" {OBJECT}\n"]
LOOSE = [f"```json\n{OBJECT}\n```", f"Here it is: {OBJECT}", f"{OBJECT} Done."]


def looked_at(folder, replies):
    rows = [json.dumps({"case_id": f"c{index}", "reply": reply}) for index, reply in enumerate(replies)]
    (folder / "p.jsonl").write_text("\n".join(rows))
    return sample(folder / "p.jsonl", "prediction")


@pytest.mark.parametrize("reply", [*STRICT, *LOOSE])
def test_what_the_strict_reader_refuses_is_malformed(tmp_path, reply):
    found = looked_at(tmp_path, [reply] * 3)
    assert found.completion == "reply"
    assert found.malformed == (0 if reply in STRICT else 3)
    assert (found.malformed == 0) == (read_completion(reply, {}) is not None)
    assert found.names == ["case_id", "total", "shipment.weight"]


def test_values_of_a_few_malformed_completions_are_not_looked_at(tmp_path):
    found = looked_at(tmp_path, [OBJECT, OBJECT, LOOSE[0].replace("12.5", '"twelve"')])
    assert found.malformed == 1
    assert found.values("total") == ["12.5", "12.5"]
