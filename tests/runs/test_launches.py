"""What a launch must be like to count: its clock is that of its environment, whoever else is audited beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import pytest

import auditor
from auditor.api import AuditedRun
from auditor.decode import launches
from auditor.decode import session as session_module

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process is set on Linux")

#: A program that reads the clock, and tells which it has only if it is asked to.
PROGRAM = """
import datetime, json, sys, time

for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        answer = {"ready": 1, "version": "1", "reads": ["day"]}
        if "tell" in sys.argv:
            answer["now"] = int(time.time() * 1000)
    elif "stop" in message:
        break
    else:
        answer = {"id": message["id"], "values": [datetime.date.today().isoformat() for _ in message["values"]]}
    print(json.dumps(answer), flush=True)
"""

LATE = """
import datetime, time

def day(text):
    if text == "hangs" or (text == "odd" and datetime.date.today().year != 2024):
        time.sleep(60)
    return datetime.date(2024, 3, 1)
"""


def audited(
    folder: Path,
    strings: list[str],
    consumers: dict[str, dict[str, object]],
    probe: Literal["full", "quick"] = "full",
) -> AuditedRun:
    rows = [f"{number},day,{text},2024-03-08" for number, text in enumerate(strings)]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    return auditor.run(
        {
            "name": "launches",
            "cases": {"predictions": str(folder / "records.csv"), "references": str(folder / "records.csv")},
            "fields": {"day": {"type": "date"}},
            "consumers": {name: {"root": str(folder), **one} for name, one in consumers.items()},
        },
        store=False,
        probe=probe,
    )


def test_a_program_keeps_the_clock_that_serves_it_beside_one_that_needs_another(tmp_path: Path) -> None:
    """What a shell starts has no patched clock but a preloaded one, where there is a compiler; that is for it alone."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "run.sh").write_text(f"#!/bin/sh\n{sys.executable} program.py tell\n")
    silent = {"adapter": "process", "command": [sys.executable, "program.py"], "reads": ["day"]}
    wrapped = {"adapter": "process", "command": ["sh", "run.sh"], "reads": ["day"]}
    launches._served.clear()
    alone = audited(tmp_path, ["a", "b"], {"silent": silent}, "quick")
    for _ in range(2):  # what served is remembered for the next time
        beside = audited(tmp_path, ["a", "b"], {"silent": silent, "wrapped": wrapped}, "quick")
        for run in (alone, beside):
            codes = [one.code for one in run.findings if one.consumers == ("silent",)]
            assert "clock-dependent" in codes
            assert "unstable" not in codes
            (summary,) = [one for one in run.run.consumers if one.name == "silent"]
            assert [note for note in summary.not_varied if note.startswith("clock")] == []
        assert beside.column("day", "silent").flips == alone.column("day", "silent").flips != {}


@pytest.mark.parametrize("strings", [["odd", "x"], ["odd", "x", "hangs"]])
def test_a_string_that_is_late_elsewhere_is_noted_whatever_is_late_in_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strings: list[str]
) -> None:
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    (tmp_path / "parsers.py").write_text(LATE)
    late = {"adapter": "python", "timeout": "400 ms", "reads": {"day": "parsers:day"}}
    notes = audited(tmp_path, strings, {"late": late}).run.consumers[0].not_varied
    assert any('no answer in time for "odd"' in note or "gave no answer on" in note for note in notes), notes
