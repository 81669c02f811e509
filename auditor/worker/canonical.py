"""The consumer's own objects as tagged text: ``date:2024-03-01``, ``decimal:12.50``, ``text:...``.

A dictionary on the exact type answers for nearly every value; subclasses go through the base type's own methods, so
that a subclass whose methods misbehave says nothing here. What no tag can hold raises `Unexpected`, what stands for
"no value" raises `Null`.
"""

from __future__ import annotations

import datetime as _datetime
import decimal as _decimal
import enum as _enum
from builtins import Exception, bool, float, format, getattr, hasattr, int, isinstance, len, list, str, tuple, type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict

    Tagger = Callable[[Any], str]

date, datetime, time = _datetime.date, _datetime.datetime, _datetime.time
Decimal, Enum = _decimal.Decimal, _enum.Enum

#: More digits than this are no number of any document, and int refuses to print more than 4300.
LONGEST_NUMBER = 400
INT_END = 10**LONGEST_NUMBER


class Unexpected(Exception):
    """The parser returned something that no field type holds."""


class Null(Exception):
    """The parser returned a value that says: no value."""


def name_of(value: Any) -> str:
    """Name the type of a value as its author would."""
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else "%s.%s" % (module, kind.__qualname__)


def number_of_int(value: int) -> str:
    """Give the digits of an int."""
    if -INT_END < value < INT_END:
        return int.__repr__(value)
    raise Unexpected("unexpected type: int of more than %d digits" % LONGEST_NUMBER)


def number_of_float(value: float) -> str:
    """Give a float's shortest text, without exponent."""
    text = float.__repr__(value)
    if "e" in text:
        return plain(Decimal(text))
    if "n" in text:
        raise Null("nan") if text == "nan" else Unexpected("unexpected type: float " + text)
    return text


def number_of_decimal(value: _decimal.Decimal) -> str:
    """Give a Decimal's digits, without exponent where that is not absurdly long."""
    text = Decimal.__str__(value)
    return text if text.isdecimal() else number_of_odd_decimal(value, text)


def number_of_odd_decimal(value: _decimal.Decimal, text: str) -> str:
    """Give the digits of a Decimal that has a sign, a point, an exponent, or is no number."""
    if "E" in text or "e" in text:
        return plain(value)
    if "N" in text:
        raise Null(text)
    if "I" in text:
        raise Unexpected("unexpected type: Decimal " + text)
    return text


def plain(value: _decimal.Decimal) -> str:
    """Write a number without exponent; 1E+1000000 keeps it."""
    if -LONGEST_NUMBER < Decimal.adjusted(value) < LONGEST_NUMBER:
        return Decimal.__format__(value, "f")
    return Decimal.__str__(value).upper()


def tag_str(value: str) -> str:
    """Tag a string."""
    return "text:" + value


def tag_int(value: int) -> str:
    """Tag an int."""
    return "int:" + number_of_int(value)


def tag_bool(value: bool) -> str:
    """Tag a bool."""
    return "bool:true" if value else "bool:false"


def tag_float(value: float) -> str:
    """Tag a float."""
    return "decimal:" + number_of_float(value)


def tag_decimal(value: _decimal.Decimal) -> str:
    """Tag a Decimal."""
    return "decimal:" + number_of_decimal(value)


def tag_date(value: _datetime.date, isoformat: Callable[[_datetime.date], str] = date.isoformat) -> str:
    """Tag a date."""
    return "date:" + isoformat(value)


def tag_datetime(value: _datetime.datetime, isoformat: Callable[[_datetime.datetime], str] = datetime.isoformat) -> str:
    """Tag a date with a time."""
    return "datetime:" + isoformat(value)


def tag_time(value: _datetime.time, isoformat: Callable[[_datetime.time], str] = time.isoformat) -> str:
    """Tag a time of day."""
    return "time:" + isoformat(value)


#: Subclasses, in the order in which they are asked: bool before int, datetime before date.
BASES = (
    (datetime, tag_datetime),
    (date, tag_date),
    (time, tag_time),
    (Decimal, tag_decimal),
    (int, tag_int),
    (float, tag_float),
)


class Tags:
    """How the objects of one field are tagged: `exact` by type, `other` for everything else."""

    def __init__(self, field_type: str) -> None:
        self.pair = {"money": "money:", "quantity": "quantity:"}.get(field_type)
        self.exact: Dict[type, Tagger] = {
            str: tag_str,
            int: tag_int,
            bool: tag_bool,
            float: tag_float,
            Decimal: tag_decimal,
            date: tag_date,
            datetime: tag_datetime,
            time: tag_time,
        }

    def other(self, value: Any, depth: int = 0) -> str:
        """Tag an object that is not exactly of a known type."""
        kind = type(value)
        if value is None:
            raise Null("None")
        if kind in self.exact:
            return self.exact[kind](value)
        if depth > 4:
            raise Unexpected("unexpected type: " + name_of(value))
        if isinstance(value, Enum):
            return self.other(value._value_, depth + 1)
        if isinstance(value, str):
            return tag_str(str.__str__(value))
        if kind in (tuple, list):
            return self._tag_pair(value)
        if is_no_value(value):
            raise Null(name_of(value))
        for base, tag in BASES:
            if isinstance(value, base):
                return tag(value)
        return self._tag_foreign(value, depth)

    def _tag_pair(self, value: Any) -> str:
        """Tag (amount, currency) or (number, unit) where the field's type is made of two."""
        if self.pair and len(value) == 2 and isinstance(value[1], str):
            return "%s%s %s" % (self.pair, self._number(value[0]), str.__str__(value[1]))
        raise Unexpected("unexpected type: " + name_of(value))

    def _tag_foreign(self, value: Any, depth: int) -> str:
        """Tag what libraries return, known by what it has rather than by its library."""
        if is_numpy_scalar(value):
            if type(value).__name__ == "datetime64":
                value = value.astype("datetime64[us]")  # nanoseconds would come as a bare int
            return self.other(value.item(), depth + 1)
        if hasattr(value, "magnitude") and hasattr(value, "units"):
            return "quantity:%s %s" % (self._number(value.magnitude), format(value.units, "~"))
        if hasattr(value, "amount") and hasattr(value, "currency"):
            return "money:%s %s" % (self._number(value.amount), currency_code(value.currency))
        if type(value).__module__ == "uuid":
            return tag_str(str(value))
        raise Unexpected("unexpected type: " + name_of(value))

    def _number(self, value: Any) -> str:
        """Give the bare number of an amount."""
        kind, text = self.other(value, 1).split(":", 1)
        if kind in ("int", "decimal"):
            return text
        raise Unexpected("unexpected type: amount of type " + name_of(value))


def is_no_value(value: Any) -> bool:
    """Recognise NaN and NaT, the values that do not equal themselves, and pandas.NA."""
    if type(value).__name__ == "NAType":
        return True
    unequal = value != value
    return unequal is True or (is_numpy_scalar(unequal) and bool(unequal))


def is_numpy_scalar(value: Any) -> bool:
    """Recognise a numpy scalar without importing numpy."""
    return any(base.__name__ == "generic" and base.__module__ == "numpy" for base in type(value).__mro__)


def currency_code(currency: Any) -> str:
    """Give the code of a currency: a text, or an object with a code."""
    if isinstance(currency, str):
        return str.__str__(currency)
    code = getattr(currency, "code", None)
    return str.__str__(code) if isinstance(code, str) else str(currency)
