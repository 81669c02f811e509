"""Which strings move with the clock, parser by parser: five clocks find what two dozen show, and blame nothing clean.

The truth is a plain loop over the parsers in a fresh process at each instant, which shares with the auditor the tool
that fixes the clock (and each process says what its clock was) and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.decode.clock import at_clock, can_fix_clock
from auditor.decode.session import open_session
from auditor.decode.stop import Stop
from auditor.model.dependence import Probed
from auditor.model.environment import Environment
from auditor.probe import Question
from auditor.probe.environments import course_of
from auditor.probe.launch import Launcher
from auditor.probe.probe import probe_consumer
from auditor.probe.sent import Sent
from auditor.probe.zones import zones_for
from tests.sessions import described_in, quoted
from tests.versions import node_modules, python_of

pytestmark = pytest.mark.skipif(not can_fix_clock(), reason="plain programs see another clock on Linux x86-64 only")

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
KIT = PROGRAMS.parents[1] / "consumers" / "protocol" / "Consumer.java"

#: Leap days, ends of months and years, hours that daylight saving skips or repeats, and ordinary days.
INSTANTS = [
    *(
        "2000-03-01T00:00:01",
        "2001-01-31T12:00:00",
        "2003-05-15T09:30:00",
        "2004-02-29T22:00:00",
        "2007-07-04T17:45:00",
    ),
    *(
        "2010-10-10T10:10:10",
        "2012-02-29T23:00:00",
        "2015-03-29T01:30:00",
        "2016-12-31T12:00:00",
        "2019-11-03T05:30:00",
    ),
    *(
        "2020-04-30T08:00:00",
        "2022-02-28T23:59:59",
        "2023-06-09T06:00:00",
        "2024-02-29T09:00:00",
        "2024-03-01T00:00:00",
    ),
    *(
        "2024-03-10T07:30:00",
        "2025-01-01T00:00:30",
        "2026-11-30T09:00:00",
        "2028-08-08T20:20:20",
        "2031-08-30T23:00:00",
    ),
]

#: Beyond the clocks of the probes only years of two digits may move: where they turn depends on the year of the clock.
BEYOND = ["1985-06-15T12:00:00", "1992-02-29T08:00:00", "1999-12-31T23:59:59", "2037-12-31T23:59:00"]

#: A date with a zone is an instant, whatever the machine's zone.
ZONED = [
    *("2024-03-01T00:00:00Z", "2024-03-01T23:59:59+14:00", "2024-03-01T10:30:00.5-08:00", "March 1, 2024 10:30 GMT"),
    *("Fri, 01 Mar 2024 10:30:00 +0100", "2024-03-01 10:30 EST", "1 March 2024 23:00 UTC-5", "2016-05-08 03:10:20 PDT"),
]

STRINGS = [
    *ZONED,
    # Dates that say all, times beside them.
    *("2024-03-01", "2024-02-29", "20240301", "2024-3-1", "01/03/2024", "13/03/2024", "29/02/2024", "31/12/1999"),
    *("March 1, 2024", "1 March 2024", "1st of March 2024", "Friday, March 1, 2024", "2024-03-01T10:30:00"),
    *("2024-03-01 10:30", "01.03.2024", "2024/03/01", "2024-W09-5", "2024-061", "1709888707", "March 1, 2024 10:30 PM"),
    # A day is missing, or a month.
    *("March 2024", "Mar 2024", "February 2024", "2024-03", "03/2024", "2024", "1999", "Q1 2024", "February 2023"),
    # A year is missing.
    *("Feb 29", "February 29", "29 February", "March 1", "Mar 31", "31 March", "12/25", "02/29", "April 31"),
    *("1 March", "December 31", "March 1 10:30", "--02-29", "03-01"),
    # Numbers.
    *("1", "9", "15", "29", "30", "31", "32", "99", "0315", "240301", "15th", "31st"),
    # Years of two digits, on both sides of what fixed and sliding windows have.
    *(
        "1/2/59",
        "1/2/75",
        "1/2/68",
        "1/2/20",
        "12/31/49",
        "02/29/24",
        "29.02.04",
        "1-Mar-24",
        "March 1, '24",
        "03/01/45",
    ),
    # Times.
    *("10:30", "23:59:59", "10:30 PM", "3pm", "noon", "T10:30", "10:30+02:00", "00:00"),
    # Days of the week, and relative ones.
    *(
        "Friday",
        "Fri",
        "Monday 10:30",
        "next Friday",
        "today",
        "yesterday",
        "tomorrow",
        "now",
        "2 days ago",
        "in 3 weeks",
    ),
    *("last month", "next month", "a year ago", "1 hour ago", "end of month", "this week", "next year"),
    # None at all.
    *("", " ", "N/A", "not stated", "TBD", "-", "30 days", "P30D", "upon signature"),
]

CLEAN = {"arrow", "iso_date", "iso_datetime", "formats", "js_date_with_a_zone", "time_two_digits", "local_date"}
CLEAN |= {"local_date_time"}

#: Library → its parsers.
PYTHON = {
    "dateutil": ("dateutil", "dateutil_day_first"),
    "dateparser": ("dateparser",),
    "pandas": ("timestamp", "to_datetime"),
    "pendulum": ("pendulum_strict", "pendulum_loose"),
    "clean": ("arrow", "iso_date", "iso_datetime", "formats"),
}

Outcomes = Mapping[str, Mapping[str, Sequence[str]]]


def table(command: Sequence[str], given: str) -> Outcomes:
    """Give by instant what each parser makes of each string, in a fresh process each."""

    def at(instant: str) -> tuple[str, Mapping[str, Sequence[str]]]:
        variables = os.environ | {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            at_clock(command, instant), input=given, env=variables, capture_output=True, text=True, check=True
        )
        answer = json.loads(done.stdout)
        assert answer["now"] == datetime.fromisoformat(f"{instant}+00:00").timestamp() * 1000, "the clock is not fixed"
        return instant, answer["found"]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(at, [*INSTANTS, *BEYOND]))


def moving(outcomes: Outcomes, parser: str, instants: Sequence[str]) -> set[str]:
    """Give the strings that a parser does not read alike at some instants."""
    seen = zip(*(outcomes[instant][parser] for instant in instants), strict=True)
    return {text for text, values in zip(STRINGS, seen, strict=True) if len(set(values)) > 1}


def probed(folder: Path, strings: Mapping[str, Sequence[str]], types: Mapping[str, str], **consumer: Any) -> Probed:
    """Probe one consumer over strings of each of its fields; which line reads the clock is left out."""
    reads = consumer.pop("reads", {name: name for name in strings})
    settings = {"timeout": 30.0, "memory": 4 << 30} | consumer
    spec, described = described_in(folder, reads, {name: types.get(name, "datetime") for name in strings}, **settings)
    sent = {name: Sent(quoted(texts)) for name, texts in strings.items()}
    base = Environment()
    with open_session(spec, described, base, spec.fields) as session:
        decoded = {name: session.decode(name, sent[name].tokens) for name in strings}
    questions = {
        name: Question(spec.fields[name], 1, lambda _, name=name: sent[name], lambda _, name=name: decoded[name])
        for name in strings
    }
    zones = zones_for(token for one in sent.values() for token in one.tokens)
    course = replace(course_of(base, {}, "full", zones), attributes=False)
    with closing(Stop()) as stop, ThreadPoolExecutor(os.cpu_count()) as pool:
        launcher = Launcher(spec, described, base, None, None, pool, stop)
        return probe_consumer(launcher, questions, course, lambda *_: None)


def check(found: Probed, outcomes: Outcomes, parsers: Sequence[str]) -> None:
    """Hold what the probes found against the table."""
    assert found.not_varied == ()
    for parser in parsers:
        codes: dict[str, set[str]] = {}
        for mover in found.movers:
            if mover.place[0] == parser:
                codes.setdefault(mover.code, set()).add(json.loads(mover.string))
        by_clock = moving(outcomes, parser, INSTANTS)
        if parser in CLEAN:
            assert not codes and not by_clock, (parser, codes, by_clock)
            continue
        assert codes.get("clock-dependent", set()) == by_clock, parser
        assert "unstable" not in codes, (parser, codes["unstable"])
        beyond = moving(outcomes, parser, [*INSTANTS, *BEYOND]) - by_clock
        assert all(has_two_digits(text) for text in beyond), (parser, beyond)


def has_two_digits(text: str) -> bool:
    return any(len(part) == 2 and part.isdigit() for part in text.replace("/", " ").replace("-", " ").split())


def python_reads(parsers: Sequence[str]) -> dict[str, str]:
    return {parser: f"clock_table:{parser}" for parser in parsers}


@pytest.fixture(scope="module")
def of_python() -> tuple[Outcomes, Probed]:
    """Read everything once, a field for each parser: a process that imports all libraries takes as long as two."""
    parsers = [parser for group in PYTHON.values() for parser in group]
    outcomes = table([sys.executable, str(PROGRAMS / "clock_table.py"), *parsers], json.dumps(STRINGS))
    strings = dict.fromkeys(parsers, STRINGS)
    return outcomes, probed(PROGRAMS, strings, {"iso_date": "date"}, reads=python_reads(parsers))


@pytest.mark.parametrize("library", PYTHON)
def test_parsers_of_python(of_python: tuple[Outcomes, Probed], library: str) -> None:
    outcomes, found = of_python
    parsers = PYTHON[library]
    check(found, outcomes, parsers)
    assert all(moving(outcomes, parser, INSTANTS) for parser in parsers if parser not in CLEAN), (
        "no table to hold it against"
    )


def test_dateutil_of_the_line_before() -> None:
    interpreter = python_of("python-dateutil", "2.9.0.post0")
    parsers = PYTHON["dateutil"]
    outcomes = table([interpreter, str(PROGRAMS / "clock_table.py"), *parsers], json.dumps(STRINGS))
    strings = dict.fromkeys(parsers, STRINGS)
    check(probed(PROGRAMS, strings, {}, reads=python_reads(parsers), interpreter=interpreter), outcomes, parsers)


def test_casts_of_duckdb(tmp_path: Path) -> None:
    types = {"a_date": "date", "a_timestamp": "datetime", "an_instant": "datetime"}
    casts = ("date", "timestamp", "timestamptz")
    reads = {name: f"try_cast({{value}} as {cast})" for name, cast in zip(types, casts, strict=True)}
    strings = dict.fromkeys(types, STRINGS)
    strings["an_instant"] = ZONED  # others are in the zone of the session, which is another dependence
    found = probed(tmp_path, strings, types, reads=reads, adapter="sql", engine="duckdb")
    assert (found.movers, found.not_varied) == ((), ())


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on PATH")
def test_parsers_of_node() -> None:
    packages = (("moment", "2.31.0"), ("luxon", "3.7.2"), ("chrono-node", "2.10.3"))
    folders = [str(node_modules(*package)) for package in packages]
    program = str(PROGRAMS / "clock_table.mjs")
    outcomes = table(["node", program, "table", *folders], json.dumps(STRINGS))
    parsers = list(outcomes[INSTANTS[0]])
    strings = {name: ZONED if name == "js_date_with_a_zone" else STRINGS for name in parsers}
    command = ("node", program, "serve", *folders)
    found = probed(PROGRAMS, strings, {}, adapter="process", command=command)
    check(found, outcomes, parsers)
    assert {mover.place[0] for mover in found.movers if mover.code == "clock-dependent"} == {
        *("chrono", "luxon_iso", "luxon_month_and_day", "moment_month_and_day", "moment_time")
    }


@pytest.mark.skipif(shutil.which("javac") is None, reason="no javac on PATH")
def test_parsers_of_java(tmp_path: Path) -> None:
    subprocess.run(["javac", "-nowarn", "-d", str(tmp_path), str(KIT), str(PROGRAMS / "ClockTable.java")], check=True)
    command = ["java", "-cp", str(tmp_path), "ClockTable"]
    outcomes = table([*command, "table"], "\n".join(STRINGS))
    parsers = list(outcomes[INSTANTS[0]])
    types = {"time_two_digits": "date", "local_date": "date"}
    found = probed(tmp_path, dict.fromkeys(parsers, STRINGS), types, adapter="process", command=(*command, "serve"))
    check(found, outcomes, parsers)
    assert {mover.place[0] for mover in found.movers if mover.code == "clock-dependent"} == {
        "old_date",
        "simple_two_digits",
    }
