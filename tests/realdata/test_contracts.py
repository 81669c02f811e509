"""Dates that lawyers marked in contracts: verbatim text, and an answer that is no date in one of eleven cases."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from auditor.cli.main import app
from tests.realdata.plain import Pipeline, columns_of, differing_in, needs_real_data, records

pytestmark = needs_real_data

SOURCE = r"""
import datetime
import re

from dateutil.parser import parse

JANUARY = datetime.datetime(2000, 1, 1)


def answers(text):
    month, day, year = re.fullmatch(r"(\d\d?)/(\d\d?)/(\d{4}|\d\d)", text.strip()).groups()
    century = 0 if len(year) == 4 else 1900 if int(year) > 68 else 2000
    return datetime.date(century + int(year), int(month), int(day))


def billing(text):
    return parse(text, default=JANUARY).date()


def europe(text):
    return parse(text, dayfirst=True, default=JANUARY).date()


def scan(text):
    return parse(text, fuzzy=True, default=JANUARY).date()
"""

DAY_FIRST = ("England", "Israel", "Italy", "Switzerland", "Netherlands", "Germany", "Spain", "India")
MONTH_FIRST = ("New York", "California", "Delaware", "Texas", "Florida", "Nevada", "Illinois", "Ohio", "Virginia")

FIELDS = ("Agreement Date", "Effective Date", "Expiration Date")


def pipeline(folder, decoder="answers"):
    rows = [
        {"prediction" if key == "raw" else key: value for key, value in row.items() if key not in ("note", "expected")}
        for row in records("cuad_master_clauses.jsonl")
        if row["field"] in FIELDS
    ]
    consumers = {
        name: {"adapter": "python", "reads": dict.fromkeys(FIELDS, f"parsers:{name}")}
        for name in ("answers", "billing", "europe", "scan")
    }
    reads = dict.fromkeys(FIELDS, "try_cast({value} as date)")
    consumers["warehouse"] = {"adapter": "sql", "engine": "duckdb", "reads": reads}
    fields = {field: {"type": "date", "reference": decoder} for field in FIELDS}
    return Pipeline(folder, rows, SOURCE, {"name": "contracts", "fields": fields, "consumers": consumers})


def audited(folder, decoder="answers", **options):
    """Audit the contracts in a folder; gives the plain counterpart, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        plain = pipeline(folder, decoder)
        return plain, plain.audit(store=False, **options)


@pytest.fixture(scope="module")
def contracts(tmp_path_factory):
    """Audit once with everything, and count the references that nobody reads."""
    return audited(tmp_path_factory.mktemp("contracts"), broken_references="report")


def test_verdicts_are_those_of_a_plain_script_that_calls_the_parsers(contracts):
    plain, run = contracts
    assert columns_of(run) == plain.columns()
    assert differing_in(run) == plain.differing()


def test_so_are_verdicts_where_each_consumer_reads_the_references(tmp_path):
    plain, run = audited(tmp_path, "each", broken_references="report", probe="off")
    assert columns_of(run) == plain.columns()
    assert differing_in(run) == plain.differing()


def test_every_answer_that_is_no_date_is_listed_and_no_rate_is_given(tmp_path):
    plain, audit = audited(tmp_path, probe="off")
    unreadable = {
        (row["case_id"], row["field"], json.dumps(row["reference"], ensure_ascii=False))
        for row in plain.rows
        if plain.verdict(row, "answers") == "broken_references"
    }
    assert len(unreadable) > 100
    run = audit.run
    assert {(one.case_id, one.field, one.raw) for one in run.broken_references} == unreadable
    assert len(run.broken_references) == len(unreadable)
    assert run.rates_withheld
    assert all(column.content_rate is None and column.ceiling is None for column in run.columns)


def test_the_command_ends_with_3_and_writes_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = pipeline(tmp_path)
    lines = ['name = "contracts"', "[cases]", 'predictions = "records.jsonl"', 'references = "records.jsonl"']
    lines += ['[fields."Expiration Date"]', 'type = "date"', 'reference = "answers"']
    lines += ["[consumers.answers]", 'adapter = "python"', 'root = "."', 'reads."Expiration Date" = "parsers:answers"']
    (tmp_path / "audit.toml").write_text("\n".join(lines), encoding="utf-8")
    assert CliRunner().invoke(app, ["run", "--quiet", "--probe", "off", "-o", "out.json"]).exit_code == 3
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    expiring = [row for row in plain.rows if row["field"] == "Expiration Date"]
    broken = sum(plain.verdict(row, "answers") == "broken_references" for row in expiring)
    assert len(written["broken_references"]) == broken > 0
    assert all(column["usable_rate"] is None for column in written["columns"])


def has_two_readings(text):
    parts = re.fullmatch(r"(\d\d?)/(\d\d?)/(\d\d|\d{4})", text or "")
    return bool(parts) and parts[1].zfill(2) != parts[2].zfill(2) and int(parts[1]) <= 12 and int(parts[2]) <= 12


def test_answers_are_ambiguous_only_where_locale_and_law_contradict_each_other(contracts):
    plain, run = contracts
    doubted = {one.field: one.affected for one in run.findings if one.code == "ambiguous-reference"}
    for field in FIELDS:
        in_two_ways = [row for row in plain.rows if row["field"] == field and has_two_readings(row["reference"])]
        places = [row.get("jurisdiction") or "" for row in in_two_ways]  # all of locale en-US
        day_first = sum(any(name in place for name in DAY_FIRST) for place in places)
        assert 0 < day_first <= doubted[field] <= sum(place not in ("", *MONTH_FIRST) for place in places)


def test_a_day_first_reader_misreads_american_contracts_and_the_others_do_not(contracts):
    _, run = contracts
    misread = {(one.field, one.consumers) for one in run.findings if one.code == "misreading"}
    assert {(field, ("europe",)) for field in FIELDS} <= misread
    assert not {consumers for _, consumers in misread} & {("answers",), ("billing",), ("scan",)}
