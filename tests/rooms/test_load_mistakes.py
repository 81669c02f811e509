"""What a reader would rather be told than guess: names that never occur, ids that never meet, files named twice."""

from __future__ import annotations

import errno

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from auditor.errors import InternalError, LoadError
from auditor.load import pairs as load_pairs
from auditor.load import regular_lines, spool
from tests.rooms.load_workspace import Workspace

X = {"x": "category"}
WRITERS = ["csv", "jsonl", "parquet"]


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def write(workspace, name, rows):
    writer = {"csv": workspace.csv, "jsonl": workspace.json_lines, "parquet": workspace.parquet}[
        name.rpartition(".")[2]
    ]
    return writer(name, rows)


def refused(workspace, predictions, references, fields=X, **cases):
    with pytest.raises(LoadError) as error:
        workspace.load(predictions, references, fields, **cases)
    return str(error.value)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\n\n", "\n\n\n\n"])
def test_blank_lines_before_the_header_are_no_rows(workspace, mark, blank):
    predictions = workspace.write("p.csv", f"{mark}{blank}case_id,x\nc1,p\n\nc2,q\n")
    references = workspace.write("r.csv", f"{mark}{blank}case_id,x\nc1,r\nc2,s\n")
    loaded = workspace.load(predictions, references, X)
    assert workspace.pairs() == [("x", "judged", '"p"', '"r"', 1), ("x", "judged", '"q"', '"s"', 1)]
    assert loaded.rows_read == {"predictions": 2, "references": 2}


def test_a_header_may_span_lines(workspace):
    predictions = workspace.write("p.csv", '"case_id","x\ny"\nc1,p\n')
    workspace.load(
        predictions, workspace.csv("r.csv", [{"case_id": "c1", "x": "r"}]), {"x": {"type": "category", "path": "x\ny"}}
    )
    assert workspace.pairs() == [("x", "judged", '"p"', '"r"', 1)]


PADDING = [{}, {"pad": "k" * 300_000}]
NESTED = {"a": {"type": "category", "path": "b.a"}}


@pytest.mark.parametrize("padding", PADDING)
def test_references_at_two_paths_are_an_error_that_asks_for_one(workspace, padding):
    rows = [{"case_id": str(i), "b": {"a": "x"}} | padding for i in range(29)]
    references = workspace.json_lines("r.jsonl", [*rows, {"case_id": "29", "a": "x"}])
    predictions = workspace.csv("p.csv", [{"case_id": str(i), "b.a": "x"} for i in range(30)])
    message = refused(workspace, predictions, references, NESTED)
    assert "r.jsonl, line 1: the reference of the field 'a' may be 'b.a'" in message
    assert "[fields.a] reference_path" in message
    told = {"a": NESTED["a"] | {"reference_path": "b.a"}}
    workspace.load(predictions, references, told)
    assert workspace.pairs() == [("a", "judged", '"x"', '"x"', 29), ("a", "judged", '"x"', None, 1)]
    alone = workspace.json_lines("alone.jsonl", rows)
    workspace.load(predictions, alone, NESTED)
    assert workspace.pairs() == [("a", "judged", '"x"', '"x"', 29)]


@pytest.mark.parametrize("padding", PADDING)
def test_the_path_of_predictions_is_decided_by_all_lines(workspace, padding):
    stray = [{"case_id": f"s{i}", "a": "stray"} | padding for i in range(120)]
    nested = [{"case_id": f"n{i}", "b": {"a": "x"}} for i in range(30)]
    references = workspace.csv("r.csv", [{"case_id": row["case_id"], "a": "r"} for row in [*stray, *nested]])
    workspace.load(workspace.json_lines("p.jsonl", [*stray, *nested]), references, NESTED)
    assert workspace.pairs() == [("a", "judged", '"x"', '"r"', 30), ("a", "judged", None, '"r"', 120)]
    workspace.load(workspace.json_lines("q.jsonl", stray), references, NESTED)
    assert ("a", "judged", '"stray"', '"r"', 120) in workspace.pairs()


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("one_file", [True, False])
def test_a_misspelt_path_never_falls_back(workspace, suffix, one_file, monkeypatch):
    monkeypatch.setattr(regular_lines, "SMALLEST", 0)
    row = {"case_id": "a", "x": "1", "gold": "2"}
    predictions = write(workspace, f"p.{suffix}", [row])
    references = predictions if one_file else write(workspace, f"r.{suffix}", [row])
    message = refused(workspace, predictions, references, {"x": {"type": "category", "reference_path": "gould"}})
    assert "no column 'gould' for the reference of the field 'x'" in message
    assert "did you mean 'gold'?" in message
    message = refused(workspace, predictions, references, {"x": {"type": "category", "path": "gould"}})
    assert "no column 'gould' for the prediction of the field 'x'" in message


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_is_one_file_under_every_name(workspace, suffix):
    name = write(workspace, f"r.{suffix}", [{"case_id": "a", "x": "1", "gold": "2"}])
    crossed = {
        "x": {"type": "category", "reference_path": "gold"},
        "y": {"type": "category", "path": "case_id", "reference_path": "x"},
    }
    (workspace.folder / "sub").mkdir()
    (workspace.folder / f"link.{suffix}").symlink_to(workspace.folder / name)
    (workspace.folder / f"hard.{suffix}").hardlink_to(workspace.folder / name)
    for other in (
        name,
        f"./{name}",
        f"sub/../{name}",
        f"link.{suffix}",
        f"hard.{suffix}",
        str(workspace.folder / name),
    ):
        assert "reference_path" in refused(workspace, name, other)
        message = refused(workspace, name, other, crossed)
        assert "its column 'x' would be the prediction of 'x' and the reference of 'y'" in message
        workspace.load(name, other, {"x": {"type": "category", "reference_path": "gold"}})
        assert workspace.pairs("prediction, reference") == [('"1"', '"2"')]
    workspace.load(
        [name, f"./{name}", f"link.{suffix}"], write(workspace, f"other.{suffix}", [{"case_id": "a", "x": "3"}]), X
    )
    assert workspace.loaded.rows_read["predictions"] == 1


def test_one_of_many_files_may_be_of_both_roles(workspace):
    both = workspace.csv("b.csv", [{"case_id": "a", "x": "1"}])
    more = workspace.csv("m.csv", [{"case_id": "b", "x": "1"}])
    assert "b.csv: is named as predictions and as references" in refused(workspace, [both, more], both)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("key", ["error", "finish", "locale", "jurisdiction", "completion"])
@pytest.mark.parametrize("completion", [True, False])
def test_a_name_that_never_occurs_is_an_error_with_the_nearest(workspace, suffix, key, completion):
    row = {"case_id": "a", "why": "stop"} | ({"completion": '{"x": 1}', "finish": "stop"} if completion else {"x": "1"})
    predictions = write(workspace, f"p.{suffix}", [row])
    references = workspace.csv("r.csv", [{"case_id": "a", "x": "2"}])
    message = refused(workspace, predictions, references, **{key: "whyy"})
    assert "no column 'whyy'" in message or "no file has the column 'whyy'" in message
    assert "did you mean 'why'?" in message


def test_a_name_may_occur_in_late_lines_alone(workspace):
    rows = [{"case_id": f"c{i}", "x": "1"} for i in range(200)] + [{"case_id": "late", "x": "1", "why": "429"}]
    references = workspace.csv("r.csv", [{"case_id": row["case_id"], "x": "1"} for row in rows])
    assert workspace.load(workspace.json_lines("p.jsonl", rows), references, X, error="why").cases.transport == 1


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_path_that_nothing_holds_is_an_error_and_an_unsent_field_is_none(workspace, suffix):
    rows = [{"case_id": "a", "completion": '{"total": 1}', "finish": "stop"}]
    name = write(workspace, f"c.{suffix}", rows)
    references = workspace.csv("r.csv", [{"case_id": "a", "sum": "1", "note": "n"}])
    wrong = {"sum": {"type": "decimal", "path": "totl"}, "note": "category"}
    message = refused(workspace, name, references, wrong)
    assert "no completion has the key 'totl' of the field 'sum'" in message
    assert "did you mean 'total'?" in message
    workspace.load(name, references, {"sum": {"type": "decimal", "path": "total"}, "note": "category"})
    assert ("note", "judged", None, '"n"', 1) in workspace.pairs()


@pytest.mark.parametrize(
    ("predicted", "expected", "cause"),
    [
        ("01", "1", "leading zeros"),
        ("A", "a", "capital"),
        ("1 ", "1", "spaces"),
        ("x/1", "1", "folder"),
        ("p", "q", "'case_id'"),
    ],
)
@pytest.mark.parametrize("suffix", WRITERS)
def test_ids_that_never_meet_are_an_error(workspace, suffix, predicted, expected, cause):
    predictions = write(workspace, f"p.{suffix}", [{"case_id": predicted, "x": "1"}])
    message = refused(workspace, predictions, write(workspace, f"r.{suffix}", [{"case_id": expected, "x": "1"}]))
    assert repr(predicted) in message
    assert repr(expected) in message
    assert cause in message


@pytest.mark.parametrize("form", [["case_id", "x"], ["case_id", "field", "prediction", "reference"]])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_header_without_rows_is_an_error(workspace, suffix, form):
    if suffix == "csv":
        workspace.write("e.csv", ",".join(form) + "\n")
    else:
        empty = pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in form})
        pyarrow.parquet.write_table(empty, workspace.folder / "e.parquet")
    good = workspace.csv("g.csv", [{"case_id": "a", "x": "1"}])
    for predictions, references in ((f"e.{suffix}", good), (good, f"e.{suffix}")):
        assert f"e.{suffix}: has a header and no rows" in refused(workspace, predictions, references)


def test_bytes_that_are_no_text_are_an_error_that_names_the_files(workspace):
    name = workspace.parquet("p.parquet", [{"case_id": "a", "x": b"\xff\xfe"}], x=pyarrow.binary())
    message = refused(workspace, name, workspace.csv("r.csv", [{"case_id": "a", "x": "1"}]))
    assert "p.parquet" in message
    assert "could not be read" in message


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (duckdb.OutOfMemoryException("failed to offload: max_temp_directory_size is used up"), "the disk is full"),
        (duckdb.OutOfMemoryException("failed to allocate 1 GiB"), "memory ran out"),
        (duckdb.IOException("could not write: No space left on device"), "the disk is full"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (duckdb.SyntaxException("any other"), "could not be read: any other"),
    ],
)
def test_the_end_of_memory_or_disk_is_named(workspace, monkeypatch, error, part):
    def fail(*_):
        raise error

    monkeypatch.setattr(spool.Spool, "add", fail)
    name = workspace.json_lines("p.jsonl", [{"case_id": "a", "x": "1"}])
    message = refused(workspace, name, workspace.csv("r.csv", [{"case_id": "a", "x": "1"}]))
    assert message.startswith("p.jsonl, r.csv: could not be read")
    assert part in message


def test_latin_1_is_converted_by_a_command_that_exists(workspace):
    name = workspace.write("p.csv", b"case_id,x\na,caf\xe9\n")
    assert "iconv -f ISO-8859-1 -t UTF-8" in refused(workspace, name, name)


@pytest.mark.parametrize("suffix", WRITERS)
def test_ids_stay_apart(workspace, suffix):
    written = ["\ud800", "\\ud800", "\u241b\\ud800", "\u241b", "\u241b\u241b", "\u241b\x00\\", "\x00", "plain"]
    sources = [{"case_id": case, "x": str(number)} for number, case in enumerate(written)]
    lines = workspace.json_lines("p.jsonl", sources)
    kept = sources if suffix == "jsonl" else sources[1:]
    loaded = workspace.load(lines, write(workspace, f"r.{suffix}", kept), X)
    assert (loaded.cases.expected, loaded.cases.judged) == (len(kept), len(kept))
    assert {(p, r) for p, r in workspace.pairs("prediction, reference")} == {(f'"{s["x"]}"',) * 2 for s in kept}


@pytest.mark.parametrize("form", ["columns", "long"])
def test_a_row_that_is_lost_or_made_up_is_an_internal_error(workspace, monkeypatch, form):
    rows = [{"case_id": case, "x": case} for case in "abc"]
    if form == "long":
        rows = [
            {"case_id": case, "field": field, "prediction": "p", "reference": "r"} for case in "abc" for field in "xz"
        ]
    predictions, references = workspace.csv("p.csv", rows), workspace.csv("r.csv", rows[:-1])
    assert workspace.load(predictions, references, X).cases.unrelated == (form == "columns")
    original = load_pairs.wide_sql

    def losing(table, *arguments):
        return f"(SELECT * FROM {original(table, *arguments)} WHERE id <> 'b')"

    monkeypatch.setattr(load_pairs, "wide_sql", losing)
    with pytest.raises(InternalError, match="rows of predictions"):
        workspace.load(predictions, references, X)


def test_rows_of_one_source_are_conserved(workspace):
    rows = [{"case_id": case, "field": field, "prediction": "p", "reference": "r"} for case in "abc" for field in "xz"]
    name = workspace.csv("b.csv", rows)
    workspace.load(name, name, X)
    workspace.loaded.predictions.scan(workspace.connection, ("field",))
    workspace.connection.execute("DELETE FROM pairs")
    with pytest.raises(InternalError, match="6 rows were read, but 0 are in pairs and 3 in no field"):
        load_pairs.check_rows_of_one_source(workspace.loaded.predictions, workspace.connection, ["x"])
