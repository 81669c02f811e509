"""`auditor discover` as a user calls it: what it prints, writes and exits with, and an audit of what it proposes."""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from auditor.discover import discover
from auditor.spec.read import read_spec
from tests.command_line import call

REPOSITORY = Path(__file__).parents[2]
MODEL = REPOSITORY / "consumers" / "warehouse" / "models" / "contracts.sql"
GOLDEN = Path(__file__).parent / "discovered_contracts.txt"
HEAD = 'name = "contracts"\n[cases]\npredictions = "p.csv"\nreferences = "r.csv"\nassume_finish = "stop"\n'


def auditor(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in a folder."""
    return call(*arguments, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with the model of the reference pipeline in it."""
    (tmp_path / "models").mkdir()
    shutil.copy(MODEL, tmp_path / "models")
    return tmp_path


def test_the_model_of_the_reference_pipeline_is_discovered_right(folder: Path) -> None:
    """Each coercion of the golden text was compared by hand with the model."""
    done = auditor(folder, "discover", "models")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == GOLDEN.read_text(encoding="utf-8")
    model, lines = MODEL.read_text(encoding="utf-8").splitlines(), done.stdout.splitlines()
    steps = [(line, text) for line, text in itertools.pairwise(lines) if line.startswith("    models/")]
    assert len(steps) == 15
    for line, text in steps:
        assert text.strip() in model[int(line.split()[0].split(":")[1]) - 1], (
            "the text stands on the line that is named"
        )


def test_what_is_proposed_for_it_audits_what_the_model_gives(folder: Path) -> None:
    auditor(folder, "discover", "models", "-o", "audit.toml", "-o", "discover.json")
    fragment = (folder / "audit.toml").read_text(encoding="utf-8")
    (folder / "audit.toml").write_text(HEAD + fragment, encoding="utf-8")
    spec = read_spec(folder / "audit.toml")
    assert spec.consumers["contracts"].model == "models/contracts.sql"
    row = {"case_id": "1", "total": "USD 1,234.50", "effective_date": "2024-03-01", "auto_renew": "Yes"}
    right = {"case_id": "1", "total_amount": "1234.50", "effective_date": "2024-03-01", "auto_renew": "true"}
    paths = [field.prediction_path.text for field in spec.fields.values()]
    for name, values, columns in (("p.csv", row, paths), ("r.csv", right, list(spec.fields))):
        with (folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, dict.fromkeys(["case_id", *columns]))
            writer.writeheader()
            writer.writerow(values)
    done = auditor(folder, "run", "-o", "out.json", "--fail-on", "never", "--probe", "off")
    assert done.returncode == 0, done.stderr
    found = {column["field"]: column for column in json.loads((folder / "out.json").read_text())["columns"]}
    assert [found[name]["ok"] for name in ("total_amount", "effective_date", "auto_renew")] == [1, 1, 1]


def test_the_json_has_all_that_the_terminal_shows(folder: Path) -> None:
    (folder / "bad.sql").write_text("select from where")
    done = auditor(folder, "discover", "models/*.sql", "bad.sql", "--json", "-o", "discover.json")
    assert done.returncode == 1, "a file could not be read"
    found = json.loads(done.stdout)
    assert found == json.loads((folder / "discover.json").read_text(encoding="utf-8"))
    assert list(found) == ["schema", "dialect", "files", "schemas", "models", "problems", "fragment"]
    [model] = found["models"]
    total = next(column for column in model["columns"] if column["name"] == "total_amount")
    [path] = total["paths"]
    assert path["sources"] == ["raw.contract_extractions.total"]
    assert [step["place"]["line"] for step in path["steps"]] == [23, 38]
    [problem] = found["problems"]
    assert (problem["place"], problem["unread"]) == ({"file": "bad.sql", "line": 1}, True)
    assert "not read: bad.sql:1" in found["fragment"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere/*.sql"], "nowhere/*.sql: there is no such file or folder"),
        (["models", "--dialect", "snowflak"], "did you mean snowflake?"),
        (["models", "-o", "x.html"], "there are: .json .toml"),
        (["models", "-o", "nowhere/x.json"], "nowhere/x.json: could not be written"),
        (["broken.sql"], "nothing could be read\n  broken.sql:1: sqlglot cannot parse it"),
    ],
)
def test_what_cannot_be_done_exits_with_2(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "broken.sql").write_text("select from where")
    done = auditor(folder, "discover", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_filter_that_ends_in_not_null_is_the_condition_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "m.sql").write_text("select\n  try_cast(a as date) as d\nfrom raw.t\nwhere a is not null\n")
    found = discover([str(tmp_path / "m.sql")], "duckdb")
    [one] = found.models[0].filters
    assert (one.text, one.place.line) == ("a is not null", 4)
