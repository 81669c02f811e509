"""What a user sees of environments, on the command line and from the library, with real parsers.

What a parser does under a clock is known from its documentation: dateutil fills a missing day in from the clock, cut to
the month's length, and puts a year of two digits within fifty years of the clock's year.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import auditor
from auditor.model.run import Finding
from tests.command_line import call

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process is set on Linux")

PARSERS = """
import datetime
from dateutil import parser

def with_dateutil(text):
    return parser.parse(text).date()

def iso(text):
    return datetime.date.fromisoformat(text)

def in_local_zone(text):
    return datetime.datetime.fromisoformat(text).astimezone().date()
"""

SPEC = """
name = "environments"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
[fields.signed]
type = "date"
[consumers.billing]
adapter = "python"
reads.day = "parsers:with_dateutil"
[consumers.portal]
adapter = "python"
reads.day = "parsers:iso"
reads.signed = "parsers:in_local_zone"
"""

#: "March 2024" is the 8th on the base clock and the 31st on a 31st; "2024-03-08" is itself everywhere.
RECORDS = """case_id,field,prediction,reference
C-1,day,March 2024,2024-03-08
C-2,day,2024-03-08,2024-03-08
C-3,day,March 2024,2024-03-31
C-1,signed,2024-03-01T00:00:00+00:00,2024-03-01
"""

REPORTS = ("r.json", "r.html", "r.md", "r.csv", "r.junit.xml")


def write(folder: Path) -> Path:
    (folder / "parsers.py").write_text(PARSERS)
    (folder / "records.csv").write_text(RECORDS)
    (folder / "audit.toml").write_text(SPEC)
    return folder


def command(folder: Path, *arguments: str) -> str:
    """Call the command line; gives what it prints."""
    done = call(*arguments, folder=folder, variables=os.environ | {"COLUMNS": "300"}, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit once with everything; the reports lie in the folder, what was printed in `printed`."""
    folder = write(tmp_path_factory.mktemp("full"))
    outputs = [part for name in REPORTS for part in ("-o", name)]
    (folder / "printed").write_text(command(folder, "run", "--fail-on", "never", *outputs))
    return folder


@pytest.fixture(scope="module")
def document(full: Path) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((full / "r.json").read_text())
    return loaded


def finding(document: dict[str, object], code: str) -> dict[str, object]:
    found: list[dict[str, object]] = [one for one in document["findings"] if one["code"] == code]  # type: ignore[attr-defined]
    assert len(found) == 1
    return found[0]


def test_the_title_says_what_two_days_make_of_one_string(document: dict[str, object]) -> None:
    title = finding(document, "clock-dependent")["title"]
    assert title == (
        'billing reads "March 2024" as 2024-03-08 if it runs on 2024-03-08, and as 2024-03-01 if it runs on '
        "2024-03-01: the day comes from the clock"
    )


def test_a_zone_is_named_that_a_reader_may_live_in(document: dict[str, object]) -> None:
    assert finding(document, "timezone-dependent")["title"] == (
        'portal reads "2024-03-01T00:00:00+00:00" as 2024-03-01 where the zone is UTC, and as 2024-02-29 where it is '
        "America/New_York: it depends on the time zone of the machine"
    )


def test_the_witnesses_of_one_string_differ_in_environment_and_value(document: dict[str, object]) -> None:
    witnesses = finding(document, "clock-dependent")["witnesses"]
    seen = {
        one["decodings"]["billing"]["environment"]: one["decodings"]["billing"]["value"]
        for one in witnesses  # type: ignore[attr-defined]
    }
    assert {one["raw"] for one in witnesses} == {'"March 2024"'}  # type: ignore[attr-defined]
    assert seen["base"] == "date:2024-03-08"
    assert seen["clock 2024-03-01 09:05"] == "date:2024-03-01"
    assert seen["clock 2024-03-31 09:05"] == "date:2024-03-31"
    assert len(seen.values()) == len(set(seen.values())), "no value is shown twice"


def test_the_rate_its_range_and_the_flips_are_those_of_the_days(full: Path, document: dict[str, object]) -> None:
    # On the 8th C-1 and C-2 are right, on a 31st C-2 and C-3, on any other day C-2 alone: two of three, or one.
    columns: list[dict[str, object]] = document["columns"]  # type: ignore[assignment]
    (billing,) = [one for one in columns if (one["field"], one["consumer"]) == ("day", "billing")]
    by_day = {one["clock"][:10]: (one["ok"], one["flips"]) for one in billing["by_environment"]}  # type: ignore[attr-defined]
    assert by_day["2024-03-08"] == (2, 0)
    assert by_day["2024-03-31"] == by_day["2021-12-31"] == by_day["2031-08-31"] == (2, 2)
    assert by_day["2024-03-01"] == by_day["2000-02-29"] == by_day["2022-01-01"] == (1, 1)
    assert billing["flips"] == {"clock": 2}, "C-1 and C-3, however many days they flip on"
    printed = (full / "printed").read_text()
    assert "66.7 % (33.3–66.7)" in printed
    assert "33.3–66.7 % over 7 clocks, 2 verdicts flip" in printed


def test_every_report_names_what_was_tested_and_what_moved(full: Path) -> None:
    reports = {name: (full / name).read_text() for name in ("printed", "r.html", "r.md")}
    for name, text in reports.items():
        assert "over 7 clocks, 2 verdicts flip" in text, name
        assert "2000-02-29 06:06" in text and "2031-08-31 18:45" in text, name
        assert "clock-dependent" in text, name
    tests = ElementTree.parse(full / "r.junit.xml").iter("testcase")
    billing = next(one.findtext("system-out") for one in tests if one.get("classname") == "column.day")
    assert "blocked; 33.3–66.7 % over 7 clocks, 2 verdicts flip" in billing
    row = next(csv.DictReader((full / "r.csv").open(encoding="utf-8")))
    assert (row["depends"], row["range_flips"], row["probe"]) == ("clock-dependent", "2", "full")
    assert len(json.loads(row["by_environment"])) == 7


def test_the_run_keeps_the_environments_with_the_consumers_that_were_asked(document: dict[str, object]) -> None:
    probe: dict[str, object] = document["probe"]  # type: ignore[assignment]
    environments: list[dict[str, object]] = probe["environments"]  # type: ignore[assignment]
    assert probe["level"] == "full"
    assert {name for one in environments for name in one["consumers"]} == {"billing", "portal"}  # type: ignore[attr-defined]
    clocks = {str(one["clock"])[:10] for one in environments if one["varied"] == ["clock"]}
    assert clocks == {"2000-02-29", "2021-12-31", "2022-01-01", "2024-03-01", "2024-03-31", "2031-08-31"}
    assert all(one["varied"] for one in environments), "the base is no other environment"


def test_a_stored_run_is_rendered_again_to_the_byte(full: Path) -> None:
    command(full, "report", "latest", *(part for name in REPORTS for part in ("-o", f"again/{name}")))
    for name in REPORTS:
        assert (full / name).read_bytes() == (full / "again" / name).read_bytes(), name


def test_without_probes_every_report_says_so(tmp_path: Path) -> None:
    outputs = [part for name in REPORTS for part in ("-o", name)]
    printed = command(write(tmp_path), "run", "--probe", "off", "--fail-on", "never", *outputs)
    for text in (printed, (tmp_path / "r.html").read_text(), (tmp_path / "r.md").read_text()):
        assert "not probed (--probe off)" in text.replace("\\", "")
    assert {row["probe"] for row in csv.DictReader((tmp_path / "r.csv").open(encoding="utf-8"))} == {"off"}
    assert json.loads((tmp_path / "r.json").read_text())["probe"] == {"level": "off", "environments": []}


def test_read_prints_what_moves_where_and_why_and_one_line_for_what_does_not(tmp_path: Path) -> None:
    lines = command(write(tmp_path), "read", "day", "March 2024", "2024-03-01").splitlines()
    march, iso = (
        lines.index('"March 2024"  read by some only; moves for billing'),
        lines.index('"2024-03-01"  read alike'),
    )
    about_march = "\n".join(lines[march:iso])
    assert "date:2024-03-08\n" in about_march
    assert "date:2024-03-29  [clock 2000-02-29 06:06]" in about_march
    assert "date:2024-03-01  [clock 2022-01-01 00:00, clock 2024-03-01 09:05]" in about_march
    assert "clock-dependent (day): " in about_march
    assert "portal   rejected: ValueError: Invalid isoformat string: 'March 2024'  [the same in 4" in about_march
    assert [line.split("  [")[1] for line in lines[iso + 1 : iso + 3]] == ["the same in 4 other environments]"] * 2


def test_a_headline_calls_nothing_alike_that_moves(tmp_path: Path) -> None:
    asked = ("read", "signed", "2024-03-01T00:00:00+00:00", "--probe", "quick")
    raw = json.dumps(asked[2])
    # The instant is 29 February in zones west of Greenwich, for a parser that turns it into a local day.
    assert command(write(tmp_path), *asked).splitlines()[0] == f"{raw}  moves for portal"
    reads = 'reads.day = "parsers:with_dateutil"'
    (tmp_path / "audit.toml").write_text(SPEC.replace(reads, f'{reads}\nreads.signed = "parsers:with_dateutil"'))
    headline = command(tmp_path, *asked).splitlines()[0]
    assert headline == f"{raw}  read alike in the base environment; moves for portal"


def test_read_without_probes_says_so(tmp_path: Path) -> None:
    printed = command(write(tmp_path), "read", "day", "March 2024", "--probe", "off")
    assert printed.splitlines()[-1] == "not probed (--probe off): read in the base environment only"
    assert "clock" not in printed


def test_the_library_gives_the_environments_of_a_reading(tmp_path: Path) -> None:
    march, day = auditor.read("day", "March 2024", "2024-03-01", spec=write(tmp_path))
    (dependence,) = march.dependences["billing"]
    assert (dependence.code, dependence.components) == ("clock-dependent", ("day",))
    assert {one.environment: one.value for one in dependence.decodings}["clock 2024-03-31 09:05"] == "date:2024-03-31"
    assert (set(march.dependences), day.dependences, day.agree) == ({"billing"}, {}, True)
    assert march.decodings["billing"].environment == "base"
    assert day.environments == {"billing": 4, "portal": 4}
    (quick,) = auditor.read("signed", "2024-03-01T00:00:00+00:00", spec=tmp_path, probe="quick")
    assert [one.code for one in quick.dependences["portal"]] == ["timezone-dependent"]
    (off,) = auditor.read("day", "March 2024", spec=tmp_path, probe="off")
    assert (off.dependences, off.environments) == ({}, {})


def test_a_reading_that_depends_on_nothing_else_has_no_finding(document: dict[str, object]) -> None:
    findings: list[Finding | dict[str, object]] = document["findings"]  # type: ignore[assignment]
    moving = {(one["code"], *one["consumers"]) for one in findings if str(one["code"]).endswith("-dependent")}  # type: ignore[index]
    assert moving == {("clock-dependent", "billing"), ("timezone-dependent", "portal")}


WAREHOUSE = """
name = "warehouse"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.day]
type = "date"
[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
reads.day = "coalesce(try_cast({value} as date), current_date)"
[consumers.mart]
adapter = "sql"
engine = "duckdb"
reads.day = "try_cast({value} as timestamptz)::date"
[consumers.plain]
adapter = "sql"
engine = "duckdb"
reads.day = "try_cast({value} as date)"
"""


def test_a_hint_stands_beside_the_proof_and_alone_where_there_is_none(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "audit.toml").write_text(WAREHOUSE)
    run = auditor.run(folder, store=False, probe="quick")
    today = "calls current_date (the clock; DuckDB: CONSISTENT_WITHIN_QUERY)"
    assert run.column("day", "warehouse").hints == (today,)
    (found,) = [one for one in run.findings if one.code == "clock-dependent"]
    assert found.consumers == ("warehouse",), "try_cast of March 2024 is NULL, and current_date stands in for it"
    assert today in found.cause
    assert run.column("day", "plain").hints == ()
    # No string of the records has an offset, and the zone of the session gives a day back as it took it.
    hints = run.column("day", "mart").hints
    assert any("takes a date from an instant" in hint for hint in hints)
    assert [one.code for one in run.findings if one.code.endswith("-dependent") and "mart" in one.consumers] == []
    for suffix in (".html", ".md", ".csv"):
        text = run.write(tmp_path / f"r{suffix}").read_text()
        assert "takes a date from an instant" in text, suffix
    printed = command(folder, "read", "day", "2024-03-01", "--probe", "off")
    assert f"hint, no proof: {today}" in printed


def test_a_column_moves_with_the_references_that_another_consumer_reads(tmp_path: Path) -> None:
    # billing reads the reference "March 2024" as the 8th on the 8th and as the 31st on a 31st; portal's own reads stay.
    folder = write(tmp_path)
    rows = ["C-1,day,2024-03-08,March 2024", "C-1,signed,2024-03-01,2024-03-01"]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    (folder / "audit.toml").write_text(SPEC.replace('type = "date"\n', 'type = "date"\nreference = "billing"\n', 1))
    run = auditor.run(folder, store=False)
    portal = run.column("day", "portal")
    by_day = {one["clock"][:10]: one["ok"] for one in portal.by_environment}
    assert (portal.content_rate, by_day["2024-03-08"], by_day["2024-03-31"], by_day["2024-03-01"]) == (1.0, 1, 0, 0)
    assert portal.flips == {"clock": 1}
    assert [one.consumers for one in run.findings if one.code == "clock-dependent"] == [("billing",)]
    assert run.column("day", "billing").flips == {"clock": 1}, "billing reads 2024-03-08 as it is, on every day"
