"""Parsers of booleans: what is junk, what a no, and which of them is blamed."""

from __future__ import annotations

from auditor.findings.words import shape_name
from tests.rooms.outcome_tables import audit, cases, codes


def one(findings, code):
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


def tick(text):
    return text.strip().upper() == "X"


def test_is_it_the_word_true_is_blamed_for_junk_and_for_no_correct_reading():
    rows = cases(("true", "true", 6), ("false", "false", 3), ("no", "false", 2), ("N/A", "false"))
    finding = one(audit("boolean", {"a": lambda s: s.lower() == "true"}, rows), "sentinel-collapse")
    assert finding.affected == 1 and finding.witnesses[0].raw == '"N/A"'
    assert '"N/A"' in finding.title and '"no"' not in finding.title + finding.detail
    assert finding.cause == "Everything that is not on the list of one value is taken for the other."


def test_words_that_are_read_correctly_are_not_affected():
    rows = cases(("true", "true", 6), ("false", "false", 3))
    finding = one(audit("boolean", {"a": lambda s: s.lower() == "true"}, rows), "sentinel-collapse")
    assert finding.affected == 0 and {witness.role for witness in finding.witnesses} == {"probe"}


def test_a_tick_box_without_a_tick_is_not_constant():
    rows = cases(("no", "false", 3), ("N/A", "false"))
    assert codes(audit("boolean", {"a": tick}, rows)) == {"sentinel-collapse"}
    findings = audit("boolean", {"a": lambda s: False}, cases(("yes", "true"), ("no", "false")))
    assert codes(findings) == {"constant-output", "sentinel-collapse"}


def test_an_empty_box_is_unticked_if_all_other_junk_is_refused():
    rows = cases(("X", "true", 3), ("", "false", 2), ("N/A", "false"))
    explicit = {"X": True, "x": True, "": False}
    assert codes(audit("boolean", {"a": lambda s: explicit[s.strip()]}, rows)) == set()
    ticked = {"X": False, "": True}
    assert "sentinel-collapse" in codes(audit("boolean", {"a": lambda s: ticked[s.strip()]}, rows))
    lenient = {**explicit, "N/A": False}
    assert "sentinel-collapse" in codes(audit("boolean", {"a": lambda s: lenient[s.strip()]}, rows))


def test_signs_of_a_box_are_no_junk():
    boxes = {"☐": False, "[ ]": False, "☑": True, "": False}
    findings = audit("boolean", {"a": lambda s: boxes.get(s, False)}, cases(("☐", "false", 3), ("[ ]", "false")))
    assert one(findings, "sentinel-collapse").affected == 0
    findings = audit("boolean", {"a": bool}, cases(("☐", "", 3), ("[ ]", "")))
    assert one(findings, "sentinel-collapse").affected == 4


def test_blanks_are_left_out_where_everything_else_is_one_value():
    rows = cases(("", "", 4), ("yes", "true", 3), ("no", "false", 2))
    finding = one(audit("boolean", {"a": bool}, rows), "constant-output")
    assert finding.affected == 5
    assert {w.decodings["a"].value for w in finding.witnesses} == {"bool:true"}


def test_the_two_words_are_forms_of_their_own():
    rows = cases(("true", "true", 3), ("false", "false", 2), ("yes", "true"))
    findings = audit("boolean", {"a": lambda s: {"true": True, "false": False}[s], "b": bool}, rows)
    assert "no-common-shape" not in codes(findings)
    assert '"true"' in one(findings, "common-shape").title


def test_a_json_value_is_named_as_one_and_not_as_a_text_to_write() -> None:
    assert shape_name("JSON false") == "the JSON value false"
    assert (shape_name("d Mmmmm dddd"), shape_name("true")) == ('"d Mmmmm dddd"', "true")
