"""What the README shows of the library is what the library does."""

import doctest
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_sessions_in_the_readme_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert done.failed == 0
    assert done.attempted >= 8
