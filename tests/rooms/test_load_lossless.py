"""Every raw value arrives as the token of what was written, whatever it holds and wherever it stood."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from decimal import Decimal

import pyarrow
import pytest

from auditor.load import files as load_files
from auditor.load.tokens import string_token, text_token_sql
from tests.rooms.load_workspace import Workspace, quoted, written_by_csv

AWKWARD = [
    "<script>alert('x')</script>",
    "=HYPERLINK(\"http://x\",\"y\")",
    "nul \x00 inside",
    "bidi \u202e gnp.exe",
    "both 'quotes' and \"quotes\"",
    'back\\slash \\u001F \\" \\n',
    "line\nfeed, carriage\r\nreturn, tab\t",
    "\x0b\x0e\x0f\x1b\x1f\x7f\x85\u2028\ufeff",
    "emoji 😀 and e\u0301",
    " spaces around ",
    " ",
    ",;|\t",
    "null",
    "NULL",
    "N/A",
    "nan",
    "true",
    "007",
    "1.10",
    "2024-03-01",
]  # fmt: skip


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def predictions_of(workspace, name, cases, **options):
    """Load a file of predictions of the field x, and give them by case."""
    references = workspace.csv("r.csv", [{"case_id": case, "x": "ref"} for case in cases])
    workspace.load(name, references, {"x": "category"}, **options)
    return {case: prediction for (case, _), (_, prediction, _) in workspace.by_case().items()}


def numbered(values):
    return {f"id-{index}": value for index, value in enumerate(values)}


@pytest.mark.parametrize("value", AWKWARD)
def test_the_token_of_a_text_is_the_same_in_python_and_in_sql(workspace, value):
    query = f"SELECT {text_token_sql('x')} FROM (SELECT $1::VARCHAR AS x)"
    assert workspace.connection.execute(query, [value]).fetchall() == [(json.dumps(value, ensure_ascii=False),)]


def test_awkward_texts_survive_every_format(workspace):
    cases = numbered(AWKWARD)
    expected = {case: json.dumps(value, ensure_ascii=False) for case, value in cases.items()}
    rows = [{"case_id": case, "x": value} for case, value in cases.items()]
    for name in (
        workspace.csv("p.csv", rows),
        workspace.write("python.csv", written_by_csv([["case_id", "x"], *cases.items()])),
        workspace.json_lines("p.jsonl", rows),
        workspace.parquet("p.parquet", rows),
    ):
        assert predictions_of(workspace, name, cases) == expected, name


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_marks_are_no_data(workspace, end, mark):
    text = end.join(["case_id,x", "a,1", "", 'b,""', "c,", "d, z ", 'e,"last"'])
    expected = {"a": '"1"', "b": '""', "c": None, "d": '" z "', "e": '"last"'}
    assert predictions_of(workspace, workspace.write("p.csv", mark + text.encode()), expected) == expected
    assert predictions_of(workspace, workspace.write("q.csv", mark + (text + end).encode()), expected) == expected
    if end != "\r":
        lines = end.join(['{"case_id": "a", "x": 1}', "", ' {"case_id": "b", "x": ""} ', '{"case_id": "c"}'])
        name = workspace.write("p.jsonl", mark + lines.encode())
        assert predictions_of(workspace, name, "abc") == {"a": "1", "b": '""', "c": None}


def test_spaces_beside_quotes_are_kept_as_python_keeps_them(workspace):
    # DuckDB drops both the space and the quotes of ` "x"`.
    text = 'case_id,x\na, "x"\nb, ""\nc,"x" \n'.replace('"x" \n', '"x"\n')
    expected = {row[0]: json.dumps(row[1]) for row in list(csv.reader(io.StringIO(text)))[1:]}
    assert expected["a"] == '" \\"x\\""'
    assert predictions_of(workspace, workspace.write("p.csv", text), expected) == expected


def test_spaces_beside_quotes_are_kept_wherever_a_read_of_the_file_ends(workspace, monkeypatch):
    text = 'case_id,x\na,plain\nb, "x"\nc,"y"\n'
    expected = {row[0]: json.dumps(row[1]) for row in list(csv.reader(io.StringIO(text)))[1:]}
    assert expected["b"] == '" \\"x\\""'
    for size in range(1, len(text)):
        monkeypatch.setattr(load_files, "_CHUNK", size)
        assert predictions_of(workspace, workspace.write("p.csv", text), expected) == expected


def test_line_ends_may_be_mixed_where_no_cell_holds_one(workspace):
    name = workspace.write("p.csv", 'case_id,x\r\na,1\nb,"lone\rreturn"\r\nc,3\n')
    assert predictions_of(workspace, name, "abc") == {"a": '"1"', "b": '"lone\\rreturn"', "c": '"3"'}


NUMBERS = ["1.10", "3.0", "3", "1e5", "1E+05", "-0", "-0.0", "1234567890123456789", "9" * 5000, "0.1" + "0" * 40]
CONSTANTS = ["true", "false", "null", "NaN", "Infinity", "-Infinity"]
NESTED = ['{"a" : 1.10,"b":[ 1.0, "\\u0041" ]}', "[]", "{}", '[1,2 ,"x\\ny"]']


def test_json_values_keep_their_source_text(workspace):
    cases = numbered(NUMBERS + CONSTANTS + NESTED)
    lines = "".join(f'{{"case_id": "{case}", "x":  {value} }}\n' for case, value in cases.items())
    assert predictions_of(workspace, workspace.write("p.jsonl", lines), cases) == cases
    texts = "".join(
        json.dumps({"case_id": case, "completion": f'{{"x":  {value} }}', "finish": "stop"}) + "\n"
        for case, value in cases.items()
    )
    assert predictions_of(workspace, workspace.write("c.jsonl", texts), cases, constants="accept") == cases


def test_a_string_has_one_token_however_it_was_escaped(workspace):
    sources = [r'"A\/é"', r'"\u0041/\u00e9"', '"A/é"', r'"A\u002f\u00E9"']
    lines = "".join(f'{{"case_id": {index}, "x": {source}}}\n' for index, source in enumerate(sources))
    workspace.load(
        workspace.write("p.jsonl", lines),
        workspace.csv("r.csv", [{"case_id": str(index), "x": "r"} for index in range(4)]),
        {"x": "category"},
    )
    assert workspace.pairs() == [("x", "judged", '"A/é"', '"r"', 4)]


def test_a_lone_surrogate_fails_no_file(workspace):
    lines = [
        r'{"case_id": "a", "x": "\ud800"}',
        r'{"case_id": "b", "x": "ok"}',
        r'{"case_id": "\udc00", "x": ["\ud800"]}',
        r'{"case_id": "d", "x": "\ud83d\ude00", "\ud800": 1}',
    ]
    name = workspace.write("p.jsonl", "\n".join(lines))
    references = workspace.write("r.jsonl", "\n".join(line.replace('"x"', '"x":"r","y"') for line in lines))
    workspace.load(name, references, {"x": "category"}, payloads=True)
    found = workspace.by_case()
    assert found["a", "x"][1] == r'"\ud800"'
    assert found["b", "x"][1] == '"ok"'
    assert found["\u241b\\udc00", "x"][1] == r'["\ud800"]'
    assert found["d", "x"][1] == '"😀"'
    completion = json.dumps({"case_id": "a", "completion": '{"x": "\ud800"}', "finish": "stop"})
    assert predictions_of(workspace, workspace.write("c.jsonl", completion), ["a"]) == {"a": r'"\ud800"'}


def test_cells_of_many_megabytes_arrive_whole(workspace):
    cases = {"a": "x" * 12_000_000, "b": "y", "c": 'z"\n' * 4_000_000}
    expected = {case: string_token(value) for case, value in cases.items()}
    rows = [{"case_id": case, "x": value} for case, value in cases.items()]
    for name in (workspace.csv("p.csv", rows), workspace.json_lines("p.jsonl", rows)):
        assert predictions_of(workspace, name, cases) == expected, name


def test_typed_parquet_columns_become_tokens_that_round_nothing(workspace):
    columns = {
        "int": (pyarrow.int64(), 1234567890123456789, "1234567890123456789"),
        "unsigned": (pyarrow.uint64(), 2**64 - 1, "18446744073709551615"),
        "bool": (pyarrow.bool_(), False, "false"),
        "double": (pyarrow.float64(), 3.0, "3.0"),
        "tenth": (pyarrow.float64(), 0.1, "0.1"),
        "tiny": (pyarrow.float64(), 5e-324, "5e-324"),
        "zero": (pyarrow.float64(), -0.0, "-0.0"),
        "nan": (pyarrow.float64(), float("nan"), "NaN"),
        "infinite": (pyarrow.float64(), float("-inf"), "-Infinity"),
        "float": (pyarrow.float32(), 1.1, "1.1"),
        "decimal": (pyarrow.decimal128(9, 2), Decimal("1.10"), "1.10"),
        "date": (pyarrow.date32(), dt.date(2024, 3, 1), '"2024-03-01"'),
        "datetime": (pyarrow.timestamp("us"), dt.datetime(2024, 3, 1, 12), '"2024-03-01T12:00:00"'),  # noqa: DTZ001
        "aware": (
            pyarrow.timestamp("us", "Europe/Paris"),
            dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC),
            '"2024-03-01T12:00:00+00:00"',
        ),
        # The 15th of March 44 BC: no ISO form of four digits has it. The calendar repeats after 400 years.
        "old": (pyarrow.timestamp("s"), -63517824000, '"0044-03-15 (BC) 00:00:00"'),
        "endless": (pyarrow.timestamp("us", "UTC"), 2**63 - 1, '"infinity"'),
        "time": (pyarrow.time64("us"), dt.time(1, 2, 3), '"01:02:03"'),
        "binary": (pyarrow.binary(), "é".encode(), '"é"'),
        "list": (pyarrow.list_(pyarrow.string()), ["a", "b"], '["a","b"]'),
        "none": (pyarrow.int32(), None, None),
    }
    row = {"case_id": 7} | {name: value for name, (_, value, _) in columns.items()}
    types = {"case_id": pyarrow.int32()} | {name: kind for name, (kind, _, _) in columns.items()}
    references = workspace.csv("r.csv", [{"case_id": "7"} | dict.fromkeys(columns, "r")])
    workspace.load(workspace.parquet("p.parquet", [row], **types), references, dict.fromkeys(columns, "category"))
    assert dict(workspace.pairs("field, prediction")) == {name: token for name, (_, _, token) in columns.items()}


def test_a_member_of_a_nested_parquet_column_is_reached_by_its_path(workspace):
    kind = pyarrow.struct([("sum", pyarrow.struct([("gross", pyarrow.float64())]))])
    name = workspace.parquet("p.parquet", [{"case_id": "a", "invoice": {"sum": {"gross": 1.5}}}], invoice=kind)
    fields = {"total": {"type": "money", "path": "invoice.sum.gross"}}
    workspace.load(name, workspace.csv("r.csv", [{"case_id": "a", "total": "1"}]), fields)
    assert workspace.pairs("prediction") == [("1.5",)]


def test_no_reference_is_none_and_an_empty_prediction_is_a_text(workspace):
    references = workspace.write(
        "r.jsonl",
        '{"case_id": "a", "x": null}\n{"case_id": "b", "x": ""}\n{"case_id": "c"}\n{"case_id": "d", "x": " "}\n',
    )
    predictions = workspace.write("p.csv", 'case_id,x\na,""\nb,\nc,x\nd,y\n')
    workspace.load(predictions, references, {"x": "category"})
    assert {case: found[1:] for (case, _), found in workspace.by_case().items()} == {
        "a": ('""', None),
        "b": (None, None),
        "c": ('"x"', None),
        "d": ('"y"', '" "'),
    }


def test_the_encoding_is_checked_across_reads(workspace, monkeypatch):
    monkeypatch.setattr(load_files, "_CHUNK", 7)
    value = "é€😀" * 20
    assert predictions_of(workspace, workspace.write("p.csv", f"case_id,x\na,{value}\n"), "a") == {"a": f'"{value}"'}


def test_a_quoted_cell_reads_back_what_it_was_written_from():
    for value in AWKWARD:
        assert next(csv.reader(io.StringIO(quoted(value), newline=""))) == [value]
