"""One poison string of each kind in 50,000 costs one decoding each, and changes no other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import duckdb
import pytest

import auditor
from auditor.decode import session as session_module
from auditor.decode import supervise
from tests.sessions import PARSERS, open_consumer, quoted, shown

WORDS = ("order", "invoice", "tab\tnumber", "ünïcode", 'quo"te', "back\\slash")

KINDS = {
    "segfault": "crashed: signal 11 SIGSEGV",
    "busy_hang": "timed_out: no answer within 1 s",
    "sleep": "timed_out: no answer within 1 s",
    "leave": "crashed: exit code 3",
    "exit_politely": "crashed: SystemExit: good bye",
    "kill_itself": "crashed: signal 9 SIGKILL",
    "abort": "crashed: signal 6 SIGABRT",
    "eat_memory": "crashed: MemoryError",
    "recurse": "rejected: RecursionError: maximum recursion depth exceeded",
    "flood": "text:flooded",
    "close_everything": "crashed: closed the descriptors of its process",
}


def sound_strings(count: int) -> list[str]:
    """Give strings that are read (1 in 7 as null) or, every 11th, rejected."""
    return [f"{WORDS[n % len(WORDS)]} {n if n % 11 else 'x'}{n}" for n in range(count)]


def test_eleven_poisons_in_fifty_thousand(monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    monkeypatch.setattr(supervise, "SLOW", 1.5)
    clean = sound_strings(50_000)
    mixed = list(clean)
    places = {kind: 2_000 + 4_300 * number for number, kind in enumerate(KINDS)}
    for kind, place in places.items():
        mixed.insert(place, kind)
    settings = {"timeout": 1.0, "memory": 256 * 1024**2}
    with open_consumer(PARSERS, {"f": "poison:read"}, **settings) as session:
        expected = shown(session.decode("f", quoted(clean)))
    counted: list[int] = []
    with open_consumer(PARSERS, {"f": "poison:read"}, **settings) as session:
        decodings = session.decode("f", quoted(mixed), progress=counted.append)
    found = shown(decodings)
    assert {kind: found[place] for kind, place in places.items()} == KINDS
    others = [outcome for place, outcome in enumerate(found) if place not in places.values()]
    assert others == expected
    assert decodings.warnings == {}
    assert counted == sorted(counted)
    assert counted[-1] == len(mixed)


@pytest.mark.parametrize("kind", ["leave", "sleep"])
def test_the_only_string_is_poison(kind, monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    with open_consumer(PARSERS, {"f": "poison:read"}, timeout=0.3) as session:
        assert shown(session.decode("f", quoted([kind])))[0].startswith(("crashed", "timed_out"))
        assert shown(session.decode("f", quoted(["order 5"]))) == ["int:5"]


def test_neighbouring_poisons():
    strings = ["leave", "segfault", "order 1", "leave", "close_everything", "close_everything", "order 2", "abort"]
    with open_consumer(PARSERS, {"f": "poison:read"}) as session:
        found = shown(session.decode("f", quoted(strings)))
    assert found == [KINDS.get(text, f"int:{text[-1]}") for text in strings]


def audit_of(folder: Path, predictions: list[str]) -> auditor.AuditedRun:
    """Audit strings against themselves where they are read, else, and for every 13th, against another."""
    folder.mkdir()
    with (folder / "records.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["case_id", "field", "prediction", "reference"])
        for text in predictions:
            number = text.rsplit(" ", 1)[-1]
            sound = number.isdigit() and int(number) % 7 != 0 and int(number) % 13 != 0
            rows.writerow([text, "f", text, text if sound else "order 5"])
    consumer = {"adapter": "python", "root": str(PARSERS), "reads": {"f": "poison:read"}}
    spec = {
        "name": "poison",
        "cases": {"predictions": str(folder / "records.csv"), "references": str(folder / "records.csv")},
        "fields": {"f": {"type": "identifier", "reference": "subject"}},
        "consumers": {"subject": consumer | {"timeout": 1.0, "memory": "256MB"}},
    }
    return auditor.run(spec, probe="quick")


def outcomes_of(run: auditor.AuditedRun) -> list[tuple[object, ...]]:
    """Give every outcome with its error, but for the numbers that follow from the place in the file."""
    return (
        duckdb.connect()
        .sql(f"""
        SELECT o.* EXCLUDE (unit), f.error FROM '{run.folder}/outcomes.parquet' o
        LEFT JOIN '{run.folder}/faults.parquet' f USING (unit) ORDER BY token
    """)
        .fetchall()
    )


def test_a_whole_audit_counts_each_poison_once_and_changes_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    monkeypatch.setattr(supervise, "SLOW", 1.5)
    monkeypatch.chdir(tmp_path)  # where the runs are stored
    clean = sound_strings(50_000)
    mixed = list(clean)
    for number, kind in enumerate(KINDS):
        mixed.insert(2_000 + 4_300 * number, kind)
    without, with_poison = audit_of(tmp_path / "clean", clean), audit_of(tmp_path / "mixed", mixed)
    before, after = (run.column("f", "subject").verdicts for run in (without, with_poison))
    added = {"timed_out": 2, "crashed": 7, "rejected": 1, "wrong": 1}
    assert {name: after[name] - before[name] for name in after} == dict.fromkeys(after, 0) | added
    assert sum(after.values()) == len(mixed)
    tokens = {json.dumps(kind) for kind in KINDS}
    assert [row for row in outcomes_of(with_poison) if row[1] not in tokens] == outcomes_of(without)
