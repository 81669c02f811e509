"""What the ledger in Frankfurt takes over: values as `json.loads` gives them, dates day first, decimal commas."""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

_DATES = ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d %B %Y")
_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP"}
_MONEY = re.compile(r"(?P<before>[A-Z]{3}|[€$£])?\s*(?P<amount>[0-9][0-9.,]*)\s*(?P<after>[A-Z]{3}|[€$£])?")
HOUSE_CURRENCY = "EUR"


def parse_effective_date(value: str) -> date:
    """The posting day."""
    for form in _DATES:
        try:
            return datetime.strptime(value, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    raise ValueError(f"no date in one of {_DATES}: {value!r}")


def parse_total(value: Any) -> tuple[Decimal, str]:
    """Amount and currency; what states no currency is in the house currency."""
    match = _MONEY.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f"no amount: {value!r}")
    mark = match["before"] or match["after"] or HOUSE_CURRENCY
    return _decimal(match["amount"]), _SYMBOLS.get(mark, mark)


def parse_discount(value: Any) -> Decimal:
    """A discount in per cent."""
    return _decimal(str(value).strip().removesuffix("%").rstrip())


def parse_auto_renew(value: Any) -> bool:
    """Whether to open a posting period after the term.

    Right as long as the model sends JSON booleans; every word, "false" too, is true.
    """
    return bool(value)


def parse_risk_score(value: Any) -> int:
    """The score that sets the provision."""
    return int(value)


def _decimal(text: str) -> Decimal:
    """Read 1.234,50 and 1,234.50: the last mark is the decimal mark, unless three digits follow it."""
    if not re.fullmatch(r"[0-9][0-9.,]*", text):
        raise ValueError(f"not a number: {text!r}")
    whole, mark, fraction = text, "", ""
    last = max(text.rfind("."), text.rfind(","))
    if last >= 0 and len(text) - last - 1 != 3:
        whole, mark, fraction = text[:last], ".", text[last + 1 :]
    return Decimal(whole.replace(".", "").replace(",", "") + mark + fraction)
