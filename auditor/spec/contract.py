"""The contract of a field: what decides whether two of its values are equal, and who reads its reference."""

from __future__ import annotations

from typing import Any, Final

from auditor.spec.models import FieldSpec

#: The keys of a field that are its contract; the manifest of every run is over those that are set.
CONTRACT: Final = ("type", "grain", "rounding", "unit", "currency", "members", "minimum", "maximum", "reference")


def field_contract(field: FieldSpec) -> dict[str, Any]:
    """Give what is set of `CONTRACT`."""
    return {name: value for name in CONTRACT if (value := getattr(field, name)) is not None}
