"""Public bug reports of values that depend on the clock, the zone, the locale, the order or the neighbours.

Each library runs in the very version that was measured, in an environment of its own where another one is installed
here. What is due is what the reports' values show: a string that had two values there is found, with the factor that
was varied as the cause, and a consumer that read all strings alike is not.
"""

from __future__ import annotations

import collections
import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import auditor
from tests.realdata.plain import needs_real_data, records
from tests.versions import node_modules, python_of

pytestmark = needs_real_data

KITS = Path(__file__).resolve().parents[2] / "consumers" / "protocol"

#: Case → type of its fields, and of single consumers whose values are of another type.
TYPES = {
    "B01": ("datetime", {}),
    "B03": ("datetime", {}),
    "B05": ("datetime", {}),
    "B11": ("datetime", {}),
    "B13": (
        "date",
        {
            "java SimpleDateFormat": "datetime",
            "js-date mdy": "datetime",
            "moment": "identifier",
            "date-fns": "identifier",
        },
    ),
    "B15": ("identifier", {}),
    "B17": ("datetime", {}),
    "B19": ("integer", {}),
    "B21": ("decimal", {}),
    "B23": ("category", {}),
    "B25": ("decimal", {}),
    "B31": ("date", {}),
    "B33": ("date", {}),
    "B37": ("datetime", {}),
    "B39": ("date", {}),
    "B41": ("date", {}),
    "B43": ("decimal", {}),
}

REFERENCES = {
    "date": "2031-07-09",
    "datetime": "2031-07-09T00:00:00",
    "identifier": "x",
    "category": "x",
    "integer": "987654",
    "decimal": "987654.5",
}

#: Consumers whose values are the same in all that the report varied, and which depend on it all the same.
DEPEND_TOO = {
    # A word among the dates turns the column into text, as it does in newer versions.
    ("B33", "pandas-1.5 read_csv"),
    # The two rows are two columns of one line: each is nothing without the other, in its place.
    ("B39", "duckdb-2.0 auto_detect off"),
    # A word among the numbers turns the column into text.
    ("B43", "pandas-3.1 read_csv"),
}

KINDS = {"python": None, "node": "node", "java": "javac"}

WHO = [
    *[(name, "python") for name in TYPES if name not in ("B15", "B19", "B23")],
    *[(name, "node") for name in ("B05", "B13", "B15", "B17", "B19")],
    *[(name, "java") for name in ("B13", "B23")],
]


def python_consumer(readers, folder):
    first = readers[0].consumer
    for reader in readers:
        consumer, takes = reader.consumer, "rows" if is_batch(reader.consumer) else "raw"
        source = f"{consumer.get('setup') or ''}\n\n\ndef read({takes}):\n    return {consumer['how']}\n"
        (folder / f"{reader.name}.py").write_text(source, encoding="utf-8")
    interpreter = python_of(first["package"], first["version"])
    described = {"adapter": "python", "root": str(folder), "interpreter": interpreter, "memory": "4 GiB"}
    targets = {reader.name: f"{reader.name}:read" for reader in readers}
    return described | ({"batch": True} if is_batch(first) else {}), targets


def node_consumer(readers, folder):
    first = readers[0].consumer
    modules = node_modules(first["package"], first["version"])
    reads = [f"{reader.name}: (raw) => {reader.consumer['how']}" for reader in readers]
    (folder / "parser.mjs").write_text(
        'import { createRequire } from "node:module";\n'
        f"import {{ serve }} from {json.dumps((KITS / 'consumer.mjs').as_uri())};\n"
        f"const require = createRequire({json.dumps(str(modules / 'parser.mjs'))});\n"
        f"{first.get('setup') or ''}\n"
        f'await serve({{ version: "{first["version"]}", reads: {{ {", ".join(reads)} }} }});\n',
        encoding="utf-8",
    )
    command = {"adapter": "process", "root": str(folder), "command": ["node", "parser.mjs"]}
    return command, {reader.name: reader.name for reader in readers}


def java_consumer(readers, folder):
    reads = [f'Map.entry("{reader.name}", (Consumer.Parser) raw -> {reader.consumer["how"]})' for reader in readers]
    (folder / "Case.java").write_text(
        "import java.text.*; import java.time.*; import java.time.format.*; import java.util.*;\n"
        "public class Case { public static void main(String[] arguments) throws Exception {\n"
        f'Consumer.serve("1", Map.ofEntries({", ".join(reads)})); }} }}\n',
        encoding="utf-8",
    )
    files = [str(KITS / "Consumer.java"), str(folder / "Case.java")]
    subprocess.run(["javac", "-d", str(folder), *files], check=True)
    command = {"adapter": "process", "root": str(folder), "command": ["java", "-cp", ".", "Case"]}
    return command, {reader.name: reader.name for reader in readers}


MAKERS = {"python": python_consumer, "node": node_consumer, "java": java_consumer}


class Reader(NamedTuple):
    """A consumer of a case; it has a field of its own for each column, in the type of its values."""

    case: dict[str, Any]
    consumer: dict[str, Any]
    number: int

    @property
    def name(self):
        return f"{self.case['id']}_c{self.number}"

    @property
    def type(self):
        usual, others = TYPES[self.case["id"]]
        return others.get(self.consumer["name"], usual)

    @property
    def fields(self):
        return {f"{self.name}_{number}": column for number, column in enumerate(columns_of(self.case))}

    @property
    def program(self):
        """Name the program that it is a reader of: one for all readers of a version of a library.

        Of the standard library each has its own, as one of them sets the locale of its process.
        """
        consumer = self.consumer
        own = self.name if consumer["package"] == "stdlib" else ""
        setup = consumer.get("setup") if consumer["kind"] == "node" else None  # a program of Node has one for all
        return consumer["kind"], consumer["package"], consumer["version"], is_batch(consumer), setup, own


def is_batch(consumer):
    return "rows" in consumer["how"]


def columns_of(case):
    """Give the strings of each field: each string of its own where nothing but itself can decide about it."""
    variants = case["context"]["variants"].values()
    if any("column_rows" in variant for variant in variants):
        return [variant["column_rows"] for variant in variants]
    earlier = [text for variant in variants for text in variant.get("earlier_calls_in_process", ())]
    return [[*case["inputs"], *earlier]] if earlier else [[text] for text in case["inputs"]]


def keeps_state(case):
    """Say whether earlier calls decide: the case then has an audit of its own."""
    return any("earlier_calls_in_process" in variant for variant in case["context"]["variants"].values())


class Audited(NamedTuple):
    """One audit of many readers, by program: name of the consumer, or why it cannot be had here."""

    run: auditor.AuditedRun
    consumers: dict[tuple[object, ...], str]
    missing: dict[tuple[object, ...], str]


def readers_of(case, kind):
    """Give the readers of a kind of a case."""
    consumers = [one for one in case["consumers"] if one["kind"] == kind]
    return [Reader(case, consumer, number) for number, consumer in enumerate(consumers)]


def audited(kind, alone, folder):
    """Audit all readers of a kind at once, or those of the case that is `alone`.

    A process of each program reads the strings of all of its cases.
    """
    programs = collections.defaultdict(list)
    for case in records("bug_cases.jsonl"):
        if (case["id"], kind) in WHO and alone == (case["id"] if keeps_state(case) else None):
            for reader in readers_of(case, kind):
                programs[reader.program].append(reader)
    fields, described, rows, names, missing = {}, {}, [], {}, {}
    for number, (program, readers) in enumerate(programs.items()):
        place = folder / f"p{number}"
        place.mkdir()
        try:
            spec, targets = MAKERS[kind](readers, place)
        except pytest.skip.Exception as reason:
            missing[program] = str(reason)
            continue
        names[program] = f"p{number}"
        reads = {field: targets[reader.name] for reader in readers for field in reader.fields}
        described[f"p{number}"] = spec | {"timeout": "30 s", "reads": reads}
        for reader in readers:
            for field, column in reader.fields.items():
                fields[field] = {"type": reader.type}
                rows += [
                    {"case_id": str(at), "field": field, "prediction": text, "reference": REFERENCES[reader.type]}
                    for at, text in enumerate(column)
                ]
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {name: str(folder / "records.jsonl") for name in ("predictions", "references")}
    spec = {"name": kind, "cases": files, "fields": fields, "consumers": described}
    return Audited(auditor.run(spec, probe="full", store=False), names, missing)


@pytest.fixture(scope="module")
def audit_of(tmp_path_factory):
    return functools.cache(lambda kind, alone: audited(kind, alone, tmp_path_factory.mktemp(kind)))


def moved_strings(run, reader, code):
    """Give the strings of a reader's findings of a code."""
    found = [one for one in run.findings if one.code == code and one.field in reader.fields]
    return {json.loads(witness.raw) for finding in found for witness in finding.witnesses}


def read_alike(case, consumer):
    """Give the strings that the report saw with one value."""
    readings = case["observed"][consumer["name"]].values()
    return {text for text in case["inputs"] if len({reading[text] for reading in readings}) == 1}


@pytest.mark.parametrize(("name", "kind"), WHO)
def test_what_a_report_saw_move_is_found_with_its_cause(name, kind, audit_of):
    if KINDS[kind] and shutil.which(KINDS[kind]) is None:
        pytest.skip(f"no {KINDS[kind]} on PATH")
    [case] = [case for case in records("bug_cases.jsonl") if case["id"] == name] or [None]
    if case is None:
        pytest.skip(f"{name} is in another part of the set")
    run, consumers, missing = audit_of(kind, name if keeps_state(case) else None)
    for reader in readers_of(case, kind):
        consumer = reader.consumer
        if reader.program in missing:
            pytest.skip(missing[reader.program])
        due = set(case["evidence"].get(consumer["name"], ()))
        seen = moved_strings(run, reader, case["expected_finding"])
        found = [(one.code, one.title) for one in run.findings if one.field in reader.fields]
        assert due <= seen, (consumer["name"], found)
        more = (read_alike(case, consumer) - due) & seen
        assert bool(more) is ((name, consumer["name"]) in DEPEND_TOO), (consumer["name"], more)
        [summary] = [one for one in run.run.consumers if one.name == consumers[reader.program]]
        assert set(summary.not_varied) <= {"order: batches: see neighbours"}, "all else can be varied here"


def test_every_case_of_python_or_node_is_in_the_table():
    here = {
        case["id"]
        for case in records("bug_cases.jsonl")
        if case["expected_finding"].endswith("-dependent")
        and {consumer["kind"] for consumer in case["consumers"]} & {"python", "node"}
    }
    assert here <= set(TYPES)
