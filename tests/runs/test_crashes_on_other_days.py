"""A parser that kills its process on other days only: a string that is read today and crashes tomorrow has moved."""

from __future__ import annotations

from pathlib import Path

import pytest

import auditor

PARSER = """
import datetime, os

def read(text):
    day = datetime.date.fromisoformat(text)
    if day.day in {days} and datetime.date.today().year != 2024:
        os._exit(3)
    return day
"""

STRINGS = [f"2024-03-{day:02}" for day in range(1, 7)]


@pytest.mark.parametrize("days", [(3,), (3, 4, 5), tuple(range(1, 7)), ()], ids=["one", "some", "all", "twin"])
def test_strings_that_crash_under_another_clock_are_found(tmp_path: Path, days: tuple[int, ...]) -> None:
    (tmp_path / "parsers.py").write_text(PARSER.replace("{days}", repr(days)))
    rows = [f"{text},day,{text},{text}" for text in STRINGS]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    run = auditor.run(
        {
            "name": "crashes",
            "cases": {name: str(tmp_path / "records.csv") for name in ("predictions", "references")},
            "fields": {"day": {"type": "date"}},
            "consumers": {"ledger": {"adapter": "python", "root": str(tmp_path), "reads": {"day": "parsers:read"}}},
        },
        store=False,
    )
    assert [(one.code, one.affected) for one in run.findings] == ([("clock-dependent", len(days))] if days else [])
    assert run.column("day", "ledger").verdicts["ok"] == len(STRINGS)
    assert run.run.consumers[0].not_varied == ()
