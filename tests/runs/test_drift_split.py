"""Parsers and predictions that both changed, told apart by decoding each set of outputs with each set of parsers."""

from __future__ import annotations

import shutil
from fractions import Fraction

import pytest

from tests.comparisons import ISO, SPEC, Workspace, ids

CASES = ids(100)
RIGHT = dict.fromkeys(CASES, "2024-03-01")
OLD = RIGHT | dict.fromkeys(CASES[:10], "1 March 2024")
NEW = RIGHT | dict.fromkeys(CASES[:20], "1 March 2024") | dict.fromkeys(CASES[20:25], "March 1, 2024")
NEW |= dict.fromkeys(CASES[30:37], "2024-05-02")
DATEUTIL = "from dateutil.parser import parse as day\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Give a workspace, a checkout of it as it was, and two runs between which parser and predictions changed."""
    folder = tmp_path_factory.mktemp("both")
    workspace = Workspace(folder / "now")
    workspace.table("references.csv", RIGHT)
    old = workspace.run(OLD).run.run_id
    shutil.copytree(folder / "now", folder / "then", ignore=shutil.ignore_patterns(".auditor"))
    workspace.write("parsers.py", DATEUTIL)
    return workspace, folder / "then", old, workspace.run(NEW).run.run_id


def effects(column):
    """Give the exact effects of a column, which add up to its difference."""
    found = {name: column[name]["exact"] for name in ("difference", "parser", "prediction", "interaction")}
    parts = {name: Fraction(exact) for name, exact in found.items()}
    assert parts["parser"] + parts["prediction"] + parts["interaction"] == parts["difference"]
    return parts


def test_the_difference_is_split_exactly_where_the_old_parser_can_run(both):
    workspace, then, old, new = both
    found = workspace.document("drift", old, new, "--split", "--old-spec", then)
    (column,) = found["split"]
    # By hand: ISO reads 90 of the old and 68 of the new (20 + 5 written dates, 7 wrong ones); dateutil 100 and 93.
    assert [(cell["predictions"], cell["parser"], cell["ok"], cell["judged"]) for cell in column["cells"]] == [
        ("old", "old", 90, 100),
        ("old", "new", 100, 100),
        ("new", "old", 68, 100),
        ("new", "new", 93, 100),
    ]
    assert effects(column) == {
        "difference": Fraction(3, 100),
        "parser": Fraction(10, 100),
        "prediction": Fraction(-22, 100),
        "interaction": Fraction(15, 100),
    }
    assert column["dominates"] == "prediction"
    assert all(cell["unknown_cases"] == 0 for cell in column["cells"])
    shown = workspace.auditor("drift", old, new, "--split", "--old-spec", then, "-o", "s.html", "-o", "s.md").output
    assert "the predictions dominate: of +3.00 points parsers +10.00, predictions −22.00, interaction +15.00" in shown
    assert "decoded (of predictions" not in shown, "what was decoded once is stored"
    assert "the predictions dominate" in (workspace.folder / "s.html").read_text("utf-8")
    assert "the predictions dominate" in (workspace.folder / "s.md").read_text("utf-8")


def test_without_the_old_parser_what_it_never_read_is_unknown_and_bounded(both, tmp_path):
    workspace, _, old, new = both
    runs = tmp_path / ".auditor" / "runs"
    for run in (old, new):
        shutil.copytree(workspace.folder / ".auditor" / "runs" / run, runs / run)
    elsewhere = Workspace(tmp_path, parsers=DATEUTIL)
    (column,) = elsewhere.document("drift", old, new, "--split")["split"]
    crossed = column["cells"][2]
    # The ISO parser has read "1 March 2024" and "2024-03-01", but neither "March 1, 2024" nor "2024-05-02".
    assert (crossed["ok"], crossed["unknown_cases"], crossed["unknown_strings"]) == (68, 12, 2)
    assert column["parser"]["exact"] == "1/10"
    assert (column["prediction"]["exact"], column["interaction"]["exact"]) == (None, None)
    assert (column["prediction"]["low"], column["prediction"]["high"]) == (-0.22, -0.1)
    assert (column["interaction"]["low"], column["interaction"]["high"]) == (0.03, 0.15)
    assert column["dominates"] == "unknown"
    shown = elsewhere.auditor("drift", old, new, "--split").output
    assert "which cause dominates is not known" in shown
    assert "12 (2 strings)" in shown
    assert "`--old-spec` names the spec of that run" in shown


def test_another_parser_than_that_of_the_run_is_not_taken_for_it(both, tmp_path):
    workspace, _, old, new = both
    runs = tmp_path / ".auditor" / "runs"
    for run in (old, new):
        shutil.copytree(workspace.folder / ".auditor" / "runs" / run, runs / run)
    third = Workspace(tmp_path, parsers=DATEUTIL + "# a third version\n")
    found = third.document("drift", old, new, "--split")
    (column,) = found["split"]
    assert column["cells"][1]["source"] == "strings that the new run had decoded"
    assert column["cells"][1]["ok"] == 100, "dateutil has read both strings of the old run in the new one"
    assert any("billing: what was decoded now is by version" in note for note in found["notes"])
    named = third.document("drift", old, new, "--split", "--old-spec", tmp_path)
    assert named["split"][0]["cells"][2]["unknown_cases"] == 12


def test_where_only_one_of_them_changed_the_other_has_no_part(both, tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", RIGHT)
    one, other = workspace.run(OLD).run.run_id, workspace.run(NEW).run.run_id
    (column,) = workspace.document("drift", one, other, "--split")["split"]
    assert effects(column)["prediction"] == effects(column)["difference"] == Fraction(-22, 100)
    assert column["dominates"] == "prediction"
    workspace.write("parsers.py", DATEUTIL)
    mended = workspace.document("redecode", other, "--probe", "off")["new"]["run_id"]
    (column,) = workspace.document("drift", other, mended, "--split")["split"]
    assert effects(column)["parser"] == effects(column)["difference"] == Fraction(25, 100)
    assert effects(column)["prediction"] == effects(column)["interaction"] == 0
    assert column["dominates"] == "parser"
    (column,) = workspace.document("drift", one, one, "--split")["split"]
    assert column["dominates"] == "neither"
    assert "neither parsers nor predictions moved a rate" in workspace.auditor("drift", one, one, "--split").output


def test_what_is_blocked_or_not_given_is_so_under_both_parsers(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.table("references.csv", RIGHT | {"C-100": ""})
    old = workspace.run({case: value for case, value in OLD.items() if case not in CASES[:2]} | {"C-050": ""})
    workspace.write("parsers.py", DATEUTIL)
    new = workspace.run({case: value for case, value in NEW.items() if case not in CASES[1:4]} | {"C-051": ""})
    (tmp_path / "audit.toml").rename(tmp_path / "other.toml")  # no spec here: nothing is decoded again
    (column,) = workspace.document("drift", old.run.run_id, new.run.run_id, "--split")["split"]
    # 99 referenced; 2 have no prediction in the old run, 3 in the new one; one is empty in each.
    assert [cell["judged"] for cell in column["cells"]] == [97, 97, 96, 96]
    assert [cell["ok"] for cell in column["cells"]] == [
        old.column("day", "billing").verdicts["ok"],
        96,
        66,  # of the 68 above, one has no reference and one no prediction
        new.column("day", "billing").verdicts["ok"],
    ]
    assert column["cells"][2]["unknown_cases"] == 12


def test_a_consumer_that_reads_whole_columns_is_not_looked_up(tmp_path):
    spec = SPEC.replace('adapter = "python"', 'adapter = "python"\nbatch = true')
    batch = "from datetime import date\ndef day(texts):\n    return [_one(text) for text in texts]\n"
    batch += "def _one(text):\n    try:\n        return date.fromisoformat(text)\n"
    batch += "    except ValueError:\n        return None\n"
    workspace = Workspace(tmp_path, spec, batch)
    workspace.table("references.csv", RIGHT)
    old = workspace.run(OLD).run.run_id
    workspace.write("parsers.py", batch + "# another version\n")
    new = workspace.run(RIGHT).run.run_id
    workspace.write("parsers.py", batch + "# a third version\n")
    (column,) = workspace.document("drift", old, new, "--split")["split"]
    assert [cell["unknown_cases"] for cell in column["cells"]] == [0, 100, 100, 0]
    assert column["dominates"] == "unknown"


def test_a_value_in_its_payload_is_looked_up_with_it(tmp_path):
    """The same day is another value beside another country, so it is known only in the payload that it came in."""
    model = """import datetime
from pydantic import BaseModel, model_validator
class Row(BaseModel):
    day: datetime.date
    country: str = ""
    @model_validator(mode="after")
    def _foreign(self):
        if self.country == "XX":
            raise ValueError("not from there")
        return self
"""
    spec = SPEC.partition("[consumers.billing]")[0] + (
        '[fields.country]\ntype = "category"\nreference = "typed"\n'
        '[consumers.api]\nadapter = "pydantic"\nreceives = "json"\nmodel = "models:Row"\n'
    )
    workspace = Workspace(tmp_path, spec)
    workspace.write("models.py", model)
    workspace.table("references.csv", {case: {"day": "2024-03-01", "country": "DE"} for case in CASES})

    def rows(foreign):
        return {case: {"day": "2024-03-01", "country": "XX" if case in foreign else "DE"} for case in CASES}

    old = workspace.run(rows(CASES[:5])).run.run_id
    workspace.write("models.py", model.replace('"XX"', '"YY"'))
    new = workspace.run(rows([]) | {"C-001": {"day": "2024-03-01", "country": "FR"}}).run.run_id
    workspace.write("models.py", model.replace('"XX"', '"ZZ"'))
    split = workspace.document("drift", old, new, "--split")["split"]
    by_field = {column["field"]: [(cell["ok"], cell["unknown_cases"]) for cell in column["cells"]] for column in split}
    assert by_field["day"] == [(95, 0), (95, 5), (99, 1), (100, 0)]


def test_options_that_need_each_other_and_runs_that_must_not_be_compared(both, tmp_path):
    workspace, then, old, new = both
    assert workspace.auditor("drift", old, new, "--old-spec", then).exit_code == 2
    workspace = Workspace(tmp_path, parsers=ISO)
    runs = []
    for letter in "AB":
        cases = {f"{letter}-{number}": "2024-03-01" for number in range(20)}
        workspace.table("references.csv", cases)
        runs.append(workspace.run(cases).run.run_id)
    before = len(list((tmp_path / ".auditor/runs").iterdir()))
    assert workspace.auditor("drift", *runs, "--split", "--common").exit_code == 4
    assert len(list((tmp_path / ".auditor/runs").iterdir())) == before, "nothing is decoded for a refused comparison"
