"""The distributions of what a consumer imported: looked up once, and again when something is installed."""

from __future__ import annotations

from pathlib import Path

from auditor.decode.provenance import brought


def test_an_upgrade_between_two_launches_is_seen(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    (packages / "dateish").mkdir(parents=True)
    (packages / "dateish-1.0.dist-info").mkdir()
    imported = [("dateish.parser", str(packages / "dateish" / "parser.py"))]
    assert brought(imported).distributions == brought(imported).distributions == {"dateish": "1.0"}
    (packages / "dateish-1.0.dist-info").rename(packages / "dateish-2.0.dist-info")
    assert brought(imported).distributions == {"dateish": "2.0"}


def test_a_folder_that_is_gone_brings_nothing(tmp_path: Path) -> None:
    assert brought([("dateish", str(tmp_path / "site-packages" / "dateish.py"))]).distributions == {}
