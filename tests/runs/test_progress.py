"""What a long run says of itself while it runs: a line per phase, and how far each consumer is."""

from __future__ import annotations

import csv
from contextlib import closing
from pathlib import Path

import pytest

from auditor.audit.events import CasesLoaded, Launches, Phase
from auditor.audit.events import Progress as Decoded
from auditor.audit.run import audit
from auditor.cli import progress
from auditor.cli.progress import finished, listening
from auditor.spec.read import read_spec
from tests.runs.test_commands import auditor


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    done = auditor(tmp_path, "init")
    assert done.returncode == 0, done.stderr
    return tmp_path


def distinct_values(workspace: Path) -> int:
    """Count (field, raw value) of both files, by hand."""
    found: set[tuple[str, str]] = set()
    for name in ("predictions", "references"):
        for row in csv.DictReader((workspace / f"records/{name}.csv").open()):
            found |= {(field, value) for field, value in row.items() if field != "case_id" and value}
    return len(found)


def test_without_a_terminal_there_is_a_line_per_phase(workspace: Path) -> None:
    done = auditor(workspace, "run", "--fail-on", "never", "--probe", "quick")
    lines = done.stderr.splitlines()
    assert lines[0] == "8 cases loaded, 8 of them to be judged"
    assert f"billing: {distinct_values(workspace)} raw values decoded ({progress.COUNTED})" in lines
    phases = [
        "reading again in other environments",
        "reading single values and known junk",
        "comparing, and looking for bugs",
    ]
    assert [line for line in lines if line in phases] == phases
    assert not any("environments" in line for line in auditor(workspace, "run", "--probe", "off").stderr.splitlines())


def test_every_launch_is_told_while_it_happens(workspace: Path) -> None:
    told: list[Launches] = []
    with closing(audit(read_spec(workspace), store=False, probe="full", tell=told.append)) as events:
        seen = list(events)
    assert next(type(event) for event in seen if isinstance(event, CasesLoaded | Phase)) is CasesLoaded
    for consumer in ("billing", "warehouse"):
        of_one = [(event.done, event.known) for event in told if event.consumer == consumer]
        # The base again, and four environments in which everything is changed; nothing moves, so that is all.
        assert of_one == [(done, 5) for done in range(6)]


def test_a_slow_phase_gives_a_sign_of_life_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 4.0, 10.0, 11.0, 25.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with listening(quiet=False) as listen:
        for done in range(5):
            listen(Launches("billing", done, 24))
    assert capsys.readouterr().err.splitlines() == [
        "billing: 2 of 24 environments so far",
        "billing: 4 of 24 environments so far",
    ]


def test_one_value_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(quiet=False) as listen:
        listen(Decoded("billing", 1, 1))
        listen(Decoded("billing", 1, 1))
    assert capsys.readouterr().err == (f"billing: 1 raw value decoded ({progress.COUNTED})\n")


def test_quiet_is_quiet(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        listening(quiet=True) as listen,
        closing(audit(read_spec(workspace), store=False, probe="off", tell=listen)) as events,
    ):
        assert finished(events, listen).run.cases.judged == 8
    assert capsys.readouterr().err == ""
