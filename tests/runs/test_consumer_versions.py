"""A consumer in two versions of a real library: a column each, and what differs between them told once, as drift.

What arrow 0.10.0 and arrow 1.4.0 make of the strings was found by calling them alone.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.runs.test_commands import auditor, replace_in
from tests.versions import python_of

#: Prediction, reference, and the day that arrow 0.10.0 and arrow 1.4.0 read, "" for none.
ROWS = [
    ("2024-03-01", "2024-03-01", "2024-03-01", "2024-03-01"),
    ("2024-03-05", "2024-03-05", "2024-03-05", "2024-03-05"),
    ("2024-3-1", "2024-03-01", "2024-01-01", "2024-03-01"),
    ("2024-3-1", "2024-03-01", "2024-01-01", "2024-03-01"),
    ("1709251200", "2024-03-01", "2024-03-01", ""),
    ("2024-03-01x", "2024-03-01", "2024-03-01", ""),
    ("2024-03-01T24:00:00", "2024-03-02", "", "2024-03-02"),
    ("no date", "2024-03-01", "", ""),
    ("2024-03-09", "2024-03-09", "2024-03-09", "2024-03-09"),
]

SPEC = """
name = "shop"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.day]
type = "date"
grain = "day"
reference = "billing"
[consumers.billing]
owner = "finance"
adapter = "python"
reads.day = "parsers:day"
versions = [
    { interpreter = "OLDER", name = "arrow 0.10" },
    { interpreter = "NEWER", name = "arrow 1.4" },
]
[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
reads.day = "try_cast({value} as date)"
"""
PARSERS = "import arrow\ndef day(text):\n    return arrow.get(text).date()\n"
OLDER, NEWER = "billing@arrow 0.10", "billing@arrow 1.4"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    older, newer = python_of("arrow", "0.10.0"), python_of("arrow", "1.4.0")
    (tmp_path / "audit.toml").write_text(SPEC.replace("OLDER", older).replace("NEWER", newer))
    (tmp_path / "parsers.py").write_text(PARSERS)
    write(tmp_path, ROWS)
    return tmp_path


def write(folder: Path, rows: list[tuple[str, str, str, str]]) -> None:
    for name, column in (("predictions.csv", 0), ("references.csv", 1)):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case_id", "day"])
            writer.writerows([f"C-{number}", row[column]] for number, row in enumerate(rows))


def run(folder: Path, *options: str) -> dict[str, Any]:
    done = auditor(folder, "run", "--probe", "off", "--fail-on", "never", "-q", "-o", "r.json", *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads((folder / "r.json").read_text())
    return document


def of_code(document: dict[str, Any], *codes: str) -> list[dict[str, Any]]:
    return [finding for finding in document["findings"] if finding["code"] in codes]


def test_each_version_has_a_column_and_the_first_reads_the_references(shop: Path) -> None:
    document = run(shop)
    assert [one["name"] for one in document["consumers"]] == [OLDER, NEWER, "warehouse"]
    assert {one["owner"] for one in document["consumers"]} == {"finance", "warehouse"}
    columns = {column["consumer"]: column for column in document["columns"]}
    for position, name in ((2, OLDER), (3, NEWER)):
        # The references are ISO days, which both versions read as what they say.
        expected = sum(row[position] == row[1] for row in ROWS)
        assert (columns[name]["ok"], columns[name]["judged"]) == (expected, len(ROWS))
    assert document["fields"][0]["reference"] == OLDER
    both = sum(row[2] == row[1] == row[3] for row in ROWS)
    everywhere = document["fields"][0]["usable_everywhere"]["rate"]
    assert everywhere == pytest.approx(both / len(ROWS)), "right in every version of every consumer"
    # What only another version of it reads right is not recoverable by another consumer.
    assert columns[OLDER]["recoverable"] == columns[NEWER]["recoverable"] == 0


def test_what_differs_between_them_is_drift_and_nothing_else(shop: Path) -> None:
    document = run(shop)
    drifts = of_code(document, "version-drift")
    assert {one["severity"] for one in drifts} == {"medium"}
    assert all(one["consumers"] == [OLDER, NEWER] and one["owners"] == ["finance"] for one in drifts)
    found = {one["title"]: sorted({witness["raw"] for witness in one["witnesses"]}) for one in drifts}
    assert {frozenset(strings) for strings in found.values()} == {
        frozenset({'"2024-3-1"'}),
        frozenset({'"1709251200"', '"2024-03-01x"'}),
        frozenset({'"2024-03-01T24:00:00"'}),
    }
    assert sorted(one["affected"] for one in drifts) == [1, 2, 2]
    assert all("distribution arrow 0.10.0 and 1.4.0" in one["cause"] and one["fixes"] for one in drifts)
    for code in ("value-disagreement", "acceptance-disagreement", "no-common-shape", "format-ceiling"):
        for finding in of_code(document, code):
            assert not {OLDER, NEWER} <= set(finding["consumers"]), f"{code} between versions: {finding['title']}"


REFUSALS = """
import os, sys
def day(text):
    newer = os.environ["VERSION"] == "2"
    if text == "raises":
        raise ValueError(text)
    if text == "nothing or raises":
        if newer:
            raise ValueError(text)
        return None
    if text == "raises or dies" and newer:
        os._exit(3)
    if text == "nothing or dies" and newer:
        sys.exit(3)
    if text == "nothing or dies":
        return None
    if text == "raises or waits" and newer:
        while True:
            pass
    raise ValueError(text)
"""


def test_versions_that_refuse_in_different_ways_are_drift_too(tmp_path: Path) -> None:
    """The verdict of a case moves from one refusal to another: null to rejected, rejected to crashed."""
    text = SPEC.replace('interpreter = "OLDER", name = "arrow 0.10"', 'env = { VERSION = "1" }, name = "one"')
    text = text.replace('interpreter = "NEWER", name = "arrow 1.4"', 'env = { VERSION = "2" }, name = "two"')
    text = text.replace('reference = "billing"', 'reference = "typed"').replace("owner =", 'timeout = "1 s"\nowner =')
    (tmp_path / "audit.toml").write_text(text)
    (tmp_path / "parsers.py").write_text(REFUSALS)
    strings = ["raises", "nothing or raises", "raises or dies", "nothing or dies", "raises or waits"]
    write(tmp_path, [(string, "2024-03-01", "", "") for string in strings])
    drifts = of_code(run(tmp_path), "version-drift")
    found = {one["title"]: [witness["raw"] for witness in one["witnesses"]] for one in drifts}
    assert found == {
        "billing@one gives no value for day strings that billing@two rejects": ['"nothing or raises"'],
        "billing@one rejects day strings that billing@two crashes on": ['"raises or dies"'],
        "billing@one gives no value for day strings that billing@two crashes on": ['"nothing or dies"'],
        "billing@one rejects day strings that billing@two takes too long for": ['"raises or waits"'],
    }
    assert len({one["fingerprint"] for one in drifts}) == len(drifts)


def test_a_null_that_one_version_rejects_is_drift(tmp_path: Path) -> None:
    text = SPEC.replace('interpreter = "OLDER", name = "arrow 0.10"', 'env = { VERSION = "1" }, name = "one"')
    text = text.replace('interpreter = "NEWER", name = "arrow 1.4"', 'env = { VERSION = "2" }, name = "two"')
    text = text.replace('reference = "billing"', 'reference = "typed"').replace("predictions.csv", "p.jsonl")
    (tmp_path / "audit.toml").write_text(text.replace("owner =", 'receives = "json"\nowner ='))
    (tmp_path / "parsers.py").write_text(
        "import json, os\ndef day(text):\n    value = json.loads(text)\n"
        "    return None if value is None and os.environ['VERSION'] == '1' else value + ''\n"
    )
    write(tmp_path, [("", "2024-03-01", "", "")])
    (tmp_path / "p.jsonl").write_text('{"case_id": "C-0", "day": null}\n')
    (drift,) = of_code(run(tmp_path), "version-drift")
    assert drift["title"] == "billing@one gives no value for day strings that billing@two rejects"
    assert [witness["raw"] for witness in drift["witnesses"]] == ["null"]


def test_versions_alone_differ_in_drift_alone(shop: Path) -> None:
    text = (shop / "audit.toml").read_text()
    (shop / "audit.toml").write_text(text[: text.index("[consumers.warehouse]")])
    assert {one["code"] for one in run(shop)["findings"]} == {"version-drift"}


def test_versions_that_read_alike_are_silent(shop: Path) -> None:
    """python-dateutil 2.9.0 and 4.0.0 read these strings alike."""
    (shop / "parsers.py").write_text(
        "from dateutil.parser import parse\ndef day(text):\n    return parse(text).date()\n"
    )
    text = (shop / "audit.toml").read_text()
    text = text.replace(python_of("arrow", "0.10.0"), python_of("python-dateutil", "2.9.0"))
    text = text.replace("arrow 0.10", "dateutil 2.9").replace("arrow 1.4", "dateutil 4.0")
    (shop / "audit.toml").write_text(text)
    document = run(shop)
    older, newer = document["consumers"][:2]
    assert older["version"] != newer["version"]
    assert of_code(document, "version-drift") == []
    assert of_code(document, "acceptance-disagreement"), "dateutil reads 2024-3-1, and the warehouse does not"


def test_another_version_renames_no_known_bug_and_is_told_of_once(shop: Path) -> None:
    text = (shop / "audit.toml").read_text()
    newer = python_of("arrow", "1.4.0")
    (shop / "audit.toml").write_text(text.replace(f'    {{ interpreter = "{newer}", name = "arrow 1.4" }},\n', ""))
    before = {one["fingerprint"]: one["title"] for one in run(shop)["findings"] if one["code"] != "common-shape"}
    (shop / "audit.toml").write_text(text)
    after = {one["fingerprint"]: one["title"] for one in run(shop)["findings"]}
    assert before.keys() <= after.keys()
    (shop / "audit.toml").write_text(
        text.replace("]\n[consumers.w", '    { env = { X = "1" }, name = "third" },\n]\n[consumers.w')
    )
    third = {one["fingerprint"] for one in run(shop)["findings"]}
    assert after.keys() <= third


def test_every_report_and_command_knows_them(shop: Path) -> None:
    outputs = ["r.html", "r.md", "r.csv"]
    run(shop, *(part for name in outputs for part in ("-o", name)))
    for name in outputs:
        text = (shop / name).read_text()
        assert OLDER in text, name
        assert "version-drift" in text or name.endswith(".csv"), name
    shown = auditor(shop, "report", "latest").stdout
    assert "version-drift" in shown
    assert NEWER in shown
    read = auditor(shop, "read", "day", "2024-3-1", "--probe", "off")
    assert "2024-01-01" in read.stdout
    assert "2024-03-01" in read.stdout
    assert NEWER in read.stdout
    frozen = auditor(shop, "freeze")
    assert f"consumer   {NEWER}, version" in frozen.stdout
    assert auditor(shop, "run", "--locked", "-q", "--probe", "off", "--fail-on", "never").returncode == 0
    replace_in(shop / "audit.toml", '"arrow 1.4"', '"arrow 1"')
    refused = auditor(shop, "run", "--locked", "-q")
    assert refused.returncode == 4
    assert f"consumer {NEWER} is gone" in refused.stderr
    assert "no consumer 'billing'" in auditor(shop, "record", "billing").stderr
    assert auditor(shop, "doctor").returncode == 0


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        ("[]", "consumers.billing.versions: must be a list of tables"),
        ('[{ nme = "a" }]', "consumers.billing.versions.nme: there is no such key of a version"),
        ('[{ name = "a" }, { name = "a", env = { A = "1" } }]', 'two are called "billing@a"'),
        ('[{ name = "a" }, { name = "b" }]', "version 2 is the same as one before it, but for its name"),
        ('[{ }, { name = "b" }]', "version 1 says nothing that differs"),
        ('[{ interpreter = "no/bin/python" }]', "consumers.billing.versions.interpreter: there is no interpreter"),
        ('[{ root = "no" }]', "consumers.billing.versions.root: there is no folder"),
        ('[{ command = ["x"] }]', "consumers.billing.versions.command: makes no sense for a python consumer"),
    ],
)
def test_a_mistake_in_them_is_named_where_it_stands(shop: Path, versions: str, says: str) -> None:
    text = (shop / "audit.toml").read_text()
    start, end = text.index("versions = "), text.index("[consumers.warehouse]")
    (shop / "audit.toml").write_text(f"{text[:start]}versions = {versions}\n{text[end:]}")
    done = auditor(shop, "run")
    assert done.returncode == 2
    assert says in done.stderr
    line = text[:start].count("\n") + 1
    assert f"audit.toml:{line}: " in done.stderr


def test_without_a_name_a_version_is_called_by_what_it_has_of_its_own(shop: Path) -> None:
    (shop / "v2").mkdir()
    (shop / "v2" / "parsers.py").write_text(PARSERS)
    text = (shop / "audit.toml").read_text()
    start, end = text.index("versions = "), text.index("[consumers.warehouse]")
    others = '{ root = "v2" }, { env = { TZ = "Asia/Tokyo" } }'
    versions = f'versions = [{{ interpreter = "{python_of("arrow", "0.10.0")}" }}, {others}]\n'
    (shop / "audit.toml").write_text(text[:start] + versions + text[end:])
    names = [one["name"] for one in run(shop)["consumers"]]
    folder = Path(python_of("arrow", "0.10.0")).parent.parent.name
    assert names == [f"billing@{folder}", "billing@v2", "billing@TZ=Asia/Tokyo", "warehouse"]
