"""DuckDB's own reading of JSON lines is taken where it loses nothing, and only there."""

from __future__ import annotations

import json

import pytest

from auditor.load import regular_lines, spool, unfold
from tests.rooms.load_workspace import Workspace

FIELDS = {"x": "category", "y": "category"}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(regular_lines, "SMALLEST", 0)
    monkeypatch.setattr(regular_lines, "_BATCH", 2048)
    monkeypatch.setattr(spool, "_HELD_ROWS", 100)
    return Workspace(tmp_path)


@pytest.fixture
def taken(monkeypatch):
    """Note whether DuckDB's reading was taken."""
    found = []
    original = regular_lines.spool_regular

    def noting(*arguments):
        result = original(*arguments)
        found.append(result is not None)
        return result

    monkeypatch.setattr(unfold, "spool_regular", noting)
    return found


def lines(value="1", count=3000, **more):
    rows = [{"case_id": f"c{i}", "x": f"x{i}", "y": "same é"} | more for i in range(count)]
    return "".join(json.dumps(row) + "\n" for row in rows) + f'{{"case_id": "last", "x": "z", "y": {value}}}\n'


@pytest.mark.parametrize(
    ("value", "regular"),
    [
        ('"text"', True),
        ('"esc \\u00e9 \\" \\n"', True),
        ('""', True),
        ('"a\\u001f"', False),
        ("null", False),
        ("1.10", False),
        ("true", False),
        ("[1.0]", False),
        ('{"a": 1.0}', False),
        ("NaN", False),
        ('"\\ud800"', False),
        ('"x", "\\u0079": "x"', None),
    ],
)
def test_any_other_value_sends_the_file_to_the_lossless_reader(workspace, taken, value, regular):
    name = workspace.write("p.jsonl", lines(value))
    references = workspace.csv("r.csv", [{"case_id": "last", "x": "r", "y": "r"}])
    if regular is None:
        with pytest.raises(Exception, match=r"'y' occurs 2 times"):
            workspace.load(name, references, FIELDS)
        return
    workspace.load(name, references, FIELDS)
    assert taken == [regular]
    decoded = value if value[0] != '"' or "ud800" in value else json.dumps(json.loads(value), ensure_ascii=False)
    assert workspace.by_case()["last", "y"][1] == decoded


def test_a_key_that_is_absent_is_told_from_a_null(workspace, taken):
    references = workspace.csv("r.csv", [{"case_id": "odd", "x": "r", "y": "r"}])
    for number, (line, token) in enumerate(
        [('{"case_id": "odd", "x": "1"}', None), ('{"case_id":"odd","y":null,"x":"1"}', "null")]
    ):
        name = workspace.write(f"p{number}.jsonl", lines('"1"') + line)
        workspace.load(name, references, FIELDS)
        assert workspace.by_case()["odd", "y"][1] == token
    assert taken == [True, False]


def test_long_files_and_places_are_read_alike(workspace, taken, monkeypatch):
    rows = [
        {"case_id": f"c{i}", "field": field, "prediction": f"p{i % 7}", "reference": f"r{i % 3}", "locale": "en-GB"}
        for i in range(2000)
        for field in ("x", "y")
    ]
    name = workspace.json_lines("long.jsonl", rows)
    fields = {"x": "date", "y": "category"}
    digest = workspace.load(name, name, fields).manifest_rows_sha256
    regular = workspace.pairs("field, prediction, reference, place, n, first_row")
    assert taken == [True]
    monkeypatch.setattr(regular_lines, "SMALLEST", 1 << 40)
    assert workspace.load(name, name, fields).manifest_rows_sha256 == digest
    assert workspace.pairs("field, prediction, reference, place, n, first_row") == regular
    assert {row[3] for row in regular if row[0] == "x"} == {"en-GB|"}


def test_a_broken_line_is_named_by_the_lossless_reader(workspace, taken):
    name = workspace.write("p.jsonl", lines('"1"') + "{oops\n")
    with pytest.raises(Exception, match=r"p.jsonl, line 3002, column 2: is not valid JSON"):
        workspace.load(name, workspace.csv("r.csv", [{"case_id": "c1", "x": "r", "y": "r"}]), FIELDS)
    assert taken == [False] or taken == []
