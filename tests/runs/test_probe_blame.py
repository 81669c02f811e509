"""Causes of what moves: for more strings than are isolated, and where a process does not start or answer again.

Every parser is the few lines that the bug consists of; what it depends on is known from them.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

import auditor
from auditor.api import AuditedRun
from auditor.decode import session as session_module
from auditor.decode.clock import can_attribute
from auditor.model.environment import Environment
from auditor.probe import places as limits
from auditor.spec.models import ConsumerSpec
from tests.runs.test_environments import SPEC, dependences

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process is set on Linux")

ISOLATED, STRINGS = 20, 90

HEAD = """
import datetime, os, time
from pathlib import Path
here = Path(__file__).parent
start = datetime.date(2024, 3, 1)
"""

#: Each moves with one factor, and for every string; the zone moves those that are another day there.
DEPENDENT = {
    "clock-dependent": "def day(text):\n    return datetime.date(2024, 3, datetime.date.today().day)\n",
    "timezone-dependent": (
        "def day(text):\n    return datetime.datetime.fromtimestamp(1709251200 + 900 * int(text)).date()\n"
    ),
    "locale-dependent": "def day(text):\n    return start + datetime.timedelta(len(os.environ['LC_ALL']))\n",
    "hash-seed-dependent": (
        "def day(text):\n    return start + datetime.timedelta(int(os.environ['PYTHONHASHSEED']))\n"
    ),
    "order-dependent": (
        "seen = []\ndef day(text):\n    seen.append(text)\n    return start + datetime.timedelta(seen[0] != '0')\n"
    ),
    "unstable": (
        "home = os.environ.get('HOME')\n"
        "def day(text):\n    return start + datetime.timedelta(sum(map(ord, home or '')) % 7)\n"
    ),
}

TOGETHER = (
    "def day(text):\n"
    "    moves = time.localtime().tm_year == 2000 and time.tzname[0] == '+14'\n"
    "    return datetime.date(1999, 1, 1) if moves else start\n"
)

#: Clock and zone move every string, as today is another day elsewhere; the last string is moved by the zone alone.
RARE = (
    "def day(text):\n"
    "    if text == '89':\n"
    "        return datetime.datetime.fromtimestamp(1709251200).date()\n"
    "    return datetime.date.today()\n"
)


def audited(
    folder: Path,
    parser: str,
    strings: Sequence[object] = range(STRINGS),
    probe: Literal["full", "quick"] = "quick",
) -> AuditedRun:
    """Audit one parser over some strings; it is asked for the reference too."""
    (folder / "blamed.py").write_text(HEAD + parser)
    rows = [f"{number},day,{text},2024-03-01" for number, text in enumerate(strings)]
    (folder / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]))
    spec = SPEC.format(parser="day", more="").replace("parsers:", "blamed:")
    (folder / "audit.toml").write_text(spec.replace('type = "date"', 'type = "date"\nreference = "typed"'))
    return auditor.run(folder, store=False, probe=probe)


@pytest.mark.parametrize("code", [code for code in DEPENDENT if code != "timezone-dependent"])
def test_strings_beyond_those_that_are_isolated_count_whatever_moves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(limits, "MOST_ISOLATED", ISOLATED)
    found = dependences(audited(tmp_path, DEPENDENT[code]))
    assert set(found) == {code}
    assert found[code].affected == STRINGS


#: Reads day first once it has read a day that is no month, as a parser that guesses the format of a column does.
REMEMBERS = (
    "day_first = False\n"
    "def day(text):\n"
    "    global day_first\n"
    "    first, second = map(int, text.split('/'))\n"
    "    day_first = day_first or first > 12\n"
    "    return datetime.date(2024, *((second, first) if day_first else (first, second)))\n"
)


@pytest.mark.parametrize("isolated", [ISOLATED, limits.MOST_ISOLATED])
@pytest.mark.parametrize(
    ("parser", "strings"),
    [
        (DEPENDENT["order-dependent"], range(STRINGS)),
        (REMEMBERS, ["13/03", *(f"{day:02}/{month:02}" for day in range(1, 13) for month in range(1, 13))]),
    ],
)
def test_what_moves_with_the_order_alone_has_no_range_over_clocks_or_zones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parser: str, strings: Sequence[object], isolated: int
) -> None:
    # What moves is asked again without the strings that do not move; that it is something else then is not the clock's.
    monkeypatch.setattr(limits, "MOST_ISOLATED", isolated)
    run = audited(tmp_path, parser, strings)
    assert set(dependences(run)) == {"order-dependent"}
    column = run.column("day", "billing")
    assert {factor for one in column.by_environment for factor in one["varied"]} <= {"order"}
    assert set(column.flips) <= {"order"}


ZONES = ("Etc/GMT+12", "Pacific/Kiritimati", "America/New_York", "Asia/Kathmandu")


def day_in(zone: str, number: int) -> datetime.date:
    return datetime.datetime.fromtimestamp(1709251200 + 900 * number, ZoneInfo(zone)).date()


def moved_by_zones() -> list[int]:
    return [n for n in range(STRINGS) if any(day_in(zone, n) != day_in("UTC", n) for zone in ZONES)]


def test_strings_that_a_zone_moves_count_and_a_rate_over_zones_is_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_ISOLATED", ISOLATED)
    run = audited(tmp_path, DEPENDENT["timezone-dependent"], probe="full")
    found = dependences(run)
    assert set(found) == {"timezone-dependent"}
    # The zone leaves those alone that are no other day in any of the four.
    assert found["timezone-dependent"].affected == len(moved_by_zones())
    column = run.column("day", "billing")
    right = {zone: sum(day_in(zone, n) == datetime.date(2024, 3, 1) for n in range(STRINGS)) for zone in ZONES}
    by_zone = {one["zone"]: one["ok"] for one in column.by_environment if one["varied"] == ["zone"]}
    assert by_zone == right


def test_strings_that_move_with_two_factors_together_all_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_ISOLATED", ISOLATED)
    found = dependences(audited(tmp_path, TOGETHER))
    assert set(found) == {"clock-dependent"}
    assert found["clock-dependent"].affected == STRINGS
    assert "clock, zone" in found["clock-dependent"].detail


def test_one_string_of_another_cause_beyond_the_isolated_has_its_own_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_ISOLATED", ISOLATED)
    run = audited(tmp_path, RARE)
    affected = {code: finding.affected for code, finding in dependences(run).items()}
    assert affected == {"clock-dependent": STRINGS - 1, "timezone-dependent": 1}
    # At 9 in the morning of the 8th it is the 7th west of the date line, so that one zone moves all 90.
    by_zone = {one["zone"]: one["flips"] for one in run.column("day", "billing").by_environment}
    assert by_zone["Etc/GMT+12"] == 1


def again(counted: str, times: int, then: str) -> str:
    """Write the lines that do something in a process of a kind from the given one of its starts on."""
    return (
        f"if {counted}:\n"
        "    with open(here / 'starts', 'a') as file:\n        file.write('x')\n"
        f"late = {counted} and os.path.getsize(here / 'starts') > {times}\n"
        f"if late:\n    {then}\n"
    )


def test_a_base_that_does_not_start_again_is_not_varied_and_nothing_is_unstable(tmp_path: Path) -> None:
    fails = (
        "if time.localtime().tm_year != 2024:\n    (here / 'elsewhere').touch()\n"
        "elif (here / 'elsewhere').exists():\n    raise RuntimeError('no licence left')\n"
    )
    run = audited(tmp_path, fails + DEPENDENT["clock-dependent"], range(3))
    assert dependences(run) == {}
    notes = run.run.consumers[0].not_varied
    assert any(note.startswith("day: 4 strings ") for note in notes)
    assert any("no licence left" in note for note in notes)


@pytest.mark.parametrize("then", ["raise RuntimeError('no licence left')", "pass"])
def test_what_is_not_answered_a_second_time_is_not_unstable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    # Of the processes in which both clock and zone are others the first is that of all factors, and no other is read.
    both = "(time.localtime().tm_year == 2000 and time.tzname[0] == '+14')"
    parser = TOGETHER.replace("moves = ", "if late and text == '0': time.sleep(60)\n    moves = text == '0' and ")
    run = audited(tmp_path, again(both, 1, then) + parser, range(3))
    assert dependences(run) == {}
    assert any(note.startswith("day: 1 string ") for note in run.run.consumers[0].not_varied)


def test_a_string_that_moves_in_one_order_and_not_again_there_is_unstable(tmp_path: Path) -> None:
    strings = [f"2024-03-{number:02}" for number in range(1, 10)]  # the reference among them
    first = strings[Environment(order="shuffled-1").ordered(9)[0]]
    assert first not in (strings[0], strings[-1])
    # With everything changed, with clock and zone at rest, and with the order alone; not when that is made again.
    parser = (
        "seen = []\ndef day(text):\n    seen.append(text)\n"
        f"    if seen == ['{first}']:\n"
        "        with open(here / 'starts', 'a') as file:\n            file.write('x')\n"
        f"    moves = seen[0] == '{first}' and os.path.getsize(here / 'starts') <= 3\n"
        "    return start + datetime.timedelta(moves)\n"
    )
    assert set(dependences(audited(tmp_path, parser, strings))) == {"unstable"}


@pytest.mark.skipif(bool(can_attribute(ConsumerSpec(name="c", adapter="python"))), reason="no C compiler, or not Linux")
def test_of_many_lines_that_read_the_clock_so_many_are_tried_and_that_is_said(tmp_path: Path) -> None:
    lines = "".join("    time.time()\n" for _ in range(30))
    run = audited(
        tmp_path, DEPENDENT["clock-dependent"].replace("def day(text):\n", f"def day(text):\n{lines}"), range(2), "full"
    )
    assert set(dependences(run)) == {"clock-dependent"}
    notes = run.run.consumers[0].not_varied
    assert any(note == "the clock of one line: 31 lines read it, 16 of them were tried" for note in notes)


def test_zones_are_those_of_all_strings_and_not_of_the_first_ones(tmp_path: Path) -> None:
    # As in a file that is sorted by country: what asks for New Zealand's zone stands at the end.
    parser = "def day(text):\n    return datetime.date.fromisoformat(text[:10])\n"
    strings = [f"2024-01-02T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z" for n in range(12_000)]
    strings += [f"2024-03-01 10:{n // 60:02}:{n % 60:02} NZDT" for n in range(600)]
    run = audited(tmp_path, parser, strings, "full")
    assert run.run.probe is not None
    zones = {one.zone for one in run.run.probe.environments}
    assert "Pacific/Auckland" in zones


def test_a_string_that_moves_in_many_payloads_is_one_witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.py").write_text(
        "import datetime, pydantic\n"
        "class Contract(pydantic.BaseModel):\n"
        "    day: datetime.date\n"
        "    total: int\n"
        "    @pydantic.field_validator('day', mode='before')\n"
        "    def read(text):\n"
        "        return datetime.date.today() if text in ('today', 'now') else text\n"
    )
    days = ["today", "now", "2024-03-08"] * 3
    rows = [{"case_id": str(n), "completion": json.dumps({"day": day, "total": n})} for n, day in enumerate(days)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "r.csv").write_text("case_id,day,total\n" + "".join(f"{n},2024-03-08,{n}\n" for n in range(9)))
    run = auditor.run(
        {
            "name": "payloads",
            "cases": {"predictions": "c.jsonl", "references": "r.csv", "assume_finish": "stop"},
            "fields": {"day": {"type": "date"}, "total": {"type": "integer"}},
            "consumers": {"api": {"adapter": "pydantic", "model": "models:Contract"}},
        },
        store=False,
        probe="quick",
    )
    finding = dependences(run)["clock-dependent"]
    assert finding.affected == 6
    assert {json.loads(one.raw) for one in finding.witnesses} == {"today", "now"}
    in_base = [one.raw for one in finding.witnesses if one.decodings["api"].environment == "base"]
    assert len(in_base) == len(set(in_base))
