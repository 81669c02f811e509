"""What two values of the reference pipeline mean, said a second time: nothing of the auditor's judge is used here."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from tests.pipeline import SPEC, tagged

#: Grams of the units that the records are written in; the pound is 0.45359237 kg by definition.
GRAMS = {"g": Decimal(1), "kg": Decimal(1000), "t": Decimal(1_000_000), "lb": Decimal("453.59237")}


class NoMeaning(ValueError):
    """The field's type cannot hold the value."""


def meaning(field: str, text: str) -> Any:
    """Give the value that tagged text has at the field's grain; equal ones are one answer to the consumer."""
    tag, _, content = text.partition(":")
    try:
        return MEANINGS[SPEC["fields"][field]["type"]](SPEC["fields"][field], tag, content)
    except (KeyError, InvalidOperation) as error:
        raise NoMeaning(f"{field} cannot hold {text}") from error


def canonical(field: str, token: str) -> str:
    """Write a reference in canonical form, which is a CSV cell, as tagged text: no consumer reads it."""
    content = json.loads(token)
    readers: dict[str, Any] = {"datetime": datetime.fromisoformat, "decimal": Decimal, "integer": int, "ordinal": int}
    return tagged(field, readers.get(SPEC["fields"][field]["type"], str)(content))


def _date(_: Any, tag: str, content: str) -> date:
    """By the day, which a moment has, too."""
    return {"date": date.fromisoformat, "datetime": lambda text: datetime.fromisoformat(text).date()}[tag](content)


def _datetime(_: Any, tag: str, content: str) -> tuple[datetime, bool]:
    """By the minute; a moment with an offset is no moment without one."""
    moment = {"datetime": datetime.fromisoformat}[tag](content)
    return moment.replace(second=0, microsecond=0), moment.tzinfo is not None


def _amount(one: Any, tag: str, content: str) -> Decimal:
    """By the step, half of it upwards; a whole number is a number."""
    return {"decimal": Decimal, "int": Decimal}[tag](content).quantize(Decimal(one["grain"]), ROUND_HALF_UP)


def _money(one: Any, tag: str, content: str) -> tuple[Decimal, str]:
    amount, currency = {"money": content}[tag].split()
    return _amount(one, "decimal", amount), currency


def _quantity(_: Any, tag: str, content: str) -> Decimal:
    """By the gram; a plain number is in the field's unit, which is the gram."""
    number, unit = content.split() if tag == "quantity" else (content, {"decimal": "g", "int": "g"}[tag])
    return (Decimal(number) * GRAMS[unit]).quantize(Decimal(1), ROUND_HALF_UP)


def _whole(one: Any, tag: str, content: str) -> int:
    number = int({"int": content}[tag])
    if not one.get("minimum", number) <= number <= one.get("maximum", number):
        raise NoMeaning(f"{number} is out of bounds")
    return number


MEANINGS = {
    "date": _date,
    "datetime": _datetime,
    "money": _money,
    "decimal": _amount,
    "quantity": _quantity,
    "integer": _whole,
    "ordinal": _whole,
    "boolean": lambda _, tag, content: {"bool": content}[tag],
    "category": lambda _, tag, content: {"text": content}[tag],
    "identifier": lambda _, tag, content: {"text": content}[tag],
}
