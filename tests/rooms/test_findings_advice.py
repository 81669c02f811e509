"""What a model is asked for by name: a word as it is written, and no form that others read as another value."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from tests.rooms.outcome_tables import audit, cases


def asked_for(findings, consumer):
    (ceiling,) = [one for one in findings if one.code == "format-ceiling" and one.consumers == (consumer,)]
    return ceiling.fixes[0]


def test_a_word_is_named_and_not_its_letters():
    own, other = {"1": True, "0": False}, {"1": True, "0": False, "oui": True}
    rows = cases(("1", "true", 5), ("0", "false", 3), ("oui", "true"))
    fix = asked_for(audit("boolean", {"own": own.__getitem__, "other": other.__getitem__}, rows), "own")
    assert fix == 'Ask the model for a word that own reads, such as "1".'


def german(text):
    return Decimal(text.replace(".", "").replace(",", "."))


def english(text):
    return Decimal(text.replace(",", ""))


def plain_or_grouped(text):
    if text.startswith("="):
        raise ValueError(text)
    return english(text)


def lenient(text):
    return german(text.removeprefix("="))


def test_a_form_that_another_consumer_reads_otherwise_is_not_the_first_choice():
    rows = cases(("1,234", "1234", 6), ("250", "250", 4), ("=250", "250", 2))
    fix = asked_for(audit("decimal", {"strict": plain_or_grouped, "german": lenient}, rows), "strict")
    assert fix == "Ask the model for a form that strict reads: d."


def test_where_there_is_no_other_form_it_is_said():
    rows = cases(("1,234", "1234", 6), ("=250", "250", 2))
    fix = asked_for(audit("decimal", {"strict": plain_or_grouped, "german": lenient}, rows), "strict")
    assert fix == (
        'Ask the model for a form that strict reads: "d,d". Other consumers read it as other values: see the value'
        " disagreements of it."
    )


MONTHS = {"March": 3}


def written(text):
    day, month, year = text.split()
    return date(int(year), MONTHS[month], int(day))


def iso_or_written(text):
    return date.fromisoformat(text) if "-" in text else written(text)


def test_what_a_broken_parser_reads_otherwise_speaks_against_no_form():
    parsers = {"strict": date.fromisoformat, "stub": lambda text: date(2024, 3, 8), "both": iso_or_written}
    rows = cases(("2024-03-01", "2024-03-01", 5), ("2 March 2024", "2024-03-02", 2))
    fix = asked_for(audit("date", parsers, rows), "strict")
    assert fix == "Ask the model for a form that strict reads: dddd-dd-dd."
