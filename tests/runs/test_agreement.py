"""Agreement of a judge's verdicts with people's, by the type of the field; checked against SciPy and scikit-learn."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error

import auditor
from auditor.model.agreement import Agreement

PARSERS = """
from decimal import Decimal

def yes(text): return {"yes": True, "no": False}[text]
def word(text): return {"none": None}.get(text, text)
def whole(text): return int(text)
amount = Decimal
"""
FIELDS = {
    "correct": {"type": "boolean", "reference": "judge"},
    "label": {"type": "category"},
    "stars": {"type": "ordinal", "bounds": [1, 5]},
    "count": {"type": "integer"},
    "amount": {"type": "decimal", "grain": "0.1"},
    "day": {"type": "date"},
}
READS = {"correct": "yes", "label": "word", "stars": "whole", "count": "whole", "amount": "amount", "day": "word"}
NOMINAL, NUMERIC = ("correct", "label"), ("stars", "count", "amount")


def write(folder: Path, name: str, rows: list[dict[str, str]]) -> str:
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["case_id", "split", *FIELDS])
        writer.writeheader()
        writer.writerows(rows)
    return str(folder / name)


def audited(folder: Path, given: list[dict[str, str]], asserted: list[dict[str, str]], **cases: object):
    (folder / "parsers.py").write_text(PARSERS, encoding="utf-8")
    return auditor.run(
        {
            "name": "judge",
            "cases": {
                "predictions": write(folder, "p.csv", given),
                "references": write(folder, "r.csv", asserted),
                "agreement": True,
                **cases,
            },
            "fields": FIELDS,
            "consumers": {
                "judge": {
                    "adapter": "python",
                    "root": str(folder),
                    "reads": {field: f"parsers:{name}" for field, name in READS.items()},
                }
            },
        },
        probe="off",
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def random_rows(seed: int, count: int) -> list[dict[str, str]]:
    chance = random.Random(seed)
    return [
        {
            "case_id": f"c{number}",
            "correct": chance.choice(["yes", "no"]),
            "label": chance.choice(["a", "b", "c"]),
            "stars": str(chance.randint(1, 5)),
            "count": str(chance.randint(-20, 20)),
            "amount": f"{chance.randint(0, 50) / 10}",
            "day": "2024-03-01",
        }
        for number in range(count)
    ]


def test_figures_are_those_of_the_libraries_over_every_pair(folder):
    given, asserted = random_rows(1, 400), random_rows(2, 400)
    for number in range(0, 400, 7):  # no pair: what is refused, absent or has no reference
        given[number]["stars"], given[number + 1 if number < 399 else number]["count"] = "9", ""
        asserted[number]["amount"] = ""
    run = audited(folder, given, asserted)
    for field in NOMINAL:
        pairs = [(one[field], other[field]) for one, other in zip(given, asserted, strict=True)]
        left, right = zip(*pairs, strict=True)
        found = run.column(field, "judge").agreement
        assert found == Agreement(
            400,
            accuracy=pytest.approx(accuracy_score(left, right)),
            kappa=pytest.approx(cohen_kappa_score(left, right)),
        )
    for field in NUMERIC:
        pairs = [
            (float(one[field]), float(other[field]))
            for one, other in zip(given, asserted, strict=True)
            if one[field] and other[field] and not (field == "stars" and one[field] == "9")
        ]
        left, right = zip(*pairs, strict=True)
        column = run.column(field, "judge")
        assert column.agreement == Agreement(
            len(pairs),
            mae=pytest.approx(mean_absolute_error(right, left)),
            spearman=pytest.approx(spearmanr(left, right).statistic),
        )
        assert column.agreement.n == column.accepted < 400
    assert run.column("day", "judge").agreement is None
    assert auditor.load(run.folder).run == run.run


def test_what_is_undefined_is_null(folder):
    one = {"case_id": "a", "correct": "yes", "label": "x", "stars": "3", "count": "1", "amount": "2"}
    other = {**one, "case_id": "b"}
    run = audited(folder, [one, other], [one, other])
    assert run.column("correct", "judge").agreement == Agreement(2, accuracy=1.0)
    assert run.column("stars", "judge").agreement == Agreement(2, mae=0.0)
    text = run.write(folder / "run.json").read_text(encoding="utf-8")
    assert '"kappa": null' in text and "NaN" not in text
    refused = {**one, "correct": "maybe", "stars": "many"}
    run = audited(folder, [refused], [one])
    assert run.column("correct", "judge").agreement == Agreement(0)
    assert run.column("stars", "judge").agreement == Agreement(0)
    huge = {**one, "amount": "1" + "0" * 400}
    assert audited(folder, [huge], [one]).column("amount", "judge").agreement == Agreement(1)


def test_numbers_that_no_float_tells_apart_are_apart(folder):
    """2^53 and 2^53 + 1 are one float: their error is 1, and they have two ranks."""
    one = {"case_id": "", "correct": "yes", "label": "x", "stars": "3", "count": "1", "amount": "2"}
    numbers = [(2**53, 2**53 + 1), (2**53 + 1, 2**53), (2**53 + 2, 2**53 + 2), (10**30 + 3, 10**30)]
    given, asserted = (
        [{**one, "case_id": f"c{at}", "count": str(pair[side]), "amount": f"{pair[side]}.1"} for at, pair in found]
        for side, found in ((0, list(enumerate(numbers))), (1, list(enumerate(numbers))))
    )
    run = audited(folder, given, asserted)
    spearman = pytest.approx(spearmanr([1, 2, 3, 4], [2, 1, 3, 4]).statistic)
    for field in ("count", "amount"):
        assert run.column(field, "judge").agreement == Agreement(4, mae=1.25, spearman=spearman)
    tenths = [{**one, "case_id": f"c{at}", "amount": amount} for at, amount in enumerate(("0.1", "0.3", "0.3"))]
    zeros = [{**row, "amount": "0"} for row in tenths]
    # 0.7 / 3, rounded once: a sum of floats is another number.
    assert audited(folder, tenths, zeros).column("amount", "judge").agreement.mae == 7 / 30


def test_each_split_has_its_own_and_broken_references_withhold_it(folder):
    given, asserted = random_rows(3, 40), random_rows(4, 40)
    for number, row in enumerate(asserted):
        row["split"] = "dev" if number < 15 else "held-out"
    run = audited(folder, given, asserted, split="split")
    for split, some in (("all", slice(0, 40)), ("dev", slice(0, 15)), ("held-out", slice(15, 40))):
        (column,) = [one for one in run.columns if (one.field, one.split) == ("label", split)]
        left, right = ([row["label"] for row in rows[some]] for rows in (given, asserted))
        assert column.agreement.kappa == pytest.approx(cohen_kappa_score(left, right))
        assert column.agreement.n == len(left)
    asserted[0]["correct"] = "perhaps"
    assert {one.agreement for one in audited(folder, given, asserted).columns} == {None}


def test_reports_show_it_where_it_was_asked_for(folder):
    given, asserted = random_rows(5, 50), random_rows(6, 50)
    run = audited(folder, given, asserted)
    found = run.column("stars", "judge").agreement
    said = f"mean absolute error {found.mae:.3f}, Spearman {found.spearman:.3f} over 50 pairs"
    assert said in run.write(folder / "report.md").read_text(encoding="utf-8")
    page = run.write(folder / "report.html").read_text(encoding="utf-8")
    assert "agreement: Spearman" in page and f"{found.spearman:.3f}" in page
    rows = list(csv.DictReader(run.write(folder / "report.csv").read_text(encoding="utf-8").splitlines()))
    by_field = {row["field"]: row for row in rows}
    assert float(by_field["stars"]["agreement_mae"]) == found.mae and by_field["stars"]["agreement_kappa"] == ""
    assert by_field["day"]["agreement_n"] == ""
    plain = audited(folder, given, asserted, agreement=False)
    assert {one.agreement for one in plain.columns} == {None}
    assert "agreement" not in plain.write(folder / "plain.csv").read_text(encoding="utf-8")
    assert "agreement:" not in plain.write(folder / "plain.html").read_text(encoding="utf-8")


def test_a_plain_audit_imports_none_of_it_and_one_without_it_says_what_to_install(folder):
    rows = random_rows(7, 5)
    audited(folder, rows, rows)
    spec = {
        "name": "judge",
        "cases": {"predictions": "p.csv", "references": "r.csv"},
        "fields": {"count": FIELDS["count"]},
        "consumers": {"judge": {"adapter": "python", "reads": {"count": "parsers:whole"}}},
    }
    program = (
        "import json, sys, auditor\n"
        "auditor.run(json.loads(sys.argv[1]), probe='off')\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scipy', 'sklearn'}))\n"
    )
    command = [sys.executable, "-c", program, json.dumps(spec)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    spec["cases"]["agreement"] = True
    without = "import sys\nsys.modules['sklearn'] = None\n" + program
    command = [sys.executable, "-c", without, json.dumps(spec)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "pip install 'fidelity-auditor[agreement]'" in done.stderr
