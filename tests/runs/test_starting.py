"""Workers start where they are entered and nowhere else: what is between the two leaks nothing."""

from __future__ import annotations

import threading
from pathlib import Path

from auditor.audit.starting import Starting
from auditor.spec.read import read_spec

SPEC = """
name = "starts"
[cases]
predictions = "p.csv"
references = "r.csv"
id = "id"
[fields.day]
type = "date"
reference = "each"
[consumers.billing]
owner = "billing"
adapter = "python"
reads.day = "parsers:day"
"""


def test_nothing_runs_before_it_is_entered_and_twice_is_once(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(SPEC)
    (tmp_path / "parsers.py").write_text("import datetime\nday = datetime.date.fromisoformat\n")
    for name in ("p.csv", "r.csv"):
        (tmp_path / name).write_text("id,day\n1,2024-03-01\n")
    spec = read_spec(tmp_path / "audit.toml")
    before = set(threading.enumerate())
    starting = Starting(spec, list(spec.consumers.values()))
    assert set(threading.enumerate()) == before
    with starting, starting:
        (session,) = starting.ready().values()
        assert session.decode("day", ['"2024-03-01"']).texts == ["date:2024-03-01"]
    assert set(threading.enumerate()) == before
