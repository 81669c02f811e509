"""A broken parser that has something right by accident: no strict parser is told to do as it does."""

from __future__ import annotations

from decimal import Decimal

from tests.rooms.outcome_tables import audit, cases

STRICT = {"yes": True, "Yes": True, "no": False, "No": False}


def of(findings, code, consumer=None):
    return [one for one in findings if one.code == code and consumer in (None, *one.consumers)]


def zero(text):
    """Read an amount, with 0 for what is none."""
    try:
        return Decimal(text.replace(",", ""))
    except ArithmeticError:
        return Decimal(0)


def amount(text):
    return Decimal(text)


def test_what_truth_of_text_takes_caps_no_strict_parser():
    rows = cases(("yes", "true", 6), ("no", "false", 3), ("N/A", "true", 2), ("TBD", "false"))
    findings = audit("boolean", {"strict": STRICT.__getitem__, "truth": bool}, rows)
    assert {one.consumers for one in findings if one.code == "constant-output"} == {("truth",)}
    assert not of(findings, "format-ceiling", "strict")


def test_truth_of_text_has_no_right_answer_that_a_strict_parser_loses():
    rows = cases(("yes", "true", 6), ("no", "false", 3), ("N/A", "true", 2))
    (finding,) = of(audit("boolean", {"strict": STRICT.__getitem__, "truth": bool}, rows), "acceptance-disagreement")
    assert finding.severity == "medium" and finding.detail.startswith("No right answer is lost by it.")
    assert finding.fixes[0].startswith("Mend truth first") and not any(fix.startswith("Teach") for fix in finding.fixes)


def test_a_form_that_is_read_for_what_it_says_still_caps_beside_a_zero_for_junk():
    rows = cases(("10.50", "10.50", 5), ("1,234.50", "1234.50", 3), ("N/A", "0", 2))
    findings = audit("decimal", {"strict": amount, "zero": zero}, rows)
    assert of(findings, "sentinel-collapse", "zero")
    (ceiling,) = of(findings, "format-ceiling", "strict")
    assert ceiling.affected == 3 and ceiling.shapes["rejected"] == {"d,d.d": 3}
    assert ceiling.detail.startswith("3 predictions that it loses are right for another consumer.")
    (split,) = of(findings, "acceptance-disagreement")
    assert split.detail.startswith("3 right answers are lost to strict.") and split.fixes[0].startswith("Teach strict")


def test_a_third_parser_that_reads_the_form_still_shows_what_is_lost():
    read = {**STRICT, "Y": True, "N": False}
    rows = cases(("yes", "true", 6), ("no", "false", 3), ("Y", "true", 2), ("N", "false"), ("N/A", "true"))
    findings = audit("boolean", {"strict": STRICT.__getitem__, "truth": bool, "short": read.__getitem__}, rows)
    (ceiling,) = of(findings, "format-ceiling", "strict")
    assert ceiling.affected == 3 and ceiling.detail.startswith("3 predictions")
    assert not of(findings, "format-ceiling", "short")
    losses = {one.consumers: one.detail.partition(".")[0] for one in of(findings, "acceptance-disagreement")}
    assert losses == {
        ("truth", "short", "strict"): "3 right answers are lost to strict",
        ("truth", "strict", "short"): "No right answer is lost by it",
    }
