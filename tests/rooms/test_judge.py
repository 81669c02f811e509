"""Grain keys by meaning: what counts as the same value of a field, and what its type cannot hold."""

from __future__ import annotations

import pytest

from auditor.judge.keys import grain_key, unexpected_type
from auditor.judge.shapes import Shapes, json_type, shape_of
from auditor.judge.typed import read_typed
from auditor.spec.models import FieldSpec


def field(kind: str, **keys: object) -> FieldSpec:
    return FieldSpec.model_validate({"name": "x", "type": kind, **keys})


SAME = [
    (field("date"), "date:2024-03-01", "datetime:2024-03-01T00:00:00+00:00"),
    (field("date"), "datetime:2024-03-01T23:30:00-05:00", "date:2024-03-01"),
    (field("date", grain="month"), "date:2024-03-01", "date:2024-03-31"),
    (field("datetime"), "datetime:2024-03-01T10:00:00+00:00", "datetime:2024-03-01T11:00:00+01:00"),
    (field("datetime", grain="minute"), "datetime:2024-03-01T10:00:01", "datetime:2024-03-01T10:00:59"),
    (field("datetime"), "datetime:2024-03-01T10:00:00.000000100", "datetime:2024-03-01T10:00:00.0000001"),
    (field("datetime"), "datetime:2024-03-01T10:00:00.500000000Z", "datetime:2024-03-01T10:00:00.5+00:00"),
    (field("datetime", grain="second"), "datetime:2024-03-01T10:00:00.000000001", "datetime:2024-03-01T10:00:00"),
    (field("money", grain="0.01"), "money:1234.50 EUR", "money:1234.5 EUR"),
    (field("money", currency="ignored"), "money:1234.50 EUR", "decimal:1234.5"),
    (field("decimal"), "decimal:12.50", "decimal:12.5"),
    (field("decimal"), "decimal:-0.0", "int:0"),
    (field("quantity", unit="g", grain="1 g"), "quantity:12.5 g", "decimal:13"),
    (field("quantity", unit="g", grain="1 g"), "decimal:12.5", "decimal:13.49"),
    (field("quantity", unit="g", grain="1 g", rounding="half_even"), "decimal:12.5", "decimal:12"),
    (field("quantity", unit="g", grain="1 g", rounding="down"), "decimal:12.9", "decimal:12"),
    (field("integer"), "int:3", "decimal:3"),
    (field("decimal"), "decimal:10000000000000000.0", "int:10000000000000000"),
    (field("money"), "money:12.0 EUR", "money:12 EUR"),
    (field("quantity", unit="kg"), "quantity:10000000000000000.0 kg", "int:10000000000000000"),
    (field("quantity", unit="g", grain="1 g"), "quantity:0.5 kg", "int:500"),
    (field("quantity", unit="kg"), "quantity:500 g", "decimal:0.50"),
    (field("quantity", unit="g"), "quantity:1 lb", "quantity:453.59237 gram"),
    (field("quantity", unit="lb"), "quantity:1 g", "quantity:0.001 kg"),
    (field("quantity", unit="m2"), "quantity:1 ha", "quantity:10000 m ** 2"),
    (field("quantity", unit="l"), "quantity:1 m³", "int:1000"),
    (field("quantity", unit="eggs"), "quantity:12 eggs", "int:12"),
]

DIFFERENT = [
    (field("date"), "date:2024-03-01", "date:2024-01-03"),
    (field("datetime"), "datetime:2024-03-01T10:00:00", "datetime:2024-03-01T10:00:00+00:00"),
    (field("datetime"), "datetime:2024-03-01T10:00:00.000000001", "datetime:2024-03-01T10:00:00.000000002"),
    (field("datetime"), "datetime:2024-03-01T10:00:00.000000001+01:00", "datetime:2024-03-01T09:00:00+00:00"),
    (field("money"), "money:1234.50 EUR", "money:1234.50 USD"),
    (field("money"), "money:1234.50 EUR", "decimal:1234.50"),
    (field("quantity", unit="g"), "quantity:1 kg", "quantity:1 lb"),
    (field("quantity", unit="lb"), "quantity:1 g", "quantity:1.0000000000000000001 g"),
    (field("quantity", unit="g", grain="1 g"), "decimal:12.49", "decimal:12.51"),  # half a gram apart, two values
    (field("decimal"), "decimal:9007199254740993", "decimal:9007199254740992"),
    (field("identifier"), "text:0012", "text:12"),
    (field("identifier", reference="billing"), "text:12", "int:12"),
    (field("identifier"), "text:ab", "text:AB"),
    (field("category", reference="billing"), "bool:true", "int:1"),
]

NO_VALUE = [
    (field("date"), "int:20240301"),
    (field("date"), "text:2024-03-01"),
    (field("date"), "time:12:30:00"),
    (field("datetime"), "date:2024-03-01"),
    (field("integer"), "decimal:3.0"),
    (field("integer"), "decimal:10000000000000000.0"),
    (field("ordinal"), "decimal:10000000000000000.0"),
    (field("identifier"), "decimal:10000000000000000.0"),
    (field("integer"), "bool:true"),
    (field("ordinal", minimum=1, maximum=5), "int:6"),
    (field("ordinal", minimum=1, maximum=5), "bool:true"),
    (field("ordinal", minimum=1, maximum=5), "decimal:3.0"),
    (field("category", members="mixed"), "text:12"),
    (field("category", members="mixed"), "text:true"),
    (field("identifier"), "int:12"),
    (field("category"), "int:12"),
    (field("category"), "bool:true"),
    (field("category", members="integer"), "text:12"),
    (field("boolean"), "int:1"),
    (field("boolean"), "text:true"),
    (field("decimal"), "text:12"),
    (field("quantity", unit="g"), "quantity:12.5 m"),
    (field("quantity", unit="l"), "quantity:1 gallon"),
    (field("money"), "bool:true"),
    (field("decimal"), "decimal:" + "9" * 20_000),
]


@pytest.mark.parametrize(("of", "left", "right"), SAME)
def test_same_value(of: FieldSpec, left: str, right: str) -> None:
    """Two ways of stating one value of the field share a key."""
    assert grain_key(of, left) is not None
    assert grain_key(of, left) == grain_key(of, right)


@pytest.mark.parametrize(("of", "left", "right"), DIFFERENT)
def test_different_values(of: FieldSpec, left: str, right: str) -> None:
    """Two values of the field never share a key."""
    keys = grain_key(of, left), grain_key(of, right)
    assert None not in keys
    assert keys[0] != keys[1]


@pytest.mark.parametrize(("of", "text"), NO_VALUE)
def test_what_the_type_cannot_hold_is_no_value(of: FieldSpec, text: str) -> None:
    """It is rejected with its reason, never wrong and never equal to anything."""
    assert grain_key(of, text) is None
    assert unexpected_type(of, text).startswith("unexpected type: ")


@pytest.mark.parametrize(
    ("kind", "token", "shape"),
    [
        ("date", '"2024-03-01"', "dddd-dd-dd"),
        ("date", '"March 1, 2024"', "Mmmmm d, dddd"),
        ("date", '"1 Sep 2024"', "d Mmm dddd"),
        ("date", '"Friday, 1 MARCH 2024"', "Wwwww, d MMMMM dddd"),
        ("date", '"N/A"', "A/A"),
        ("date", '""', "(empty)"),
        ("date", '"  "', "(blank)"),
        ("money", '"EUR 1,234.50"', "AAA d,d.d"),
        ("integer", "24", "integer d"),
        ("date", '"FRİ 1 ſat"', "AAİ d ſa"),  # a Turkish capital and a long s are letters of no name
        ("date", '"xmarch 1 marchx 1 Mar"', "a d a d Mmm"),
        ("integer", "24.0", "number d.d"),
        ("integer", '"24"', "d"),
        ("boolean", "true", "true"),
        ("boolean", '"true"', "true"),
        ("boolean", '"No"', "No"),
        ("boolean", '"1"', "d"),
        ("category", '"tier 12"', "tier dd"),
        ("category", '"a text of more characters than a word"', "a a a a a a a a"),
        ("identifier", '"PO-00123"', "AA-ddddd"),
        ("category", '{"a": 1}', "object"),
    ],
)
def test_shape(kind: str, token: str, shape: str) -> None:
    """The written shape, as a person would name it."""
    assert shape_of(field(kind), token) == shape


def test_json_types_keep_integers_and_numbers_apart() -> None:
    """3, 3.0 and "3" are three JSON types to whoever receives JSON."""
    assert [json_type(token) for token in ("3", "3.0", '"3"', "-7", "1e5", "true", "null", "[]", "{}")] == [
        "integer", "number", "string", "integer", "number", "boolean", "null", "array", "object",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "token", "text"),
    [
        ("date", '"2024-03-01"', "date:2024-03-01"),
        ("datetime", '"2024-03-01T10:00:00Z"', "datetime:2024-03-01T10:00:00+00:00"),
        ("money", '"1234.50 EUR"', "money:1234.50 EUR"),
        ("integer", "24", "int:24"),
        ("integer", '"24"', "int:24"),
        ("boolean", "false", "bool:false"),
        ("decimal", "1e-07", "decimal:0.0000001"),
        ("decimal", "1E5", "decimal:100000"),
        ("money", "1.2345e3", "decimal:1234.5"),
        ("quantity", '"12 eggs"', "quantity:12 eggs"),
        ("quantity", "-1.5e+16", "decimal:-15000000000000000"),
        ("identifier", '"0012"', "text:0012"),
        ("identifier", "1234567890123456789", "text:1234567890123456789"),
    ],
)
def test_typed_reads_the_canonical_form(kind: str, token: str, text: str) -> None:
    """A reference in canonical form is read without any consumer."""
    assert read_typed(field(kind), token) == (text, None)


@pytest.mark.parametrize(
    ("kind", "token"),
    [
        ("date", '"March 1, 2024"'),
        ("date", '"2024-02-30"'),
        ("date", '"not stated"'),
        ("integer", "3.0"),
        ("integer", "1e5"),
        ("identifier", "1e5"),
        ("decimal", '"1e5"'),
        ("money", '"1e5 EUR"'),
        ("quantity", '"1e5"'),
        ("quantity", '"12e5"'),
        ("quantity", '"1.5.2"'),
        ("decimal", "1e99999999999999999999"),
        ("decimal", "NaN"),
        ("boolean", '"yes"'),
        ("identifier", "true"),
        ("money", '"1,234.50 EUR"'),
    ],
)
def test_typed_refuses_anything_else(kind: str, token: str) -> None:
    """What is not canonical is a broken reference with a reason, never a guess."""
    text, error = read_typed(field(kind), token)
    assert text is None
    assert error


@pytest.mark.parametrize("chunk", [1, 7, 100_000])
def test_the_shape_of_a_word_depends_on_the_words_and_not_on_the_order_of_rows(chunk: int) -> None:
    """Of more words than a field can show, the shortest are shapes of their own, in whatever order they come."""
    words = [f'"{"".join(chr(97 + int(digit)) for digit in str(number))} word"' for number in range(2000)]
    tokens = [*words, '"yes"', '"no"', '"2024-03-01"', "true"]
    orders = [tokens, tokens[::-1], sorted(tokens, key=lambda token: token[::-1])]
    found = []
    for order in orders:
        chunks = [order[start : start + chunk] for start in range(0, len(order), chunk)]
        shapes = Shapes(field("category"), chunks)
        found.append({token: shape for one in chunks for token, shape in zip(one, shapes.of(one), strict=True)})
    assert found[0] == found[1] == found[2]
    assert (found[0]['"yes"'], found[0]['"no"']) == (("yes", "string"), ("no", "string"))
    assert found[0]['"baaa word"'] == ("a a", "string")
    assert sum(token.strip('"') == shape for token, (shape, _) in found[0].items() if token[0] == '"') == 500


@pytest.mark.parametrize("type_", ["boolean", "category"])
def test_one_shape_does_not_stand_for_two_json_types(type_: str) -> None:
    """`accepted: false 60` beside `rejected: false 20` says nothing, where the one is a word and the other a value."""
    tokens = ['"false"', "false", '"null"', "null", '"no"', "true", '"object"', '{"a": 1}', "[1]"]
    found = Shapes(FieldSpec(name="x", type=type_), [tokens]).of(tokens)
    assert found == [
        ("false", "string"), ("JSON false", "boolean"), ("null", "string"), ("JSON null", "null"), ("no", "string"),
        ("true", "boolean"), ("object", "string"), ("JSON object", "object"), ("array", "array"),
    ]  # fmt: skip
    assert len({shape for shape, _ in found}) == len(found)


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("integer", "decimal:3.0", 'return an int (in pandas the dtype Int64), or set type = "decimal" for the field'),
        ("integer", "decimal:-12.00", "return an int"),
        ("integer", "decimal:3.5", ""),
        ("integer", "text:3", "return a number, not its text"),
        ("integer", "text:three", ""),
        ("boolean", "int:1", "return True or False"),
        ("boolean", "int:2", ""),
        ("boolean", "text:false", "return True or False"),
        ("date", "text:2024-03-01", "return a date, not its text"),
        ("date", "text:soon", ""),
        ("decimal", "text:1.50", "return a number, not its text"),
    ],
)
def test_what_is_right_but_for_its_type_says_what_to_do(kind: str, text: str, says: str) -> None:
    """`pd.to_numeric` gives 3.0 for a column with one missing value: every row of an integer field is rejected."""
    assert grain_key(field(kind), text) is None
    said = unexpected_type(field(kind), text)
    head, _, hint = said.partition(f" is no {kind}")
    assert head == f"unexpected type: {text}"
    assert hint.startswith(f": {says}") if says else hint == ""
