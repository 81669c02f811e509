"""What is said of a parser that depends on something else: titles, choice of readings, causes and lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.findings.dependence_cause import cause_text, file_text, location_of
from auditor.findings.dependence_title import distinct_readings, title_of
from auditor.findings.dependence_words import WORDS
from auditor.model.dependence import Answer, Mover, Site
from auditor.model.environment import Environment
from auditor.probe.environments import course_of
from auditor.probe.phases import CODE_OF

BASE = Environment()


def value(text: str) -> Answer:
    return Answer("v", text, text)


def mover(code: str, *readings: tuple[str, Answer], **more: object) -> Mover:
    return Mover(("day", 0, 0), '"March 2024"', code, (("base", value("date:2024-03-08")), *readings), **more)  # type: ignore[arg-type]


def title(moving: Mover) -> str:
    return title_of("billing", moving.string, moving, WORDS[moving.code], BASE)


def test_every_code_of_the_probes_has_its_words() -> None:
    assert set(CODE_OF.values()) <= set(WORDS)


@pytest.mark.parametrize(
    ("code", "name", "ending"),
    [
        (
            "clock-dependent",
            "clock 2024-03-31 09:05",
            "if it runs on 2024-03-08, and as 2024-03-29 if it runs on 2024-03-31",
        ),
        (
            "timezone-dependent",
            "zone Europe/Berlin",
            "where the zone is UTC, and as 2024-03-29 where it is Europe/Berlin",
        ),
        ("locale-dependent", "locale de_DE.UTF-8", "under the locale C, and as 2024-03-29 under de_DE"),
        ("hash-seed-dependent", "hash seed 3", "with hash seed 0, and as 2024-03-29 with hash seed 3"),
        ("order-dependent", "order reversed", "in the order of the data, and as 2024-03-29 in another one (reversed)"),
        ("order-dependent", "base without the other strings", "data, and as 2024-03-29 without the other strings"),
        ("unstable", "base, 3rd time", "in one run, and as 2024-03-29 in another, identical one"),
        ("unstable", "everything 3", "in one run, and as 2024-03-29 in another (everything 3)"),
        ("unstable", "no network", "with a network, and as 2024-03-29 without one"),
        (
            "unstable",
            "another folder and HOME",
            "in the folder of the audit, and as 2024-03-29 with another working folder, HOME and umask",
        ),
    ],
)
def test_a_title_names_two_environments_and_two_values(code: str, name: str, ending: str) -> None:
    said = title(mover(code, (name, value("date:2024-03-29"))))
    assert said.startswith('billing reads "March 2024" as 2024-03-08 ')
    assert f"{ending}: " in said


def test_runs_are_called_identical_only_where_they_are() -> None:
    reading = value("date:2024-03-29")
    assert title(mover("unstable", ("base, 3rd time", reading))).endswith(": two identical runs do not agree")
    assert title(mover("unstable", ("everything 3", reading))).endswith(": identical runs do not always agree")
    assert title(mover("unstable", ("no network", reading))).endswith(": it depends on the network")
    assert title(mover("unstable", ("another folder and HOME", reading))).endswith(": it depends on where it runs")


def test_a_title_takes_the_names_that_the_probes_give() -> None:
    for singles in course_of(BASE, {}, "full").singles.values():
        for environment in singles:
            (factor,) = environment.differs_in(BASE)
            said = title(mover(CODE_OF[factor], (environment.name, value("date:2024-03-29"))))
            assert "2024-03-29" in said and "()" not in said and "{" not in said


def test_parts_that_come_from_the_clock_are_named() -> None:
    reading = ("clock 2031-08-31 18:45", value("date:2031-08-31"))
    one = mover("clock-dependent", reading, components=("day",))
    assert title(one).endswith(": the day comes from the clock")
    three = mover("clock-dependent", reading, components=("acceptance", "year", "month", "day"))
    assert title(three).endswith(": the year, month and day come from the clock")
    acceptance = mover("clock-dependent", ("clock 2031-08-31 18:45", Answer("r")), components=("acceptance",))
    assert title(acceptance).endswith("as an error if it runs on 2031-08-31: it depends on the day it runs")


def test_factors_that_move_only_together_are_both_named() -> None:
    joint = mover("clock-dependent", ("everything 1", value("date:1999-01-01")), together=("clock", "zone"))
    assert "in the base, and as 1999-01-01 where clock and zone differ: " in title(joint)


def test_the_nearest_day_and_a_zone_where_people_live_come_first() -> None:
    days = [("clock 2000-02-29 06:06", "29"), ("clock 2031-08-31 18:45", "31"), ("clock 2024-03-31 09:05", "31")]
    shown = distinct_readings(mover("clock-dependent", *((n, value(f"date:2024-03-{d}")) for n, d in days)), BASE)
    assert [name for name, _ in shown] == ["clock 2024-03-31 09:05", "clock 2000-02-29 06:06"]
    zones = [("zone Etc/GMT+12", "07"), ("zone Pacific/Kiritimati", "09"), ("zone America/New_York", "07")]
    shown = distinct_readings(mover("timezone-dependent", *((n, value(f"date:2024-03-{d}")) for n, d in zones)), BASE)
    assert [name for name, _ in shown] == ["zone America/New_York", "zone Pacific/Kiritimati"]


def test_a_long_string_does_not_fill_a_title() -> None:
    long = Mover(
        ("day", 0, 0), '"' + "x" * 9000 + '"', "unstable", (("base", value("text:" + "y" * 9000)), ("b", Answer("n")))
    )
    assert len(title_of("billing", long.string, long, WORDS["unstable"], BASE)) < 400


SITE = Site(
    "/opt/v/lib/python3.11/site-packages/dateutil/parser/_parser.py", 637, "parse", at_import=False, proven=True
)


def test_a_proven_line_is_told_from_a_candidate() -> None:
    proven = [mover("clock-dependent", ("b", Answer("n")), site=SITE)]
    assert "Proven by changing the clock of this line alone: dateutil/parser/_parser.py:637 in parse." in cause_text(
        proven, (), Path("/srv")
    )
    location = location_of(proven, Path("/srv"))
    assert location is not None
    assert (location.file, location.line) == ("dateutil/parser/_parser.py", 637)
    candidate = [mover("clock-dependent", ("b", Answer("n")), candidates=(SITE,))]
    assert "Candidate lines, which read the clock" in cause_text(candidate, (), Path("/srv"))
    assert location_of(candidate, Path("/srv")) is None
    assert "line" not in cause_text([mover("clock-dependent", ("b", Answer("n")))], (), Path("/srv"))


def test_hints_follow_the_proof() -> None:
    said = cause_text([mover("clock-dependent", ("b", Answer("n")))], ("calls current_date (the clock)",), Path("/srv"))
    assert said.endswith("Its SQL hints at it: calls current_date (the clock).")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/srv/billing/ingest.py", "billing/ingest.py"),
        ("/srv/.venv/lib/python3.11/site-packages/a/b.py", "a/b.py"),
        ("/usr/lib/python3/dist-packages/a.py", "a.py"),
        ("/usr/lib/python3.11/datetime.py", "lib/python3.11/datetime.py"),
        ("/elsewhere/ingest.py", "/elsewhere/ingest.py"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
    ],
)
def test_a_file_is_named_alike_on_every_machine(file: str, name: str) -> None:
    assert file_text(file, Path("/srv")) == name
