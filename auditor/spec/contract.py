"""The contract of a field: what decides whether two of its values are equal, and who reads its reference."""

from __future__ import annotations

from typing import Any, Final

from auditor.model.payload_path import payload_path
from auditor.spec.kinds import exact_number, exact_text
from auditor.spec.models import FieldSpec

#: The keys of a field that are its contract; the manifest of every run is over those that are set.
CONTRACT: Final = ("type", "grain", "rounding", "unit", "currency", "members", "minimum", "maximum", "reference")

#: What a key is where it is not set.
_UNSET: Final = {"currency": "compared", "members": "text"}


def field_contract(field: FieldSpec) -> dict[str, Any]:
    """Give what is in force of `CONTRACT`, the same however it is written.

    >>> short, long = FieldSpec(name="day", type="date"), FieldSpec(name="day", type="date", grain="day")
    >>> field_contract(short) == field_contract(long)
    True
    """
    one = canonical_field(field)
    contract = {name: value for name in CONTRACT if (value := getattr(one, name)) is not None}
    return contract | ({"grain": "day"} if one.type == "date" and one.grain is None else {})


def canonical_field(field: FieldSpec) -> FieldSpec:
    """Give the field as the shortest spec has it: without what is in force where nothing is written."""
    grain = _grain(field)
    written = field.path is not None and payload_path(field.path) != payload_path(field.name)
    return field.model_copy(
        update={
            "grain": grain,
            "rounding": "half_up" if grain is None or field.type in ("date", "datetime") else field.rounding,
            "path": field.path if written else None,
            **{name: None for name, value in _UNSET.items() if getattr(field, name) == value},
        }
    )


def _grain(field: FieldSpec) -> str | None:
    """Give the grain: a step in its shortest form, with the field's unit; None where it changes nothing."""
    grain = field.grain
    if grain is None or field.type in ("date", "datetime"):
        return None if field.type == "date" and grain == "day" else grain
    step, _, unit = grain.partition(" ")
    number = exact_number(step)
    if number is None:  # no spec that was read has such a one
        return grain
    if field.type == "integer" and number == 1:
        return None
    unit = unit or (field.unit or "" if field.type == "quantity" else "")
    return f"{exact_text(number.normalize())} {unit}".rstrip()
