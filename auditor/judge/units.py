"""Units of quantities that are exact multiples of each other: the SI, and the units that are defined by it.

The factors are those of NIST Special Publication 811 (2008), appendix B, where they stand in bold: exact by definition.
What has more than one size (gallon, pint, ton, acre, ounce of a fluid) or a zero of its own (°C) is not here, and so is
only ever compared with the very same unit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

_PREFIXES: Final = {
    "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "h": 2, "d": -1, "c": -2, "m": -3, "µ": -6, "μ": -6, "u": -6, "n": -9,
}  # fmt: skip

#: Symbol or name → (kind, how many of the kind's base unit it is).
_DEFINED: Final = {
    "mass": {
        "t": "1e6", "tonne": "1e6", "tonnes": "1e6", "metric_ton": "1e6", "gram": "1", "grams": "1",
        "kilogram": "1e3", "kilograms": "1e3", "milligram": "1e-3", "milligrams": "1e-3", "ct": "0.2", "carat": "0.2",
        "lb": "453.59237", "lbs": "453.59237", "pound": "453.59237", "pounds": "453.59237",
        "oz": "28.349523125", "ounce": "28.349523125", "ounces": "28.349523125",
    },
    "length": {
        "meter": "1", "meters": "1", "metre": "1", "metres": "1", "kilometer": "1e3", "kilometers": "1e3",
        "kilometre": "1e3", "kilometres": "1e3", "centimeter": "0.01", "centimeters": "0.01", "centimetre": "0.01",
        "centimetres": "0.01", "millimeter": "1e-3", "millimeters": "1e-3", "millimetre": "1e-3",
        "millimetres": "1e-3", "in": "0.0254", "inch": "0.0254", "inches": "0.0254", "ft": "0.3048",
        "foot": "0.3048", "feet": "0.3048", "yd": "0.9144", "yard": "0.9144", "yards": "0.9144", "mi": "1609.344",
        "mile": "1609.344", "miles": "1609.344", "nmi": "1852", "nautical_mile": "1852",
    },
    "volume": {
        "liter": "1", "liters": "1", "litre": "1", "litres": "1", "milliliter": "1e-3", "milliliters": "1e-3",
        "millilitre": "1e-3", "millilitres": "1e-3",
    },
    "time": {
        "second": "1", "seconds": "1", "min": "60", "minute": "60", "minutes": "60", "hour": "3600", "hours": "3600",
        "day": "86400", "days": "86400", "d": "86400", "week": "604800", "weeks": "604800",
    },
    "area": {"ha": "1e4", "hectare": "1e4", "hectares": "1e4"},
    "energy": {},
    "power": {},
}  # fmt: skip

#: Symbols that take every prefix of the SI.
_PREFIXED: Final = {"g": "mass", "m": "length", "l": "volume", "L": "volume", "s": "time", "W": "power", "J": "energy"}

#: Lengths whose squares and cubes are written with an exponent.
_LENGTHS: Final = ("km", "m", "dm", "cm", "mm", "in", "ft", "yd", "mi")


def _table() -> dict[str, tuple[str, Fraction]]:
    units = {name: (kind, Fraction(size)) for kind, names in _DEFINED.items() for name, size in names.items()}
    for symbol, kind in _PREFIXED.items():
        for prefix, power in _PREFIXES.items():
            units.setdefault(prefix + symbol, (kind, Fraction(10) ** power))
    for prefix in ("", "k", "M", "G", "T"):
        units[f"{prefix}Wh"] = ("energy", 3600 * Fraction(10) ** _PREFIXES[prefix])
    units["h"] = ("time", Fraction(3600))
    for name in _LENGTHS:
        length = units[name][1]
        for written in ("{}2", "{}²", "{}^2", "{}**2", "{} ** 2"):
            units[written.format(name)] = ("area", length**2)
        for written in ("{}3", "{}³", "{}^3", "{}**3", "{} ** 3"):
            units[written.format(name)] = ("volume", length**3 * 1000)
    return units


_UNITS: Final = _table()

#: Every unit that is known, with its kind.
KINDS: Final = {name: kind for name, (kind, _) in _UNITS.items()}


def factor(given: str, wanted: str) -> Fraction | None:
    """Give how many of one unit another is, None where they are not of one kind.

    >>> factor("kg", "g"), factor("lb", "kg"), factor("kg", "m"), factor("gallon", "l"), factor("egg", "egg")
    (Fraction(1000, 1), Fraction(45359237, 100000000), None, None, Fraction(1, 1))
    """
    if given == wanted:
        return Fraction(1)
    kind, size = _UNITS.get(given, ("", Fraction(1)))
    other, base = _UNITS.get(wanted, ("", Fraction(1)))
    return size / base if kind and kind == other else None
