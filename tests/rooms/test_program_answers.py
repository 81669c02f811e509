"""A program's answers become values by the table in consumers/protocol/PROTOCOL.md, and no digit is lost."""

import json
from decimal import Decimal

import pytest

from auditor.judge.keys import grain_key
from auditor.spec.models import FieldSpec
from auditor.worker.answers import take
from auditor.worker.program import decode_json


def read(kind: str, answer: str, *, tagged: bool = False) -> str:
    """Read one answer, given as its JSON text; gives the tagged text or status and error."""
    (text,), faults = take([decode_json(answer)], kind, tagged)
    return text if text is not None else ": ".join(faults[0])


@pytest.mark.parametrize(
    ("kind", "answer", "text"),
    [
        ("date", '"2024-03-01"', "date:2024-03-01"),
        ("date", '"date:2024-03-01"', "date:2024-03-01"),
        ("date", '"2024-03-01T23:30:00-08:00"', "datetime:2024-03-01T23:30:00-08:00"),
        ("date", '"1/3/24"', "text:1/3/24"),
        ("date", '"20240301"', "text:20240301"),
        ("date", '"２０２４-03-01"', "text:２０２４-03-01"),
        ("date", '"2024-03-01\\n"', "text:2024-03-01\n"),
        ("datetime", '"2024-03-01T09:05:07Z"', "datetime:2024-03-01T09:05:07Z"),
        ("datetime", '"2024-03-01 09:05"', "datetime:2024-03-01 09:05"),
        ("datetime", '"2024-03-01"', "date:2024-03-01"),
        ("decimal", "12.50", "decimal:12.50"),
        ("decimal", '"12.50"', "decimal:12.50"),
        ("decimal", "-0.10", "decimal:-0.10"),
        ("decimal", '"1,234.50"', "text:1,234.50"),
        ("decimal", '"NaN"', "text:NaN"),
        ("decimal", "1e-7", "decimal:0.0000001"),
        ("decimal", "1.25E+3", "decimal:1250.0"),
        ("decimal", "-12.5e1", "decimal:-125.0"),
        ("decimal", "0e5", "decimal:0.0"),
        ("decimal", "123456789012345678901234567890.123456789", "decimal:123456789012345678901234567890.123456789"),
        ("decimal", "1e99999", "rejected: unexpected type: the number 1e99999"),
        ("money", '"1234.50 EUR"', "money:1234.50 EUR"),
        ("money", '"money:1234.50 EUR"', "money:1234.50 EUR"),
        ("money", "1234.5", "decimal:1234.5"),
        ("money", '"EUR 1234.50"', "text:EUR 1234.50"),
        ("quantity", '"12.5 kg"', "quantity:12.5 kg"),
        ("quantity", '"12.5 5"', "text:12.5 5"),
        ("integer", "24", "int:24"),
        ("integer", "9007199254740993", "int:9007199254740993"),
        ("integer", "3.0", "decimal:3.0"),
        ("integer", '"24"', "text:24"),
        ("integer", '"int:24"', "int:24"),
        ("boolean", "true", "bool:true"),
        ("boolean", "false", "bool:false"),
        ("boolean", '"true"', "text:true"),
        ("boolean", "0", "int:0"),
        ("identifier", '"007"', "text:007"),
        ("identifier", '"int:7"', "text:int:7"),
        ("identifier", "7", "int:7"),
        ("category", '""', "text:"),
        ("identifier", "null", "null: null"),
        ("date", '{"null": "Invalid Date"}', "null: Invalid Date"),
        ("date", '{"rejected": "RangeError: soon"}', "rejected: RangeError: soon"),
        ("date", '{"error": "away"}', "crashed: away"),
        ("date", '{"error": 5}', "crashed: 5"),
        ("date", '{"value": "2024-03-01"}', "rejected: unexpected type: an object"),
        ("date", '{"rejected": "a", "error": "b"}', "rejected: unexpected type: an object"),
        ("money", '["12.50", "EUR"]', "rejected: unexpected type: an array"),
    ],
)
def test_an_answer_is_the_value_that_the_protocol_says(kind: str, answer: str, text: str) -> None:
    assert read(kind, answer) == text


@pytest.mark.parametrize(
    ("kind", "answer", "text"),
    [
        ("identifier", '"text:PO-1"', "text:PO-1"),
        ("identifier", '"text:int:7"', "text:int:7"),
        ("identifier", '"date:2024-03-01"', "date:2024-03-01"),
        ("date", '"text:2024-03-01"', "date:2024-03-01"),
        ("date", '"text:date:2024-03-01"', "date:2024-03-01"),
        ("date", '"date:2024-03-01"', "date:2024-03-01"),
        ("date", '"text:soon"', "text:soon"),
        ("decimal", '"text:12.50"', "decimal:12.50"),
        ("money", '"text:12.50 EUR"', "money:12.50 EUR"),
        ("boolean", '"text:true"', "text:true"),
        ("integer", '"text:24"', "text:24"),
        ("date", "null", "null: null"),
    ],
)
def test_where_all_strings_are_tagged_a_text_is_a_plain_string(kind: str, answer: str, text: str) -> None:
    assert read(kind, answer, tagged=True) == text


def test_what_python_writes_and_json_does_not_have_is_no_answer() -> None:
    for text in ("NaN", "[Infinity]", '{"values": [-Infinity]}'):
        with pytest.raises(ValueError, match="is no JSON"):
            decode_json(text)


@pytest.mark.parametrize("text", ["1e3", "-1.5E-3", "12.345e1", "0.001e2", "9.99e20", "1e-400", "100e-2", "-0e0"])
def test_a_number_with_an_exponent_is_the_same_number_in_full(text: str) -> None:
    field = FieldSpec(name="f", type="decimal")
    written = read("decimal", text)
    assert Decimal(written.removeprefix("decimal:")) == Decimal(text)
    assert grain_key(field, written) is not None


def test_answers_keep_their_places() -> None:
    answers = decode_json('["2024-03-01", null, {"rejected": "no"}, "date:2024-03-02", {"error": "x"}]')
    texts, faults = take(answers, "date")
    assert texts == ["date:2024-03-01", None, None, "date:2024-03-02", None]
    assert faults == {1: ["null", "null"], 2: ["rejected", "no"], 4: ["crashed", "x"]}


def test_a_long_error_is_cut() -> None:
    _, faults = take([{"rejected": "x" * 10_000}], "date")
    assert faults == {0: ["rejected", "x" * 500]}


def test_a_string_may_hold_anything() -> None:
    text = "a\0b\ud800\n\u2028\U0001f4c5"
    assert take(decode_json(json.dumps([text])), "identifier")[0] == ["text:" + text]
