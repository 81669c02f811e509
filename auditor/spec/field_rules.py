"""What must hold between the keys of a field, and between a field and the consumers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from auditor.spec.entry import Entry
from auditor.spec.keys import TYPES_OF
from auditor.spec.kinds import exact_number
from auditor.spec.mistakes import Mistakes, suggest

DATE_GRAINS = ("year", "month", "day")
TIME_GRAINS = (*DATE_GRAINS, "hour", "minute", "second")
#: Readers of references that are no consumers.
REFERENCE_READERS = ("typed", "each")
_STEP = re.compile(r"([0-9.,eE+-]+)\s*(.*)")


def check_fields(fields: dict[str, Entry], consumers: Mapping[str, Entry], mistakes: Mistakes) -> None:
    """Note the mistakes of all fields; shorthands are expanded in place."""
    for name, field in fields.items():
        if "type" in field.values:
            _check_keys_of_type(name, field, mistakes)
            _check_grain(name, field, mistakes)
            _check_unit(name, field, mistakes)
            _check_bounds(name, field, mistakes)
        _check_reference(name, field, consumers, mistakes)
        _check_readers(name, consumers, mistakes)


def reads_of(consumer: Entry) -> dict[str, str] | None:
    """Give the fields that a consumer says it reads; None when its model decides, or the key could not be read."""
    reads: dict[str, str] | None = consumer.get("reads")
    return reads or None


def _check_keys_of_type(name: str, field: Entry, mistakes: Mistakes) -> None:
    kind = field.get("type")
    for key, types in TYPES_OF.items():
        if field.has(key) and kind not in types:
            hint = f"remove it; it is for {', '.join(types)}"
            mistakes.add(("fields", name, key), f"makes no sense for a field of type {kind}", hint)


def _check_grain(name: str, field: Entry, mistakes: Mistakes) -> None:
    kind, grain = field.get("type"), field.get("grain")
    if grain is None or kind not in TYPES_OF["grain"]:
        return
    complain = mistakes.at("fields", name, "grain")
    if kind in ("date", "datetime"):
        grains = DATE_GRAINS if kind == "date" else TIME_GRAINS
        if grain not in grains:
            complain(f'there is no grain "{grain}" of a {kind}', suggest(grain, grains))
        return
    step, unit = _step_and_unit(grain) if kind == "quantity" else (grain, "")
    number = exact_number(step)
    if number is None or number <= 0:
        complain(f'must be a step above zero, not "{grain}"', 'such as "1 g"' if kind == "quantity" else "such as 0.01")
    elif kind == "integer" and number % 1:
        complain(f"must be a whole step for a field of type integer, not {grain}", "write 1, 10, 100 …")
    elif unit and field.get("unit") not in (None, unit):
        complain(f"is in {unit}, but the field's unit is {field.get('unit')}", f"write the step in {field.get('unit')}")
    else:
        field.values["grain"] = f"{step} {unit}".rstrip()


def _step_and_unit(grain: str) -> tuple[str, str]:
    match = _STEP.fullmatch(grain)
    return (match[1], match[2]) if match else (grain, "")


def _check_unit(name: str, field: Entry, mistakes: Mistakes) -> None:
    if field.get("type") != "quantity" or field.has("unit"):
        return
    unit = _step_and_unit(field.get("grain", ""))[1]
    if unit:
        field.values["unit"] = unit
    else:
        mistakes.add(("fields", name, "unit"), "is missing: a quantity is compared in one unit", 'such as unit = "g"')


def _check_bounds(name: str, field: Entry, mistakes: Mistakes) -> None:
    """Expand `bounds`; an ordinal has both a lowest and a highest value."""
    bounds = field.values.pop("bounds", None)
    if field.get("type") != "ordinal":
        return
    if field.has("bounds") and (field.has("minimum") or field.has("maximum")):
        mistakes.add(("fields", name, "bounds"), "says again what minimum and maximum say", "keep one of the two")
        return
    if bounds:
        field.values["minimum"], field.values["maximum"] = bounds
    lowest, highest = field.get("minimum"), field.get("maximum")
    missing = [key for key in ("minimum", "maximum") if not (field.has(key) or field.has("bounds"))]
    if missing:
        what = f"is an ordinal without {' and '.join(missing)}"
        mistakes.add(("fields", name), what, "write its lowest and highest value, such as bounds = [1, 5]")
    elif lowest is not None and highest is not None and lowest > highest:
        key = "bounds" if field.has("bounds") else "minimum"
        mistakes.add(("fields", name, key), f"the lowest value {lowest} is above the highest, {highest}", "swap them")


def _check_reference(name: str, field: Entry, consumers: Mapping[str, Entry], mistakes: Mistakes) -> None:
    reader = field.get("reference")
    if reader is None or reader in REFERENCE_READERS:
        return
    complain = mistakes.at("fields", name, "reference")
    if reader not in consumers:
        complain(f'there is no consumer "{reader}"', suggest(reader, [*consumers, *REFERENCE_READERS]))
        return
    if consumers[reader].has("needs"):
        what = f"{reader} is left out where what it needs is not installed, and the field would have no truth there"
        complain(what, f"name another reader, or remove `needs` from {reader}")
    reads = reads_of(consumers[reader])
    if reads is not None and name not in reads:
        able = [other for other, entry in consumers.items() if name in (reads_of(entry) or ())]
        complain(f"{reader} does not read {name}", f"name one that does: {', '.join([*able, *REFERENCE_READERS])}")


def _check_readers(name: str, consumers: Mapping[str, Entry], mistakes: Mistakes) -> None:
    """A field without a reader would silently get no column."""
    if consumers and all(name not in (reads_of(entry) or {name: ""}) for entry in consumers.values()):
        mistakes.add(
            ("fields", name), "no consumer reads this field", f"add reads.{name} to a consumer, or remove the field"
        )
