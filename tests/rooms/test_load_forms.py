"""What files may look like, and what becomes of their cases. Expectations are what was written."""

from __future__ import annotations

import json

import pytest

from auditor.errors import LoadError
from auditor.load import regular_lines
from tests.databases import tables_of
from tests.rooms.load_workspace import Workspace

DATE_AND_TOTAL = {"date": "date", "total": "decimal"}


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


COLUMNS = [
    {"case_id": "a", "date": "2024-03-01", "total": "5.10"},
    {"case_id": "b", "date": None, "total": ""},
    {"case_id": "d", "date": "x", "total": "x"},
]
REFERENCES = [
    {"case_id": "a", "date": "2024-03-01", "total": "5.1"},
    {"case_id": "b", "date": "2024-03-02", "total": None},
    {"case_id": "c", "date": "", "total": "7"},
]
PAIRS = [
    ("date", "judged", '"2024-03-01"', '"2024-03-01"', 1),
    ("date", "judged", None, '"2024-03-02"', 1),
    ("date", "missing", None, None, 1),
    ("total", "judged", '""', None, 1),
    ("total", "judged", '"5.10"', '"5.1"', 1),
    ("total", "missing", None, '"7"', 1),
]


def long(rows, value):
    return [
        {"case_id": row["case_id"], "field": name, value: row[name]}
        for row in rows
        for name in DATE_AND_TOTAL
        if row[name] is not None
    ]


def write_all(workspace, name, rows):
    without_none = [{key: value for key, value in row.items() if value is not None} for row in rows]
    return [
        workspace.csv(f"{name}.csv", rows),
        workspace.json_lines(f"{name}.jsonl", without_none),
        workspace.parquet(f"{name}.parquet", rows),
    ]


def test_every_format_and_form_gives_the_same_pairs(workspace):
    predictions = write_all(workspace, "columns", COLUMNS) + write_all(workspace, "long", long(COLUMNS, "prediction"))
    references = write_all(workspace, "rcolumns", REFERENCES) + write_all(
        workspace, "rlong", long(REFERENCES, "reference")
    )
    hashes = set()
    for prediction in predictions:
        for reference in references:
            loaded = workspace.load(prediction, reference, DATE_AND_TOTAL)
            assert workspace.pairs() == PAIRS, (prediction, reference)
            assert (loaded.cases.expected, loaded.cases.judged, loaded.cases.missing) == (3, 2, 1)
            assert loaded.cases.unrelated == 1
            assert loaded.carried == {"date", "total"}
            hashes.add(loaded.manifest_rows_sha256)
    assert len(hashes) == 1


def test_a_long_file_may_hold_predictions_and_references(workspace):
    rows = [
        {"case_id": "a", "field": "date", "prediction": "March 1", "reference": "2024-03-01"},
        {"case_id": "a", "field": "total", "prediction": None, "reference": "1"},
        {"case_id": "b", "field": "date", "prediction": "March 1", "reference": "2024-03-01"},
        {"case_id": "b", "field": "note", "prediction": "not asked for", "reference": "x"},
        {"case_id": "c", "field": "note", "prediction": "not asked for", "reference": "x"},
    ]
    for name in write_all(workspace, "both", rows):
        loaded = workspace.load(name, name, DATE_AND_TOTAL)
        assert workspace.pairs() == [
            ("date", "judged", '"March 1"', '"2024-03-01"', 2),
            ("date", "judged", None, None, 1),
            ("total", "judged", None, '"1"', 1),
            ("total", "judged", None, None, 2),
        ]
        assert (loaded.cases.expected, loaded.cases.judged, loaded.cases.unrelated) == (3, 3, 0)
        assert loaded.rows_read == {"predictions": 5, "references": 5}
        assert [source["role"] for source in loaded.sources] == ["predictions", "references"]


def completion(case, finish, text, **more):
    return {"case_id": case, "completion": text, "finish": finish} | more


COMPLETIONS = [
    completion("stop", "stop", '{"date": "2024-03-01", "total": 1.10}'),
    completion("gemini", "STOP", ' {"date": null}\n'),
    completion("cut", "max_tokens", '{"date": "2024-'),
    completion("refused", "content_filter", ""),
    completion("prose", "end_turn", 'Here it is: {"date": "2024-03-01"}'),
    completion("fenced", "stop", '```json\n{"date": "2024-03-01"}\n```'),
    completion("list", "stop", '[{"date": "2024-03-01"}]'),
    completion("twice", "stop", '{"date": "2024-03-01", "date": "2024-03-02"}'),
    completion("odd", "because", '{"date": "2024-03-01"}'),
    completion("none", None, '{"date": "2024-03-01"}'),
    completion("failed", "stop", None, error="429 too many requests"),
]
OUTCOMES = {
    "stop": "judged",
    "gemini": "judged",
    "cut": "truncated",
    "refused": "refused",
    "prose": "malformed",
    "fenced": "malformed",
    "list": "malformed",
    "twice": "malformed",
    "odd": "unknown",
    "none": "unknown",
    "failed": "transport",
}


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_completion_has_an_outcome_before_any_field(workspace, suffix):
    rows = [{"error": None} | row for row in COMPLETIONS]
    write = {"jsonl": workspace.json_lines, "csv": workspace.csv, "parquet": workspace.parquet}[suffix]
    name = write(f"completions.{suffix}", rows)
    references = workspace.csv(
        "references.csv",
        [{"case_id": case, "date": f"d-{case}", "total": f"t-{case}"} for case in [*OUTCOMES, "absent"]],
    )
    loaded = workspace.load(name, references, DATE_AND_TOTAL)
    by_case = workspace.by_case()
    assert {case: by_case[case, "date"][0] for case in OUTCOMES} == OUTCOMES
    assert by_case["absent", "date"] == ("missing", None, '"d-absent"')
    assert by_case["stop", "total"] == ("judged", "1.10", '"t-stop"')
    assert by_case["gemini", "date"][1] == "null"
    assert by_case["gemini", "total"][1] is None
    assert by_case["cut", "date"] == ("truncated", None, '"d-cut"')
    assert loaded.finish_reasons == {
        "": 1, "STOP": 1, "because": 1, "content_filter": 1, "end_turn": 1, "max_tokens": 1, "stop": 5
    }  # fmt: skip
    cases = loaded.cases
    assert (cases.expected, cases.judged, cases.missing, cases.unknown, cases.malformed) == (12, 2, 1, 2, 4)
    assert loaded.carried is None


def test_an_assumed_finish_stands_in_for_none_and_not_for_an_unknown_one(workspace):
    name = workspace.json_lines("c.jsonl", COMPLETIONS)
    references = workspace.csv("r.csv", [{"case_id": case, "date": case} for case in OUTCOMES])
    workspace.load(name, references, {"date": "date"}, assume_finish="stop")
    by_case = workspace.by_case()
    assert by_case["none", "date"][0] == "judged"
    assert by_case["odd", "date"][0] == "unknown"


def test_a_completion_may_be_a_nested_object(workspace):
    name = workspace.write("c.jsonl", '{"case_id": 7, "completion": {"total": 1.10}, "finish_reason": "stop"}\n')
    workspace.load(name, workspace.csv("r.csv", [{"case_id": "7", "total": "1"}]), {"total": "decimal"})
    assert workspace.pairs() == [("total", "judged", "1.10", '"1"', 1)]


def test_nested_values_are_named_by_dotted_paths(workspace):
    fields = {"total": {"type": "money", "path": "invoice.sum.gross", "reference_path": "gold.total"}}
    reference = workspace.write("r.jsonl", '{"case_id": "a", "gold": {"total": "9"}}\n')
    nested = {"case_id": "a", "invoice": {"sum": {"gross": 1.5}}}
    workspace.load(workspace.json_lines("n.jsonl", [nested]), reference, fields)
    assert workspace.pairs() == [("total", "judged", "1.5", '"9"', 1)]
    completions = workspace.json_lines("c.jsonl", [completion("a", "stop", json.dumps(nested))])
    workspace.load(completions, reference, fields)
    assert workspace.pairs() == [("total", "judged", "1.5", '"9"', 1)]
    for header in ("invoice.sum.gross", "total"):
        workspace.load(workspace.csv("p.csv", [{"case_id": "a", header: "1.5"}]), reference, fields)
        assert workspace.pairs() == [("total", "judged", '"1.5"', '"9"', 1)]


def test_awkward_names_are_only_names(workspace):
    names = ["select", 'quo"te', "l'heure", "naïve ✓", "Total", "total", "a.b", "c0", "ordinal"]
    row = {"case_id": "1"} | {name: f"p-{name}" for name in names}
    reference = {"case_id": "1"} | {name: f"r-{name}" for name in names}
    for suffix, write in (("csv", workspace.csv), ("jsonl", workspace.json_lines)):
        predictions, references = write(f"p.{suffix}", [row]), write(f"r.{suffix}", [reference])
        workspace.load(predictions, references, dict.fromkeys(names, "category"), payloads=True)
        expected = sorted(
            (n, "judged", json.dumps(f"p-{n}", ensure_ascii=False), json.dumps(f"r-{n}", ensure_ascii=False), 1)
            for n in names
        )
        assert sorted(workspace.pairs()) == expected
        payload = json.loads(workspace.pairs("payload")[0][0])
        assert payload == {name: row[name] for name in names}


def test_payloads_hold_the_object_that_a_field_came_in(workspace):
    references = workspace.csv("r.csv", [{"case_id": "a", "total": "1", "locale": "en-GB"}])
    text = '{"total": 1.10,  "other": [1.0]}'
    workspace.load(
        workspace.json_lines("c.jsonl", [completion("a", "stop", text)]), references, {"total": "money"}, payloads=True
    )
    assert workspace.pairs("payload, reference_payload") == [(text, '{"total": "1"}')]
    name = workspace.write("p.jsonl", '{"case_id": "a", "total": 1.10, "locale": "x", "other":  [1.0]}\n')
    loaded = workspace.load(name, references, {"total": "money"}, payloads=True)
    assert workspace.pairs("payload") == [('{"total": 1.10, "other": [1.0]}',)]
    assert loaded.carried == {"total", "other"}
    name = workspace.csv("p.csv", [{"case_id": "a", "z": "", "total": "1", "none": None}])
    loaded = workspace.load(name, references, {"total": "money"}, payloads=True)
    assert workspace.pairs("payload") == [('{"z": "", "total": "1"}',)]
    assert loaded.carried == {"z", "total", "none"}
    rows = [{"case_id": "a", "field": field, "prediction": field, "reference": "1"} for field in ("total", "date")]
    name = workspace.csv("long.csv", rows)
    loaded = workspace.load(name, name, {"total": "money"}, payloads=True)
    assert workspace.pairs("payload, reference_payload") == [
        ('{"date": "date", "total": "total"}', '{"date": "1", "total": "1"}')
    ]
    assert loaded.carried == {"total", "date"}


def test_a_place_goes_with_dates_only(workspace):
    rows = [
        {"case_id": "a", "date": "01/03/2024", "total": "1", "locale": "en-GB", "jurisdiction": "Scotland"},
        {"case_id": "b", "date": "01/03/2024", "total": "1", "locale": "en-US", "jurisdiction": None},
        {"case_id": "c", "date": "01/03/2024", "total": "1", "locale": None, "jurisdiction": None},
    ]
    predictions = workspace.csv("p.csv", [{key: row[key] for key in ("case_id", "date", "total")} for row in rows])
    workspace.load(predictions, workspace.csv("r.csv", rows), DATE_AND_TOTAL)
    assert workspace.pairs("field, place, n") == [
        ("date", "en-GB|Scotland", 1),
        ("date", "en-US|", 1),
        ("date", None, 1),
        ("total", None, 3),
    ]


def test_files_may_be_many_and_their_rows_are_counted_through(workspace):
    for number in range(3):
        workspace.csv(f"parts/p{number}.csv", [{"case_id": f"{number}{i}", "total": f"{number}{i}"} for i in range(4)])
    workspace.json_lines("more.jsonl", [{"case_id": 90, "total": 1.10}])
    ids = [f"{number}{i}" for number in range(3) for i in range(4)] + ["90", "91"]
    references = workspace.csv("r.csv", [{"case_id": case, "total": case} for case in ids])
    loaded = workspace.load(["parts/*.csv", "more.jsonl"], references, {"total": "decimal"})
    assert loaded.cases.expected == 14
    assert [(source["path"], source["rows"]) for source in loaded.sources] == [
        ("parts/p0.csv", 4), ("parts/p1.csv", 4), ("parts/p2.csv", 4), ("more.jsonl", 1), ("r.csv", 14)
    ]  # fmt: skip
    by_case = workspace.by_case()
    assert by_case["23", "total"] == ("judged", '"23"', '"23"')
    assert by_case["90", "total"] == ("judged", "1.1", '"90"')
    assert by_case["91", "total"] == ("missing", None, '"91"')


def test_one_file_of_columns_needs_other_columns_for_the_references(workspace):
    name = workspace.csv("both.csv", [{"case_id": "a", "total": "1", "gold": "2"}])
    with pytest.raises(LoadError, match="reference_path"):
        workspace.load(name, name, {"total": "decimal"})
    workspace.load(name, name, {"total": {"type": "decimal", "reference_path": "gold"}}, payloads=True)
    assert workspace.pairs("prediction, reference, payload, reference_payload") == [
        ('"1"', '"2"', '{"total": "1"}', '{"gold": "2"}')
    ]


def test_nothing_is_left_in_the_connection_but_the_pairs(workspace):
    workspace.load(*write_all(workspace, "columns", COLUMNS)[1:2], workspace.csv("r.csv", REFERENCES), DATE_AND_TOTAL)
    assert tables_of(workspace.connection) == ["pairs"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_name_is_no_pattern_and_a_folder_no_column(workspace, suffix, monkeypatch):
    monkeypatch.setattr(regular_lines, "SMALLEST", 0)
    write = {"csv": workspace.csv, "jsonl": workspace.json_lines, "parquet": workspace.parquet}[suffix]
    (workspace.folder / "year=2024").mkdir()
    write(f"year=2024/p1.{suffix}", [{"case_id": "a", "x": "another file"}])
    name = write(f"year=2024/p[1].{suffix}", [{"case_id": "a", "x": "this file"}])
    loaded = workspace.load(name, workspace.csv("r.csv", [{"case_id": "a", "x": "r"}]), {"x": "category"})
    assert workspace.pairs("prediction") == [('"this file"',)]
    assert loaded.carried == {"x"}


def test_parquet_columns_keep_their_names(workspace):
    names = ["X", "x", "file_row_number", "position", "a.b"]
    row = {"case_id": "a"} | {name: f"in {name}" for name in names}
    references = workspace.parquet("r.parquet", [{"case_id": "a"} | dict.fromkeys(names, "r")])
    loaded = workspace.load(workspace.parquet("p.parquet", [row]), references, dict.fromkeys(names, "category"))
    assert dict(workspace.pairs("field, prediction")) == {name: f'"in {name}"' for name in names}
    assert loaded.carried == set(names)


def test_a_named_finish_column_blocks_cases_of_any_form(workspace):
    rows = [{"case_id": case, "x": "v", "why": why} for case, why in (("a", "length"), ("b", "stop"), ("c", None))]
    references = workspace.csv("r.csv", [{"case_id": case, "x": "r"} for case in "abc"])
    long_rows = [{"case_id": r["case_id"], "field": "x", "prediction": "v", "why": r["why"]} for r in rows]
    for number, made in enumerate((rows, long_rows)):
        for suffix, write in (("csv", workspace.csv), ("jsonl", workspace.json_lines), ("parquet", workspace.parquet)):
            name = write(f"p{number}.{suffix}", made)
            loaded = workspace.load(name, references, {"x": "category"}, finish="why")
            assert {case: found[0] for (case, _), found in workspace.by_case().items()} == {
                "a": "truncated", "b": "judged", "c": "unknown"
            }  # fmt: skip
            assert loaded.finish_reasons == {"": 1, "length": 1, "stop": 1}


def test_the_path_of_a_field_is_one_for_the_whole_file(workspace):
    # The field's name is a key too, but the path counts, in lines that lack it as well.
    rows = [{"case_id": "a", "amount": "1", "total": "2"}, {"case_id": "b", "total": "2"}]
    fields = {"total": {"type": "decimal", "path": "amount"}}
    references = workspace.csv("r.csv", [{"case_id": case, "total": "1"} for case in "ab"])
    workspace.load(workspace.json_lines("p.jsonl", rows), references, fields)
    assert {case: found[1] for (case, _), found in workspace.by_case().items()} == {"a": '"1"', "b": None}
