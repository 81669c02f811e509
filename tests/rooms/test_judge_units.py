"""Units of one kind: the factors are those of pint, whose registry is held against NIST's by others."""

from __future__ import annotations

import re
from fractions import Fraction

import pint
import pytest

from auditor.judge.units import KINDS, factor

EXPONENTS = str.maketrans("²³", "23")


@pytest.fixture(scope="module")
def registry() -> pint.UnitRegistry[Fraction]:
    """Read the definitions once: it takes half a second."""
    return pint.UnitRegistry(non_int_type=Fraction)


@pytest.mark.parametrize(("unit", "kind"), KINDS.items())
def test_factors_are_those_of_pint(registry: pint.UnitRegistry[Fraction], unit: str, kind: str) -> None:
    base = {"mass": "g", "volume": "l", "length": "m", "area": "m2", "time": "s", "energy": "J", "power": "W"}[kind]
    written = re.sub(r"(\^|\*\*| \*\* )?([23²³])$", lambda end: "**" + end[2].translate(EXPONENTS), unit)
    assert factor(unit, base) == registry.Quantity(Fraction(1), written).to(base.replace("m2", "m**2")).magnitude


def test_only_units_of_one_kind_convert() -> None:
    assert factor("kg", "m") is None
    assert factor("kg", "kilo") is None
    assert factor("m2", "m") is None
    assert factor("°C", "K") is None
    assert factor("furlong", "furlong") == 1
