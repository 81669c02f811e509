"""Files that cannot be read, or that would grade a case twice: one clear error, with file, line or row, and column."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import zipfile
from pathlib import Path

import pytest

from auditor.errors import LoadError
from tests.privileges import as_nobody
from tests.rooms.load_workspace import Workspace

TOTAL = {"total": "decimal"}
GOOD = "case_id,total\na,1\n"


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def refused(workspace, predictions="p.csv", references=None, fields=TOTAL, **cases):
    with pytest.raises(LoadError) as error:
        workspace.load(predictions, references or workspace.write("good.csv", GOOD), fields, **cases)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("p.csv", "", ["p.csv: the file is empty"]),
        ("p.jsonl", "", ["p.jsonl: the file is empty"]),
        ("p.jsonl", "\n \n", ["p.jsonl: the file is empty"]),
        ("p.parquet", b"", ["p.parquet: the file is empty"]),
        ("p.parquet", b"PAR1 cut off", ["p.parquet: cannot be read as Parquet"]),
        ("p.csv", b"case_id,total\nb,2\na,caf\xe9\n", ["p.csv, line 3, byte 23", "0xe9", "Latin-1"]),
        ("p.jsonl", b'{"case_id": "a"}\n{"case_id": "\xe9"}\n', ["p.jsonl, line 2, byte 30", "Latin-1"]),
        ("p.csv", "case_id,total\na,1\n".encode("utf-16"), ["p.csv, line 1, byte 0", "UTF-16"]),
        ("p.csv", "case_id,total\na,1\n".encode("utf-32"), ["p.csv, line 1, byte 0", "iconv -f UTF-32"]),
        ("p.csv", b"case_id,total\na,\xc3", ["p.csv, line 2", "ends within a character"]),
        ("p.csv", "case_id,total\na,1\nb,2,3\n", ["p.csv, line 3", "3 cells", "header has 2"]),
        ("p.csv", "case_id,total\na\n", ["p.csv, line 2", "1 cell,"]),
        ("p.csv", 'case_id,total\na,1\nb,"2\n', ["p.csv, line 3, column 3", "never closed"]),
        ("p.csv", 'case_id,total\n"a"b,1\n', ["p.csv, line 2, column 1", "follows the closing quote"]),
        ("p.csv", "case_id,total\na,1\r2\n", ["p.csv, line 2, column 3", "carriage return"]),
        ("p.csv", "case_id,total,total\na,1,1\n", ["p.csv, line 1", "'total' occurs twice"]),
        ("p.csv", "case,total\na,1\n", ["no column 'case_id'", "did you mean 'case'?", "columns: 'case', 'total'"]),
        ("p.csv", "case_id,totals\na,1\n", ["no column 'total' for the prediction", "did you mean 'totals'?"]),
        ("p.csv", "case_id,total\na,1\n,2\n\"\",3\n", ["p.csv, rows 2 and 3", "2 rows have no id"]),
        ("p.jsonl", '{"case_id": "a", "total": 1\n', ["p.jsonl, line 1, column 28", "not valid JSON"]),
        ("p.jsonl", '{"case_id": "a", "total": 1}\n\n{"case_id": "b", "total": 01}\n', ["p.jsonl, line 3, column 28"]),
        ("p.jsonl", '{"case_id": "a", "total": 1} {}\n', ["p.jsonl, line 1, column 30", "text follows the object"]),
        ("p.jsonl", '{"case_id": "a",\n "total": 1}\n', ["p.jsonl, line 1, column 17"]),
        ("p.jsonl", '{"case_id": "a", "total": "\x01"}\n', ["p.jsonl, line 1, column 28", "control character"]),
        ("p.jsonl", '[{"case_id": "a", "total": 1}]\n', ["p.jsonl, line 1, column 1", "array", "one object a line"]),
        ("p.jsonl", '{"case_id": "a", "total": 1}\n7\n', ["p.jsonl, line 2, column 1", "not a JSON object"]),
        ("p.jsonl", '{"case_id": "a", "total": 1, "total": 2}\n', ["p.jsonl, line 1", "'total' occurs 2 times"]),
        ("p.jsonl", '{"case_id": "a", "total": 1, "t\\u006ftal": 2}\n', ["p.jsonl, line 1", "'total' occurs 2 times"]),
        ("p.jsonl", '{"case_id": "a", "total": 1}\n\n{"total": 1}\n', ["p.jsonl, line 3", "missing or empty"]),
        ("p.jsonl", '{"case_id": "a"}\n{"case_id": [1]}\n', ["p.jsonl, line 2", "[1]", "neither"]),
        ("p.jsonl", '{"case_id": "a", "totals": 1}\n', ["no column 'total'", "did you mean 'totals'?"]),
        ("p.jsonl", '{"case_id": "a", "total": ' + "[" * 100_000 + "]" * 100_000 + "}\n", ["line 1", "too deeply"]),
        ("p.csv", "case_id,field,prediction\na,totals,1\n", ["no prediction row for the field 'total'", "'totals'"]),
        ("p.jsonl", '{"case_id": "a", "field": null, "prediction": 1}\n', ["p.jsonl, line 1", "'field' is missing"]),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_the_place(workspace, name, content, parts):
    message = refused(workspace, workspace.write(name, content))
    for part in parts:
        assert part in message, message


def test_a_pattern_that_matches_nothing_names_near_files(workspace):
    workspace.write("records/completions.jsonl", "{}\n")
    message = refused(workspace, "records/completion.jsonl")
    assert "'records/completion.jsonl'" in message
    assert str(workspace.folder) in message
    assert "completions.jsonl" in message.splitlines()[-1]
    assert "no file matches 'records/*.csv'" in refused(workspace, "records/*.csv")


def test_a_folder_is_no_file(workspace):
    (workspace.folder / "records").mkdir()
    assert "records: is a folder" in refused(workspace, "records")


def test_a_pipe_that_nobody_writes_to_is_no_file(workspace):
    os.mkfifo(workspace.folder / "p.csv")
    assert "p.csv: is a pipe or a device" in refused(workspace, "p.csv")
    assert "zero: is a pipe or a device" in refused(workspace, "/dev/zero")


def test_a_file_without_permission_is_named():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # unlike the folders that pytest makes
        workspace = Workspace(Path(folder))
        name, good = workspace.write("p.csv", GOOD), workspace.write("good.csv", GOOD)
        (workspace.folder / name).chmod(0)
        with as_nobody():
            assert "p.csv: cannot be read: Permission denied" in refused(workspace, name, good)


def test_a_file_whose_bytes_the_system_cannot_give_is_named(workspace):
    (workspace.folder / "p.csv").symlink_to("/proc/self/mem")  # nothing is mapped at its beginning
    assert "p.csv: cannot be read: Input/output error" in refused(workspace, "p.csv")


@pytest.mark.parametrize("role", ["prediction", "reference"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_repeated_id_is_an_error_that_names_it(workspace, role, suffix):
    rows = [{"case_id": case, "total": "1"} for case in ("a", "b", "a", "c", "b", "a")]
    name = {"csv": workspace.csv, "jsonl": workspace.json_lines, "parquet": workspace.parquet}[suffix](
        f"x.{suffix}", rows
    )
    good = workspace.write("good.csv", GOOD)
    message = refused(workspace, *((name, good) if role == "prediction" else (good, name)))
    assert "2 ids occur more than once" in message
    after = " (after the header)" if suffix == "csv" else ""
    assert f"x.{suffix}, rows 1, 3 and 6{after}: the id 'a' occurs 3 times in the {role}s" in message
    assert f"x.{suffix}, rows 2 and 5{after}: the id 'b' occurs 2 times" in message


@pytest.mark.parametrize("same", [True, False])
def test_a_repeated_id_and_field_is_an_error_that_names_it(workspace, same):
    rows = [
        {"case_id": case, "field": field, "prediction": "1", "reference": "1"}
        for case, field in [("a", "total"), ("b", "total"), ("a", "note"), ("a", "note"), ("a", "total")]
    ]
    name = workspace.csv("x.csv", rows)
    message = refused(workspace, name, name if same else None)
    assert "1 (id, field) occurs more than once" in message
    assert "x.csv, rows 1 and 5 (after the header): the (id, field) 'a', 'total' occurs 2 times" in message


def test_an_id_is_the_same_id_as_number_and_as_text(workspace):
    name = workspace.write("p.jsonl", '{"case_id": 7, "total": 1}\n{"case_id": "7", "total": 2}\n')
    assert "'7' occurs 2 times" in refused(workspace, name)


def test_files_of_one_role_have_one_form(workspace):
    workspace.write("a.csv", GOOD)
    workspace.write("b.csv", "case_id,field,prediction\nb,total,1\n")
    assert "b.csv: is of the form 'long', but a.csv is of the form 'columns'" in refused(workspace, ["a.csv", "b.csv"])


def test_columns_that_the_spec_names_must_be_there(workspace):
    workspace.write("p.csv", GOOD)
    assert "no column 'stop'" in refused(workspace, finish="stop")
    assert "no column 'reply' for the completion" in refused(workspace, completion="reply")
    assert "no file has the column 'language'" in refused(workspace, locale="language")


def test_a_damaged_parquet_page_is_an_error_that_names_the_files(workspace):
    rows = [{"case_id": f"c{i}", "total": f"{i * 7919 % 1000}"} for i in range(5000)]
    name = workspace.parquet("p.parquet", rows)
    path = workspace.folder / name
    content = bytearray(path.read_bytes())
    content[2000:6000] = bytes(4000)
    path.write_bytes(content)
    assert "p.parquet" in refused(workspace, name)


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("p.csv", content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "pack"), [("gzip", gzip.compress), ("xz", lzma.compress), ("bzip2", bz2.compress), ("zip", zipped)]
)
def test_a_compressed_file_is_named_so(workspace, name, pack):
    for suffix in ("csv", "csv.packed"):
        message = refused(workspace, workspace.write(f"p.{suffix}", pack(GOOD.encode())))
        assert f"p.{suffix}: is compressed ({name}" in message


def test_parquet_is_read_whatever_its_name_says(workspace):
    workspace.parquet("p.parquet", [{"case_id": "a", "total": "1"}])
    (workspace.folder / "p.parquet").rename(workspace.folder / "p.csv")
    workspace.load("p.csv", workspace.write("good.csv", GOOD), TOTAL)
    assert workspace.pairs("prediction, reference") == [('"1"', '"1"')]


def test_utf_16_without_a_mark_is_recognised(workspace):
    content = "case_id,total\na,é\n".encode("utf-16-le")
    assert "iconv -f UTF-16" in refused(workspace, workspace.write("p.csv", content))


def test_a_file_of_many_columns_is_read(workspace):
    names = [f"c{number}" for number in range(20_000)]
    rows = [",".join(["case_id", "total", *names]), ",".join(["a", "1"] + ["x"] * len(names))]
    workspace.load(workspace.write("p.csv", "\n".join(rows)), workspace.write("good.csv", GOOD), TOTAL)
    assert workspace.pairs("prediction, reference") == [('"1"', '"1"')]
    message = refused(workspace, workspace.write("q.csv", "\n".join([rows[0] + ",c7", rows[1] + ",x"])))
    assert "the column 'c7' occurs twice" in message
    assert len(refused(workspace, workspace.write("r.csv", "k" * 100_000 + "\nx\n"))) < 1000
