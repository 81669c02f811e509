"""Whatever is written is what is loaded: expectations are the written values, read with Python's own csv and json."""

from __future__ import annotations

import collections
import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from auditor.judge.escape import ESCAPED
from auditor.judge.escape import escaped as escaped_by_the_judge
from auditor.load import tokens as load_tokens
from auditor.load.cells import read_rows
from auditor.load.files import find_files
from auditor.load.json_lines import members, read_records
from auditor.load.tokens import content_of, string_token, token_of
from tests.rooms.load_workspace import Workspace, quoted

laws = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
quick = settings(max_examples=200, deadline=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", " ", '"', '""', ",", "\n", "\r", "\r\n", ' "x"', '"x" ', "\x00", "a\rb", "null", "\\u001F", "\ufeff", "é"]
)
cells = st.none() | texts
cases = st.dictionaries(texts.filter(bool), st.tuples(cells, cells), min_size=1, max_size=8)
any_text = st.text(max_size=12)  # lone surrogates included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
spaces = st.sampled_from(["", " ", "\t", "  "])
numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def token(text):
    return None if text is None else json.dumps(text, ensure_ascii=False)


@laws
@given(rows=cases)
def test_texts_come_back_from_every_format(folder, rows):
    workspace = Workspace(folder)
    written = [{"case_id": case, "x": x, "y": y} for case, (x, y) in rows.items()]
    references = workspace.parquet("r.parquet", [{"case_id": case, "x": "r", "y": "r"} for case in rows])
    expected = {(case, name): row[name] for row in written for case in [row["case_id"]] for name in ("x", "y")}
    in_lines = [{key: value for key, value in row.items() if value is not None} for row in written]
    # A column that no line carries would be an unknown column.
    unrelated = {"case_id": "\x01unrelated\x01", "x": "", "y": ""}
    names = [
        workspace.csv("p.csv", written),
        workspace.json_lines("p.jsonl", [*in_lines, unrelated]),
        workspace.parquet("p.parquet", written),
    ]
    digests = set()
    for name in names:
        workspace.load(name, references, {"x": "category", "y": "category"})
        found = workspace.connection.execute("SELECT field, prediction, n FROM pairs").fetchall()
        assert {(field, value): n for field, value, n in found} == collections.Counter(
            (field, token(value)) for (_, field), value in expected.items()
        ), name
        if name != "p.jsonl":  # which has one case more
            digests.add(workspace.load(references, name, {"x": "category", "y": "category"}).manifest_rows_sha256)
    assert len(digests) == 1


def read_back(folder, text):
    (folder / "x.csv").write_bytes(text.encode())
    return [row for _, row in read_rows(find_files(folder, ["x.csv"], "predictions")[0])]


@quick
@given(
    rows=st.lists(st.lists(texts, min_size=2, max_size=4), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_our_reader_of_cells_agrees_with_the_csv_module(rows, end, quoting):
    # Without quotes a lone carriage return is a line end to one reader and data to another: ours refuses it.
    assume(quoting == csv.QUOTE_ALL or end == "\r\n" or not any("\r" in cell for row in rows for cell in row))
    text = io.StringIO()
    csv.writer(text, lineterminator=end, quoting=quoting).writerows([["first"], *rows])
    expected = list(csv.reader(io.StringIO(text.getvalue(), newline="")))
    if quoting == csv.QUOTE_MINIMAL:
        expected = [[cell or None for cell in row] for row in expected]
    with tempfile.TemporaryDirectory() as name:
        assert read_back(Path(name), text.getvalue()) == expected


@quick
@given(rows=st.lists(st.lists(cells, min_size=2, max_size=3), min_size=1, max_size=6))
def test_an_empty_cell_in_quotes_is_no_missing_cell(rows):
    lines = "".join(",".join(map(quoted, row)) + "\n" for row in rows)
    with tempfile.TemporaryDirectory() as name:
        assert read_back(Path(name), lines) == rows


@quick
@given(value=json_values, before=spaces, after=spaces)
def test_a_json_value_keeps_its_source_text(value, before, after):
    for ascii_only in (True, False):
        source = json.dumps(value, ensure_ascii=ascii_only)
        if not ascii_only:
            source = source.encode("utf-8", "backslashreplace").decode()  # surrogates as \udXXX, as a writer must
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "x.jsonl").write_bytes(f'{{"case_id":1,"x":{before}{source}{after}}}\n'.encode())
            file = find_files(Path(name), ["x.jsonl"], "predictions")[0]
            (records,) = read_records(file, ["x"])
        found = token_of(records.values["x"][0])
        found.encode()
        if isinstance(value, str):
            assert found == string_token(value)
            assert json.loads(found) == value
        else:
            assert found == source


@quick
@given(source=numbers, before=spaces)
def test_a_number_keeps_its_digits(source, before):
    assert members(f'{{"x":{before}{source} }}') == [("x", source)]
    assert token_of(source) == source


@quick
@given(value=any_text)
def test_a_token_is_valid_text_and_its_content_comes_back(value):
    found = string_token(value)
    assert found.encode().decode() == found
    assert "\x00" not in found
    assert json.loads(found) == value
    assert token_of(json.dumps(value)) == found
    assert content_of(found).encode().decode() == content_of(found)


marked = (
    st.text(st.sampled_from(["\ud800", "\udfff", "\0", "\\", "u", "0", "d", "8", ESCAPED, "a"]), max_size=8) | any_text
)


@quick
@given(left=marked, right=marked)
def test_contents_of_different_strings_differ(left, right):
    assert load_tokens.escaped(left) == escaped_by_the_judge(left)
    assert load_tokens.ESCAPED == ESCAPED
    contents = {content_of(string_token(text)) for text in (left, right)}
    assert len(contents) == len({left, right})
    assert all(content.encode() for content in contents if content)


@quick
@given(data=st.binary(max_size=30) | json_values.map(lambda value: json.dumps({"x": value}).encode()))
def test_members_takes_what_the_json_module_takes(data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    try:
        expected = json.loads(text, object_pairs_hook=lambda pairs: pairs)
    except ValueError:
        expected = None
    try:
        found = members(text)
    except ValueError:
        found = None
    if found is None:
        assert expected is None or not text.strip().startswith("{")
    else:
        assert [key for key, _ in found] == [key for key, _ in expected]
        for (_, source), (_, value) in zip(found, expected, strict=True):
            assert repr(json.loads(source, object_pairs_hook=lambda pairs: pairs)) == repr(value)
