"""A consumer of batches: one call, one fate, a value for each row."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.errors import ConsumerError
from tests.sessions import open_consumer, quoted, shown

LIBRARIES = """
import pandas as pd
import polars as pl
import numpy as np
import pyarrow as pa

def series(rows): return pd.to_datetime(pd.Series(rows), format="%d/%m/%Y", errors="coerce")
def index(rows): return pd.to_datetime(rows, format="%d/%m/%Y", errors="coerce")
def polars(rows): return pl.Series(rows).str.to_date("%d/%m/%Y", strict=False)
def arrow(rows): return pa.array([x.upper() for x in rows])
def array(rows): return np.array(["2024-03-01", "NaT"][: len(rows)], dtype="datetime64[D]")
def frame(rows): return pd.DataFrame({"d": rows})
def polars_frame(rows): return pl.DataFrame({"d": rows})
def moved(rows): return pd.Series(rows).sort_values()
"""

PARSERS = """
import os
import datetime as dt

def dates(rows): return [dt.date.fromisoformat(x) for x in rows]
def generator(rows): return (x.upper() for x in rows)

def errors(rows):
    return [x if x.isdigit() else ValueError(x + " is no number") for x in rows]

def sizes(rows): return [len(rows)] * len(rows)
def nothing(rows): return None
def text(rows): return "".join(rows)
def mapping(rows): return {x: x for x in rows}
def short(rows): return [x for x in rows if x]

def leave(rows):
    if "leave" in rows:
        os._exit(3)
    return rows

def hang(rows):
    while "hang" in rows:
        pass
    return rows

def eat(rows):
    return [bytearray(10**9) for _ in range(100)]

def once(rows):
    path = rows[0]
    if not os.path.exists(path):
        open(path, "w").close()
        os._exit(5)
    return rows

def fork(rows):
    if os.fork() == 0:
        return ["child"] * len(rows)
    return rows
"""


def folder_of(folder: Path) -> Path:
    """Write the parsers: those that need no library start fifty times faster."""
    (folder / "plain.py").write_text(PARSERS)
    (folder / "libraries.py").write_text(LIBRARIES)
    return folder


@pytest.fixture
def decode(tmp_path: Path):
    folder_of(tmp_path)

    def run(parser, rows, *, alone=False, **settings):
        with open_consumer(tmp_path, {"f": f"plain:{parser}"}, batch=True, **settings) as session:
            return session.decode("f", quoted(rows), alone=alone)

    return run


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Give what a parser of a library makes of a batch, in one session for all."""
    names = ["series", "index", "polars", "arrow", "array", "frame", "polars_frame", "moved"]
    reads = {name: f"libraries:{name}" for name in names}
    with open_consumer(folder_of(tmp_path_factory.mktemp("batches")), reads, batch=True) as session:
        yield lambda parser, rows: session.decode(parser, quoted(rows))


@pytest.mark.parametrize("parser", ["series", "index"])
def test_pandas_gives_a_value_or_null_for_each_row(read, parser):
    found = read(parser, ["01/03/2024", "N/A", "13/03/2024"])
    assert shown(found) == [
        "datetime:2024-03-01T00:00:00",
        "null: pandas.api.typing.NaTType",
        "datetime:2024-03-13T00:00:00",
    ]
    assert found.failures == []


def test_polars_arrow_numpy_and_generators_are_sequences_of_rows(read, decode):
    assert shown(read("polars", ["01/03/2024", "N/A"])) == ["date:2024-03-01", "null: None"]
    assert shown(read("arrow", ["a", "b"])) == ["text:A", "text:B"]
    assert shown(read("array", ["2024-03-01", "NaT"])) == ["date:2024-03-01", "null: numpy.datetime64"]
    assert shown(decode("generator", ["a", "b"])) == ["text:A", "text:B"]


def test_one_row_that_raises_rejects_the_whole_batch(decode):
    found = decode("dates", ["2024-03-01", "N/A", "2024-03-02"])
    error = "rejected: the batch of 3 rows: ValueError: Invalid isoformat string: 'N/A'"
    assert shown(found) == [error] * 3
    assert [fault.status for fault in found.failures] == ["rejected"]


def test_alone_each_row_is_a_batch_of_its_own(decode):
    found = decode("dates", ["2024-03-01", "N/A", "2024-03-02"], alone=True)
    error = "rejected: ValueError: Invalid isoformat string: 'N/A'"
    assert shown(found) == ["date:2024-03-01", error, "date:2024-03-02"]
    assert shown(decode("sizes", ["a", "b"], alone=True)) == ["int:1", "int:1"]


def test_an_exception_in_the_place_of_a_value_rejects_that_row_alone(decode):
    assert shown(decode("errors", ["1", "x", "2"])) == ["text:1", "rejected: ValueError: x is no number", "text:2"]


def test_a_batch_is_one_call_however_long_it_is(decode):
    found = decode("sizes", [f"string number {n}" for n in range(30_000)])
    assert set(found.texts) == {"int:30000"}


@pytest.mark.parametrize(
    ("parser", "what"),
    [
        ("nothing", "not as NoneType"),
        ("text", "not as str"),
        ("mapping", "not as dict"),
        ("short", "2 rows were given and 1 came back"),
    ],
)
def test_what_has_no_row_for_each_value_rejects_them_all(decode, parser, what):
    refuses(decode(parser, ["b", ""]), what)


@pytest.mark.parametrize(
    ("parser", "what"),
    [
        ("frame", "not as pandas.DataFrame"),
        ("polars_frame", "not as polars.dataframe.frame.DataFrame"),
        ("moved", "the index says that the rows were moved"),
    ],
)
def test_a_frame_of_columns_or_rows_in_another_order_rejects_them_all(read, parser, what):
    refuses(read(parser, ["b", ""]), what)


def refuses(found, what):
    errors = [fault.error for fault in found.faults.values() if fault.status == "rejected"]
    assert len(errors) == len(found.failures) * 2 == 2
    assert all(error.startswith("the batch of 2 rows: unexpected") and what in error for error in errors)


def test_a_crash_and_a_hang_cost_the_batch_and_never_split_it(decode):
    assert shown(decode("leave", ["a", "leave", "b"])) == ["crashed: the batch of 3 rows: exit code 3"] * 3
    found = decode("hang", ["a", "hang"], timeout=0.5)
    assert shown(found) == ["timed_out: the batch of 2 rows: no answer within 0.501 s"] * 2
    found = decode("eat", ["a", "b"], memory=2**30)
    assert shown(found) == ["crashed: the batch of 2 rows: MemoryError"] * 2


def test_alone_a_crash_costs_one_string(decode):
    assert shown(decode("leave", ["a", "leave", "b"], alone=True)) == ["text:a", "crashed: exit code 3", "text:b"]


def test_a_batch_that_dies_once_is_read_whole_by_a_fresh_process(decode, tmp_path):
    rows = [str(tmp_path / "was here"), "b", "c"]
    found = decode("once", rows)
    assert shown(found) == [f"text:{row}" for row in rows]
    assert found.warnings == {0: "crashed: exit code 5 with a batch, not again"}


def test_a_forked_child_does_not_answer(decode):
    assert shown(decode("fork", ["a", "b"])) == ["text:a", "text:b"]


def test_a_null_is_no_text_and_python_values_are_parsed(tmp_path: Path):
    (tmp_path / "p.py").write_text("def seen(rows): return [repr(rows)] * len(rows)")
    with open_consumer(tmp_path, {"f": "p:seen"}, batch=True) as session:
        seen = "text:['a', '3.0']"
        assert shown(session.decode("f", ['"a"', "null", "3.0"])) == [seen, "null: absent", seen]
    with open_consumer(tmp_path, {"f": "p:seen"}, batch=True, receives="python") as session:
        assert shown(session.decode("f", ['"a"', "null", "3.0"])) == ["text:['a', None, 3.0]"] * 3
        long = f'"{"x" * 2000}"'
        assert shown(session.decode("f", [long, "3"]))[1] == f"text:{['x' * 2000, 3]!r}"


def test_batches_are_a_setting_of_the_consumer(tmp_path: Path):
    (tmp_path / "p.py").write_text("def same(rows): return rows")
    versions = []
    for batch in (False, True):
        with open_consumer(tmp_path, {"f": "p:same"}, batch=batch) as session:
            versions.append(session.readiness.version)
            assert session.readiness.settings.get("batch") == ("true" if batch else None)
    assert versions[0] != versions[1]


def test_a_parser_that_cannot_be_called_is_told_what_it_is_to_take(tmp_path: Path):
    (tmp_path / "p.py").write_text("same = 3")
    with pytest.raises(ConsumerError, match="takes a list of raw values"):
        open_consumer(tmp_path, {"f": "p:same"}, batch=True)
