"""Whole audits over consumers on several SQL engines, and one string through all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import auditor
from auditor.cli.main import app
from tests.engines.adapters import need

SPEC = """
name = "engines"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.total]
type = "decimal"
[consumers.app]
adapter = "sql"
engine = "sqlite"
reads.total = "cast({value} as decimal(18, 2))"
[consumers.ledger]
adapter = "sql"
engine = "mariadb"
reads.total = "cast({value} as decimal(18, 2))"
[consumers.books]
adapter = "sql"
engine = "postgres"
reads.total = "cast({value} as numeric(18, 2))"
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write an audit of three engines, of which two make a number of what is none."""
    need("mariadb")
    need("postgres")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text(SPEC)
    (tmp_path / "predictions.csv").write_text('case_id,total\n1,12.50\n2,N/A\n3,"1,234.50"\n4,7\n')
    (tmp_path / "references.csv").write_text("case_id,total\n1,12.50\n2,3\n3,1234.50\n4,7\n")
    return tmp_path


def test_what_an_engine_only_warns_of_is_a_sentinel(workspace: Path) -> None:
    run = auditor.run(workspace / "audit.toml", probe="off")
    found = {finding.consumers: finding for finding in run.findings if finding.code == "sentinel-collapse"}
    assert set(found) == {("app",), ("ledger",)}
    assert "Truncated incorrect DECIMAL value" in found[("ledger",)].detail
    assert "SQLite took what it begins with" in found[("app",)].detail
    warned = [one.decodings["ledger"].warning for one in found[("ledger",)].witnesses]
    assert "Warning 1292 Truncated incorrect DECIMAL value: 'N/A'" in warned
    assert all(one.decodings["books"].warning is None for one in found[("ledger",)].witnesses)
    rejected = {column.consumer: column.verdicts["rejected"] for column in run.columns}
    assert rejected == {"app": 0, "ledger": 0, "books": 2}
    engines = {consumer.name: consumer.settings["engine"].split()[0] for consumer in run.run.consumers}
    assert engines == {"app": "sqlite", "ledger": "mariadb", "books": "postgres"}


def test_read_shows_what_an_engine_warned_of(workspace: Path) -> None:
    done = CliRunner().invoke(app, ["read", "total", "N/A", "12.50", "--probe", "off"])
    assert done.exit_code == 0, done.output
    assert "warning: Warning 1292 Truncated incorrect DECIMAL value: 'N/A'" in done.output
    assert done.output.count("warning: ") == 2
    assert "books   rejected: 22P02" in done.output
