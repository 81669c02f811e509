"""Money whose currency is missing on one side: never a silent 0 %, but an error or a note with what to set."""

from __future__ import annotations

from pathlib import Path

import pytest

import auditor
from auditor.errors import AuditorError
from auditor.model.run import Run

PARSERS = """
from decimal import Decimal

def pair(text):
    amount, currency = text.split()
    return Decimal(amount), currency

def amount(text):
    return Decimal(text.split()[0])

def either(text):
    return pair(text) if " " in text else Decimal(text)
"""

SPEC = """
name = "money"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.total]
type = "money"
{settings}
[consumers.billing]
adapter = "python"
reads.total = "money:{parser}"
"""


def audited(folder: Path, parser: str, settings: str, *pairs: tuple[str, str]) -> Run:
    """Audit pairs of (prediction, reference) with one parser of money."""
    (folder / "money.py").write_text(PARSERS)
    lines = [f"c{i},total,{prediction},{reference}\n" for i, (prediction, reference) in enumerate(pairs)]
    (folder / "records.csv").write_text("case_id,field,prediction,reference\n" + "".join(lines))
    (folder / "audit.toml").write_text(SPEC.format(parser=parser, settings=settings))
    return auditor.run(folder, store=False, probe="off").run


@pytest.mark.parametrize("settings", ["", 'currency = "compared"', 'currency = "compared"\nreference = "billing"'])
def test_references_without_a_currency_against_pairs_are_an_error(tmp_path: Path, settings: str) -> None:
    """No answer could be right, so there is no score: the message says which setting gives one."""
    parser = "either" if "billing" in settings else "pair"
    with pytest.raises(AuditorError) as error:
        audited(tmp_path, parser, settings, ("12.50 EUR", "12.50"), ("3 USD", "3"))
    said = str(error.value)
    assert "fields.total.currency" in said
    assert "reference: an amount alone" in said and "billing: amount and currency" in said
    assert 'currency = "ignored"' in said and "EUR" in said
    assert 'currency = "compared"' not in said, "that would make every answer wrong"


def test_with_the_currency_ignored_the_same_files_have_a_score(tmp_path: Path) -> None:
    run = audited(tmp_path, "pair", 'currency = "ignored"', ("12.50 EUR", "12.50"), ("3 USD", "4"))
    assert (run.column("total", "billing").content_rate, run.notes) == (0.5, ())


def test_some_references_without_a_currency_are_an_error_until_the_spec_says(tmp_path: Path) -> None:
    pairs = ("12.50 EUR", "12.50 EUR"), ("3 USD", "3")
    with pytest.raises(AuditorError, match=r"1 of 2 distinct references"):
        audited(tmp_path, "pair", "", *pairs)
    run = audited(tmp_path, "pair", 'currency = "compared"', *pairs)
    assert run.column("total", "billing").content_rate == 0.5
    [note] = run.notes
    assert "total" in note and "1 of 2 distinct references" in note and 'currency = "ignored"' in note


def test_a_consumer_that_drops_the_currency_is_noted_where_it_is_compared(tmp_path: Path) -> None:
    run = audited(tmp_path, "amount", 'currency = "compared"', ("12.50 EUR", "12.50 EUR"))
    assert run.column("total", "billing").content_rate == 0.0
    note = run.notes[-1]
    assert "billing: an amount alone" in note and 'currency = "ignored"' in note


def test_money_with_currencies_on_both_sides_or_on_neither_needs_no_word(tmp_path: Path) -> None:
    assert audited(tmp_path, "pair", "", ("12.50 EUR", "12.50 EUR"), ("3 USD", "3 EUR")).notes == ()
    assert audited(tmp_path, "amount", "", ("12.50", "12.50"), ("3", "4")).notes == ()
    assert audited(tmp_path, "either", "", ("12.50", "12.50 EUR"), ("3 EUR", "3 EUR")).notes == ()
