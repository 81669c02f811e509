"""The manifest binds ids and references, and nothing else. The expected digest is made here from what was written."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import struct
import subprocess
import sys

import pytest

from auditor.errors import InternalError, LoadError
from auditor.load import identity, spool
from auditor.load.pairs import check_conservation
from tests.databases import tables_of
from tests.rooms.load_workspace import Workspace

FIELDS = {"zeta": "category", "alpha": "category", "date": "date"}


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


@pytest.fixture
def large(monkeypatch):
    """Take the paths of large files: Arrow batches, spools in a file, reading in file order."""
    monkeypatch.setattr(identity, "FETCHED_ROWS", 0)
    monkeypatch.setattr(identity, "_BATCH", 2048)
    monkeypatch.setattr(spool, "_HELD_ROWS", 100)


def column_digest(tokens):
    contents, lengths = b"", b""
    for token in tokens:
        string = token is not None and token[0] == '"'
        taken = b"" if token is None else (token[1:-1] if string else token).encode()
        contents += taken
        lengths += struct.pack("<i", -1 if token is None else len(taken) if string else -2 - len(taken))
    return hashlib.sha256(hashlib.sha256(contents).digest() + hashlib.sha256(lengths).digest()).hexdigest()


def expected_manifest(references):
    """Take tokens (None for no reference) by id and field."""
    ids = sorted(references, key=lambda case: (len(case.encode()), case.encode()))
    columns = [[field, column_digest([references[case][field] for case in ids])] for field in sorted(FIELDS)]
    ids_digest = column_digest([json.dumps(case, ensure_ascii=False) for case in ids])
    line = ["fidelity-auditor references 1", len(ids), ids_digest, columns]
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


VALUES = ["", "x", 'say "so"', "back\\slash", "\x1f\n", "é€😀", " ", "3"]


def texts(count):
    cycle = itertools.cycle([*VALUES, None])
    ids = [f"c{number}" for number in range(count)] + ["é", 'q"', "\x01"]
    return {case: {field: next(cycle) for field in FIELDS} for case in ids}


def columns(rows, ids):
    return [{"case_id": case} | rows[case] for case in ids]


def long(rows, ids, fields=FIELDS, name="reference"):
    return [{"case_id": case, "field": field, name: rows[case][field]} for case in ids for field in fields]


def orders(rows):
    """Give the ids in shortlex order, which is read as it stands, and in another."""
    ids = sorted(rows, key=lambda case: (len(case.encode()), case.encode()))
    return [ids, random.Random(1).sample(ids, len(ids))]


@pytest.mark.parametrize("count", [1, 700])
def test_the_manifest_is_the_one_that_is_defined(workspace, request, count):
    rows = texts(count)
    expected = expected_manifest(
        {
            case: {field: json.dumps(value, ensure_ascii=False) if value else None for field, value in values.items()}
            for case, values in rows.items()
        }
    )
    digests = {}
    for size in ("small", "large"):
        if size == "large":
            request.getfixturevalue("large")
        for number, ids in enumerate(orders(rows)):
            for form, made in (
                ("columns", columns(rows, ids)),
                ("long", long(rows, ids)),
                ("long, fields sorted", long(rows, ids, sorted(FIELDS))),
                ("sparse", [row for row in long(rows, ids) if row["reference"] is not None or row["field"] == "date"]),
            ):
                for suffix, write in (
                    ("csv", workspace.csv),
                    ("jsonl", workspace.json_lines),
                    ("parquet", workspace.parquet),
                ):
                    name = write(f"r{size}{number}{form}.{suffix}", made)
                    predictions = workspace.csv("p.csv", [{"case_id": "c0"} | dict.fromkeys(FIELDS, "x")])
                    loaded = workspace.load(predictions, name, FIELDS)
                    assert loaded.cases.expected == len(rows)
                    assert loaded.cases.missing == len(rows) - 1
                    digests[name] = loaded.manifest_rows_sha256
    assert set(digests.values()) == {expected}, digests


def test_json_values_enter_the_manifest_as_their_source_text(workspace, request):
    sources = ["1.10", "1.1", '"1.1"', "true", '"true"', "[1.0]", r'"\ud800"', r'"A\nB"', "null"]
    tokens = [None if source == "null" else source for source in sources]
    cases = {f"{index}": dict.fromkeys(FIELDS, token) for index, token in enumerate(tokens)}
    lines = [
        f'{{"case_id": {index}, "zeta": {source}, "alpha": {source}, "date": {source}}}'
        for index, source in enumerate(sources)
    ]
    name = workspace.write("r.jsonl", "\n".join(lines))
    predictions = workspace.csv("p.csv", [{"case_id": "0"} | dict.fromkeys(FIELDS, "x")])
    small = workspace.load(predictions, name, FIELDS).manifest_rows_sha256
    assert small == expected_manifest(cases)
    request.getfixturevalue("large")
    assert workspace.load(predictions, name, FIELDS).manifest_rows_sha256 == small


def test_predictions_are_no_part_of_the_manifest(workspace):
    references = workspace.csv("r.csv", columns(texts(3), ["c0", "c1"]))
    digests = set()
    for value in ("1", "2"):
        name = workspace.csv("p.csv", [{"case_id": "c0"} | dict.fromkeys(FIELDS, value)])
        digests.add(workspace.load(name, references, FIELDS).manifest_rows_sha256)
    assert len(digests) == 1


@pytest.mark.parametrize("form", ["columns", "long", "both"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_repeated_case_is_found_in_large_files_too(workspace, large, form, shuffled):
    rows = texts(300)
    ids = orders(rows)[shuffled]
    at = ids.index("c7") + 1
    ids = [*ids[:at], "c7", *ids[at:]]
    made = columns(rows, ids) if form == "columns" else [row | {"prediction": "x"} for row in long(rows, ids)]
    bad = workspace.csv("bad.csv", made)
    good = workspace.csv("good.csv", [{"case_id": "c7"} | dict.fromkeys(FIELDS, "x")])
    for predictions, references in [(bad, bad)] if form == "both" else [(bad, good), (good, bad)]:
        with pytest.raises(LoadError, match=r"'c7'.* occurs 2 times"):
            workspace.load(predictions, references, FIELDS)


def test_large_files_give_the_pairs_of_small_ones(workspace, request):
    rows = texts(400)
    predictions = {case: dict(zip(FIELDS, reversed(values.values()), strict=True)) for case, values in rows.items()}
    ids = orders(rows)[1]
    names = [
        (
            workspace.json_lines("p.jsonl", columns(predictions, ids), nulls=False),
            workspace.csv("r.csv", long(rows, ids)),
        ),
        (
            workspace.parquet("p.parquet", long(predictions, ids, name="prediction")),
            workspace.csv("q.csv", columns(rows, ids)),
        ),
    ]
    both = [row | {"prediction": predictions[row["case_id"]][row["field"]]} for row in long(rows, ids)]
    names += [
        (name, name) for name in (workspace.csv("b.csv", both), workspace.json_lines("b.jsonl", both, nulls=False))
    ]
    found = []
    for size in ("small", "large"):
        if size == "large":
            request.getfixturevalue("large")
        for pair in names:
            workspace.load(*pair, FIELDS)
            found.append(workspace.pairs())
            assert tables_of(workspace.connection) == ["pairs"]
    assert all(pairs == found[0] for pairs in found)


def test_sources_that_go_row_by_row_give_the_pairs_of_a_join(workspace, large):
    rows = texts(200)
    predictions = {case: dict(zip(FIELDS, reversed(values.values()), strict=True)) for case, values in rows.items()}
    ids = orders(rows)[0]
    references = workspace.csv("r.csv", long(rows, ids))
    made = long(predictions, ids, name="prediction")
    loaded = workspace.load(workspace.csv("aligned.csv", made), references, FIELDS)
    pairs = workspace.pairs()
    assert (loaded.cases.expected, loaded.cases.judged, loaded.cases.unrelated) == (len(ids), len(ids), 0)
    assert workspace.load(workspace.csv("p.csv", made[::-1]), references, FIELDS).cases == loaded.cases
    assert workspace.pairs() == pairs

    one_odd = [*made[:5], made[5] | {"case_id": "elsewhere"}, *made[6:]]
    cases = workspace.load(workspace.csv("odd.csv", one_odd), references, FIELDS).cases
    assert (cases.expected, cases.judged, cases.unrelated) == (len(ids), len(ids), 1)
    assert sum(row[-1] for row in workspace.pairs() if row[2] is None) == sum(
        row[-1] for row in pairs if row[2] is None
    ) + (made[5]["prediction"] is not None)

    with pytest.raises(LoadError, match=r"occurs 2 times in the predictions"):
        workspace.load(workspace.csv("twice.csv", [*made[:5], made[4], *made[6:]]), references, FIELDS)


def test_a_lost_case_is_an_internal_error(workspace):
    name = workspace.csv("r.csv", columns(texts(3), ["c0", "c1"]))
    workspace.load(name, workspace.csv("s.csv", columns(texts(3), ["c0", "c1"])), FIELDS)
    fields = workspace.spec(name, name, FIELDS).fields
    check_conservation(workspace.connection, fields, 2)
    workspace.connection.execute("DELETE FROM pairs WHERE field = 'zeta' AND n = 1")
    with pytest.raises(InternalError, match="2 expected cases"):
        check_conservation(workspace.connection, fields, 2)


def test_a_connection_that_keeps_no_order_gives_the_same(workspace):
    rows = texts(50)
    name = workspace.csv("r.csv", columns(rows, orders(rows)[0]))
    digest = workspace.load(name, workspace.csv("s.csv", columns(rows, list(rows))), FIELDS).manifest_rows_sha256
    workspace.connection.execute("SET preserve_insertion_order = false")
    assert workspace.load(name, name.replace("r", "s", 1), FIELDS).manifest_rows_sha256 == digest
    assert workspace.connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall() == [(False,)]


def test_small_files_need_no_pyarrow(workspace):
    rows = columns(texts(3), ["c0", "c1"])
    workspace.csv("r.csv", rows), workspace.json_lines("p.jsonl", rows)
    code = (
        "import sys, duckdb; from pathlib import Path; from auditor.load import load\n"
        "from auditor.spec.models import *\n"
        f"folder = Path({str(workspace.folder)!r})\n"
        "spec = AuditSpec(name='t', file=folder, folder=folder, consumers={}, fields={'zeta': FieldSpec(name='zeta', "
        "type='category')}, cases=CasesSpec(predictions=('p.jsonl',), references=('r.csv',)))\n"
        "load(spec, duckdb.connect())\n"
        "sys.exit('pyarrow' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_prompts_are_bound_where_the_spec_names_them_and_nowhere_else(workspace):
    def prompts(texts, **cases):
        rows = [{"case_id": case, "date": "2024-03-01", "text": text} for case, text in texts]
        predictions = workspace.json_lines("p.jsonl", [{"case_id": "a", "date": "2024-03-01"}])
        references = workspace.json_lines("r.jsonl", rows)
        return workspace.load(predictions, references, {"date": "date"}, **cases).traits_sha256.get("prompts", "")

    texts = [("a", "the contract"), ("bb", None), ("b", "another")]
    assert prompts(texts) == ""
    expected = column_digest(['"the contract"', '"another"', None])  # in shortlex order of the ids
    assert prompts(texts, input="text") == expected
    assert prompts(list(reversed(texts)), input="text") == expected
    assert prompts([("a", "the contract."), *texts[1:]], input="text") != expected
