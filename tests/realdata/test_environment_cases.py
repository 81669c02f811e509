"""Public bug reports of values that depend on the clock, the zone, the locale, the order or the neighbours.

Each library runs in the very version that was measured, in an environment of its own where another one is installed
here. What is due is what the reports' values show: a string that had two values there is found, with the factor that
was varied as the cause, and a consumer that read all strings alike is not.
"""

from __future__ import annotations

import collections
import json
import shutil
import subprocess
from pathlib import Path

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


def python_consumer(consumer, folder):
    takes = "rows" if is_batch(consumer) else "raw"
    source = f"{consumer.get('setup') or ''}\n\n\ndef read({takes}):\n    return {consumer['how']}\n"
    (folder / "parsers.py").write_text(source, encoding="utf-8")
    interpreter = python_of(consumer["package"], consumer["version"])
    described = {"adapter": "python", "root": str(folder), "interpreter": interpreter, "memory": "4 GiB"}
    return described | ({"batch": True} if is_batch(consumer) else {}), "parsers:read"


def node_consumer(consumer, folder):
    modules = node_modules(consumer["package"], consumer["version"])
    (folder / "parser.mjs").write_text(
        'import { createRequire } from "node:module";\n'
        f"import {{ serve }} from {json.dumps((KITS / 'consumer.mjs').as_uri())};\n"
        f"const require = createRequire({json.dumps(str(modules / 'parser.mjs'))});\n"
        f"{consumer.get('setup') or ''}\n"
        f'await serve({{ version: "{consumer["version"]}", reads: {{ value: (raw) => {consumer["how"]} }} }});\n',
        encoding="utf-8",
    )
    return {"adapter": "process", "root": str(folder), "command": ["node", "parser.mjs"]}, "value"


def java_consumer(consumer, folder):
    (folder / "Case.java").write_text(
        "import java.text.*; import java.time.*; import java.time.format.*; import java.util.*;\n"
        "public class Case { public static void main(String[] arguments) throws Exception {\n"
        f'Consumer.serve("1", Map.of("value", raw -> {consumer["how"]})); }} }}\n',
        encoding="utf-8",
    )
    files = [str(KITS / "Consumer.java"), str(folder / "Case.java")]
    subprocess.run(["javac", "-d", str(folder), *files], check=True)
    return {"adapter": "process", "root": str(folder), "command": ["java", "-cp", ".", "Case"]}, "value"


MAKERS = {"python": python_consumer, "node": node_consumer, "java": java_consumer}


def is_batch(consumer):
    return "rows" in consumer["how"]


def columns_of(case):
    """Give the strings of each field: each string of its own where nothing but itself can decide about it."""
    variants = case["context"]["variants"].values()
    if any("column_rows" in variant for variant in variants):
        return [variant["column_rows"] for variant in variants]
    earlier = [text for variant in variants for text in variant.get("earlier_calls_in_process", ())]
    return [[*case["inputs"], *earlier]] if earlier else [[text] for text in case["inputs"]]


def audited(case, consumers, folder):
    """Audit the consumers of a case; each has fields of its own, in the type of its values."""
    usual, others = TYPES[case["id"]]
    fields, described, rows = {}, {}, []
    for number, consumer in enumerate(consumers):
        place = folder / f"c{number}"
        place.mkdir()
        spec, target = MAKERS[consumer["kind"]](consumer, place)
        kind = others.get(consumer["name"], usual)
        names = [f"c{number}_{column}" for column in range(len(columns_of(case)))]
        fields |= {name: {"type": kind} for name in names}
        described[f"c{number}"] = spec | {"timeout": "10 s", "reads": dict.fromkeys(names, target)}
        rows += [
            {"case_id": str(place), "field": name, "prediction": text, "reference": REFERENCES[kind]}
            for name, column in zip(names, columns_of(case), strict=True)
            for place, text in enumerate(column)
        ]
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {name: str(folder / "records.jsonl") for name in ("predictions", "references")}
    spec = {"name": case["id"], "cases": files, "fields": fields, "consumers": described}
    return auditor.run(spec, probe="full", store=False)


def moved_strings(run, code):
    """Give the strings of the findings of a code, by consumer."""
    found = collections.defaultdict(set)
    for finding in run.findings:
        if finding.code == code:
            [consumer] = finding.consumers
            found[consumer] |= {json.loads(witness.raw) for witness in finding.witnesses}
    return found


def read_alike(case, consumer):
    """Give the strings that the report saw with one value."""
    readings = case["observed"][consumer["name"]].values()
    return {text for text in case["inputs"] if len({reading[text] for reading in readings}) == 1}


@pytest.mark.parametrize(("name", "kind"), WHO)
def test_what_a_report_saw_move_is_found_with_its_cause(name, kind, tmp_path):
    if KINDS[kind] and shutil.which(KINDS[kind]) is None:
        pytest.skip(f"no {KINDS[kind]} on PATH")
    [case] = [case for case in records("bug_cases.jsonl") if case["id"] == name] or [None]
    if case is None:
        pytest.skip(f"{name} is in another part of the set")
    consumers = [consumer for consumer in case["consumers"] if consumer["kind"] == kind]
    run = audited(case, consumers, tmp_path)
    moved = moved_strings(run, case["expected_finding"])
    for number, consumer in enumerate(consumers):
        due = set(case["evidence"].get(consumer["name"], ()))
        seen = moved[f"c{number}"]
        assert due <= seen, (consumer["name"], [(one.code, one.title) for one in run.findings])
        more = (read_alike(case, consumer) - due) & seen
        assert bool(more) is ((name, consumer["name"]) in DEPEND_TOO), (consumer["name"], more)
    notes = {note for one in run.run.consumers for note in one.not_varied}
    assert notes <= {"order: batches: see neighbours"}, "all else can be varied here"


def test_every_case_of_python_or_node_is_in_the_table():
    here = {
        case["id"]
        for case in records("bug_cases.jsonl")
        if case["expected_finding"].endswith("-dependent")
        and {consumer["kind"] for consumer in case["consumers"]} & {"python", "node"}
    }
    assert here <= set(TYPES)
