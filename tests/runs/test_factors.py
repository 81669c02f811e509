"""Nothing is called varied that was not: neither a factor that a consumer has not, nor one that nothing shows."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Literal

import pytest

import auditor
from auditor.api import AuditedRun
from auditor.decode.clock import can_attribute
from auditor.report.environments import probe_line
from auditor.spec.models import ConsumerSpec

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process is set on Linux")

#: A program that answers each value with itself, and tells nothing of its environment.
PERL = r"""
$| = 1;
while (<>) {
    last if /"stop"/;
    if (/"start"/) { print qq({"ready": 1, "version": "1", "reads": ["day"]}\n) }
    else { /"id":(\d+).*"values":(\[.*\])/ and print qq({"id": $1, "values": $2}\n) }
}
"""

#: The same in Python; a value that names an instant is its day in the local zone.
PYTHON = """
import datetime, json, sys

def day(text):
    return datetime.datetime.fromisoformat(text).astimezone().date().isoformat()

def same(text):
    return text

def first(text):
    return next(iter({"2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04"}))

for line in sys.stdin:
    message = json.loads(line)
    if "stop" in message:
        break
    if "start" in message:
        answer = {"ready": 1, "version": "1", "reads": ["day", "same", "first"]}
    else:
        values = [globals()[message["read"]](text) for text in message["values"]]
        answer = {"id": message["id"], "values": values}
    print(json.dumps(answer), flush=True)
"""

BATCHES = """
import datetime

seen = []

def one(texts):
    return [datetime.date.fromisoformat(text) for text in texts]

def first(texts):
    seen.append("first")
    return one(texts)

def second(texts):
    return [day.replace(day=2) if seen else day for day in one(texts)]
"""


def audited(folder: Path, consumer: dict[str, object], *fields: str, string: str = "2024-03-01") -> AuditedRun:
    """Audit one consumer; quick probes vary every factor, too."""
    rows = [f"C1,{field},{string},2024-03-01" for field in fields]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    (folder / "answers.pl").write_text(PERL)
    (folder / "answers.py").write_text(PYTHON)
    (folder / "parsers.py").write_text(BATCHES)
    spec = {
        "name": "factors",
        "cases": {"predictions": str(folder / "records.csv"), "references": str(folder / "records.csv")},
        "fields": {field: {"type": "date", "reference": "typed"} for field in fields},
        "consumers": {"subject": {"root": str(folder), **consumer}},
    }
    return auditor.run(spec, probe="quick")


def varied(run: AuditedRun) -> set[str]:
    assert run.run.probe is not None
    return {factor for one in run.run.probe.environments for factor in one.varied}


def codes(run: AuditedRun) -> set[str]:
    return {finding.code for finding in run.findings if finding.code.endswith("-dependent")}


@pytest.mark.skipif(not shutil.which("perl"), reason="needs perl")
def test_a_program_that_is_not_python_has_no_hash_seed_and_nobody_is_scared(tmp_path: Path) -> None:
    run = audited(tmp_path, {"adapter": "process", "command": ["perl", "answers.pl"]}, "day")
    assert {"clock", "order"} <= varied(run)
    assert "hash" not in probe_line(run.run)
    assert not [note for note in run.run.consumers[0].not_varied if "hash" in note]


def test_a_zone_and_a_locale_that_a_program_does_not_tell_are_not_called_varied(tmp_path: Path) -> None:
    run = audited(tmp_path, {"adapter": "process", "command": [sys.executable, "answers.py"]}, "day")
    assert varied(run).isdisjoint({"zone", "locale"})
    assert "hash_seed" in varied(run)
    why = "set, but the program does not tell that it is in force"
    assert set(run.run.consumers[0].not_varied) == {f"zone: {why}", f"locale: {why}"}
    assert f"time zone not varied ({why})" in probe_line(run.run)


def test_a_program_with_a_zone_of_its_own_is_not_called_one_that_could_not_be_set(tmp_path: Path) -> None:
    # As PHP has it, whose zone is `date.timezone` of a file, and no TZ.
    told = PERL.replace('"reads": ["day"]', '"reads": ["day"], "offsets": [0, 0]')
    (tmp_path / "told.pl").write_text(told)
    program = {"adapter": "process", "command": ["perl", "told.pl"], "reads": ["day"]}
    run = audited(tmp_path, program, "day")
    assert "zone" not in varied(run)
    zones = [note for note in run.run.consumers[0].not_varied if note.startswith("zone")]
    assert zones
    assert {note.partition(": ")[2] for note in zones} == {"it was set, and the program tells that it has another"}
    assert "was set, and the program tells that it has another)" in probe_line(run.run)


def test_a_value_that_moves_with_the_zone_proves_that_the_zone_was_varied(tmp_path: Path) -> None:
    command = [sys.executable, "answers.py"]
    run = audited(tmp_path, {"adapter": "process", "command": command}, "day", string="2024-03-01T00:00:00+00:00")
    assert codes(run) == {"timezone-dependent"}
    assert "zone" in varied(run)
    assert [note for note in run.run.consumers[0].not_varied if note.startswith("zone")] == []
    ranged = {entry["zone"] for entry in run.column("day", "subject").by_environment}
    assert ranged == {"UTC", "Etc/GMT+12", "Pacific/Kiritimati", "America/New_York", "Asia/Kathmandu"}


def test_a_program_in_python_behind_a_shell_has_its_hash_seed_varied(tmp_path: Path) -> None:
    command = ["sh", "-c", '"$0" answers.py; exit', sys.executable]
    run = audited(tmp_path, {"adapter": "process", "command": command}, "first")
    assert codes(run) == {"hash-seed-dependent"}


def test_the_rows_of_a_batch_are_in_no_other_order_and_that_is_said(tmp_path: Path) -> None:
    run = audited(tmp_path, {"adapter": "python", "batch": True, "reads": {"one": "parsers:one"}}, "one")
    assert {"clock", "zone", "hash_seed"} <= varied(run)
    assert "order" not in varied(run)
    assert "orders of the strings" not in probe_line(run.run)
    assert "order not varied (batches: see neighbours)" in probe_line(run.run)


def test_the_batches_of_several_fields_are_still_read_in_reverse(tmp_path: Path) -> None:
    reads = {"first": "parsers:first", "second": "parsers:second"}
    run = audited(tmp_path, {"adapter": "python", "batch": True, "reads": reads}, "first", "second")
    assert "order-dependent" in codes(run)
    quiet = {"first": "parsers:one", "second": "parsers:one"}
    run = audited(tmp_path, {"adapter": "python", "batch": True, "reads": quiet}, "first", "second")
    assert codes(run) == set()
    assert "order" not in varied(run)
    assert "order: batches: see neighbours" in run.run.consumers[0].not_varied


def with_truth(
    folder: Path, truth: dict[str, object], own: dict[str, object], probe: Literal["full", "quick"] = "quick"
) -> AuditedRun:
    """Audit two consumers, the first of which reads the references, by the days of the run."""
    (folder / "records.csv").write_text("case_id,field,prediction,reference\nC1,day,2024-03-01,2024-03-01\n")
    (folder / "answers.py").write_text(PYTHON)
    (folder / "days.py").write_text(
        "import datetime\ndef today(text):\n    return datetime.date.today()\n"
        "def local(text):\n    return datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.timezone.utc)"
        ".astimezone().date()\n"
        "def iso(text):\n    return datetime.date.fromisoformat(text)\n"
    )
    spec = {
        "name": "factors",
        "cases": {"predictions": str(folder / "records.csv"), "references": str(folder / "records.csv")},
        "fields": {"day": {"type": "date", "reference": "truth"}},
        "consumers": {"truth": {"root": str(folder), **truth}, "own": {"root": str(folder), **own}},
    }
    return auditor.run(spec, probe=probe)


def python(target: str, **others: object) -> dict[str, object]:
    return {"adapter": "python", "reads": {"day": f"days:{target}"}, **others}


def test_a_column_has_no_range_over_clocks_that_its_consumer_was_not_read_at(tmp_path: Path) -> None:
    # A program behind a shell that clears its variables has the real clock, which the audit knows it cannot set.
    command = ["env", "-i", "sh", "-c", '"$0" answers.py; exit', sys.executable]
    run = with_truth(tmp_path, python("today"), {"adapter": "process", "command": command}, "full")
    assert "clock" in run.run.consumers[1].not_fixed
    assert len(run.column("day", "truth").by_environment) == 7
    assert run.column("day", "own").by_environment == ()


def test_a_program_whose_clock_cannot_be_set_is_started_once_for_each_environment(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    starts = tmp_path_factory.mktemp("starts") / "starts"  # what lies beside a program is part of it
    command = ["env", "-i", "sh", "-c", 'echo >> "$1"; "$0" answers.py; exit', sys.executable, str(starts)]
    run = audited(tmp_path, {"adapter": "process", "command": command}, "same")
    assert "clock" in run.run.consumers[0].not_fixed
    # All ways to set it are tried in the base; then that is known of the base again and of two other environments.
    ways = 2 if can_attribute(ConsumerSpec(name="c", adapter="python")) else 3
    assert starts.read_text().count("\n") == ways + 3


def test_a_column_has_no_range_over_zones_that_nothing_shows_its_consumer_to_have(tmp_path: Path) -> None:
    run = with_truth(tmp_path, python("local"), {"adapter": "process", "command": [sys.executable, "answers.py"]})
    assert {entry["zone"] for entry in run.column("day", "truth").by_environment} >= {"UTC", "Pacific/Kiritimati"}
    assert run.column("day", "own").by_environment == ()


@pytest.mark.parametrize("others", [{}, {"env": {"TZ": "Asia/Tokyo"}}], ids=["never moves", "sets its own zone"])
def test_a_column_that_does_not_move_has_the_range_of_its_references(tmp_path: Path, others: dict[str, object]) -> None:
    # 2024-03-01 12:00 UTC is 2 March in Kiritimati (+14) and 1 March in every other zone of the probes.
    run = with_truth(tmp_path, python("local"), python("iso", **others))
    right = {entry["zone"]: entry["ok"] for entry in run.column("day", "own").by_environment}
    assert len(right) == 5
    assert {zone for zone, ok in right.items() if not ok} == {"Pacific/Kiritimati"}
