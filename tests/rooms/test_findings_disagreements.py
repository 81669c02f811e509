"""Two consumers, one string: read differently, or read by one only. Expectations come from the real parsers."""

# ruff: noqa: DTZ001, DTZ007 - the parsers under test make naive dates, as production does

from __future__ import annotations

from datetime import date, datetime

import duckdb
from dateutil import parser as dateutil

from auditor.spec.models import FieldSpec
from tests.rooms.outcome_tables import Case, Raw, Tables, audit, cases, codes


def by_dateutil(text):
    return dateutil.parse(text, default=datetime(2024, 3, 8)).date()


def day_first(text):
    return dateutil.parse(text, dayfirst=True, default=datetime(2024, 3, 8)).date()


def warehouse(text):
    return duckdb.execute("SELECT try_cast(x AS DATE) FROM (VALUES (?)) v(x)", [text]).fetchone()[0]


def iso(text):
    return date.fromisoformat(text)


FIVE = cases(
    ("2024-03-01", "2024-03-01"),
    ("March 1, 2024", "2024-03-01"),
    ("1 March 2024", "2024-03-01"),
    ("2024-03-15", "2024-03-15"),
    ("March 2, 2024", "2024-03-01"),
)


def one(findings, code):
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


def test_agreeing_parsers_are_silent():
    assert audit("date", {"billing": by_dateutil, "portal": by_dateutil}, FIVE) == ()


def test_day_and_month_swapped_is_one_finding_for_a_thousand_rows():
    rows = cases(
        ("01/03/2024", "2024-03-13", 600), ("02/03/2024", "2024-03-13", 400), ("2024-03-13", "2024-03-13", 1000)
    )
    finding = one(audit("date", {"us": by_dateutil, "eu": day_first}, rows), "value-disagreement")
    assert (finding.severity, finding.affected, finding.share) == ("high", 1000, 0.5)
    assert finding.consumers == ("us", "eu") and finding.owners == ("us-team", "eu-team")
    assert "day and month swapped" in finding.title and "us" in finding.title and "eu" in finding.title
    assert finding.shapes == {"read differently": {"dd/dd/dddd": 1000}}
    first, second = finding.witnesses
    assert first.raw == '"01/03/2024"' and first.rows == 600 and first.case_id == "case-1"
    assert {name: decoding.value for name, decoding in first.decodings.items()} == {
        "us": "date:2024-01-03",
        "eu": "date:2024-03-01",
    }
    assert second.raw == '"02/03/2024"'


def test_a_string_that_is_only_a_reference_counts_too():
    rows = cases(("2024-03-13", "01/03/2024", 3), ("2024-03-13", "2024-03-13"), (None, "01/03/2024", 2))
    finding = one(audit("date", {"us": by_dateutil, "eu": day_first}, rows, reference="us"), "value-disagreement")
    assert finding.affected == 5 and finding.witnesses[0].role == "reference"


def test_a_case_counts_once_when_both_its_strings_are_read_differently():
    finding = one(
        audit("date", {"us": by_dateutil, "eu": day_first}, cases(("01/03/2024", "01/03/2024", 4)), reference="us"),
        "value-disagreement",
    )
    assert finding.affected == 4


def test_three_consumers_disagree_by_pairs_and_keep_the_names_of_two():
    rows = cases(("01/03/2024", "2024-03-01"))
    two = audit("date", {"us": by_dateutil, "eu": day_first}, rows)
    three = audit("date", {"us": by_dateutil, "eu": day_first, "app": by_dateutil}, rows)
    pairs = {finding.consumers for finding in three if finding.code == "value-disagreement"}
    assert pairs == {("us", "eu"), ("eu", "app")}
    # The string with two readings, and the ISO date, which one of them takes day first, too.
    alone = {finding.fingerprint for finding in two if finding.code == "value-disagreement"}
    assert len(alone) == 2
    assert alone <= {finding.fingerprint for finding in three}


def test_acceptance_one_finding_per_accepting_and_rejecting_set():
    findings = audit("date", {"billing": by_dateutil, "warehouse": warehouse, "api": iso}, FIVE, reference="billing")
    finding = one(findings, "acceptance-disagreement")
    assert finding.consumers == ("billing", "warehouse", "api")
    assert (finding.severity, finding.affected, finding.share) == ("high", 3, 0.6)
    assert finding.shapes["accepted by some only"] == {"Mmmmm d, dddd": 2, "d Mmmmm dddd": 1}
    assert finding.title == "billing reads field strings that warehouse and api do not"
    assert "2 right answers are lost" in finding.detail


def test_references_that_a_consumer_refuses_affect_no_case_of_an_acceptance_disagreement():
    """Two predictions are refused by the warehouse; references are read by billing, and sent to nobody."""
    rows = cases(
        ("March 1, 2024", "2024-03-01", 2),
        ("2024-03-01", "March 1, 2024", 3),
        ("1 May 2024", "1 May 2024"),
        ("2024-05-01", "2024-05-01", 4),
        ("2 May 2024", "", 7),
    )
    findings = audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows, reference="billing")
    finding = one(findings, "acceptance-disagreement")
    assert (finding.severity, finding.affected, finding.share) == ("high", 3, 0.3)
    assert finding.detail.endswith(
        "3 distinct strings, 3 cases by their predictions; 4 references of the same kind, which no consumer is sent,"
        " and 7 cases outside support."
    )
    assert finding.shapes["accepted by some only"] == {"Mmmmm d, dddd": 2, "d Mmmmm dddd": 1}


def test_an_acceptance_disagreement_of_references_alone_affects_nobody():
    rows = cases(("2024-03-01", "March 1, 2024", 3), ("2024-03-02", "2024-03-02"))
    findings = audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows, reference="billing")
    finding = one(findings, "acceptance-disagreement")
    assert (finding.severity, finding.affected, finding.share) == ("medium", 0, 0.0)
    assert finding.detail.endswith("1 distinct string, 3 references; no prediction of this data set is such a string.")
    assert finding.witnesses[0].role == "reference"


def test_predictions_and_references_that_are_read_differently_are_told_apart():
    rows = cases(("2024-03-13", "01/03/2024", 3), ("02/03/2024", "01/03/2024", 2), ("02/03/2024", "2024-03-13"))
    finding = one(audit("date", {"us": by_dateutil, "eu": day_first}, rows, reference="us"), "value-disagreement")
    assert finding.detail.endswith("2 distinct strings, 6 cases: 3 predictions, 5 references.")
    assert finding.affected == 6 and finding.share == 1.0


def test_acceptance_is_medium_when_no_right_answer_is_lost():
    findings = audit("date", {"billing": by_dateutil, "api": iso}, cases(("March 2, 2024", "2024-03-01")))
    assert one(findings, "acceptance-disagreement").severity == "medium"


def test_what_nobody_reads_is_no_disagreement_and_caps_nobody():
    rows = cases(("N/A", "2024-03-01", 50), ("2024-02-31", "2024-03-01"), ("2024-03-01", "2024-03-01"))
    assert audit("date", {"billing": by_dateutil, "warehouse": warehouse, "api": iso}, rows) == ()


def test_a_new_consumer_renames_no_known_acceptance_finding():
    parsers = {"billing": by_dateutil, "warehouse": warehouse}
    known = {
        finding.fingerprint
        for finding in audit("date", parsers, FIVE, reference="billing")
        if finding.severity != "info"
    }
    additions = {
        "reads everything": lambda s: date(2024, 3, 1),
        "like billing": by_dateutil,
        "like warehouse": warehouse,
        "stricter than warehouse": lambda s: {"2024-03-01": date(2024, 3, 1)}[s],
        "reads nothing": int,
        "reads some": lambda s: datetime.strptime(s, "%B %d, %Y").date(),
    }
    for name, parser in additions.items():
        findings = audit("date", {**parsers, name: parser}, FIVE, reference="billing")
        assert known <= {finding.fingerprint for finding in findings}, name
        assert len({finding.fingerprint for finding in findings}) == len(findings)


def test_format_ceiling_names_accepted_and_rejected_shapes():
    rows = cases(("2024-03-01", "2024-03-01", 6), ("March 1, 2024", "2024-03-01", 3), ("N/A", "2024-03-01", 1))
    finding = one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "format-ceiling")
    assert (finding.severity, finding.consumers, finding.affected, finding.share) == ("high", ("warehouse",), 3, 0.3)
    assert finding.shapes == {
        "accepted": {"dddd-dd-dd": 6},
        "rejected": {"Mmmmm d, dddd": 3},
        "read by nobody": {"A/A": 1},
    }
    assert "60.0 %" in finding.title and [w.raw for w in finding.witnesses] == ['"March 1, 2024"']


def test_format_ceiling_is_medium_when_the_refused_are_wrong_anyway():
    rows = cases(("2024-03-01", "2024-03-01"), ("March 2, 2024", "2024-03-01"))
    assert (
        one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "format-ceiling").severity
        == "medium"
    )


def test_common_shape_is_news_only_where_consumers_disagree():
    rows = cases(("2024-03-01", "2024-03-01", 6), ("March 1, 2024", "2024-03-01", 3), ("2024-02-31", "2024-03-01"))
    finding = one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "common-shape")
    assert finding.severity == "info" and "dddd-dd-dd" in finding.title and '"2024-03-01"' in finding.title
    assert audit("date", {"billing": by_dateutil, "warehouse": warehouse}, cases(("2024-03-01", "2024-03-01"))) == ()


def test_a_date_that_leaves_day_and_month_open_is_no_advice():
    # Both are the fifth of May, or of any month whose number is five, for who takes the day first and who does not.
    rows = cases(("05/05/2024", "2024-05-05", 6), ("March 1, 2024", "2024-03-01", 2), ("2024-03-01", "2024-03-01"))
    findings = audit("date", {"us": by_dateutil, "eu": day_first}, rows)
    assert "common-shape" not in codes(findings)
    assert findings
    assert not any("dd/dd/dddd" in fix for finding in findings for fix in finding.fixes)


def test_a_few_refusals_do_not_speak_against_a_shape():
    rows = cases(("2024-03-01", "2024-03-01", 20), ("2024-02-30", "2024-03-01"), ("March 1, 2024", "2024-03-01", 3))
    finding = one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "format-ceiling")
    assert finding.fixes[0].endswith("reads: dddd-dd-dd, of which it refuses 1 string here.")
    rows = cases(("Friday", "2024-03-08", 5), ("March 1, 2024", "2024-03-01", 3))
    weekdays = {"billing": by_dateutil, "friday": lambda text: {"Friday": date(2024, 3, 8)}[text]}
    finding = one(audit("date", weekdays, rows), "format-ceiling")
    assert (
        finding.fixes[0]
        == "Choose one form that friday always reads, and ask the model for it: none seen is such a form."
    )


def test_no_common_shape():
    rows = cases(("March 1, 2024", "2024-03-01", 3), ("01/03/2024", "2024-03-01"))
    findings = audit("date", {"us": by_dateutil, "eu": day_first, "warehouse": warehouse}, rows)
    finding = one(findings, "no-common-shape")
    assert (finding.severity, finding.affected) == ("medium", 4)
    assert "common-shape" not in {finding.code for finding in findings}


def test_a_shape_with_one_string_read_differently_is_not_common():
    rows = cases(("25/03/2024", "2024-03-25", 9), ("01/03/2024", "2024-03-01"))
    assert "no-common-shape" in codes(audit("date", {"us": by_dateutil, "eu": day_first}, rows))


def test_one_reader_disagrees_with_nobody():
    assert audit("date", {"billing": by_dateutil}, FIVE, reference="billing") == ()


def test_json_null_is_no_string_that_anybody_refuses():
    rows = [Case(Raw("null"), '"2024-03-01"'), *cases(("2024-03-01", "2024-03-01"))]
    lenient = {"a": lambda v: None if v is None else iso(v), "b": iso}
    assert audit("date", lenient, rows, receives={"a": "python"}) == ()


def test_findings_are_sorted_worst_first_and_stable():
    parsers = {"us": by_dateutil, "eu": day_first, "warehouse": warehouse}
    first = audit("date", parsers, FIVE, reference="us")
    assert all(audit("date", parsers, FIVE, reference="us") == first for _ in range(3))
    reordered = audit("date", parsers, list(reversed(FIVE)), reference="us")
    assert [(finding.fingerprint, finding.detail) for finding in reordered] == [
        (f.fingerprint, f.detail) for f in first
    ]
    ranks = [["high", "medium", "low", "info"].index(finding.severity) for finding in first]
    assert ranks == sorted(ranks)


def test_a_string_in_many_payloads_is_one_string_and_one_witness():
    tables = Tables(
        FieldSpec(name="field", type="date"),
        {"us": by_dateutil, "eu": day_first},
        cases(*(("01/03/2024", "2024-03-13") for _ in range(3)), ("02/03/2024", "2024-03-13")),
        payloads=True,
    )
    finding = one(tables.find(), "value-disagreement")
    assert finding.detail.endswith("2 distinct strings, 4 cases.")
    assert [witness.raw for witness in finding.witnesses] == ['"01/03/2024"', '"02/03/2024"']


def test_text_references_of_a_typed_json_field_never_reach_its_json_consumer():
    strict = {"billing": int, "api": lambda value: value if type(value) is int else int("none")}
    rows = [Case("24", '"24"', 5), Case("36", '"24"', 2)]
    assert audit("integer", strict, rows, receives={"api": "python"}) == ()
    findings = audit("integer", strict, [*rows, Case('"24"', '"24"')], receives={"api": "python"})
    assert one(findings, "acceptance-disagreement").affected == 1


def test_the_example_of_a_common_shape_is_what_the_model_writes_most():
    rows = cases(("1 May 2024", "2024-05-01", 1), ("2024-03-01", "2024-03-01", 2), ("2024-09-17", "2024-03-01", 9))
    finding = one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "common-shape")
    assert '"2024-09-17"' in finding.title


def test_what_has_no_reference_is_no_witness_of_a_ceiling():
    rows = cases(("1 May 2024", "", 4), ("March 1, 2024", "2024-03-01", 3), ("2024-03-01", "2024-03-01", 6))
    finding = one(audit("date", {"billing": by_dateutil, "warehouse": warehouse}, rows), "format-ceiling")
    assert [(witness.raw, witness.rows) for witness in finding.witnesses] == [('"March 1, 2024"', 3)]
    assert finding.detail.endswith("1 distinct string, 3 cases.")
