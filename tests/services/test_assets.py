"""What pages load: the vendored libraries are those that are named, whole, and only pages with charts may run them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from auditor.service import rendering
from auditor.service.access import CONTENT_POLICY
from auditor.service.charts import HEADERS

ASSETS = Path(rendering.__file__).parent / "assets"
VENDOR = ASSETS / "vendor"
ROWS = [line.split() for line in (VENDOR / "VENDORED.txt").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("package", "version", "licence", "path", "sha256"), ROWS, ids=[row[0] for row in ROWS])
def test_a_vendored_file_is_the_one_that_is_named(
    package: str, version: str, licence: str, path: str, sha256: str
) -> None:
    data = (VENDOR / Path(path).name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == sha256
    assert "University of Washington" in (VENDOR / f"LICENSE-{package}").read_text()
    assert licence == "BSD-3-Clause"
    if package != "vega-interpreter":  # which names no version of its own
        assert f'"{version}"'.encode() in data


def test_every_vendored_file_is_named() -> None:
    scripts = {path.name for path in VENDOR.iterdir() if path.suffix == ".js"}
    assert scripts == {Path(row[3]).name for row in ROWS}


def test_every_script_finds_what_it_imports() -> None:
    """A browser knows no bare names: each module that is imported is an asset."""
    found = 0
    for name in ("charts.js", "vega-interpreter.js", "vega-util.js"):
        asset = rendering.asset(name)
        assert asset is not None
        assert asset[1] == "text/javascript"
        for module in re.findall(r"""^import .* from ['"]([^'"]+)['"]""", asset[0].decode(), re.MULTILINE):
            assert module.startswith("./")
            assert rendering.asset(module[2:]) is not None
            found += 1
    assert found == 2


def test_no_other_asset_is_given() -> None:
    for name in ("vendor/vega.min.js", "VENDORED.txt", "../pages.py", "LICENSE-vega", ""):
        assert rendering.asset(name) is None


def test_scripts_are_of_ours_and_evaluate_no_text() -> None:
    assert "script-src" not in CONTENT_POLICY
    assert HEADERS["Content-Security-Policy"] == f"{CONTENT_POLICY}; script-src 'self'"
