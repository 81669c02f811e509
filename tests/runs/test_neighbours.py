"""Real loaders of columns, each with a field of its own: what moves with the other rows, and what must not.

The rows and calls marked B.. are those of public bug reports; the values are what the libraries gave there.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

import auditor
from auditor.probe import neighbours

BOTH = {"order-dependent", "neighbour-dependent"}
NEIGHBOUR = {"neighbour-dependent"}
SILENT: set[str] = set()


class Case(NamedTuple):
    """A field: its type, its predictions, how they are loaded, the codes that are due."""

    type: str
    rows: list[str]
    how: str
    codes: set[str]


COERCE = "pd.to_datetime(pd.Series(rows), errors='coerce')"
RAISE = "pd.to_datetime(pd.Series(rows))"
PANDAS_CSV = "pd.read_csv(io.StringIO('d\\n' + '\\n'.join(rows)), parse_dates=['d']).d"
POLARS_CSV = "pl.read_csv(io.StringIO('d\\n' + '\\n'.join(rows)), try_parse_dates=True)['d'].to_list()"
POLARS_NUMBERS = "pl.read_csv(io.StringIO('v\\n' + '\\n'.join(rows)){})['v'].to_list()"
LAST = "[None] * (len(rows) - 1) + [" + POLARS_NUMBERS + "[-1]]"

CASES = {
    "b31_coerce_day_first": Case("date", ["13/03/2000", "01/03/2000", "02/03/2000"], COERCE, BOTH),
    "b31_coerce_first_first": Case("date", ["01/03/2000", "13/03/2000", "02/03/2000"], COERCE, BOTH),
    "b31_raise_day_first": Case("date", ["13/03/2000", "01/03/2000", "02/03/2000"], RAISE, BOTH),
    "b31_raise_first_first": Case("date", ["01/03/2000", "13/03/2000", "02/03/2000"], RAISE, BOTH),
    "b33_without": Case("date", ["11/03/2011", "03/05/2011", "04/08/2011"], PANDAS_CSV, NEIGHBOUR),
    "b33_with": Case("date", ["11/03/2011", "20/10/2011", "04/08/2011"], PANDAS_CSV, BOTH),
    "b39": Case("date", ["2021-03-10", "hello"], "two_columns(rows)", BOTH),
    "b41_to_date": Case("date", ["2020-01-01", "01/03/2024"], "pl.Series(rows).str.to_date(strict=False)", BOTH),
    "b41_read_csv": Case("date", ["2020-01-01", "01/03/2024"], POLARS_CSV, NEIGHBOUR),
    "b43_after_50": Case("decimal", ["1"] * 50 + ["2.1"], LAST.format(""), BOTH),
    "b43_after_101": Case("decimal", ["1"] * 101 + ["2.1"], LAST.format(""), BOTH),
    "b43_ignore_errors": Case("decimal", ["1"] * 101 + ["2.1"], LAST.format(", ignore_errors=True"), BOTH),
    # The sniffer takes the day first where nothing says otherwise, and the month where one row does (4.2 of the note).
    "duckdb": Case("date", ["01/03/2024", "02/03/2024"], "sniffed(rows)", NEIGHBOUR),
    "numeric": Case("integer", ["1", "2"], "pd.to_numeric(pd.Series(rows), errors='coerce')", NEIGHBOUR),
    "codes": Case("identifier", ["00123", "00456"], "pd.read_csv(io.StringIO('d\\n' + '\\n'.join(rows))).d", NEIGHBOUR),
    "offsets": Case("datetime", ["2024-03-01T10:00:00"], "pd.to_datetime(rows, format='ISO8601')", NEIGHBOUR),
    # Parsers whose rows do not look at each other.
    "pandas_format": Case("date", ["01/03/2024", "13/03/2024"], "pd.to_datetime(rows, format='%d/%m/%Y')", SILENT),
    "pandas_format_and_a_bad_row": Case(
        "date", ["01/03/2024", "N/A", "13/03/2024"], "pd.to_datetime(rows, format='%d/%m/%Y')", SILENT
    ),
    "pandas_format_coerce": Case(
        "date", ["01/03/2024", "N/A"], "pd.to_datetime(rows, format='%d/%m/%Y', errors='coerce')", SILENT
    ),
    "polars_format": Case("date", ["01/03/2024", "03/13/2024"], "pl.Series(rows).str.to_date('%d/%m/%Y')", SILENT),
    "iso": Case("date", ["2024-03-01", "01/03/2024"], "[date.fromisoformat(row) for row in rows]", SILENT),
    "iso_or_none": Case("date", ["2024-03-01", "01/03/2024"], "[iso_or_none(row) for row in rows]", SILENT),
    "iso_or_error": Case("date", ["2024-03-01", "01/03/2024"], "[iso_or_error(row) for row in rows]", SILENT),
    "float": Case("decimal", ["1", "2.5", "1e3"], "[float(row) for row in rows]", SILENT),
    "polars_cast": Case("decimal", ["1", "2.5"], "pl.Series(rows).cast(pl.Float64, strict=False)", SILENT),
    "duckdb_typed": Case("date", ["01/03/2024", "02/03/2024"], "typed(rows)", SILENT),
    # Neither is a neighbour's fault.
    "random": Case("integer", [str(n) for n in range(40)], "[int(row) + random.randrange(2) for row in rows]", SILENT),
    "state": Case("integer", ["1", "2"], "[int(row) + next(count) for row in rows]", SILENT),
    "crash": Case("integer", ["1", "2"], "os._exit(3) if len(rows) > 1 else rows", SILENT),
}

PARSERS = """
import io, itertools, os, random, tempfile
from datetime import date
import duckdb
import pandas as pd
import polars as pl

count = itertools.count()

def file_of(header, lines):
    path = tempfile.mktemp(suffix=".csv")
    with open(path, "w") as file:
        file.write(header + "\\n" + "\\n".join(lines) + "\\n")
    return path

def sniffed(rows):
    path = file_of("d", ['"%s"' % row for row in rows])
    return [d for d, in duckdb.sql("select d from read_csv('%s')" % path).fetchall()]

def typed(rows):
    path = file_of("d", ['"%s"' % row for row in rows])
    relation = "read_csv('%s', auto_detect=false, header=true, columns={'d': 'VARCHAR'})" % path
    return [d for d, in duckdb.sql("select try_strptime(d, '%%d/%%m/%%Y')::date from %s" % relation).fetchall()]

def two_columns(rows):
    "The second row is the text in the column beside the first."
    path = file_of("txt,d", [rows[1] + "," + rows[0]])
    types = "columns={'txt': 'VARCHAR', 'd': 'DATE'}"
    return [duckdb.sql("select d from read_csv('%s', %s)" % (path, types)).fetchall()[0][0], None]

def iso_or_none(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None

def iso_or_error(text):
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        return error
"""

GOOD = {"date": "2024-03-01", "datetime": "2024-03-01T10:00:00", "decimal": "1", "integer": "1", "identifier": "x"}


def audit(folder: Path, cases: dict[str, Case], parsers: str = PARSERS, timeout: str = "10 s") -> auditor.AuditedRun:
    """Audit one consumer of batches that reads a field per case; quick probes try all company, too."""
    functions = [f"def load_{name}(rows):\n    return {case.how}\n" for name, case in cases.items()]
    (folder / "parsers.py").write_text(parsers + "\n".join(functions))
    with (folder / "pairs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case_id", "field", "prediction", "reference"])
        for name, case in cases.items():
            writer.writerows([f"c{n}", name, row, GOOD[case.type]] for n, row in enumerate(case.rows))
    lines = ['name = "loads"', "[cases]", 'predictions = "pairs.csv"', 'references = "pairs.csv"']
    for name, case in cases.items():
        lines += [f"[fields.{name}]", f'type = "{case.type}"']
    lines += ["[consumers.loader]", 'adapter = "python"', "batch = true", 'memory = "4 GiB"', f'timeout = "{timeout}"']
    lines += [f'reads.{name} = "parsers:load_{name}"' for name in cases]
    (folder / "audit.toml").write_text("\n".join(lines))
    return auditor.run(folder / "audit.toml", probe="quick")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return audit(tmp_path_factory.mktemp("loads"), CASES)


def found(run, field):
    return {one.code: one for one in run.findings if one.field == field and one.code in BOTH}


def note(run, field):
    return next(note for note in run.run.notes if note.startswith(f"{field}, loader, predictions: "))


@pytest.mark.parametrize("name", CASES)
def test_what_moves_with_its_neighbours_is_found_and_nothing_else(run, name):
    assert set(found(run, name)) == CASES[name].codes


def test_the_smallest_witness_has_two_rows_and_two_values(run):
    order = found(run, "b31_coerce_day_first")["order-dependent"]
    assert order.title == (
        "loader reads the same rows of b31_coerce_day_first otherwise in another order: "
        '"01/03/2000" is datetime:2000-03-01T00:00:00 after "13/03/2000" and '
        'datetime:2000-01-03T00:00:00 before "13/03/2000"'
    )
    assert (order.severity, order.affected, order.consumers) == ("high", 3, ("loader",))
    flip = found(run, "duckdb")["neighbour-dependent"]
    assert flip.title.endswith('"01/03/2024" is date:2024-03-01 alone and date:2024-01-03 after "03/13/2024"')
    witness = flip.witnesses[0]
    assert (witness.raw, witness.role, witness.case_id) == ('"01/03/2024"', "prediction", "c0")
    assert witness.note.startswith('alone: date:2024-03-01; after "03/13/2024": date:2024-01-03')


def test_a_leading_zero_is_lost_by_the_company_of_numbers(run):
    codes = found(run, "codes")["neighbour-dependent"]
    assert codes.title.endswith('"00123" is rejected as int:123 alone and text:00123 after "2024-03-01"')
    assert "dtype" in codes.fixes[0]


def test_the_detail_says_what_was_varied_and_how_much_moved(run):
    detail = found(run, "b41_read_csv")["neighbour-dependent"].detail
    assert "The base is the batch of 2 predictions in file order" in detail
    assert "2 of 2 distinct strings came out otherwise" in detail
    assert '"13/03/2024" before the rows' in detail


def test_a_silent_probe_says_what_it_tried(run):
    # Alone, reversed, 13/03/2024 first, five other rows before and after, and blocks of four of them before.
    assert note(run, "pandas_format").endswith(
        "2 rows read again alone, in other orders and with other rows (17 ways), no string moved"
    )


def test_rows_that_spoil_a_strict_load_are_named_and_left_out(run):
    assert run.column("pandas_format_and_a_bad_row", "loader").verdicts["rejected"] == 3
    assert note(run, "pandas_format_and_a_bad_row").endswith(
        "2 rows of 3 read again alone, in other orders and with other rows (17 ways), no string moved; "
        'the whole batch is refused because of "N/A", refused alone too'
    )


@pytest.mark.parametrize("name", ["random", "state"])
def test_noise_is_not_blamed_on_neighbours(run, name):
    assert note(run, name).endswith(
        "neighbours not varied: equal batches are not read alike: nothing can be blamed on neighbours"
    )


def test_a_batch_that_crashes_is_not_varied(run):
    assert note(run, "crash").endswith("neighbours not varied: the batch itself crashes or takes too long")


PLAIN = """
from datetime import datetime

def infer(rows):
    order = "%d/%m/%Y" if any(int(row[:2]) > 12 for row in rows if row[2:3] == "/") else "%m/%d/%Y"
    out = []
    for row in rows:
        try:
            out.append(datetime.strptime(row, order).date())
        except ValueError:
            out.append(None)
    return out
"""


def test_a_long_batch_is_sampled_and_what_the_rest_of_it_decides_is_found(tmp_path):
    """One row in 3,000 with a day above 12 makes all of them day first."""
    rows = [f"{n % 12 + 1:02}/{n // 12 % 12 + 1:02}/{2000 + n // 144}" for n in range(2999)] + ["13/03/2024"]
    run = audit(tmp_path, {"d": Case("date", rows, "infer(rows)", NEIGHBOUR)}, PLAIN)
    finding = found(run, "d")["neighbour-dependent"]
    assert "(of 3,000; distinct strings of every form)" in finding.detail
    assert '"01/02/2000" is date:2000-01-02 alone and date:2000-02-01 after "13/03/2024"' in finding.title
    assert "2,000 predictions" in finding.detail
    assert note(run, "d").startswith("d, loader, predictions: 2,000 rows of 3,000 read again")


def test_references_are_probed_where_the_consumer_reads_them(tmp_path):
    (tmp_path / "parsers.py").write_text(PLAIN)
    (tmp_path / "pairs.csv").write_text("case_id,field,prediction,reference\na,d,13/03/2024,01/03/2024\n")
    (tmp_path / "audit.toml").write_text(
        'name = "loads"\n[cases]\npredictions = "pairs.csv"\nreferences = "pairs.csv"\n'
        '[fields.d]\ntype = "date"\nreference = "loader"\n'
        '[consumers.loader]\nadapter = "python"\nbatch = true\nreads.d = "parsers:infer"\n'
    )
    run = auditor.run(tmp_path / "audit.toml", probe="quick")
    finding = found(run, "d")["neighbour-dependent"]
    assert [(one.raw, one.role) for one in finding.witnesses] == [('"01/03/2024"', "reference")]
    assert "the batch of 1 reference in file order" in finding.detail


SLOW = PLAIN + "\nimport time\n\ndef slow(rows):\n    time.sleep({})\n    return infer(rows)\n"
DAYS = [f"{n % 12 + 1:02}/{n // 12 % 12 + 1:02}/{2000 + n // 144}" for n in range(300)]


def test_a_slow_load_is_probed_with_the_same_rows_as_a_quick_one(tmp_path):
    """A quarter of a second for each of 50 readings of the batch, and what is found is what a quick machine finds."""
    case = {"d": Case("date", DAYS, "slow(rows)", NEIGHBOUR)}
    (tmp_path / "quick").mkdir()
    (tmp_path / "slow").mkdir()
    quick = audit(tmp_path / "quick", case, SLOW.format("0"))
    slow = audit(tmp_path / "slow", case, SLOW.format("0.25 if len(rows) > 100 else 0"), timeout="5 s")
    assert note(quick, "d") == note(slow, "d")
    assert "predictions: 300 rows read again" in note(slow, "d")
    assert found(slow, "d")["neighbour-dependent"].affected == found(quick, "d")["neighbour-dependent"].affected


def test_a_load_that_takes_too_long_to_be_read_again_is_not_varied(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbours, "SECONDS", 0.2)
    run = audit(tmp_path, {"d": Case("date", DAYS, "slow(rows)", SILENT)}, SLOW.format("0.01"))
    assert note(run, "d").endswith("neighbours not varied: reading its rows again takes more than 0.2 s")
    assert set(found(run, "d")) == SILENT


def test_rows_that_time_out_alone_do_not_stall_the_audit(tmp_path):
    """A load that waits for company: the batch is quick, each of its rows alone takes too long."""
    waits = "9 if rows[1:] == [] and 'row' in rows[0] else 0"
    parser = f"import time\n\ndef wait(rows):\n    time.sleep({waits})\n    return rows\n"
    case = Case("identifier", [f"row {n}" for n in range(100)], "wait(rows)", SILENT)
    run = audit(tmp_path, {"d": case}, parser, timeout="300 ms")
    assert set(found(run, "d")) == SILENT
    assert note(run, "d").endswith("neighbours not varied: a row alone takes too long")


def test_a_long_strict_load_is_not_blamed_for_a_bad_row_outside_the_sample(tmp_path):
    """31 February is written as all others are, and fails the load of all."""
    strict = "\n\ndef strict(rows):\n    return [datetime.strptime(row, '%d/%m/%Y').date() for row in rows]\n"
    rows = [f"{n % 12 + 13}/{n // 12 % 12 + 1:02}/{2000 + n // 144}" for n in range(2999)] + ["31/02/2024"]
    run = audit(tmp_path, {"d": Case("date", rows, "strict(rows)", SILENT)}, PLAIN + strict)
    assert run.column("d", "loader").verdicts["rejected"] == 3000
    assert set(found(run, "d")) == SILENT
