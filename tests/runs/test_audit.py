"""The library on small workspaces of its own: the promises that hold whatever the pipeline is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pytest

import auditor
from auditor.errors import AuditorError, StoreError

PARSERS = """
from decimal import Decimal
from dateutil import parser

def day(text):
    return parser.parse(text).date()

def flag(text):
    return {"true": True, "yes": True, "false": False, "no": False, "0": False}[text.lower()]

def any_flag(text):
    return bool(text)

def amount(text):
    return Decimal(text)
"""

SPEC = """
name = "small"

[cases]
predictions = "{predictions}"
references = "{references}"

[fields.effective_date]
type = "date"
reference = "billing"

[consumers.billing]
adapter = "python"
reads.effective_date = "parsers:day"

[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
reads.effective_date = "try_cast({{value}} as date)"
"""

FIVE = [
    ("2024-03-01", "March 1, 2024"),
    ("March 1, 2024", "1 March 2024"),
    ("01 March 2024", "2024-03-01"),
    ("2024-03-01T00:00:00Z", "2024-03-01"),
    ("March 2", "March 1"),
]


def workspace(folder: Path, rows: Sequence[tuple[str | None, str | None]], spec: str = SPEC) -> Path:
    """Write a spec, its parsers and one CSV file of predictions and references in long form."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "parsers.py").write_text(PARSERS)
    lines = [("case_id", "field", "prediction", "reference")]
    lines += [(f"c{i}", "effective_date", *row) for i, row in enumerate(rows)]
    cells = (("" if cell is None else '"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    (folder / "records.csv").write_text("".join(",".join(line) + "\n" for line in cells))
    (folder / "audit.toml").write_text(spec.format(predictions="records.csv", references="records.csv"))
    return folder


def verdicts(column: auditor.Column) -> Mapping[str, int]:
    """Give the verdicts that occur."""
    return {name: n for name, n in column.verdicts.items() if n}


def test_the_five_rows_of_the_problem(tmp_path: Path) -> None:
    """Billing reads four of five right; the warehouse takes the ISO ones and nulls the others."""
    run = auditor.run(workspace(tmp_path, FIVE), probe="off").run
    assert verdicts(run.column("effective_date", "billing")) == {"ok": 4, "wrong": 1}
    assert verdicts(run.column("effective_date", "warehouse")) == {"ok": 2, "null": 3}
    assert (run.column("effective_date", "warehouse").recoverable, run.fields[0].string_equality.count) == (2, 0)


def test_a_cast_that_raises_rejects_with_the_engines_words(tmp_path: Path) -> None:
    """The strict cast of the same column: rejected, not null, and no neighbour is lost."""
    run = auditor.run(workspace(tmp_path, FIVE, SPEC.replace("try_cast", "cast")), probe="off").run
    assert verdicts(run.column("effective_date", "warehouse")) == {"ok": 2, "rejected": 3}


def test_a_reference_that_is_no_value_is_broken_and_never_a_pass(tmp_path: Path) -> None:
    """N/A against `not stated`: exit code 3's run, listed with its error, and no rate anywhere."""
    folder = workspace(tmp_path, [*FIVE, ("N/A", "not stated"), ("N/A", "2024-03-01")])
    run = auditor.run(folder, probe="quick").run
    [broken] = run.broken_references
    assert (broken.case_id, broken.raw, broken.decoder, broken.status) == ("c5", '"not stated"', "billing", "rejected")
    assert "not stated" in broken.error
    assert run.rates_withheld
    assert {column.content_rate for column in run.columns} == {None}
    reported = auditor.run(folder, broken_references="report", probe="off").run
    billing = reported.column("effective_date", "billing")
    assert verdicts(billing) == {"ok": 4, "wrong": 1, "rejected": 1}
    assert (billing.support, billing.broken_references, billing.content_rate) == (6, 1, 4 / 6)


def test_rows_are_conserved_and_empty_is_not_missing(tmp_path: Path) -> None:
    """An empty prediction is rejected, a missing one absent, a missing reference unreferenced: each counted once."""
    rows = [*FIVE, ("", "2024-03-01"), (None, "2024-03-01"), ("2024-03-01", None), ("2024-03-01", ""), (None, None)]
    run = auditor.run(workspace(tmp_path, rows), probe="off").run
    billing = run.column("effective_date", "billing")
    assert verdicts(billing) == {"ok": 4, "wrong": 1, "rejected": 1, "absent": 1}
    assert (billing.support, billing.unreferenced, billing.unexpected, run.cases.expected) == (7, 3, 2, 10)


def test_formats_give_equal_runs(tmp_path: Path) -> None:
    """The same cases from CSV, JSONL and Parquet: same manifest, same columns, same findings."""
    folder = workspace(tmp_path, [*FIVE, ("", "2024-03-01"), (None, "2024-03-01"), ("2024-03-01", None)])
    records = duckdb.connect().read_csv(
        str(folder / "records.csv"), all_varchar=True, allow_quoted_nulls=False, header=True
    )
    columns = records.columns
    lines = (dict(zip(columns, row, strict=True)) for row in records.fetchall())
    text = "".join(json.dumps({k: v for k, v in line.items() if v is not None}) + "\n" for line in lines)
    (folder / "records.jsonl").write_text(text)
    records.write_parquet(str(folder / "records.parquet"))
    spec = (folder / "audit.toml").read_text()
    runs = []
    for suffix in ("csv", "jsonl", "parquet"):
        (folder / "audit.toml").write_text(spec.replace("records.csv", f"records.{suffix}"))
        runs.append(auditor.run(folder, probe="quick").run)
    csv, *others = runs
    for run in others:
        assert (run.manifest_sha256, run.columns, run.findings) == (csv.manifest_sha256, csv.columns, csv.findings)
    assert "clock-dependent" in {finding.code for finding in csv.findings}, "March 2 has no year"


BOOLEANS = """
name = "flags"

[cases]
predictions = "records.csv"
references = "records.csv"

[fields.auto_renew]
type = "boolean"
reference = "map"

[consumers.map]
adapter = "python"
reads.auto_renew = "parsers:flag"

[consumers.truthy]
adapter = "python"
reads.auto_renew = "parsers:any_flag"
"""


def test_bool_of_a_text_is_untrusted_and_a_map_is_not(tmp_path: Path) -> None:
    """`bool("false")` is a constant; a map with no, false and 0 for False is a correct parser."""
    folder = workspace(tmp_path, [])
    rows = "".join(
        f"c{i},auto_renew,{p},{r}\n" for i, (p, r) in enumerate([("true", "yes"), ("false", "no"), ("no", "0")])
    )
    (folder / "records.csv").write_text("case_id,field,prediction,reference\n" + rows)
    (folder / "audit.toml").write_text(BOOLEANS)
    audited = auditor.run(folder)
    truthy, mapped = audited.column("auto_renew", "truthy"), audited.column("auto_renew", "map")
    assert set(truthy.untrusted) == {"constant-output", "sentinel-collapse"}
    assert mapped.untrusted == ()
    accused = {(f.code, f.consumers) for f in audited.findings if f.code in ("constant-output", "sentinel-collapse")}
    assert accused == {("constant-output", ("truthy",)), ("sentinel-collapse", ("truthy",))}
    for suffix, mark in ((".html", "<s"), (".md", "~~"), (".json", '"untrusted": [\n')):
        report = audited.write(tmp_path / f"report{suffix}")
        assert mark in report.read_text(), suffix


MONEY = """
name = "money"

[cases]
predictions = "records.csv"
references = "records.csv"

[fields.total]
type = "money"
{currency}

[consumers.billing]
adapter = "python"
reads.total = "money:pair"

[consumers.ledger]
adapter = "python"
reads.total = "money:amount"
"""


def test_a_money_field_must_say_whether_the_currency_counts(tmp_path: Path) -> None:
    """One consumer gives 12.50 EUR, another 12.50: the spec decides whether these are one value."""
    (tmp_path / "money.py").write_text(
        "from decimal import Decimal\n"
        "def pair(text): amount, currency = text.split(); return Decimal(amount), currency\n"
        "def amount(text): return Decimal(text.split()[0])\n"
    )
    (tmp_path / "records.csv").write_text(
        "case_id,field,prediction,reference\n1,total,12.50 EUR,12.5 EUR\n2,total,3 USD,3 EUR\n"
    )
    (tmp_path / "audit.toml").write_text(MONEY.format(currency=""))
    with pytest.raises(AuditorError, match=r"fields\.total\.currency"):
        auditor.run(tmp_path)
    (tmp_path / "audit.toml").write_text(MONEY.format(currency='currency = "compared"'))
    compared = auditor.run(tmp_path, probe="off")
    assert verdicts(compared.column("total", "billing")) == {"ok": 1, "wrong": 1}
    assert verdicts(compared.column("total", "ledger")) == {"wrong": 2}
    (tmp_path / "audit.toml").write_text(MONEY.format(currency='currency = "ignored"'))
    ignored = auditor.run(tmp_path, probe="off")
    assert verdicts(ignored.column("total", "billing")) == verdicts(ignored.column("total", "ledger")) == {"ok": 2}


def test_a_run_is_stored_whole_and_read_back_exactly(tmp_path: Path) -> None:
    """What was printed is what is loaded; the tables have a row per pair and per raw value, the input is kept."""
    folder = workspace(tmp_path, FIVE)
    audited = auditor.run(folder)
    assert audited.folder is not None
    loaded = auditor.load("latest", runs=folder / ".auditor" / "runs")
    assert loaded.run == audited.run
    assert loaded.table("pairs").aggregate("sum(n)").fetchall() == [(5,)]
    assert loaded.table("outcomes").filter("s0 = 'v'").count("*").fetchall() == [(7,)]
    kept = audited.folder / "sources" / "000-records.csv"
    assert kept.read_bytes() == (folder / "records.csv").read_bytes()


def test_source_date_epoch_makes_a_run_reproducible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases and consumers at the same time: the same document, to the byte."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first = auditor.run(workspace(tmp_path, FIVE), probe="quick")
    second = auditor.run(tmp_path, probe="quick")
    assert first.run == second.run
    assert first.run.created_at == "2023-11-14T22:13:20+00:00"


def test_a_full_disk_leaves_no_half_run(tmp_path: Path) -> None:
    """The run cannot be written: one clear error, and nothing that a later command trips over."""
    folder = workspace(tmp_path, [(f"{1900 + i}-03-01", "2024-03-01") for i in range(2000)])
    code = (
        "import auditor, resource, sys\n"
        "from auditor.audit import run as phases\n"
        "write = phases.write_run\n"
        "def full(*arguments):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "    return write(*arguments)\n"
        "phases.write_run = full\n"
        f"auditor.run({str(folder)!r}, probe='off')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert "StoreError: the run could not be written to" in done.stderr
    assert list((folder / ".auditor" / "runs").iterdir()) == []
    assert auditor.run(folder, probe="off").folder is not None


def test_what_a_killed_run_left_is_ignored_and_removed(tmp_path: Path) -> None:
    """A folder that was never renamed is no run, and goes once its process is gone."""
    folder = workspace(tmp_path, FIVE)
    runs = folder / ".auditor" / "runs"
    left = runs / ".partial-999999999-20240101T000000Z-aaaa"
    left.mkdir(parents=True)
    (left / "run.json").write_text("{")
    with pytest.raises(StoreError):
        auditor.load("latest", runs=runs)
    auditor.run(folder, probe="off")
    assert not left.exists()
    assert auditor.load("latest", runs=runs).run.name == "small"


def test_a_value_of_another_type_is_rejected_once_per_string(tmp_path: Path) -> None:
    """A parser that gives 1 for True: every string is rejected with its reason, and no reason is repeated."""
    folder = workspace(tmp_path, [])
    (folder / "odd.py").write_text("def flag(text): return True if text == 'true' else 1\n")
    rows = "".join(f"c{i},auto_renew,{'true' if i % 2 else i},true\n" for i in range(400))
    (folder / "records.csv").write_text("case_id,field,prediction,reference\n" + rows)
    spec = BOOLEANS.replace("parsers:flag", "odd:flag").partition("[consumers.truthy]")[0]
    (folder / "audit.toml").write_text(spec)
    audited = auditor.run(folder, probe="off")
    assert verdicts(audited.column("auto_renew", "map")) == {"ok": 200, "rejected": 200}
    faults = audited.table("faults").fetchall()
    assert len(faults) == 200
    assert {error for _, _, error in faults} == {"unexpected type: int:1 is no boolean: return True or False"}


def test_a_typed_reference_counts_among_those_that_give_a_currency(tmp_path: Path) -> None:
    """12.50 EUR asserted, 12.50 read: nothing says whether these are one value, so there is no score."""
    (tmp_path / "money.py").write_text(
        "from decimal import Decimal\ndef amount(text): return Decimal(text.split()[0])\n"
    )
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,total,12.50 EUR,12.50 EUR\n")
    (tmp_path / "audit.toml").write_text(
        MONEY.format(currency="").partition("[consumers.billing]")[0]
        + """
[consumers.ledger]
adapter = "python"
reads.total = "money:amount"
"""
    )
    with pytest.raises(AuditorError, match=r"the typed reference: amount and currency; ledger: an amount alone"):
        auditor.run(tmp_path)


PAYLOADS = """
name = "payloads"

[cases]
predictions = "predictions.jsonl"
references = "references.csv"

[fields.count]
type = "integer"

[consumers.api]
adapter = "pydantic"
model = "models:Order"

[consumers.loose]
adapter = "python"
reads.count = "loose:count"
"""


def test_a_payload_is_validated_whole_and_a_string_counts_once(tmp_path: Path) -> None:
    """The model's validator rejects by a sibling: one raw value, two outcomes, one distinct string."""
    (tmp_path / "models.py").write_text(
        "from pydantic import BaseModel, model_validator\n"
        "class Order(BaseModel):\n"
        "    count: int\n    most: int\n"
        "    @model_validator(mode='after')\n"
        "    def within(self):\n"
        "        assert self.count <= self.most\n        return self\n"
    )
    (tmp_path / "loose.py").write_text("def count(text): return int(text)\n")
    lines = [{"case_id": str(i), "count": 3, "most": most} for i, most in enumerate([5, 2, 9])]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "references.csv").write_text("case_id,count\n0,3\n1,3\n2,3\n")
    (tmp_path / "audit.toml").write_text(PAYLOADS)
    run = auditor.run(tmp_path, probe="off").run
    assert verdicts(run.column("count", "api")) == {"ok": 2, "rejected": 1}
    assert (run.column("count", "api").scope, run.column("count", "api").recoverable) == ("payload", 1)
    [field] = run.fields
    assert field.shapes[0].strings == 1
    [pair] = field.disagreements
    assert (pair.strings, field.distinct) == (2, 2)  # the number 3, and the text "3" of the references


def test_a_payload_is_validated_once_for_all_of_its_fields_however_many_there_are(tmp_path: Path) -> None:
    cases, fields = 20_000, ("count", "most", "least")
    (tmp_path / "models.py").write_text(
        "import os\nfrom pydantic import BaseModel, model_validator\n"
        f"says = os.open({str(tmp_path / 'says')!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "class Order(BaseModel):\n"
        "    count: int\n    most: int\n    least: int\n"
        "    @model_validator(mode='before')\n    @classmethod\n"
        "    def noted(cls, payload):\n"
        "        os.write(says, b'1' if 'number' in payload else b'.')\n        return payload\n"
    )
    lines = [{"case_id": str(i), "number": i} | dict.fromkeys(fields, 3) for i in range(cases)]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = [",".join([str(i), "3", "3", "3"]) for i in range(cases)]
    (tmp_path / "references.csv").write_text("\n".join([",".join(["case_id", *fields]), *rows]))
    tables = "".join(f'[fields.{name}]\ntype = "integer"\n' for name in fields)
    api = '[consumers.api]\nadapter = "pydantic"\nmodel = "models:Order"\n'
    (tmp_path / "audit.toml").write_text(PAYLOADS.partition("[fields.count]")[0] + tables + api)
    run = auditor.run(tmp_path, probe="off").run
    assert [(column.verdicts["ok"], column.scope) for column in run.columns] == [(cases, "payload")] * 3
    asked = (tmp_path / "says").read_text().count("1")
    assert cases <= asked <= cases + 100, "once each, but for the junk that is tried in the place of a value"


def test_a_parser_that_accepts_no_payload_is_not_called_clean(tmp_path: Path) -> None:
    """No payload is accepted, so the junk could not be sent in one: the run says so."""
    (tmp_path / "models.py").write_text(
        "from pydantic import BaseModel\nclass Order(BaseModel):\n    count: int\n    most: bool\n"
    )
    (tmp_path / "loose.py").write_text("def count(text): return int(text)\n")
    (tmp_path / "predictions.jsonl").write_text('{"case_id": "0", "count": 3, "most": 5}\n')
    (tmp_path / "references.csv").write_text("case_id,count\n0,3\n")
    (tmp_path / "audit.toml").write_text(PAYLOADS)
    assert auditor.run(tmp_path).run.notes == (
        "api does not take the one prediction of count (rejected 1), whatever it says",
        "count, api: not probed with junk, because it accepts no payload of the data",
    )
