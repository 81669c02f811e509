"""Kinds of parsers after public bug reports that move in few environments only, each beside a correct one.

Each parser is the few lines that the bug consists of, so that what it depends on is known from them.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import pytest

import auditor
from auditor.api import AuditedRun
from auditor.decode.locales import locale_state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process is set on Linux")


class Kind(NamedTuple):
    """A field: who reads it, its type, its strings, those that move, and the code that is due."""

    group: str
    type: str
    strings: tuple[str, ...]
    moved: tuple[str, ...]
    code: str


KINDS = {
    # The local day, and not that of UTC, is 29 February, a 31st, or over for the office.
    "leap_day": Kind("usual", "date", ("2024-03-01",), ("2024-03-01",), "clock-dependent"),
    "last_day": Kind("usual", "date", ("2024-03-01",), ("2024-03-01",), "clock-dependent"),
    "evening": Kind("usual", "date", ("2024-03-01",), ("2024-03-01",), "clock-dependent"),
    # An offset that is no whole number of hours, or of half hours (India, Nepal).
    "whole_hours": Kind(
        "usual", "datetime", ("2024-03-01T10:00:00Z",), ("2024-03-01T10:00:00Z",), "timezone-dependent"
    ),
    # A Thai machine counts years from 543 BC.
    "buddhist": Kind("usual", "date", ("2567-03-01",), ("2567-03-01",), "locale-dependent"),
    # Two strings move a third one, which stands between them.
    "after_two": Kind("usual", "integer", ("1", "2", "3"), ("2",), "order-dependent"),
    "first_of_two": Kind("usual", "date", ("01/03/2024",), ("01/03/2024",), "hash-seed-dependent"),
    # Local times that London skips, and an abbreviation that New Zealand knows.
    "skipped": Kind("asked", "datetime", ("2024-03-31T01:30:00",), ("2024-03-31T01:30:00",), "timezone-dependent"),
    "abbreviated": Kind(
        "asked",
        "datetime",
        ("2024-03-01 10:00 NZDT", "2024-03-01 10:00 UTC"),
        ("2024-03-01 10:00 NZDT",),
        "timezone-dependent",
    ),
    # Dutch and Polish names of months.
    "dutch": Kind("asked", "date", ("3 maart 2024",), ("3 maart 2024",), "locale-dependent"),
    "polish": Kind("asked", "date", ("3 marca 2024",), ("3 marca 2024",), "locale-dependent"),
    # The majority of a batch, and the share of it that is nothing.
    "majority": Kind(
        "batch", "date", ("01/03/2024", "02/03/2024"), ("01/03/2024", "02/03/2024"), "neighbour-dependent"
    ),
    "mostly_empty": Kind("batch", "integer", ("1", "2", "3"), ("1", "2", "3"), "neighbour-dependent"),
}

WRONG = """
import datetime, locale, os, time
locale.setlocale(locale.LC_ALL, "")
iso = datetime.date.fromisoformat
moment = datetime.datetime.fromisoformat
day = datetime.timedelta(1)

def leap_day(text):
    here = time.localtime()
    return iso(text) + day if (here.tm_mon, here.tm_mday) == (2, 29) else iso(text)

def last_day(text):
    return iso(text) + day if time.localtime().tm_mday == 31 else iso(text)

def evening(text):
    return iso(text) + day if time.localtime().tm_hour >= 17 else iso(text)

def whole_hours(text):
    local = moment(text).astimezone()
    return local.replace(tzinfo=None) - datetime.timedelta(hours=local.utcoffset() // datetime.timedelta(hours=1))

def buddhist(text):
    found = iso(text)
    return found.replace(year=found.year - 543) if locale.getlocale()[0].startswith("th") else found

seen = set()

def after_two(text):
    moves = text == "2" and {"1", "3"} <= seen
    seen.add(text)
    return int(text) + moves

def first_of_two(text):
    for form in {"%d/%m/%Y", "%m/%d/%Y"}:
        return datetime.datetime.strptime(text, form).date()

def skipped(text):
    return datetime.datetime.fromtimestamp(moment(text).timestamp())

def abbreviated(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M %Z")

def dutch(text):
    return datetime.datetime.strptime(text, "%d %B %Y").date()

polish = dutch

def read(form, text):
    try:
        return datetime.datetime.strptime(text, form).date()
    except ValueError:
        return None

def majority(rows):
    day_first = sum(row[:2] == "13" for row in rows) * 2 > len(rows)
    return [read("%d/%m/%Y" if day_first else "%m/%d/%Y", row) for row in rows]

def mostly_empty(rows):
    share = sum(row.isdigit() for row in rows) / len(rows)
    return [int(row) if row.isdigit() and share > 0.5 else None for row in rows]
"""

RIGHT = """
import datetime
iso = datetime.date.fromisoformat
moment = datetime.datetime.fromisoformat
MONTHS = {"maart": 3, "marca": 3}
leap_day = last_day = evening = buddhist = iso

def whole_hours(text):
    return moment(text).replace(tzinfo=None)

skipped = whole_hours

def after_two(text):
    return int(text)

def first_of_two(text):
    return datetime.datetime.strptime(text, "%d/%m/%Y").date()

def abbreviated(text):
    return datetime.datetime.strptime(text[:16], "%Y-%m-%d %H:%M")

def dutch(text):
    day, month, year = text.split()
    return datetime.date(int(year), MONTHS[month], int(day))

polish = dutch

def read(text):
    try:
        return datetime.datetime.strptime(text, "%d/%m/%Y").date()
    except ValueError:
        return None

def majority(rows):
    return [read(row) for row in rows]

def mostly_empty(rows):
    return [int(row) if row.isdigit() else None for row in rows]
"""

#: No string of a case: each field has one reference, which is in canonical form.
REFERENCES = {"date": "2031-07-09", "datetime": "2031-07-09T00:00:00", "integer": "9"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> AuditedRun:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "wrong.py").write_text(WRONG)
    (folder / "right.py").write_text(RIGHT)
    rows = [
        {"case_id": str(number), "field": name, "prediction": text, "reference": REFERENCES[kind.type]}
        for name, kind in KINDS.items()
        for number, text in enumerate(kind.strings)
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    records = str(folder / "records.jsonl")
    consumers = {
        f"{group}_{module}": {
            "adapter": "python",
            "root": str(folder),
            "batch": group == "batch",
            "reads": {name: f"{module}:{name}" for name, kind in KINDS.items() if kind.group == group},
        }
        for group in ("usual", "asked", "batch")
        for module in ("wrong", "right")
    }
    fields = {name: {"type": kind.type, "reference": "typed"} for name, kind in KINDS.items()}
    cases = {"predictions": records, "references": records}
    return auditor.run({"name": "kinds", "cases": cases, "fields": fields, "consumers": consumers}, store=False)


def moved(run: AuditedRun, name: str, module: str) -> dict[str, set[str]]:
    """Give the strings among the predictions that findings of a field show as moved, by code."""
    found: dict[str, set[str]] = {}
    for finding in run.findings:
        is_its = finding.field == name and finding.consumers == (f"{KINDS[name].group}_{module}",)
        if is_its and (finding.code.endswith("-dependent") or finding.code == "unstable"):
            found.setdefault(finding.code, set()).update(json.loads(one.raw) for one in finding.witnesses)
    return {code: strings & set(KINDS[name].strings) for code, strings in found.items()}


@pytest.mark.parametrize("name", KINDS)
def test_what_moves_in_few_environments_is_found_with_its_cause(run: AuditedRun, name: str) -> None:
    locale = {"buddhist": "th_TH", "dutch": "nl_NL", "polish": "pl_PL"}.get(name)
    if locale and locale_state(f"{locale}.UTF-8") == "missing":
        assert any(note.startswith(f"locale {locale}") for one in run.run.consumers for note in one.not_varied)
        return
    assert moved(run, name, "wrong") == {KINDS[name].code: set(KINDS[name].moved)}


@pytest.mark.parametrize("name", KINDS)
def test_a_correct_parser_of_the_same_strings_stays_silent(run: AuditedRun, name: str) -> None:
    assert moved(run, name, "right") == {}
