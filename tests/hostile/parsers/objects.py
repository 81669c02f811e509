"""Objects that are unpleasant to look at."""

import datetime
import decimal
import enum


class Text(str):
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __format__ = __add__ = __radd__ = __len__ = __str__

    def __eq__(self, other):
        raise RuntimeError("no")

    __ne__ = __eq__
    __hash__ = None


class Number(int):
    def __str__(self):
        raise SystemExit(4)

    __repr__ = __neg__ = __lt__ = __gt__ = __eq__ = __ne__ = __str__


class Amount(decimal.Decimal):
    def __str__(self):
        return "lies"

    __repr__ = __str__


class Day(datetime.date):
    def isoformat(self):
        return "lies"


class Opaque:
    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__

    def __getattr__(self, name):
        raise SystemExit("looked")


class Meta(type):
    def __hash__(cls):
        raise RuntimeError("no")

    def __eq__(cls, other):
        raise RuntimeError("no")


class Unhashable(metaclass=Meta):
    pass


class BadError(Exception):
    def __str__(self):
        raise RuntimeError("no")


class Colour(enum.Enum):
    RED = "red"
    TWO = 2


class Zone(datetime.tzinfo):
    def utcoffset(self, moment):
        raise KeyError("offset")


VALUES = {
    "text": Text("a"),
    "number": Number(7),
    "amount": Amount("1.50"),
    "day": Day(2024, 3, 1),
    "opaque": Opaque(),
    "unhashable": Unhashable(),
    "colour": Colour.RED,
    "two": Colour.TWO,
    "zone": datetime.datetime(2024, 3, 1, tzinfo=Zone()),
    "surrogate": "a\ud800b",
    "nul": "a\0b",
    "quote": 'a"b\\c\n',
    "huge": 10**5000,
    "list": [1],
    "infinity": float("inf"),
    "nan": float("nan"),
    "snan": decimal.Decimal("sNaN"),
    "big": decimal.Decimal("1E+1000000"),
    "exponent": decimal.Decimal("1E+3"),
    "float": 1e22,
    "small": 1e-7,
    "true": True,
    "moment": datetime.datetime(2024, 3, 1, 12, 30, tzinfo=datetime.timezone.utc),
    "time": datetime.time(12, 30),
    "pair": (decimal.Decimal("1.50"), "EUR"),
    "empty": "",
}


def give(name):
    if name == "error":
        raise BadError
    if name == "long error":
        raise ValueError("x" * 100000 + "\ud800")
    return VALUES[name]
