"""Numbers at their grain: decimal, integer, ordinal, money and quantity."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from auditor.judge.units import factor
from auditor.spec.models import FieldSpec, Rounding

# No value is shortened by our own arithmetic, however many digits it has.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_INTEGRAL = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")

#: Digits of the longest number that is compared; longer ones are rejected instead of costing minutes.
LONGEST_NUMBER = 10_000


def number(text: str) -> Decimal | None:
    """Read a plain number, or give None; neither NaN nor infinity is one."""
    if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text)


def plain(value: Decimal | Fraction) -> str:
    """Write a number in its shortest form without exponent: 12.50 and 12.5 are one key, and -0 is 0.

    What no decimal is stays a fraction.

    >>> plain(Decimal("12.50")), plain(Fraction(25, 2)), plain(Fraction(1, 3))
    ('12.5', '12.5', '1/3')
    """
    if isinstance(value, Fraction):
        value = _decimal(value)
        if isinstance(value, Fraction):
            return str(value)
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimal(value: Fraction) -> Decimal | Fraction:
    """Give the same number with a power of ten below the line, where there is one."""
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return value
    digits = max(twos, fives)
    return _EXACT.scaleb(Decimal(value.numerator * 10**digits // value.denominator), -digits)


@lru_cache(maxsize=256)
def step(field_grain: str | None) -> Decimal | None:
    """Give the step of a numeric grain such as ``0.01`` or ``1 g``; None compares exactly."""
    return None if field_grain is None else Decimal(field_grain.split()[0])


def to_grain(value: Decimal | Fraction, grain: Decimal | None, rounding: Rounding) -> Decimal | Fraction:
    """Round to a multiple of the grain: rounding, not a tolerance."""
    if grain is None:
        return value
    # The quotient may not terminate (a grain of 3), so divide in integers: exact on every boundary.
    numerator, denominator = value.as_integer_ratio()
    top, bottom = grain.as_integer_ratio()
    quotient, remainder = divmod(abs(numerator) * bottom, denominator * top)
    double = 2 * remainder - denominator * top
    if rounding != "down" and (double > 0 or (double == 0 and (rounding == "half_up" or quotient % 2 == 1))):
        quotient += 1
    return _EXACT.multiply(Decimal(quotient if numerator >= 0 else -quotient), grain)


def _amount_key(field: FieldSpec, text: str) -> str | None:
    value = number(text)
    return None if value is None else plain(to_grain(value, step(field.grain), field.rounding))


def decimal_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a decimal field."""
    return _amount_key(field, text) if tag in ("decimal", "int") else None


def integer_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of an integer field; ``3.0`` is no integer unless the consumer made one of it."""
    if tag not in ("int", "decimal") or not _INTEGRAL.fullmatch(text):
        return None
    return _amount_key(field, text)


def ordinal_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of an ordinal field: an integer within the bounds."""
    if tag not in ("int", "decimal") or not _INTEGRAL.fullmatch(text) or len(text) > LONGEST_NUMBER:
        return None
    value = Decimal(text)
    low = field.minimum is not None and value < field.minimum
    high = field.maximum is not None and value > field.maximum
    return None if low or high else plain(value)


def money_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a money field: amount at the grain and, where it is compared, the currency."""
    amount, _, currency = text.partition(" ") if tag == "money" else (text, "", "")
    if tag not in ("money", "decimal", "int"):
        return None
    key = _amount_key(field, amount)
    if key is None or field.currency == "ignored" or not currency:
        return key
    return f"{key} {currency}"


def quantity_key(field: FieldSpec, tag: str, text: str) -> str | None:
    """Key of a quantity in the field's unit, which a plain number is in; another unit of its kind is converted.

    >>> weight = FieldSpec(name="weight", type="quantity", unit="g", grain="1 g")
    >>> quantity_key(weight, "quantity", "0.5 kg"), quantity_key(weight, "int", "500")
    ('500 g', '500 g')
    """
    magnitude, _, unit = text.partition(" ") if tag == "quantity" else (text, "", "")
    if tag not in ("quantity", "decimal", "int"):
        return None
    wanted = field.unit or unit
    ratio = factor(unit or wanted, wanted)
    amount = number(magnitude)
    if ratio is None or amount is None:
        return None
    value = amount if ratio == 1 else Fraction(amount) * ratio
    return f"{plain(to_grain(value, step(field.grain), field.rounding))} {wanted}".rstrip()
