"""The parsers of `billing`: replace each with the function that your system really calls.

A stand-in that behaves like your system measures nothing; the point of an audit is to call the real thing. These
use the standard library only, answer from the string alone, and raise ValueError for what they cannot read.
"""

import re
from datetime import date, datetime
from decimal import Decimal

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WORDS = {"true": True, "yes": True, "y": True, "x": True, "false": False, "no": False, "n": False}
MONTH_FIRST_IN_NUMBERS = False  # 01/03/2024 is the first of March, as a European system reads it
SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}

ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})")
DAY_FIRST = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)? ([A-Za-z]{3,9})\.?,? ([0-9]{4})")
NUMERIC = re.compile(r"([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4}|[0-9]{2})")
QUANTITY = re.compile(r"([^ ]*[0-9]) ?([^0-9., ]+)")
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


def read_date(text: str) -> date:
    """2024-03-01, March 1, 2024, 1 March 2024, 01/03/2024, 01/03/24; a year of two digits is one of 1970 to 2069."""
    text = text.strip()
    if match := ISO_DATE.fullmatch(text):
        return date(int(match[1]), int(match[2]), int(match[3]))
    if match := MONTH_FIRST.fullmatch(text):
        return date(int(match[3]), _month(match[1]), int(match[2]))
    if match := DAY_FIRST.fullmatch(text):
        return date(int(match[3]), _month(match[2]), int(match[1]))
    if match := NUMERIC.fullmatch(text):
        day, month = (match[2], match[1]) if MONTH_FIRST_IN_NUMBERS else (match[1], match[2])
        return date(_year(match[3]), int(month), int(day))
    raise ValueError(f"not a date: {text!r}")


def read_datetime(text: str) -> datetime:
    """ISO 8601 with a time, as in 2024-03-01T09:05:07Z."""
    text = text.strip()
    if len(text) < len("2024-03-01T09:05") or text[10] not in "T ":
        raise ValueError(f"not a date with a time: {text!r}")
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def read_decimal(text: str) -> Decimal:
    """A number with a decimal point; commas separate thousands."""
    text = text.strip()
    if not NUMBER.fullmatch(text):
        raise ValueError(f"not a number: {text!r}")
    return Decimal(text.replace(",", ""))


def read_integer(text: str) -> int:
    """A whole number: digits only, since 3.5 must not become 3."""
    text = text.strip()
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"not a whole number: {text!r}")
    return int(text)


def read_money(text: str) -> "tuple[Decimal, str]":
    """An amount and its currency: 1,234.50 EUR, EUR 1234.50, $1,234.50."""
    amount = NUMBER.search(text)
    if amount is None:
        raise ValueError(f"no amount: {text!r}")
    currency = (text[: amount.start()] + text[amount.end() :]).strip()
    currency = SYMBOLS.get(currency, currency)
    if not re.fullmatch(r"[A-Z]{3}", currency):
        raise ValueError(f"no currency: {text!r}")
    return read_decimal(amount[0]), currency


def read_quantity(text: str) -> "tuple[Decimal, str]":
    """A number and its unit: 12.5 kg."""
    match = QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no number with a unit: {text!r}")
    return read_decimal(match[1]), match[2]


def read_boolean(text: str) -> bool:
    """An explicit list of words: `bool(text)` would take "false" for true."""
    word = text.strip().lower()
    if word not in WORDS:
        raise ValueError(f"neither true nor false: {text!r}")
    return WORDS[word]


def read_identifier(text: str) -> str:
    """The text as it is: leading zeros and case are part of it."""
    code = text.strip()
    if not re.fullmatch(r"[A-Za-z0-9]+(?:[-/_. ][A-Za-z0-9]+)*", code) or not re.search(r"[0-9]", code):
        raise ValueError(f"not a code: {text!r}")
    return code


def read_category(text: str) -> str:
    """A label, as it is written."""
    label = text.strip()
    if label.lower() in ("", "n/a", "none", "null", "unknown", "not stated", "-"):
        raise ValueError(f"no label: {text!r}")
    return label


def _year(digits: str) -> int:
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (1900 if int(digits) >= 70 else 2000)


def _month(name: str) -> int:
    if name[:3].lower() not in MONTHS:
        raise ValueError(f"not a month: {name!r}")
    return MONTHS.index(name[:3].lower()) + 1
