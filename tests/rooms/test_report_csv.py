"""The columns as CSV: every number in full, a line per column, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import pytest

from auditor.model.run import Run
from auditor.report.csv import csv_text
from tests.rooms.report_samples import BROKEN, DISTINCT, DISTINCT_RUN, EMPTY, HOSTILE, SAMPLE, hostile


def rows(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(run)), strict=True))


def test_every_number_is_there_under_its_name() -> None:
    (row,) = rows(DISTINCT_RUN)
    expected: dict[str, float] = {f"blocked_{name}": count for name, count in DISTINCT.blocked_by.items()}
    expected |= DISTINCT.verdicts
    expected |= {"support": 70001, "judged": 60013, "blocked": 9988, "recoverable": 5003, "broken_references": 347}
    expected |= {"unreferenced": 331, "unexpected": 337, "lost_to_shape": 7441, "lost_to_value": 11003}
    expected |= {"coverage": 60013 / 70001, "content_rate": 40009 / 60013, "usable_rate": 40009 / 70001}
    expected |= {"interval_low": 0.6628, "interval_high": 0.6704, "ceiling": 51012 / 60013}
    expected |= {"ceiling_interval_low": 0.8471, "ceiling_interval_high": 0.8528}
    assert {name: float(row[name]) for name in expected} == expected


def test_a_line_per_column_and_a_header_even_for_none() -> None:
    lines = csv_text(SAMPLE).splitlines()
    assert len(lines) == 1 + 14
    assert csv_text(EMPTY).splitlines() == lines[:1]


def test_untrusted_is_a_column_and_withheld_is_empty() -> None:
    untrusted = [row for row in rows(SAMPLE) if row["untrusted"]]
    assert [(row["field"], row["untrusted"]) for row in untrusted] == [
        ("auto_renew", "constant-output sentinel-collapse")
    ]
    assert {row[name] for row in rows(BROKEN) for name in ("content_rate", "ceiling", "interval_low")} == {""}
    assert {row[name] for row in rows(BROKEN) for name in ("ok", "wrong", "recoverable", "accepted")} == {""}
    assert {row["judged"] for row in rows(BROKEN)} == {"233"}


@pytest.mark.parametrize(
    "data", [*HOSTILE.values(), "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1"]
)
def test_no_cell_from_data_is_a_formula(data: str) -> None:
    text = csv_text(hostile(data))
    assert len(text.splitlines()) == 3
    text.encode()
    for row in rows(hostile(data)):
        for value in row.values():
            assert value.isascii() or value[0] != "＝"
            if value.lstrip()[:1] in tuple("=+-@\t\r"):
                assert value == "" or float(value) is not None


def test_a_formula_gets_an_apostrophe_and_a_number_none() -> None:
    first, _ = rows(hostile("=1+1"))
    assert first["field"] == "'=1+1"
    assert first["judged"] == "9"
    assert rows(hostile("plain"))[0]["field"] == "plain"
