"""The commands as a user calls them, on the workspace that `auditor init` writes: files, exit codes, what is stored."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.command_line import call


def auditor(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Call the command line in a folder."""
    return call(*arguments, folder=folder, variables=environment())


def environment() -> dict[str, str]:
    """Let a fresh process import the package from where it is."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture(scope="module")
def initial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the sample workspace, once: no test changes it here."""
    folder = tmp_path_factory.mktemp("initial")
    done = auditor(folder, "init")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def workspace(initial: Path, tmp_path: Path) -> Path:
    """Give a sample workspace of a test's own."""
    return Path(shutil.copytree(initial, tmp_path, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True))


def replace_in(path: Path, old: str, new: str) -> None:
    """Change one part of a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_run_is_printed_stored_listed_and_rendered_again(initial: Path, workspace: Path) -> None:
    outputs = ["r.html", "r.json", "r.md", "r.csv"]
    done = auditor(workspace, "run", *(part for output in outputs for part in ("-o", output)))
    assert done.returncode == 1, done.stderr
    assert "effective_date" in done.stdout
    assert "billing: " in done.stderr, "without a terminal there is a line per consumer, and no bar"
    document = json.loads((workspace / "r.json").read_text())
    assert document["name"] == initial.name, "that of the folder in which `init` was called"
    assert {row["consumer"] for row in csv.DictReader((workspace / "r.csv").open())} >= {"billing", "warehouse"}

    listed = auditor(workspace, "runs")
    assert document["run_id"] in listed.stdout, listed.stderr
    again = auditor(workspace, "report", document["run_id"], *(f"-oagain/{output}" for output in outputs))
    assert again.returncode == 0, again.stderr
    for output in outputs:
        assert (workspace / output).read_bytes() == (workspace / "again" / output).read_bytes()
    assert "effective_date" in auditor(workspace, "report", "latest").stdout


def test_what_fails_a_run(workspace: Path) -> None:
    assert auditor(workspace, "run", "-q", "--probe", "off").returncode == 1
    quiet = auditor(workspace, "run", "-q", "--fail-on", "never")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_a_broken_reference_withholds_the_rates_and_writes_the_reports(workspace: Path) -> None:
    replace_in(workspace / "records/references.csv", "c-02,2024-03-01", "c-02,not stated")
    stopped = auditor(workspace, "run", "-o", "r.json", "--fail-on", "never", "--probe", "off")
    assert stopped.returncode == 3, stopped.stderr
    document = json.loads((workspace / "r.json").read_text())
    assert {column["content_rate"] for column in document["columns"]} == {None}
    assert any(finding["code"] == "broken-reference" for finding in document["findings"])

    options = ("--fail-on", "never", "--broken-references", "report", "--probe", "off")
    counted = auditor(workspace, "run", "-o", "r.json", *options)
    assert counted.returncode == 0, counted.stderr
    document = json.loads((workspace / "r.json").read_text())
    assert all(column["content_rate"] is not None for column in document["columns"])
    assert any(finding["code"] == "broken-reference" for finding in document["findings"])


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("audit.toml", "parsers:read_date", "parsers:read_dat", "consumer billing: could not be started"),
        ("audit.toml", "records/predictions.csv", "records/prediction.csv", "prediction.csv"),
        ("audit.toml", 'type = "date"', 'type = "dat"', "did you mean date?"),
        ("records/references.csv", "c-02", "c-01", "c-01"),
        ("consumers/billing/parsers.py", "import re", "import rr", "No module named 'rr'"),
    ],
)
def test_an_audit_that_cannot_be_done(workspace: Path, file: str, old: str, new: str, says: str) -> None:
    replace_in(workspace / file, old, new)
    done = auditor(workspace, "run", "-o", "r.json")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback (most recent call last)" not in done.stderr
    assert not (workspace / "r.json").exists()
    assert "no runs in" in auditor(workspace, "runs").stdout


def test_read_shows_every_consumer(workspace: Path) -> None:
    done = auditor(workspace, "read", "effective_date", "March 1, 2024", "2024-03-01")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split('"2024-03-01"')
    assert "read by some only" in first
    assert "date:2024-03-01" in first
    assert second.startswith("  read alike")
    off = ("--probe", "off")
    assert '"nothing"  read by none' in auditor(workspace, "read", "effective_date", "nothing", *off).stdout
    told = auditor(workspace, "read", "--spec", "audit.toml", "--json", "auto_renew", "true", *off).stdout
    assert "bool:true" in told
    assert "did you mean" in auditor(workspace, "read", "efective_date", "x").stderr


def test_a_reader_that_stops_early_changes_no_exit_code(workspace: Path) -> None:
    run = f"{sys.executable} -m auditor run --probe off --fail-on never"
    command = f"{run} | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=workspace, env=environment(), capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(workspace: Path, number: signal.Signals, code: int) -> None:
    begun = workspace / "begun"
    slow = f"    import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(60)"
    replace_in(workspace / "consumers/billing/parsers.py", "    text = text.strip()", slow)
    command = [sys.executable, "-m", "auditor", "run"]
    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # whatever the tests were started with
    started = subprocess.Popen(
        command, cwd=workspace, env=environment(), stderr=subprocess.PIPE, text=True, preexec_fn=default
    )
    while not begun.exists() and started.poll() is None:
        time.sleep(0.05)
    started.send_signal(number)
    _, said = started.communicate(timeout=30)
    assert started.returncode == code, said
    assert "Traceback" not in said
    runs = workspace / ".auditor" / "runs"
    assert not runs.exists() or list(runs.iterdir()) == []


def test_a_report_never_replaces_an_input(workspace: Path) -> None:
    """`-o` names the predictions: refused before the run, and the file is as it was."""
    predictions = next(workspace.rglob("*.csv"))
    before = predictions.read_bytes()
    done = auditor(workspace, "run", "-o", str(predictions))
    assert done.returncode == 2
    assert "is an input of the run" in done.stderr
    assert predictions.read_bytes() == before


def test_a_wrong_source_date_epoch_is_named(workspace: Path) -> None:
    """The variable is the user's, so the message is about it."""
    done = call("run", folder=workspace, variables=environment() | {"SOURCE_DATE_EPOCH": "abc"})
    assert (done.returncode, "SOURCE_DATE_EPOCH: 'abc' is no number" in done.stderr) == (2, True)


def test_what_is_wrong_with_several_consumers_is_said_at_once(tmp_path: Path) -> None:
    """A wrong function, a module that is not there and a wrong model: three starts fail, and one message says so."""
    (tmp_path / "parsers.py").write_text("def total(text): return int(text)\n")
    (tmp_path / "models.py").write_text("from pydantic import BaseModel\nclass Order(BaseModel):\n    total: int\n")
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,total,1,1\n")
    (tmp_path / "audit.toml").write_text(
        'name = "three"\n[cases]\npredictions = "records.csv"\nreferences = "records.csv"\n[fields.total]\n'
        'type = "integer"\n[consumers.billing]\nadapter = "python"\nreads.total = "parsers:totl"\n[consumers.ledger]\n'
        'adapter = "python"\nreads.total = "parser:total"\n[consumers.api]\nadapter = "pydantic"\n'
        'model = "models:Ordr"\n[consumers.sound]\nadapter = "python"\nreads.total = "parsers:total"\n'
    )
    for command in (("run",), ("read", "total", "1")):
        done = auditor(tmp_path, *command)
        assert done.returncode == 2
        assert "3 consumers could not be started" in done.stderr
        for hint in ("did you mean 'total'?", "did you mean 'parsers'?", "did you mean 'Order'?"):
            assert hint in done.stderr, hint
        assert "sound" not in done.stderr


def test_a_report_in_a_pipe_is_as_wide_as_a_page_unless_columns_says_otherwise(workspace: Path) -> None:
    auditor(workspace, "run", "-q", "--fail-on", "never", "--probe", "off")
    widest = {}
    for columns in ("", "70", "160"):
        variables = {name: value for name, value in environment().items() if name != "COLUMNS"}
        variables |= {"COLUMNS": columns} if columns else {}
        done = call("report", "latest", folder=workspace, variables=variables)
        widest[columns] = max(map(len, done.stdout.splitlines()))
    assert 90 < widest[""] <= 100 and widest["70"] <= 70 and 100 < widest["160"] <= 160


def test_runs_tell_expected_and_judged_cases_apart(workspace: Path) -> None:
    path = workspace / "records/predictions.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-2]) + "\n")
    auditor(workspace, "run", "-q", "--fail-on", "never", "--probe", "off")
    assert "  8 expected, 6 judged  " in auditor(workspace, "runs").stdout


def test_an_ambiguous_run_is_answered_with_a_short_list(workspace: Path) -> None:
    auditor(workspace, "run", "-q", "--fail-on", "never", "--probe", "off")
    [run] = (workspace / ".auditor/runs").iterdir()
    for number in range(12):
        (run.parent / f"29990101T0000{number:02}Z-aaaaaaaa").symlink_to(run)
    done = auditor(workspace, "report", "2999")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: run 2999: 12 runs start so; write more of the id, or `latest`",
        *(f"  29990101T0000{number:02}Z-aaaaaaaa" for number in range(11, 1, -1)),
        "  and 2 older; `auditor runs` lists them",
    ]


DASHED = ("-5 EUR", "-3 h", "-.5", "- 5 EUR", "-€5")


@pytest.fixture(scope="module")
def read_after_two_dashes(initial: Path) -> str:
    """Read all of them where nothing can be an option; gives what is printed."""
    done = auditor(initial, "read", "total", "--probe", "off", "--", *DASHED, "5 EUR")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("string", DASHED)
def test_a_string_that_begins_with_a_dash_is_a_string(workspace: Path, read_after_two_dashes: str, string: str) -> None:
    done = auditor(workspace, "read", "total", string, "5 EUR", "--probe", "off")
    assert done.returncode == 0, done.stderr
    raw = json.dumps(string, ensure_ascii=False)
    assert done.stdout.startswith(raw)
    own, last = done.stdout.split('"5 EUR"\n')
    assert own in read_after_two_dashes
    assert read_after_two_dashes.endswith(last)


def test_a_string_that_looks_like_an_option_is_told_what_to_do(workspace: Path) -> None:
    done = auditor(workspace, "read", "total", "-EUR 5", "--probe", "off")
    assert done.returncode == 2 and 'auditor read FIELD -- "-EUR 5"' in " ".join(done.stderr.split())
    assert auditor(workspace, "read", "total", "--probe", "off", "--", "-EUR 5").returncode == 0
