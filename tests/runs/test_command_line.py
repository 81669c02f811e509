"""What `tests.command_line` forks is what `python -m auditor` starts: all that is seen of it is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import call

SPEC = """
name = "shop"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
[consumers.billing]
adapter = "python"
reads.day = "parsers:day"
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("runn",), 2),
        (("read", "day", "2024-03-01", "März", "--probe", "off"), 0),
        (("run", "--probe", "off", "--fail-on", "never"), 0),
        (("run", "--probe", "off"), 1),
        (("run", "-o", "report.odd"), 2),
    ],
)
def test_a_forked_command_is_the_started_one(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    (tmp_path / "audit.toml").write_text(SPEC)
    (tmp_path / "parsers.py").write_text("from datetime import date\n\ndef day(text): return date.today()\n")
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,day,2024-03-02,2024-03-01\n")
    variables = os.environ | {"COLUMNS": "90", "SOURCE_DATE_EPOCH": "1709888707"}
    forked = call(*arguments, folder=tmp_path, variables=variables)
    command = [sys.executable, "-m", "auditor", *arguments]
    started = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120)
    assert started.returncode == code, started.stderr
    assert (forked.returncode, sorted(forked.stderr.splitlines())) == (code, sorted(started.stderr.splitlines()))
    assert forked.stdout == started.stdout


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(SPEC)
    (tmp_path / "parsers.py").write_text("import time\ntime.sleep(60)\n")
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,day,2024-03-02,2024-03-01\n")
    with pytest.raises(subprocess.TimeoutExpired):
        call("run", folder=tmp_path, timeout=2)
