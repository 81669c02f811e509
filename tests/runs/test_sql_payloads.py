"""Audits with a warehouse model on whole payloads, against what the same SQL gives on tables of those payloads."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pytest

import auditor
from auditor.errors import ConsumerError

MODEL = """
select
    case_id,
    case unit
        when 'kg' then 1000 * try_cast(net_weight as decimal(18, 3))
        when 'g' then try_cast(net_weight as decimal(18, 3))
    end as net_weight,
    coalesce(try_cast(start as date), try_cast(signed as date)) as start
from raw.contracts
where status <> 'draft'
"""

SPEC = """
name = "payloads"

[cases]
predictions = "{predictions}"
references = "references.csv"

[fields.net_weight]
type = "decimal"
reference = "{reference}"

[fields.start]
type = "date"
reference = "{reference}"

[consumers.warehouse]
owner = "data"
adapter = "sql"
engine = "duckdb"
model = "model.sql"
"""

COLUMNS = ("case_id", "net_weight", "unit", "start", "signed", "status")

PREDICTIONS = [
    ("a", "2", "kg", "2024-03-01", "2024-01-01", "final"),
    ("b", "2", "g", "March", "2024-01-01", "final"),
    ("c", "2", "lb", "2024-03-01", "2024-01-01", "final"),
    ("d", "2", "kg", "March", "April", "final"),
    ("e", "2", "kg", "2024-03-01", "2024-01-01", "draft"),
    ("f", "2", "kg", "2024-03-01", "2024-01-01", ""),
]

REFERENCES = [
    ("a", "2000", "g", "2024-03-01", "", "final"),
    ("b", "2", "kg", "2024-01-01", "", "final"),
    ("c", "2", "g", "2024-03-01", "", "final"),
    ("d", "2000", "g", "2024-03-01", "", "final"),
    ("e", "2000", "g", "2024-03-01", "", "final"),
    ("f", "2000", "g", "2024-03-01", "", "final"),
]


def table(folder: Path, name: str, rows: Sequence[Sequence[str]]) -> None:
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


def workspace(
    folder: Path, predictions: str = "predictions.csv", extra: str = "", reference: str = "warehouse"
) -> Path:
    (folder / "model.sql").write_text(MODEL)
    (folder / "audit.toml").write_text(SPEC.format(predictions=predictions, reference=reference) + extra)
    table(folder, "predictions.csv", PREDICTIONS)
    table(folder, "references.csv", REFERENCES)
    lines = []
    for case, *cells in PREDICTIONS:
        payload = {name: cell for name, cell in zip(COLUMNS[1:], cells, strict=True) if cell}
        lines.append(json.dumps({"case_id": case, "completion": json.dumps(payload), "finish_reason": "stop"}))
    (folder / "completions.jsonl").write_text("\n".join(lines) + "\n")
    long = [(case, name, cell) for case, *cells in PREDICTIONS for name, cell in zip(COLUMNS[1:], cells, strict=True)]
    with (folder / "long.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("case_id", "field", "prediction"), *(row for row in long if row[2])])
    return folder / "audit.toml"


def in_production(rows: Sequence[Sequence[str]], model: str = MODEL) -> dict[str, tuple[object, ...]]:
    """Run the model on a table of the rows, in which an empty cell is NULL; by case."""
    connection = duckdb.connect()
    connection.execute(f"CREATE SCHEMA raw; CREATE TABLE raw.contracts ({', '.join(f'{c} VARCHAR' for c in COLUMNS)})")
    connection.executemany(
        "INSERT INTO raw.contracts VALUES (?, ?, ?, ?, ?, ?)", [[c or None for c in r] for r in rows]
    )
    return {row[0]: row[1:] for row in connection.execute(model).fetchall()}


def expected(field: int) -> Mapping[str, int]:
    given, asserted = in_production(PREDICTIONS), in_production(REFERENCES)
    counts: Counter[str] = Counter()
    for case, truth in asserted.items():
        if case not in given:
            counts["dropped"] += 1
        elif given[case][field] is None:
            counts["null"] += 1
        else:
            counts["ok" if given[case][field] == truth[field] else "wrong"] += 1
    return counts


def verdicts(column: auditor.Column) -> Mapping[str, int]:
    return {name: n for name, n in column.verdicts.items() if n}


@pytest.mark.parametrize("predictions", ["predictions.csv", "completions.jsonl"])
def test_verdicts_are_those_of_the_whole_rows(tmp_path: Path, predictions: str) -> None:
    run = auditor.run(workspace(tmp_path, predictions), probe="off")
    weight, start = run.column("net_weight", "warehouse"), run.column("start", "warehouse")
    assert verdicts(weight) == expected(0) == {"ok": 1, "wrong": 1, "null": 1, "dropped": 2} | {"ok": 2}
    assert verdicts(start) == expected(1)
    assert (weight.scope, start.scope) == ("payload", "payload")
    assert weight.scope_note == "not among the references: raw.contracts.signed"


def test_field_scope_reads_each_column_alone(tmp_path: Path) -> None:
    with pytest.raises(ConsumerError, match="status <> 'draft'"):
        auditor.run(workspace(tmp_path, extra='scope = "field"\n'))
    (tmp_path / "model.sql").write_text(MODEL.partition("where")[0])
    run = auditor.run(tmp_path / "audit.toml", broken_references="report", probe="off")
    assert run.column("net_weight", "warehouse").scope == "field"
    assert run.column("net_weight", "warehouse").broken_references == len(REFERENCES)


def test_what_the_predictions_do_not_carry_is_named(tmp_path: Path) -> None:
    spec = workspace(tmp_path, "long.csv", reference="typed")
    with pytest.raises(ConsumerError, match="no payload carries what it is on: status <> 'draft'"):
        auditor.run(_without(spec, "status"))
    (tmp_path / "model.sql").write_text(MODEL.partition("where")[0])
    run = auditor.run(_without(spec, "signed"), probe="off")
    note = run.column("start", "warehouse").scope_note
    assert "NULL, as no payload carries it: raw.contracts.signed" in note


def _without(spec: Path, column: str) -> Path:
    """Take a column out of both sources."""
    for name in ("long.csv", "references.csv"):
        path = spec.parent / name
        rows = list(csv.reader(path.open()))
        if name == "long.csv":
            rows = [row for row in rows if row[1] != column]
        else:
            place = rows[0].index(column) if column in rows[0] else len(rows[0])
            rows = [row[:place] + row[place + 1 :] for row in rows]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return spec


def test_a_reference_is_broken_in_the_payload_that_breaks_it_and_in_no_other(tmp_path: Path) -> None:
    spec = workspace(tmp_path)
    table(
        tmp_path,
        "references.csv",
        [(case, "2", "lb" if case == "c" else "kg", *rest) for case, _, _, *rest in REFERENCES],
    )
    run = auditor.run(spec, broken_references="report", probe="off")
    assert [(one.case_id, one.field, one.status) for one in run.run.broken_references] == [("c", "net_weight", "null")]
    assert run.column("net_weight", "warehouse").broken_references == 1
    [finding] = [one for one in run.findings if one.code == "broken-reference"]
    assert finding.affected == 1


def test_a_parser_of_strings_is_judged_as_without_payloads_beside_it(tmp_path: Path) -> None:
    """Distinct strings and their cases are counted the same, however many payloads a string stands in."""
    python = """
[consumers.billing]
adapter = "python"
reads.net_weight = "parsers:weight"
reads.start = "parsers:start"
"""
    parsers = "from datetime import date\nfrom decimal import Decimal\n"
    parsers += "def weight(text): return Decimal(text) if text.isdigit() else Decimal(2)\n"
    parsers += "def start(text): return date.fromisoformat(text.replace('/', '-'))\n"
    rows = [
        (f"c{n}", "2" if n % 2 else "N/A", "g", "2024-03-01" if n % 3 else "2024/03/01", str(n), "final")
        for n in range(30)
    ]
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "parsers.py").write_text(parsers)
        spec = workspace(tmp_path / name, extra=python, reference="typed")
        table(tmp_path / name, "predictions.csv", rows)
        table(tmp_path / name, "references.csv", [(row[0], "2", "g", "2024-03-01", row[4], "final") for row in rows])
        if name == "without":
            (tmp_path / name / "model.sql").write_text("select net_weight, start from raw.contracts")
            expressions = (
                'reads.net_weight = "try_cast({value} as decimal(18, 3))"\nreads.start = "try_cast({value} as date)"'
            )
            spec.write_text(spec.read_text().replace('model = "model.sql"', expressions))
    runs = [auditor.run(tmp_path / name / "audit.toml", probe="quick") for name in ("with", "without")]
    of_billing = [
        [
            (one.code, one.field, one.affected, one.detail, [(w.raw, w.rows) for w in one.witnesses])
            for one in run.findings
            if "billing" in one.consumers
        ]
        for run in runs
    ]
    assert of_billing[0] == of_billing[1]
    assert of_billing[0]
