"""Where the code of consumers stands: in a run, in the stored run, and in what code scanning shows."""

from __future__ import annotations

import json

import pytest

import auditor
from auditor.model.finding import Location
from tests.command_line import call

PARSERS = """
import functools


def shout(function):
    @functools.wraps(function)
    def loud(text):
        return function(text)

    return loud


@shout
def wrapped(text):  # line 14, its decorator 13
    return bool(text)


class Reader:
    def __call__(self, text):  # line 19
        return bool(text)

    def method(self, text):  # line 22
        return bool(text)


called = Reader()
bound = Reader().method
part = functools.partial(wrapped)
builtin = bool
"""

MODELS = '''
from pydantic import BaseModel


class Base(BaseModel):
    kept: bool


class Contract(Base):
    """Has one field of its own; `renews: bool` stands here, too."""

    renews: bool
'''

#: What stands where, by the numbers in the sources above; a function begins with its decorators.
PLACES = {"wrapped": 13, "called": 19, "bound": 22, "part": 13}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    (folder / "code").mkdir()
    (folder / "code/parsers.py").write_text(PARSERS)
    (folder / "code/models.py").write_text(MODELS)
    fields = [*PLACES, "builtin", "renews", "kept"]
    lines = ["case_id,field,prediction,reference"]
    lines += [f"{case},{name},{text},{text}" for case, text in enumerate(("yes", "no")) for name in fields]
    (folder / "records.csv").write_text("\n".join(lines))
    reads = "\n".join(f'reads.{name} = "parsers:{name}"' for name in [*PLACES, "builtin"])
    (folder / "audit.toml").write_text(
        'name = "places"\n[cases]\npredictions = "records.csv"\nreferences = "records.csv"\n'
        + "".join(f'[fields.{name}]\ntype = "boolean"\n' for name in fields)
        + f'[consumers.code]\nadapter = "python"\nroot = "code"\n{reads}\n'
        + '[consumers.api]\nadapter = "pydantic"\nroot = "code"\nmodel = "models:Contract"\nscope = "field"\n'
        + 'reads = ["renews", "kept"]\n'
    )
    return auditor.run(folder / "audit.toml", probe="off")


def test_a_run_knows_where_functions_and_fields_of_models_stand(run):
    parsers = run.run.spec_place.parsers
    expected = {f"code.{name}": Location("code/parsers.py", line) for name, line in PLACES.items()}
    expected |= {"api.renews": Location("code/models.py", 12), "api.kept": Location("code/models.py", 9)}
    assert parsers == expected
    assert auditor.load(run.folder).run == run.run


def test_code_scanning_shows_the_function_that_reads_the_field(run, tmp_path):
    path = tmp_path / "o.sarif"
    done = call("report", run.folder, "-o", path, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads(path.read_text())["runs"][0]["results"]
    constant = {
        one["properties"]["field"]: one["locations"][0]["physicalLocation"]
        for one in results
        if one["ruleId"] == "constant-output"
    }
    shown = {
        field: (place["artifactLocation"]["uri"].rpartition("/")[2], place["region"]["startLine"])
        for field, place in constant.items()
    }
    assert shown == {name: ("parsers.py", line) for name, line in PLACES.items()} | {"builtin": ("audit.toml", 26)}
