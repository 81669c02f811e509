"""Files: by suffix, whole or not at all, the same bytes from the same run, and nothing imported that is not needed."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.errors import AuditorError
from auditor.model.document import from_document
from auditor.report import SUFFIXES, check_suffix, render, render_text
from tests.rooms.report_samples import HOSTILE, SAMPLE, hostile

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_suffix_picks_the_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / f"report{suffix.upper()}"
    render(SAMPLE, path)
    assert path.read_text(encoding="utf-8") == render_text(SAMPLE, suffix)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_the_formats_are_what_they_say(tmp_path: Path) -> None:
    assert SUFFIXES == (".html", ".json", ".md", ".csv", ".junit.xml", ".sarif")
    assert render_text(SAMPLE, ".html").startswith("<!doctype html>")
    assert from_document(json.loads(render_text(SAMPLE, ".json"))) == SAMPLE
    assert render_text(SAMPLE, ".md").startswith("## contracts")
    assert render_text(SAMPLE, ".csv").startswith("field,consumer,label,")


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.html.gz"])
def test_an_unknown_suffix_names_the_known_ones(name: str, tmp_path: Path) -> None:
    with pytest.raises(AuditorError, match=r"\.html, \.json, \.md, \.csv"):
        render(SAMPLE, tmp_path / name)
    with pytest.raises(AuditorError):
        check_suffix(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_report_without_room_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        with pytest.raises(AuditorError, match=r"report\.html: the report could not be written: File too large"):
            render(SAMPLE, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert path.read_text() == "old" and [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_in_the_way_is_an_error_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(AuditorError, match=r"report\.json"):
        render(SAMPLE, tmp_path / "report.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(AuditorError, match="could not be written"):
        render(SAMPLE, tmp_path / "file" / "report.md")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "report.json"]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_hostile_data_is_written_as_utf8(name: str, suffix: str, tmp_path: Path) -> None:
    render(hostile(HOSTILE[name]), tmp_path / f"report{suffix}")
    (tmp_path / f"report{suffix}").read_text(encoding="utf-8")


PROGRAM = """
import hashlib, io, sys
from rich.console import Console
from auditor.report import SUFFIXES, render_text, write_terminal
from tests.rooms.report_samples import BROKEN, SAMPLE, hostile
out = io.StringIO()
for run in (SAMPLE, BROKEN, hostile("x")):
    for suffix in SUFFIXES:
        out.write(render_text(run, suffix))
    write_terminal(run, Console(file=out, width=100))
print(hashlib.sha256(out.getvalue().encode()).hexdigest())
print(sorted({"duckdb", "pyarrow", "sqlglot", "pydantic", "msgspec"} & {name.split(".")[0] for name in sys.modules}))
"""


def _run(program: str, **env: str) -> str:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_run_gives_the_same_bytes_anywhere_and_needs_no_engine() -> None:
    one = _run(PROGRAM, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8")
    other = _run(PROGRAM, PYTHONHASHSEED="4242", TZ="Asia/Kathmandu", LC_ALL="C", COLUMNS="40")
    assert one == other
    assert one.splitlines()[1] == "[]"


def test_the_room_imports_nothing_heavy_until_it_renders() -> None:
    said = _run("import sys, auditor.report; print({'jinja2', 'rich', 'csv'} & set(sys.modules))")
    assert said.strip() == "set()"
