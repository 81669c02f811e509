"""Pydantic 1 beside Pydantic 2: one model, a column each; what they read was found by calling either alone.

The lax integers: 3, 0, true, 3.0, "3", 3.7 and null, as JSON values of a payload.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runs.test_commands import auditor
from tests.sessions import open_consumer, shown
from tests.versions import python_of

MODEL = """
from typing import Optional
from pydantic import BaseModel, Field

class Verdict(BaseModel):
    score: int
    note: Optional[str] = Field(None, alias="comment")
"""
VALUES = ["3", "0", "true", "3.0", '"3"', "3.7", "null"]


def readings(folder: Path, interpreter: str) -> list[str]:
    """Give what the library itself makes of the values."""
    (folder / "models.py").write_text(MODEL)
    code = """
import json, sys
from models import Verdict
parse = getattr(Verdict, "model_validate_json", None) or Verdict.parse_raw
for value in json.loads(sys.argv[1]):
    try:
        print("int:%d" % parse('{"score": %s}' % value).score)
    except ValueError:
        print("rejected")
"""
    command = [interpreter, "-c", code, json.dumps(VALUES)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("version", ["1.10.26", "2.14.4"])
def test_a_model_reads_as_its_own_library_does(tmp_path: Path, version: str) -> None:
    interpreter = python_of("pydantic", version)
    expected = readings(tmp_path, interpreter)
    assert set(expected) > {"int:3", "int:0", "rejected"}
    model: dict[str, Any] = {"adapter": "pydantic", "model": "models:Verdict", "receives": "json"}
    with open_consumer(tmp_path, {"f": "score"}, types={"f": "integer"}, interpreter=interpreter, **model) as session:
        assert session.readiness.settings["pydantic"] == version
        alone = shown(session.decode("f", VALUES))
        whole = shown(session.decode("f", VALUES, payloads=[f'{{"score": {value}}}' for value in VALUES]))
    assert [text.partition(" ")[0].rstrip(":") for text in alone] == expected
    assert [text.partition(" ")[0].rstrip(":") for text in whole] == expected


def test_another_part_of_a_payload_and_an_alias_are_as_in_pydantic_2(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODEL)
    payload = '{"score": 3, "comment": [1]}'
    for version in ("1.10.26", "2.14.4"):
        with open_consumer(
            tmp_path,
            {"f": "score", "g": "note"},
            types={"f": "integer", "g": "identifier"},
            adapter="pydantic",
            model="models:Verdict",
            receives="json",
            interpreter=python_of("pydantic", version),
        ) as session:
            assert shown(session.decode("g", ['"x"'], payloads=['{"score": 3, "comment": "x"}'])) == ["text:x"]
            (of_other,) = shown(session.decode("f", ["3"], payloads=[payload]))
            (own,) = shown(session.decode("g", ["[1]"], payloads=[payload]))
        assert of_other.startswith("rejected: ValidationError: payload rejected: comment: ")
        assert own.startswith("rejected: ValidationError: ")
        assert "payload rejected" not in own


def test_the_versions_are_columns_and_their_differences_drift(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODEL)
    lines = [json.dumps({"case_id": f"C-{n}"})[:-1] + f', "score": {value}}}\n' for n, value in enumerate(VALUES)]
    (tmp_path / "predictions.jsonl").write_text("".join(lines))
    (tmp_path / "references.csv").write_text("case_id,score\n" + "".join(f"C-{n},3\n" for n in range(len(VALUES))))
    versions = (
        f'{{ interpreter = "{python_of("pydantic", "1.10.26")}" }}, {{ interpreter = "{sys.executable}", name = "2" }}'
    )
    (tmp_path / "audit.toml").write_text(
        f"""
name = "verdicts"
cases = {{ predictions = "predictions.jsonl", references = "references.csv" }}
fields.score.type = "integer"
[consumers.api]
adapter = "pydantic"
model = "models:Verdict"
versions = [{versions}]
"""
    )
    done = auditor(tmp_path, "run", "--probe", "off", "--fail-on", "never", "-q", "-o", "r.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    older, newer = readings(tmp_path, python_of("pydantic", "1.10.26")), readings(tmp_path, sys.executable)
    differing = {value for value, one, other in zip(VALUES, older, newer, strict=True) if one != other}
    assert differing
    drifts = [finding for finding in document["findings"] if finding["code"] == "version-drift"]
    assert {witness["raw"] for drift in drifts for witness in drift["witnesses"]} == differing
    columns = {column["consumer"]: column["ok"] for column in document["columns"]}
    assert list(columns.values()) == [older.count("int:3"), newer.count("int:3")]
