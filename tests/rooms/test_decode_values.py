"""What a parser returns crosses as tagged text, whatever its methods do."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from tests.sessions import PARSERS, open_consumer, quoted, shown

EXPECTED = {
    "text": "text:a",
    "number": "int:7",
    "amount": "decimal:1.50",
    "day": "date:2024-03-01",
    "opaque": "crashed: SystemExit: looked",
    "unhashable": "rejected: RuntimeError: no",
    "colour": "text:red",
    "two": "int:2",
    "zone": "rejected: KeyError: 'offset'",
    "surrogate": "text:\u241ba\\ud800b",
    "nul": "text:\u241ba\\u0000b",
    "quote": 'text:a"b\\c\n',
    "huge": "rejected: unexpected type: int of more than 400 digits",
    "list": "rejected: unexpected type: list",
    "infinity": "rejected: unexpected type: float inf",
    "nan": "null: nan",
    "snan": "null: sNaN",
    "big": "decimal:1E+1000000",
    "exponent": "decimal:1000",
    "float": "decimal:10000000000000000000000.0",
    "small": "decimal:0.0000001",
    "true": "bool:true",
    "moment": "datetime:2024-03-01T12:30:00+00:00",
    "time": "time:12:30:00",
    "empty": "text:",
    "error": "rejected: BadError: (its text cannot be read)",
    "missing": "rejected: KeyError: 'missing'",
}


def test_every_object_crosses_or_is_named():
    with open_consumer(PARSERS, {"f": "objects:give"}) as session:
        assert dict(zip(EXPECTED, shown(session.decode("f", quoted(EXPECTED))), strict=True)) == EXPECTED


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("money", "money:1.50 EUR"), ("quantity", "quantity:1.50 EUR"), ("decimal", "rejected: unexpected type: tuple")],
)
def test_a_pair_is_what_the_field_is(kind, expected):
    with open_consumer(PARSERS, {"f": "objects:give"}, types={"f": kind}) as session:
        assert shown(session.decode("f", ['"pair"'])) == [expected]


@pytest.mark.parametrize("kind", ["money", "quantity"])
def test_a_pair_without_its_second_is_a_plain_number(tmp_path, kind):
    """A parser that finds no currency returns (amount, None): the amount alone, as a NULL currency is in SQL."""
    (tmp_path / "m.py").write_text(
        "from decimal import Decimal\ndef read(text):\n    return (Decimal(text) if text else None), None\n"
    )
    with open_consumer(tmp_path, {"f": "m:read"}, types={"f": kind}) as session:
        assert shown(session.decode("f", quoted(["12.50", "", "x"])))[:2] == ["decimal:12.50", "null: None"]


def test_the_text_of_an_error_has_an_end():
    with open_consumer(PARSERS, {"f": "objects:give"}) as session:
        (outcome,) = shown(session.decode("f", ['"long error"']))
    assert outcome.startswith("rejected: ValueError: xxx")
    assert len(outcome) < 600


def test_values_of_libraries(tmp_path):
    (tmp_path / "library.py").write_text(
        "import pint, uuid\nfrom decimal import Decimal\n"
        "units = pint.UnitRegistry(non_int_type=Decimal)\n"
        "class Money:\n    amount = Decimal('1234.50')\n    currency = 'EUR'\n"
        "def weight(text):\n    return units.Quantity(text)\n"
        "def money(text):\n    return Money()\n"
        "def identifier(text):\n    return uuid.UUID(text)\n"
    )
    reads = {name: f"library:{name}" for name in ("weight", "money", "identifier")}
    with open_consumer(tmp_path, reads) as session:
        assert shown(session.decode("weight", quoted(["12.5 kg", "3 g", "heavy"])))[:2] == [
            "quantity:12.5 kg",
            "quantity:3 g",
        ]
        assert shown(session.decode("money", ['"x"'])) == ["money:1234.50 EUR"]
        code = "12345678-1234-5678-1234-567812345678"
        assert shown(session.decode("identifier", quoted([code]))) == [f"text:{code}"]


REAL = """
import datetime, decimal, importlib, uuid

class Price:
    amount, currency = decimal.Decimal("12.50"), None

class Code(uuid.UUID):
    pass

class Event:
    datetime = datetime.datetime(2024, 3, 1)

class Rate(decimal.Decimal):
    pass

def read(expression):
    library = expression.partition(".")[0]
    if library.isidentifier():
        globals()[library] = importlib.import_module(library)
    return eval(expression)
"""

LIBRARIES = [
    ("arrow.get('2024-03-01T10:00:00+02:00')", "datetime:2024-03-01T10:00:00+02:00"),
    ("delorean.parse('2024-03-01', timezone='UTC')", "datetime:2024-03-01T00:00:00+00:00"),
    ("pandas.Timestamp('2024-03-01T00:00:00.000000001')", "datetime:2024-03-01T00:00:00.000000001"),
    ("pandas.Timestamp('2024-03-01T00:00:00.123456789+01:00')", "datetime:2024-03-01T00:00:00.123456789+01:00"),
    ("numpy.datetime64('2024-03-01T00:00:00.000000001')", "datetime:2024-03-01T00:00:00.000000001"),
    ("numpy.datetime64('1960-03-01T00:00:00.000000999')", "datetime:1960-03-01T00:00:00.000000999"),
    ("pendulum.datetime(2024, 3, 1, 10)", "datetime:2024-03-01T10:00:00+00:00"),
    ("pendulum.date(2024, 3, 1)", "date:2024-03-01"),
    ("pendulum.duration(days=1)", "rejected: unexpected type: pendulum.duration.Duration"),
    ("pandas.Timestamp('2024-03-01 10:00:00.123456789')", "datetime:2024-03-01T10:00:00.123456789"),
    ("pandas.NaT", "null: pandas"),
    ("pandas.Period('2024-03')", "rejected: unexpected type: pandas"),
    ("whenever.Instant('2024-03-01T10:00:00Z')", "datetime:2024-03-01T10:00:00+00:00"),
    ("whenever.PlainDateTime(2024, 3, 1, 10)", "datetime:2024-03-01T10:00:00"),
    ("whenever.Date(2024, 3, 1)", "date:2024-03-01"),
    ("whenever.Time(4, 5)", "time:04:05:00"),
    ("whenever.YearMonth(2024, 3)", "rejected: unexpected type: whenever.YearMonth"),
    ("whenever.TimeDelta(hours=1)", "rejected: unexpected type: whenever.TimeDelta"),
    ("numpy.datetime64('2024-03-01')", "date:2024-03-01"),
    ("numpy.datetime64('2024-03')", "rejected: unexpected type: datetime64[M], which says no day"),
    ("numpy.datetime64('2024')", "rejected: unexpected type: datetime64[Y], which says no day"),
    ("numpy.datetime64('2024-03-01', 'W')", "rejected: unexpected type: datetime64[W], which says no day"),
    ("numpy.datetime64('2024-03-01T10')", "datetime:2024-03-01T10:00:00"),
    ("numpy.datetime64('2024-03-01T10:00:00')", "datetime:2024-03-01T10:00:00"),
    ("numpy.datetime64('2024-03-01T10:00:00.123456789')", "datetime:2024-03-01T10:00:00.123456789"),
    ("numpy.datetime64('20240-03-01')", "rejected: unexpected type: numpy.datetime64"),
    ("numpy.datetime64('NaT')", "null: numpy.datetime64"),
    ("numpy.timedelta64(5, 'ns')", "rejected: unexpected type: numpy.timedelta64"),
    ("numpy.float64(1e16)", "decimal:10000000000000000.0"),
    ("numpy.float32(0.1)", "decimal:0.1"),
    ("numpy.float32('nan')", "null: numpy.float32"),
    ("numpy.int64(3)", "int:3"),
    ("numpy.bool_(True)", "bool:true"),
    ("moneyed.Money('12.50', 'EUR')", "money:12.50 EUR"),
    ("stockholm.Money('12.50', 'EUR')", "money:12.50 EUR"),
    ("price_parser.Price.fromstring('12.50')", "decimal:12.50"),
    ("price_parser.Price.fromstring('N/A')", "null: None"),
    ("Price()", "decimal:12.50"),
    ("Code(int=1)", "text:00000000-0000-0000-0000-000000000001"),
    ("Rate(150)", "decimal:150"),
    ("Event()", "rejected: unexpected type: library.Event"),
    ("fractions.Fraction(1, 2)", "rejected: unexpected type: fractions.Fraction"),
    ("1j", "rejected: unexpected type: complex"),
]


@pytest.mark.parametrize(("expression", "expected"), LIBRARIES)
def test_objects_of_real_libraries(tmp_path, expression, expected):
    (tmp_path / "library.py").write_text(REAL)
    with open_consumer(tmp_path, {"f": "library:read"}, types={"f": "money"}) as session:
        (outcome,) = shown(session.decode("f", quoted([expression])))
    assert outcome.startswith(expected) if expected.endswith("pandas") else outcome == expected


def test_numpy_and_pandas_values_are_read_by_their_interface(tmp_path):
    # Stand-ins with numpy's and pandas' names and behaviour: neither library is a dependency of the tests.
    (tmp_path / "arrays.py").write_text(
        "import datetime\n"
        "class generic:\n    def __init__(self, value): self.value = value\n    def item(self): return self.value\n"
        "generic.__module__ = 'numpy'\n"
        "class int64(generic): pass\n"
        "class bool_(generic):\n    def __bool__(self): return self.value\n"
        "class float64(float, generic): pass\n"
        "class datetime64(generic):\n"
        "    def astype(self, unit): return datetime64(datetime.datetime(2024, 3, 1))\n"
        "class NaTType(datetime.datetime):\n    def __ne__(self, other): return True\n    __hash__ = None\n"
        "class NAType:\n    def __ne__(self, other): return self\n"
        "VALUES = {'int': int64(3), 'bool': bool_(True), 'float': float64(2.5), 'date': datetime64(17),\n"
        "          'nat': NaTType(1, 1, 1), 'na': NAType()}\n"
        "def read(name): return VALUES[name]\n"
    )
    with open_consumer(tmp_path, {"f": "arrays:read"}) as session:
        found = shown(session.decode("f", quoted(["int", "bool", "float", "date", "nat", "na"])))
    assert found[:4] == ["int:3", "bool:true", "decimal:2.5", "datetime:2024-03-01T00:00:00"]
    assert [outcome.partition(":")[0] for outcome in found[4:]] == ["null", "null"]


RECEIVING = """
def kind(value):
    return type(value).__name__ + "|" + repr(value)
"""
TOKENS = ['"3"', "3", "3.0", "1e5", "1.10", "true", "null", '{"a": [1]}', "NaN", '"\\ud800"', '"ü\\u0000"', "9" * 30]


@pytest.mark.parametrize(
    ("receives", "expected"),
    [
        ("text", ["'3'", "'3'", "'3.0'", "'1e5'", "'1.10'", "'true'", None, "'{\"a\": [1]}'", "'NaN'", r"'\ud800'"]),
        ("json", ["'\"3\"'", "'3'", "'3.0'", "'1e5'", "'1.10'", "'true'", "'null'", "'{\"a\": [1]}'", "'NaN'"]),
        ("python", ["'3'", "3", "3.0", "100000.0", "1.1", "True", "None", "{'a': [1]}", "nan", r"'\ud800'"]),
    ],
)
def test_a_parser_receives_what_production_hands_it(tmp_path, receives, expected):
    (tmp_path / "receiving.py").write_text(RECEIVING)
    with open_consumer(tmp_path, {"f": "receiving:kind"}, receives=receives) as session:
        found = session.decode("f", TOKENS).texts
    assert [text and text.split("|", 1)[1] for text in found[: len(expected)]] == expected
    assert found[11].split("|", 1)[1] == ("9" * 30 if receives == "python" else f"'{'9' * 30}'")


def test_json_that_json_refuses_costs_no_other(tmp_path):
    (tmp_path / "receiving.py").write_text(RECEIVING)
    tokens = ["1", "[" * 20_000 + "]" * 20_000, "9" * 5000, "2"]
    with open_consumer(tmp_path, {"f": "receiving:kind"}, receives="python") as session:
        found = shown(session.decode("f", tokens))
    assert found[0] == "text:int|1"
    assert found[1].startswith("rejected: RecursionError")
    assert found[2].startswith("rejected: ValueError")
    assert found[3] == "text:int|2"


def test_long_strings_cross_whole(tmp_path):
    (tmp_path / "long.py").write_text("def read(text):\n    return text + str(len(text))\n")
    texts = ["a", "x" * 10_000_000, "b", "ü" * 3_000_000, "c"]
    with open_consumer(tmp_path, {"f": "long:read"}) as session:
        assert session.decode("f", quoted(texts)).texts == [f"text:{text}{len(text)}" for text in texts]


LONGEST = 16 * 1024 * 1024


@pytest.mark.parametrize(("sign", "width"), [("x", 1), ("\U0001f600", 4)])
def test_a_text_without_end_is_no_value(tmp_path, sign, width):
    (tmp_path / "long.py").write_text(f"def read(text):\n    return {sign!a} * int(text)\n")
    longest = LONGEST // width
    with open_consumer(tmp_path, {"f": "long:read"}) as session:
        found = session.decode("f", quoted(["1", str(longest + 1), str(longest), "2"]))
    error = f"unexpected type: a text of {longest + 1} characters is longer than 16 MiB"
    assert {index: (fault.status, fault.error) for index, fault in found.faults.items()} == {1: ("rejected", error)}
    assert [text and len(text) - len("text:") for text in found.texts] == [1, None, longest, 2]


def test_a_text_without_end_is_no_value_of_sql_either(tmp_path):
    with open_consumer(tmp_path, {"f": "repeat('x', {value}::integer)"}, adapter="sql", engine="duckdb") as session:
        found = shown(session.decode("f", quoted(["1", str(LONGEST + 1), "2"])))
    error = f"rejected: unexpected type: a text of {LONGEST + 1} characters is longer than 16 MiB"
    assert found == ["text:x", error, "text:xx"]


def test_many_strings_come_back_in_order(tmp_path):
    (tmp_path / "amounts.py").write_text("from decimal import Decimal\ndef read(text):\n    return Decimal(text)\n")
    texts = [f"{number}.{number % 100:02d}" if number % 9 else f"n{number}" for number in range(60_000)]
    counts: list[int] = []
    with open_consumer(tmp_path, {"f": "amounts:read"}) as session:
        decodings = session.decode("f", quoted(texts), progress=counts.append)
    assert decodings.texts == [f"decimal:{Decimal(text)}" if text[0] != "n" else None for text in texts]
    assert sorted(decodings.faults) == [number for number in range(60_000) if number % 9 == 0]
    assert counts == sorted(counts)
    assert counts[-1] == 60_000


def test_dateutil_reads_as_it_does_here(tmp_path):
    from dateutil import parser

    (tmp_path / "ingest.py").write_text(
        "from dateutil import parser\ndef read(text):\n    return parser.parse(text).date()\n"
    )
    texts = ["2024-03-01", "March 1, 2024", "01/03/2024", "2024-03-01T00:00:00Z", "1 Mar 24", "N/A", ""]

    def here(text: str) -> date | None:
        try:
            return parser.parse(text).date()
        except ValueError:
            return None

    with open_consumer(tmp_path, {"f": "ingest:read"}, types={"f": "date"}) as session:
        found = session.decode("f", quoted(texts)).texts
    assert found == [f"date:{value}" if (value := here(text)) else None for text in texts]
