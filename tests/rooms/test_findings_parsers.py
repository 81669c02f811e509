"""What a parser makes of junk, of other JSON types and of poison, and references that cannot be read."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal

import duckdb
import pint
import pytest
from dateutil import parser as dateutil
from pydantic import StrictBool, StrictInt, StrictStr, TypeAdapter

from auditor.findings.find import untrusted_by
from tests.rooms.outcome_tables import Case, Crash, Hang, Raw, audit, cases, codes

# ruff: noqa: DTZ001 - the parsers under test make naive dates, as production does

UREG = pint.UnitRegistry()


def one(findings, code):
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


def sql(target):
    def cast(text):
        return duckdb.execute(f"SELECT try_cast(x AS {target}) FROM (VALUES (?)) v(x)", [text]).fetchone()[0]

    return cast


def pydantic(annotation, **settings):
    adapter = TypeAdapter(annotation)
    return lambda text: adapter.validate_json(text, **settings)


def by_dateutil(text):
    return dateutil.parse(text, default=datetime(2024, 3, 8)).date()


def caught(parse, instead):
    def lenient(text):
        try:
            return parse(text)
        except (ValueError, ArithmeticError, KeyError, AttributeError):
            return instead

    return lenient


WORDS = {"yes": True, "true": True, "[x]": True, "annual": True, "no": False, "false": False, "0": False, "off": False}


def by_words(text):
    return WORDS[text.lower()]


def grams(text):
    return Decimal(str(UREG.Quantity(text).to("g").magnitude))


SOUND_PARSERS = {
    "dateutil": ("date", by_dateutil, "2024-03-01"),
    "dateutil fuzzy": (
        "date",
        lambda s: dateutil.parse(s, fuzzy=True, default=datetime(2024, 3, 8)).date(),
        "2024-03-01",
    ),
    "fromisoformat": ("date", date.fromisoformat, "2024-03-01"),
    "strptime": ("date", lambda s: datetime.strptime(s, "%d.%m.%Y").date(), "15.03.2024"),  # noqa: DTZ007
    "duckdb date": ("date", sql("DATE"), "2024-03-01"),
    "datetime": ("datetime", datetime.fromisoformat, "2024-03-01T10:00:00"),
    "duckdb timestamp": ("datetime", sql("TIMESTAMP"), "2024-03-01 10:00:00"),
    "Decimal": ("decimal", Decimal, "12.50"),
    "float": ("decimal", float, "12.50"),
    "duckdb decimal": ("decimal", sql("DECIMAL(18,2)"), "12.50"),
    "coarse grain": ("money", Decimal, "12.50"),
    "int": ("integer", int, "12"),
    "duckdb integer": ("integer", sql("INTEGER"), "12"),
    "ordinal": ("ordinal", int, "3"),
    "pint": ("quantity", grams, "12 kg"),
    "words": ("boolean", by_words, "yes"),
    "duckdb boolean": ("boolean", sql("BOOLEAN"), "true"),
    "one word each": ("boolean", lambda s: {"Y": True, "N": False}[s], "Y"),
    "strip": ("identifier", str.strip, "A-1"),
    "upper": ("identifier", lambda s: s.strip().upper(), "A-1"),
    "letters and digits": ("identifier", lambda s: re.sub(r"\W", "", s), "A-1"),
    "exact pattern": ("identifier", lambda s: re.fullmatch(r"[A-Z]-\d+", s).group(), "A-1"),
    "category": ("category", lambda s: {"monthly": "monthly", "annual": "annual", "yearly": "annual"}[s], "annual"),
    "any category": ("category", lambda s: s.strip().lower(), "annual"),
    "category with a word for none": (
        "category",
        lambda s: {"n/a": "none", "not stated": "none"}.get(s.lower(), s),
        "gold",
    ),
}
GRAINS = {"coarse grain": {"grain": "1000"}, "pint": {"unit": "g"}, "ordinal": {"minimum": 1, "maximum": 5}}


@pytest.mark.parametrize("name", SOUND_PARSERS)
def test_a_sound_parser_is_silent_whatever_junk_it_is_fed(name):
    field_type, parser, string = SOUND_PARSERS[name]
    rows = cases((string, string, 5), ("N/A", string), ("not stated", string), ("", string))
    assert audit(field_type, {"a": parser}, rows, reference="a", **GRAINS.get(name, {})) == ()


SENTINELS = {
    "zero": ("decimal", caught(Decimal, 0), "12.5", "see below"),
    "zero for int": ("integer", caught(int, 0), "12", "N/A"),
    "minus one": ("integer", caught(int, -1), "12", "N/A"),
    "epoch": ("date", caught(by_dateutil, date(1970, 1, 1)), "2024-03-01", "N/A"),
    "today": ("date", caught(by_dateutil, date(2024, 3, 8)), "2024-03-01", "N/A"),
    "end of time": ("date", caught(date.fromisoformat, date(9999, 12, 31)), "2024-03-01", "not stated"),
    "false": ("boolean", caught(by_words, False), "yes", "N/A"),
    "is it the word": ("boolean", lambda s: s == "true", "true", "N/A"),
    "other": ("category", lambda s: {"monthly": "m", "annual": "a"}.get(s, "other"), "annual", "qwertz"),
    "empty text": ("identifier", caught(lambda s: re.fullmatch(r"[A-Z]-\d+", s).group(), ""), "A-1", "N/A"),
    "unknown": ("identifier", caught(lambda s: re.fullmatch(r"[A-Z]-\d+", s).group(), "UNKNOWN"), "A-1", "N/A"),
    "digits only": ("decimal", lambda s: float("0" + "".join(c for c in s if c in "0123456789.")), "12.5", "N/A"),
    "blank is zero": ("decimal", lambda s: Decimal(s) if s.strip() else 0, "12.5", "  "),
}


@pytest.mark.parametrize("name", SENTINELS)
def test_a_value_for_junk_is_a_sentinel(name):
    field_type, parser, string, junk = SENTINELS[name]
    findings = audit(field_type, {"a": parser, "b": parser}, cases((string, string, 3), (junk, string)), reference="a")
    found = [finding for finding in findings if finding.code == "sentinel-collapse"]
    assert [finding.consumers for finding in found] == [("a",), ("b",)]
    assert {finding.severity for finding in found} == {"high"}
    assert found[0].affected == 1 and found[0].witnesses[0].case_id == "case-2"
    assert untrusted_by(findings)["field", "a"] == ("sentinel-collapse",)


def test_truth_of_text_is_constant_and_a_negative_word_as_the_positive_value():
    rows = cases(("true", "true", 6), ("false", "false", 3), ("yes", "true"))
    findings = audit("boolean", {"portal": bool, "billing": by_words}, rows)
    constant, collapse = one(findings, "constant-output"), one(findings, "sentinel-collapse")
    assert constant.consumers == collapse.consumers == ("portal",)
    assert constant.affected == 10 and collapse.affected == 3
    assert '"false" → bool:true' in collapse.title.replace('"no", "No"', '"false"') or '"no"' in collapse.title
    assert {witness.role for witness in collapse.witnesses} == {"prediction", "probe"}
    assert untrusted_by(findings) == {("field", "portal"): ("constant-output", "sentinel-collapse")}


@pytest.mark.parametrize(
    ("field_type", "parser", "string"),
    [
        ("date", lambda s: date(2024, 3, 8), "2024-03-01"),
        ("decimal", lambda s: 0, "12.5"),
        ("identifier", lambda s: "X", "A-1"),
    ],
)
def test_one_value_for_everything(field_type, parser, string):
    assert "constant-output" in codes(audit(field_type, {"a": parser}, cases((string, string)), reference="a"))


def test_one_category_for_everything():
    rows = cases(("gold", "gold"), ("silver", "gold"))
    assert codes(audit("category", {"a": lambda s: "gold"}, rows)) == {"constant-output", "sentinel-collapse"}


def test_data_of_one_value_make_no_constant_parser():
    assert audit("boolean", {"a": by_words}, cases(("yes", "yes", 50)), reference="a") == ()
    yearly = {"annual": "A", "yearly": "A"}.__getitem__
    assert audit("category", {"a": yearly}, cases(("annual", "yearly", 50)), reference="a") == ()


def test_json_parsers_are_fed_json():
    rows = [Case("true", '"true"', 3), Case("false", '"false"')]
    assert audit("boolean", {"api": pydantic(StrictBool)}, rows, receives={"api": "json"}) == ()
    findings = audit("boolean", {"api": bool}, rows, receives={"api": "python"})
    assert {"sentinel-collapse", "lax-coercion"} <= codes(findings)
    assert "sentinel-collapse" in codes(audit("integer", {"api": lambda v: v or 0}, rows, receives={"api": "python"}))


def test_lax_coercion_lists_the_json_types_by_cases():
    rows = [Case("24", '"24"', 5), Case('"24"', '"24"', 3), Case("24.0", '"24"', 2), Case('"x"', '"24"')]
    finding = one(audit("integer", {"api": pydantic(int)}, rows, receives={"api": "json"}), "lax-coercion")
    assert (finding.severity, finding.affected) == ("medium", 5)
    assert finding.shapes == {"accepted JSON types": {"string": 3, "number": 2}}
    assert all(kind in finding.title for kind in ("boolean", "number", "string"))
    assert [witness.raw for witness in finding.witnesses[:2]] == ['"24"', "24.0"]
    assert {witness.role for witness in finding.witnesses} == {"prediction", "probe"}


@pytest.mark.parametrize(
    ("field_type", "annotation", "good", "lax"),
    [
        ("integer", int, "24", {"boolean", "number", "string"}),
        ("ordinal", int, "3", {"boolean", "number", "string"}),
        ("boolean", bool, "true", {"string", "whole number"}),
        ("date", date, '"2024-03-01"', {"whole number"}),
        ("datetime", datetime, '"2024-03-01T10:00:00"', {"whole number"}),
    ],
)
def test_pydantic_lax_mode_coerces_and_strict_mode_does_not(field_type, annotation, good, lax):
    rows = [Case(good, good)]
    lenient = audit(field_type, {"api": pydantic(annotation)}, rows, receives={"api": "json"}, reference="api")
    assert all(kind in one(lenient, "lax-coercion").title.split(": ")[1] for kind in lax)
    strict = audit(
        field_type, {"api": pydantic(annotation, strict=True)}, rows, receives={"api": "json"}, reference="api"
    )
    assert strict == ()


@pytest.mark.parametrize(
    ("field_type", "parser", "rows"),
    [
        ("decimal", pydantic(Decimal), [Case("12.5", '"12.5"'), Case('"12.5"', '"12.5"')]),
        ("identifier", pydantic(str), [Case('"007"', '"007"')]),
        ("category", pydantic(Literal["a", "b"]), [Case('"a"', '"a"')]),
        ("category", pydantic(Literal[1, 2]), [Case("1", "1"), Case("2", "1")]),
        (
            "integer",
            pydantic(StrictInt),
            [Case("3", '"3"'), Case("3.0", '"3"'), Case('"3"', '"3"'), Case("true", '"3"')],
        ),
        ("identifier", pydantic(StrictStr), [Case("7", '"7"')]),
    ],
)
def test_types_that_a_field_may_have_are_no_coercion(field_type, parser, rows):
    findings = audit(field_type, {"api": parser}, rows, receives={"api": "json"}, reference="each")
    assert "lax-coercion" not in codes(findings)


def test_a_text_consumer_is_given_text_and_coerces_nothing():
    assert audit("integer", {"a": int}, [Case("3", '"3"'), Case('"3"', '"3"')]) == ()


def test_an_identifier_made_of_a_number_is_lax():
    findings = audit("identifier", {"api": str}, [Case("7", '"7"')], receives={"api": "python"})
    assert "lax-coercion" in codes(findings)


def poisonous(kind):
    def parse(text):
        if "poison" in text:
            raise kind
        return date.fromisoformat(text)

    return parse


@pytest.mark.parametrize(("kind", "code"), [(Crash, "consumer-crashed"), (Hang, "consumer-timed-out")])
def test_poison_is_named_with_its_error(kind, code):
    rows = cases(("2024-03-01", "2024-03-01"), ("poison", "2024-03-01", 3), ("poison too", "2024-03-01"))
    findings = audit("date", {"billing": poisonous(kind), "api": date.fromisoformat}, rows)
    finding = one(findings, code)
    assert codes(findings) == {code}
    assert (finding.severity, finding.consumers, finding.affected) == ("high", ("billing",), 4)
    assert [witness.raw for witness in finding.witnesses] == ['"poison"', '"poison too"']
    assert finding.witnesses[0].decodings["billing"].error in ("killed by signal 11", "no answer in 2 s")


def test_a_crash_on_junk_is_found_before_the_data_have_it():
    def brittle(text):
        if not text.strip():
            raise Crash
        return date.fromisoformat(text)

    finding = one(audit("date", {"a": brittle}, cases(("2024-03-01", "2024-03-01"))), "consumer-crashed")
    assert finding.affected == 0 and finding.witnesses[0].role == "probe"


def test_broken_reference_names_decoder_and_cases():
    rows = cases(("2024-03-01", "2024-03-01", 6), ("N/A", "not stated", 2), ("2024-03-01", "soon"))
    finding = one(audit("date", {"billing": by_dateutil}, rows, reference="billing"), "broken-reference")
    assert (finding.severity, finding.consumers, finding.affected) == ("high", ("billing",), 3)
    assert finding.share is None and finding.detail.endswith("2 distinct strings, 3 cases outside support.")
    first = finding.witnesses[0]
    assert (first.raw, first.role, first.case_id) == ('"soon"', "reference", "case-3")
    assert "ParserError" in first.decodings["billing"].error


def test_broken_reference_of_the_typed_reader_and_of_each():
    rows = cases(("2024-03-01", "March 1, 2024"), ("2024-03-01", "2024-03-01"))
    typed = one(audit("date", {"billing": by_dateutil, "api": date.fromisoformat}, rows), "broken-reference")
    assert typed.consumers == () and "typed reader" in typed.title and typed.affected == 1
    each = audit("date", {"billing": by_dateutil, "api": date.fromisoformat}, rows, reference="each")
    assert one(each, "broken-reference").consumers == ("api",)


def test_readable_references_are_silent():
    assert audit("date", {"billing": by_dateutil}, cases(("2024-03-01", "2024-03-01"), (None, "2024-03-01"))) == ()


def test_a_long_raw_value_is_cut_in_the_witness():
    rows = cases(("2024-03-01", "2024-03-01"), ("poison" + "x" * 9000, "2024-03-01"))
    witness = one(audit("date", {"a": poisonous(Crash)}, rows), "consumer-crashed").witnesses[0]
    assert len(witness.raw) < 2100 and "cut at 2,000 of 9,008" in witness.note


def test_raw_tokens_keep_their_text():
    assert Raw("1.10") == "1.10" and InvalidOperation
