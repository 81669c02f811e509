"""Every raw value that moves is listed, with what it is where: the findings show two of each kind only."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Literal

import pytest
from dateutil import parser

import auditor
from auditor.errors import StoreError
from tests.runs.test_environments import PARSERS, SPEC

pytestmark = pytest.mark.filterwarnings("ignore::dateutil.parser.UnknownTimezoneWarning")


def stored(
    folder: Path, reader: str, strings: list[str], probe: Literal["full", "quick"] = "full"
) -> auditor.AuditedRun:
    (folder / "parsers.py").write_text(PARSERS)
    rows = [f'{number},day,"{text}",2024-03-08' for number, text in enumerate(strings)]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    (folder / "audit.toml").write_text(SPEC.format(parser=reader, more=""))
    return auditor.run(folder, probe=probe)


def loading(folder: Path, how: str = "") -> Path:
    """Write a consumer that loads a column with pandas, over a field of dates."""
    call = f"pandas.to_datetime(rows, errors='coerce'{how})"
    (folder / "loads.py").write_text(f"import pandas\ndef day(rows): return {call}\n")
    strings = ["13/03/2000", "01/03/2000", "02/03/2000"]
    rows = [f"{number},day,{text},2000-03-01" for number, text in enumerate(strings)]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    spec = SPEC.format(parser="", more="batch = true").replace("parsers:", "loads:day").replace('"1 s"', '"60 s"')
    (folder / "audit.toml").write_text(spec)
    return folder


def test_all_strings_that_the_clock_moves_are_listed_with_what_dateutil_makes_of_them(tmp_path: Path) -> None:
    partial = ["March 2024", "April 2024", "May 2023", "June 2022"]
    run = stored(tmp_path, "with_dateutil", ["2024-03-01", *partial])
    rows = run.moves().project("raw, environment, status, value, base_value, codes, is_prediction").fetchall()
    assert {json.loads(raw) for raw, *_ in rows} == set(partial)
    assert run.run.probe is not None
    clocks = {one.name: datetime.datetime.fromisoformat(one.clock) for one in run.run.probe.environments}
    days = {name: when.replace(tzinfo=None, hour=0, minute=0, second=0) for name, when in clocks.items()}
    base = datetime.datetime.fromisoformat(run.run.environment.clock).replace(tzinfo=None)
    for raw, environment, status, value, base_value, codes, is_prediction in rows:
        if environment.startswith("clock"):
            expected = parser.parse(json.loads(raw), default=days[environment]).date()
            assert (status, value) == ("value", f"date:{expected}")
        assert base_value == f"date:{parser.parse(json.loads(raw), default=base).date()}"
        assert (codes, is_prediction) == ("clock-dependent", True)
    assert {environment for _, environment, *_ in rows} & {name for name in clocks if name.startswith("clock")}


def test_a_loaded_run_lists_the_same(tmp_path: Path) -> None:
    run = stored(tmp_path, "with_dateutil", ["March 2024"], probe="quick")
    assert run.moves().fetchall() == auditor.load(run.folder).moves().fetchall() != []


def test_a_value_that_chance_moves_is_listed_with_a_launch_that_shows_it(tmp_path: Path) -> None:
    run = stored(
        tmp_path, "by_chance", [f"2024-03-0{day}" for day in range(1, 9)]
    )  # that none moves is one in 10 million
    rows = run.moves().project("codes, status, environment, raw, base_value, value").fetchall()
    assert rows
    for codes, status, environment, raw, base_value, value in rows:
        day = datetime.date.fromisoformat(json.loads(raw))
        both = {f"date:{day}", f"date:{day + datetime.timedelta(1)}"}
        assert (codes, status, {base_value, value}) == ("unstable", "value", both)
        assert environment is not None
    assert run.column("day", "billing").by_environment == ()


SECOND_START = """
import datetime, os

def is_first(name):
    try:
        os.close(os.open(os.path.join(os.path.dirname(__file__), name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

IS_BASE = datetime.date.today() == datetime.date(2024, 3, 8)
IS_SECOND = IS_BASE and not is_first("first") and is_first("second")

def day(text):
    return datetime.date.fromisoformat(text) + datetime.timedelta(IS_SECOND)
"""


def test_a_value_that_only_the_second_launch_of_the_base_moves_is_listed_with_it(tmp_path: Path) -> None:
    (tmp_path / "parsers.py").write_text(SECOND_START)
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,day,2024-03-10,2024-03-10\n")
    (tmp_path / "audit.toml").write_text(SPEC.format(parser="day", more=""))
    run = auditor.run(tmp_path)
    rows = run.moves().project("codes, status, raw, base_value, value, environment").fetchall()
    assert rows == [("unstable", "value", '"2024-03-10"', "date:2024-03-10", "date:2024-03-11", "base, again")]


def test_a_value_that_two_factors_together_move_is_listed_with_an_environment_that_shows_it(tmp_path: Path) -> None:
    run = stored(tmp_path, "by_clock_and_zone", ["2024-03-08"])
    rows = run.moves().project("codes, environment, status, value, base_value").fetchall()
    assert rows == [("clock-dependent", "everything 1", "value", "date:1999-01-01", "date:2024-03-08")]
    assert run.column("day", "billing").by_environment == ()


def test_a_row_that_its_neighbours_move_is_listed_with_the_company(tmp_path: Path) -> None:
    run = auditor.run(loading(tmp_path))
    found = run.moves().filter("codes = 'neighbour-dependent'").project("raw, environment, value, base_value")
    # Alone, 01/03/2000 is taken for the third of January; beside the thirteenth of a month for the first of March.
    assert ('"01/03/2000"', "alone", "datetime:2000-01-03T00:00:00", "datetime:2000-03-01T00:00:00") in found.fetchall()


def test_a_parser_of_the_string_alone_lists_nothing(tmp_path: Path) -> None:
    assert stored(tmp_path, "iso", ["2024-03-01", "March 2024"]).moves().fetchall() == []


def test_a_run_that_was_not_stored_has_no_list(tmp_path: Path) -> None:
    run = stored(tmp_path, "iso", ["2024-03-01"], probe="quick")
    assert run.folder is not None
    (run.folder / "moves.parquet").unlink()
    with pytest.raises(StoreError, match="stored by an older version"):
        run.moves()
    with pytest.raises(StoreError, match="store=True"):
        auditor.run(tmp_path, store=False, probe="off").moves()


def test_a_single_string_is_read_in_other_company_too(tmp_path: Path) -> None:
    # pandas takes the month first unless a row of the batch says otherwise.
    (reading,) = auditor.read("day", "01/03/2000", spec=loading(tmp_path))
    assert reading.decodings["billing"].value == "datetime:2000-01-03T00:00:00"
    by_company = {one.code: one for one in reading.dependences["billing"]}
    (decoding,) = by_company["neighbour-dependent"].decodings
    assert decoding.value == "datetime:2000-03-01T00:00:00"
    assert "before" in decoding.environment
    (off,) = auditor.read("day", "01/03/2000", spec=tmp_path, probe="off")
    assert off.dependences == {}


def test_a_string_that_no_company_moves_depends_on_none(tmp_path: Path) -> None:
    (reading,) = auditor.read("day", "13/03/2000", spec=loading(tmp_path, ", format='%d/%m/%Y'"))
    assert (reading.dependences, reading.not_varied) == ({}, {})
