"""The kits for Node and Java, run by the real runtimes: what a function returns is the value that is compared."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import auditor
from auditor.decode.clock import can_fix_clock
from auditor.decode.session import Session
from auditor.model.environment import Environment
from tests.sessions import open_consumer, quoted, shown

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
KITS = ROOT / "consumers" / "protocol"
LOS_ANGELES = Environment(zone="America/Los_Angeles")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node on PATH: apt-get install nodejs")
needs_java = pytest.mark.skipif(
    shutil.which("javac") is None, reason="no javac on PATH: apt-get install openjdk-17-jdk-headless"
)

HARD = ["", "a\0b", "\ud800", "x\udfff", "\U0001f4c5", 'say "\\"', "a\nb\r\tc", "\u2028", "\x7f", "9" * 1_000_000]


def open_kit(command: list[str], reads: dict[str, str], **others: object) -> Session:
    """Open a kit's program; `reads` maps each name that it reads to the type of the field."""
    names = dict.fromkeys(reads)
    settings = {"types": reads, "adapter": "process", "command": tuple(command), "timeout": 10.0} | others
    return open_consumer(PROGRAMS, {name: name for name in names}, **settings)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the kit and a program that uses it."""
    folder = tmp_path_factory.mktemp("classes")
    command = [
        "javac",
        "-Xlint:all",
        "-Werror",
        "-d",
        str(folder),
        str(KITS / "Consumer.java"),
        str(PROGRAMS / "Erp.java"),
    ]
    subprocess.run(command, check=True)
    return folder


#: By what ECMAScript says the values are, and the shortest digits of its numbers.
OF_NODE = {
    "date": "datetime:2024-03-01T04:00:00.000-08:00",
    "invalid": "null: Invalid Date",
    "old": "datetime:1879-12-31T16:07:02.000-07:52:58",
    "half": "decimal:12.5",
    "whole": "int:3",
    "huge": "int:1500000000000000000000",
    "tiny": "decimal:0.0000001",
    "nan": "null: NaN",
    "infinite": "rejected: unexpected type: -Infinity",
    "big": "int:12345678901234567890",
    "yes": "bool:true",
    "null": "null: null",
    "undefined": "null: undefined",
    "text": "text:␛a\\u0000b\\ud800\n\u2028",
    "boxed": "text:boxed",
    "object": "rejected: unexpected type: Object",
    "symbol": "rejected: unexpected type: Symbol",
    "later": "text:later",
    "refused": "rejected: RangeError: no",
    "throws": "rejected: TypeError: no value",
    "string": "rejected: string: a string",
    "noise": "text:quiet",
}


@needs_node
def test_what_a_function_of_node_returns() -> None:
    with open_kit(["node", "portal.mjs"], {"made": "identifier"}, environment=LOS_ANGELES) as session:
        assert dict(zip(OF_NODE, shown(session.decode("made", quoted(OF_NODE))), strict=True)) == OF_NODE


@needs_node
def test_node_is_told_apart_by_its_zone() -> None:
    texts = quoted(["2024-03-01", "March 1, 2024", "soon"])
    with open_kit(["node", "portal.mjs"], {"effective_date": "date"}, environment=LOS_ANGELES) as session:
        assert [text[:19] for text in shown(session.decode("effective_date", texts))] == [
            "datetime:2024-02-29",  # ECMAScript reads a date alone in UTC, and shows it here
            "datetime:2024-03-01",
            "null: Invalid Date",
        ]
    with open_kit(["node", "portal.mjs"], {"effective_date": "date"}) as session:
        assert [text[:19] for text in shown(session.decode("effective_date", texts))][:2] == ["datetime:2024-03-01"] * 2


@needs_node
def test_node_is_fixed_and_says_what_runs_it() -> None:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    german = Environment(zone="Asia/Tokyo", locale="de_DE.UTF-8")
    for environment in (Environment(), german):
        with open_kit(["node", "portal.mjs"], {"total": "decimal"}, environment=environment) as session:
            assert session.readiness.not_fixed == (() if can_fix_clock() else ("clock",))
            assert session.readiness.settings == {"program": "1.4.2", "runtime": f"node {version.removeprefix('v')}"}


@needs_node
def test_a_string_that_is_hard_to_write_goes_through_node_and_back() -> None:
    with open_kit(["node", "portal.mjs"], {"po_number": "identifier"}) as session:
        assert session.decode("po_number", [json.dumps(text) for text in HARD]).texts == [
            "text:" + text.replace("a\0b", "␛a\\u0000b").replace("\ud800", "␛\\ud800").replace("x\udfff", "␛x\\udfff")
            for text in HARD
        ]


@needs_node
def test_the_shape_that_a_warehouse_needs_breaks_a_portal_in_los_angeles(tmp_path: Path) -> None:
    days = [f"2024-03-{day:02d}" for day in range(1, 21)]
    written = [day if index % 2 else f"March {int(day[-2:])}, 2024" for index, day in enumerate(days)]
    rows = [f'C-{index},"{text}"' for index, text in enumerate(written)]
    (tmp_path / "p.csv").write_text("\n".join(["case_id,effective_date", *rows]) + "\n")
    (tmp_path / "r.csv").write_text(
        "\n".join(["case_id,effective_date", *(f"C-{index},{day}" for index, day in enumerate(days))]) + "\n"
    )
    (tmp_path / "audit.toml").write_text(
        'name = "t"\n[cases]\npredictions = "p.csv"\nreferences = "r.csv"\n'
        '[fields.effective_date]\ntype = "date"\nreference = "typed"\n'
        '[consumers.warehouse]\nadapter = "sql"\nengine = "duckdb"\n'
        'reads.effective_date = "try_cast({value} as date)"\n'
        '[consumers.portal]\nadapter = "process"\nenv = { TZ = "America/Los_Angeles" }\nreads = ["effective_date"]\n'
        f'command = ["node", "{PROGRAMS / "portal.mjs"}"]\n'
    )
    run = auditor.run(tmp_path)
    assert run.column("effective_date", "warehouse").verdicts["ok"] == 10, "ISO, and nothing else"
    portal = run.column("effective_date", "portal").verdicts
    assert (portal["ok"], portal["wrong"]) == (10, 10), "the others, and each ISO date a day early"
    assert "no-common-shape" in [finding.code for finding in run.findings]


#: By the contract of each class's own toString, and of the kit: a point stays, since 3.0 is no integer.
OF_JAVA = {
    "date": "date:2024-03-01",
    "datetime": "datetime:2024-03-01T09:05:00",
    "aware": "datetime:2024-03-01T09:05:00-08:00",
    "zoned": "datetime:2024-03-01T09:05:00+01:00",
    "instant": "datetime:2024-03-08T09:05:07Z",
    "time": "time:09:05",
    "util": "datetime:2024-03-01T04:00:00-08:00",
    "sql": "date:2024-03-01",
    "stamp": "datetime:2024-03-01T09:05:07.0",
    "decimal": "decimal:12.50",
    "plain": "decimal:1000",
    "vast": "decimal:1E+999999999",
    "integer": "int:24",
    "big": "int:123456789012345678901234567890",
    "double": "decimal:3.0",
    "exponent": "decimal:15000000000.0",
    "nan": "null: NaN",
    "infinite": "rejected: unexpected type: Infinity",
    "yes": "bool:true",
    "null": "null: null",
    "empty": "null: empty",
    "some": "int:7",
    "throws": "rejected: IllegalStateException: no value",
    "deep": "crashed: StackOverflowError",
    "object": "rejected: unexpected type: java.lang.Object",
}
TEXTS_OF_JAVA = {
    "text": 'text:␛a\\u0000b\\ud800\n"\\\\',
    "enum": "text:DAYS",
    "uuid": "text:00000000-0000-0001-0000-000000000002",
    "noise": "text:quiet",
}


@needs_java
def test_what_a_function_of_java_returns(classes: Path) -> None:
    command = ["java", "-cp", str(classes), "Erp"]
    with open_kit(command, {"made": "decimal"}, environment=LOS_ANGELES) as session:
        assert dict(zip(OF_JAVA, shown(session.decode("made", quoted(OF_JAVA))), strict=True)) == OF_JAVA
    with open_kit(command, {"made": "identifier"}) as session:
        found = shown(session.decode("made", quoted(TEXTS_OF_JAVA)))
        assert dict(zip(TEXTS_OF_JAVA, found, strict=True)) == TEXTS_OF_JAVA


@needs_java
def test_java_is_fixed_and_a_locale_that_it_falls_back_from_is_not(classes: Path) -> None:
    command = ["java", "-cp", str(classes), "Erp"]
    clock = () if can_fix_clock() else ("clock",)
    with open_kit(command, {"now": "datetime"}, environment=LOS_ANGELES) as session:
        assert session.readiness.not_fixed == clock
        if can_fix_clock():
            assert shown(session.decode("now", quoted([""]))) == ["datetime:2024-03-08T01:05:07"]
    with open_kit(command, {"now": "datetime"}, environment=Environment(locale="xx_YY.UTF-8")) as session:
        assert session.readiness.not_fixed == (*clock, "locale")


@needs_java
def test_a_string_that_is_hard_to_write_goes_through_java_and_back(classes: Path) -> None:
    with open_kit(["java", "-cp", str(classes), "Erp"], {"po_number": "identifier"}) as session:
        assert session.decode("po_number", [json.dumps(text) for text in HARD]).texts == [
            "text:" + text.replace("a\0b", "␛a\\u0000b").replace("\ud800", "␛\\ud800").replace("x\udfff", "␛x\\udfff")
            for text in HARD
        ]


@needs_java
def test_static_methods_need_neither_code_nor_a_build_of_the_kit(classes: Path) -> None:
    command = ["java", "-cp", str(classes), str(KITS / "Consumer.java"), "2.3.1", "effective_date=Erp::day"]
    with open_kit(command, {"effective_date": "date"}) as session:
        found = shown(session.decode("effective_date", quoted(["2024-03-01", "1 March"])))
    assert found[0] == "date:2024-03-01"
    assert found[1].startswith("rejected: DateTimeParseException: Text '1 March' could not be parsed")
