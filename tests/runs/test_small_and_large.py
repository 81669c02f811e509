"""A small data set is audited in fewer and other queries than a large one, and comes out the same."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest

import auditor
import auditor.audit.decoding
from auditor.audit import transfer
from auditor.model.document import to_json_text
from auditor.score import verdict_table
from tests.pipeline import FOLDER

TABLES = ("pairs", "outcomes", "faults", "moves")


def audited(folder: Path) -> tuple[str, dict[str, list[tuple[object, ...]]]]:
    """Audit a workspace; gives run.json, and the rows of each table in one order."""
    done = auditor.run(folder, probe="quick")
    assert done.folder is not None
    files = {name: str(done.folder / f"{name}.parquet") for name in TABLES}
    tables = {}
    for name, file in files.items():
        columns = sorted(row[0] for row in duckdb.execute(f"DESCRIBE FROM '{file}'").fetchall())
        rows = duckdb.execute(f"SELECT {', '.join(columns)} FROM '{file}' ORDER BY ALL").fetchall()
        tables[name] = [tuple(columns), *rows]
    return to_json_text(done.run), tables


@pytest.mark.parametrize("scope", ["field", "payload"])
def test_the_thresholds_change_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1709888707")
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    spec = (tmp_path / "audit.toml").read_text()
    assert 'scope = "field"' in spec
    in_python_and_duckdb = re.sub(r"needs = \[.*\]", 'needs = ["no-such-program"]', spec)  # one that moves is enough
    (tmp_path / "audit.toml").write_text(in_python_and_duckdb.replace('scope = "field"', f'scope = "{scope}"'))
    references = (tmp_path / "records" / "references.csv").read_text()
    broken = references.replace(",24,5,false,", ",24,9,false,", 1)  # a risk score of 9, of at most 5
    assert broken != references
    (tmp_path / "records" / "references.csv").write_text(broken)
    small = audited(tmp_path)
    monkeypatch.setattr(auditor.audit.decoding, "SMALL", -1)
    monkeypatch.setattr(verdict_table, "TOGETHER", -1)
    for name in ("SHORT", "VERY_SHORT"):
        monkeypatch.setattr(transfer, name, -1)
    large = audited(tmp_path)
    assert "9 is no ordinal within 1..5" in small[0]
    assert small[1] == large[1]
    assert len(small[1]["moves"]) > 1, "billing reads dates without a day with the clock's"
    assert small[0] == large[0]
