"""The consumer's own objects as tagged text: ``date:2024-03-01``, ``decimal:12.50``, ``text:...``.

A dictionary on the exact type answers for nearly every value; subclasses go through the base type's own methods, so
that a subclass whose methods misbehave says nothing here. What no tag can hold raises `Unexpected`, what stands for
"no value" raises `Null`.
"""

from __future__ import annotations

import datetime as _datetime
import decimal as _decimal
import enum as _enum
from builtins import (
    Exception,
    any,
    bool,
    callable,
    float,
    format,
    getattr,
    hasattr,
    int,
    isinstance,
    len,
    list,
    property,
    repr,
    str,
    tuple,
    type,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Tuple

    Tagger = Callable[[Any], str]

date, datetime, time = _datetime.date, _datetime.datetime, _datetime.time
Decimal, Enum = _decimal.Decimal, _enum.Enum

#: More digits than this are no number of any document, and int refuses to print more than 4300.
LONGEST_NUMBER = 400
INT_END = 10**LONGEST_NUMBER


#: Methods by which `whenever` gives the standard library's own objects, in its releases.
CONVERSIONS = ("to_stdlib", "py_datetime", "py_date", "py_time")


class Unexpected(Exception):
    """The parser returned something that no field type holds."""


class Null(Exception):
    """The parser returned a value that says: no value."""


def name_of(value: Any) -> str:
    """Name the type of a value as its author would."""
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else "%s.%s" % (module, kind.__qualname__)


def tag_str(value: str) -> str:
    """Tag a string."""
    return "text:" + value


def tag_bool(value: bool) -> str:
    """Tag a bool."""
    return "bool:true" if value else "bool:false"


def tag_int(value: int) -> str:
    """Tag an int."""
    if -INT_END < value < INT_END:
        return "int:" + str(value)
    raise Unexpected("unexpected type: int of more than %d digits" % LONGEST_NUMBER)


def tag_float(value: float) -> str:
    """Tag a float by its shortest text, without exponent; the point stays, since 1e16 is no integer either."""
    text = repr(value)
    if "e" in text:
        digits = plain(Decimal(text))
        return "decimal:" + (digits if "." in digits else digits + ".0")
    if "n" in text:
        raise Null("nan") if text == "nan" else Unexpected("unexpected type: float " + text)
    return "decimal:" + text


def tag_decimal(value: _decimal.Decimal) -> str:
    """Tag a Decimal, without exponent where that is not absurdly long."""
    text = str(value)
    if "E" in text:
        return "decimal:" + plain(value)
    if value.is_finite():
        return "decimal:" + text
    raise Null(text) if "N" in text else Unexpected("unexpected type: Decimal " + text)


def plain(value: _decimal.Decimal) -> str:
    """Write a number without exponent; 1E+1000000 keeps it."""
    if -LONGEST_NUMBER < value.adjusted() < LONGEST_NUMBER:
        return format(value, "f")
    return str(value).upper()


def tag_date(value: _datetime.date) -> str:
    """Tag a date."""
    return "date:" + value.isoformat()


def tag_datetime(value: _datetime.datetime) -> str:
    """Tag a date with a time."""
    return "datetime:" + value.isoformat()


def tag_time(value: _datetime.time) -> str:
    """Tag a time of day."""
    return "time:" + value.isoformat()


def with_nanoseconds(text: str, nanoseconds: Any) -> str:
    """Write what a tagged datetime has beyond its microseconds, 0 to 999, where it has any."""
    if not isinstance(nanoseconds, int) or not 0 < nanoseconds < 1000:
        return text
    moment, offset = text[:28], text[28:]  # "datetime:" and the seconds
    fraction, offset = (offset[:7], offset[7:]) if offset[:1] == "." else (".000000", offset)
    return "%s%s%03d%s" % (moment, fraction, nanoseconds, offset)


def tag_date_subclass(value: _datetime.date) -> str:
    """Tag a date of another class by the fields that every date has."""
    return "date:" + date.isoformat(value)


def tag_datetime_subclass(value: _datetime.datetime) -> str:
    """Tag a datetime of another class, with the nanoseconds of pandas."""
    return with_nanoseconds("datetime:" + datetime.isoformat(value), getattr(value, "nanosecond", 0))


#: Subclasses, in the order in which they are asked: datetime before date.
#: Each goes through the base type's own methods.
BASES: Tuple[Tuple[type, Tagger], ...] = (
    (datetime, tag_datetime_subclass),
    (date, tag_date_subclass),
    (time, lambda value: "time:" + time.isoformat(value)),
    (Decimal, lambda value: tag_decimal(Decimal(Decimal.__str__(value)))),
    (float, lambda value: tag_float(float.__pos__(value))),
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
        if isinstance(value, int):
            return tag_int(int.__pos__(value))
        if self.pair and is_pair(value):
            return self._pair(value)
        if is_no_value(value):
            raise Null(name_of(value))
        for base, tag_subclass in BASES:
            if isinstance(value, base):
                return tag_subclass(value)
        return self._tag_foreign(value, depth)

    def _tag_foreign(self, value: Any, depth: int) -> str:
        """Tag what libraries return, known by what it has rather than by its library."""
        if is_numpy_scalar(value):
            return with_nanoseconds(self.other(item_of(value), depth + 1), nanoseconds_of(value))
        if hasattr(value, "magnitude") and hasattr(value, "units"):
            return "quantity:%s %s" % (self._number(value.magnitude), format(value.units, "~") or "dimensionless")
        if hasattr(value, "amount") and hasattr(value, "currency"):
            amount, currency = self._number(value.amount), value.currency
            return "decimal:" + amount if currency is None else "money:%s %s" % (amount, currency_code(currency))
        if has_base(value, "uuid", "UUID"):
            return tag_str(str(value))
        moment = moment_of(value)
        if moment is not None:
            return self.other(moment, depth + 1)
        raise Unexpected("unexpected type: " + name_of(value))

    def _pair(self, value: Any) -> str:
        """Tag (amount, currency) or (number, unit); without the second it is a plain number, as it is in SQL."""
        if value[1] is None:
            return "decimal:" + self._number(value[0])
        return "%s%s %s" % (self.pair, self._number(value[0]), str.__str__(value[1]))

    def _number(self, value: Any) -> str:
        """Give the bare number of an amount."""
        kind, text = self.other(value, 1).split(":", 1)
        if kind in ("int", "decimal"):
            return text
        raise Unexpected("unexpected type: amount of type " + name_of(value))


def is_pair(value: Any) -> bool:
    """Recognise (amount, currency) and (number, unit), the second of which may be None."""
    return isinstance(value, (tuple, list)) and len(value) == 2 and (value[1] is None or isinstance(value[1], str))


def is_no_value(value: Any) -> bool:
    """Recognise NaN and NaT, the values that do not equal themselves, and pandas.NA."""
    if type(value).__name__ == "NAType":
        return True
    unequal = value != value
    return unequal is True or (is_numpy_scalar(unequal) and bool(unequal))


def has_base(value: Any, module: str, name: str) -> bool:
    """Recognise an object of a library's class without importing the library."""
    return any(base.__name__ == name and base.__module__ == module for base in type(value).__mro__)


def is_numpy_scalar(value: Any) -> bool:
    """Recognise a scalar of numpy."""
    return has_base(value, "numpy", "generic")


#: Periods of numpy that its own `item()` makes the first day of: a day that nobody stated.
WITHOUT_A_DAY = ("datetime64[Y]", "datetime64[M]", "datetime64[W]")


def item_of(scalar: Any) -> Any:
    """Give Python's own object for a scalar of numpy."""
    kind = type(scalar).__name__
    if kind in ("float16", "float32"):
        return float(str(scalar))  # 0.1 and not the double next to it, 0.10000000149011612
    if str(getattr(scalar, "dtype", "")) in WITHOUT_A_DAY:
        raise Unexpected("unexpected type: %s, which says no day" % scalar.dtype)
    item = scalar.item()
    if kind == "datetime64" and isinstance(item, int):  # nanoseconds, or a year that no datetime has
        item = scalar.astype("datetime64[us]").item()
    if kind in ("datetime64", "timedelta64") and isinstance(item, int):
        raise Unexpected("unexpected type: " + name_of(scalar))
    return item


def nanoseconds_of(scalar: Any) -> int:
    """Give what a datetime of numpy has beyond its microseconds, 0 to 999."""
    if type(scalar).__name__ != "datetime64" or not str(getattr(scalar, "dtype", "")).endswith("[ns]"):
        return 0
    return int(scalar.astype("int64")) % 1000


def moment_of(value: Any) -> Any:
    """Give the date or time that an object of a date library stands for, None where it is none.

    Only a property of the class counts (arrow, delorean): a record with a field `datetime` is no datetime.
    """
    if isinstance(getattr(type(value), "datetime", None), property):
        found = value.datetime
        return found if isinstance(found, datetime) else None
    for name in CONVERSIONS:
        if callable(getattr(type(value), name, None)):
            found = getattr(value, name)()
            return found if isinstance(found, (date, time)) else None
    return None


def currency_code(currency: Any) -> str:
    """Give the code of a currency: a text, or an object with a code."""
    if isinstance(currency, str):
        return str.__str__(currency)
    code = getattr(currency, "code", None)
    return str.__str__(code) if isinstance(code, str) else str(currency)
