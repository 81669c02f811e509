"""What billing makes of a contract's fields: each function takes text and returns a value or raises ValueError."""

import re
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import TYPE_CHECKING

from dateutil import parser as dateutil

if TYPE_CHECKING:
    import pint

_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP"}
_CURRENCY = r"[A-Z]{3}|[€$£]"
_AMOUNT = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
_MONEY = re.compile(rf"(?P<before>{_CURRENCY})?\s*(?P<amount>{_AMOUNT})\s*(?P<after>{_CURRENCY})?")
_TERM = re.compile(r"(?:[a-z-]+ \()?(?P<count>[0-9]+)\)?\s*(?P<unit>months?|years?)?")
_RISK = re.compile(r"([1-5])(?:\s*/\s*5)?")

_YES = frozenset({"true", "yes", "y", "[x]", "annual", "annually", "1"})
_NO = frozenset({"false", "no", "n", "[ ]", "none", "0"})
_CYCLES = {
    "monthly": "monthly",
    "per month": "monthly",
    "quarterly": "quarterly",
    "every 3 months": "quarterly",
    "annual": "annual",
    "annually": "annual",
    "yearly": "annual",
    "per annum": "annual",
}

# Invoices know units of mass only, so that "3 m" is an error here and not a length.
_UNITS = [
    "gram = [mass] = g = gramme",
    "kilo- = 1000 = k-",
    "tonne = 1000000 gram = t",
    "pound = 453.59237 gram = lb = lbs",
    "ounce = 28.349523125 gram = oz",
]


def parse_effective_date(raw: str) -> date:
    """The day that the contract takes effect."""
    return dateutil.parse(raw).date()


def parse_signed_at(raw: str) -> datetime:
    """When the last party signed, by the clock on the wall of the place where it did."""
    return dateutil.parse(raw).replace(tzinfo=None)


def parse_total(raw: str) -> tuple[Decimal, str]:
    """Amount and currency; a total without a currency cannot be invoiced."""
    match = _money(raw)
    marks = [mark for mark in (match["before"], match["after"]) if mark]
    if len(marks) != 1:
        raise ValueError(f"no single currency in {raw!r}")
    return _decimal(match["amount"]), _SYMBOLS.get(marks[0], marks[0])


def parse_amount(raw: str) -> Decimal:
    """The amount alone."""
    return _decimal(_money(raw)["amount"])


def parse_discount(raw: str) -> Decimal:
    """A discount in per cent."""
    return _decimal(raw.strip().removesuffix("%").rstrip())


def parse_net_weight(raw: str) -> "pint.Quantity":
    """The weight in grams, rounded to the gram."""
    grams = _units().Quantity(raw).to("gram")
    return _units().Quantity(grams.magnitude.quantize(Decimal(1), ROUND_HALF_UP), "gram")


def parse_term_months(raw: str) -> int:
    """The term in months."""
    match = _TERM.fullmatch(raw.strip().lower())
    if match is None:
        raise ValueError(f"not a term: {raw!r}")
    return int(match["count"]) * (12 if (match["unit"] or "").startswith("year") else 1)


def parse_risk_score(raw: str) -> int:
    """The score from 1 to 5."""
    match = _RISK.fullmatch(raw.strip())
    if match is None:
        raise ValueError(f"not a score from 1 to 5: {raw!r}")
    return int(match[1])


def parse_auto_renew(raw: str) -> bool:
    """True and False for the words that contracts use; any other word is an error, never False."""
    word = raw.strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueError(f"neither a yes nor a no: {raw!r}")


def parse_billing_cycle(raw: str) -> str:
    """One of monthly, quarterly, annual."""
    try:
        return _CYCLES[raw.strip().lower()]
    except KeyError:
        raise ValueError(f"no billing cycle: {raw!r}") from None


def parse_po_number(raw: str) -> str:
    """The purchase order as it is printed, without a leading # or "PO " label."""
    number = raw.strip().removeprefix("#").removeprefix("PO ")
    if not re.fullmatch(r"[0-9A-Z-]{5,20}", number):
        raise ValueError(f"no purchase order: {raw!r}")
    return number


def _money(raw: str) -> re.Match[str]:
    match = _MONEY.fullmatch(raw.strip())
    if match is None:
        raise ValueError(f"no amount: {raw!r}")
    return match


def _decimal(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9][0-9,]*(?:\.[0-9]+)?", text):
        raise ValueError(f"not a number: {text!r}")
    return Decimal(text.replace(",", ""))


@cache
def _units() -> "pint.UnitRegistry":
    # Imported with the first weight: half a second that a job without weights should not pay.
    import pint

    return pint.UnitRegistry(_UNITS, non_int_type=Decimal)
