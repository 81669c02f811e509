"""What a key of the spec may hold: how its value is read, and how editors are told.

Each reader takes a TOML value and gives the normalised one, or complains and gives None.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from auditor.spec.mistakes import Complain, shown, suggest

SECONDS = {"ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60)}
BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
LEAST_MEMORY = 32 * 2**20
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Kind:
    """One kind of value: its reader and its JSON Schema."""

    read: Callable[[Any, Complain], Any]
    schema: dict[str, Any]


def _text(value: object, complain: Complain) -> str | None:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    complain("must not be empty" if value == "" else f"must be text in quotes, not {shown(value)}")
    return None


def _flag(value: object, complain: Complain) -> bool | None:
    if isinstance(value, bool):
        return value
    complain(f"must be true or false, not {shown(value)}")
    return None


def _whole(value: object, complain: Complain) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    complain(f"must be a whole number, not {shown(value)}")
    return None


def _batch_size(value: object, complain: Complain) -> int | None:
    rows = _whole(value, complain)
    if rows is None or rows >= 1:
        return rows
    complain(f"must be at least 1, not {rows}", "the number of rows that production loads at a time")
    return None


def _hash_seed(value: object, complain: Complain) -> int | None:
    seed = _whole(value, complain)
    if seed is None or 0 <= seed < 2**32:
        return seed
    complain(f"must be from 0 to 4294967295, not {seed}")
    return None


def _paths(value: object, complain: Complain) -> tuple[str, ...] | None:
    paths = [value] if isinstance(value, str) else value
    if isinstance(paths, list | tuple) and paths and all(isinstance(path, str) and path for path in paths):
        return tuple(paths)
    complain(f"must be a path, a list of paths or a glob, not {shown(value)}")
    return None


def _command(value: object, complain: Complain) -> tuple[str, ...] | None:
    words = list(value) if isinstance(value, list | tuple) else []
    if words and words[0] and all(isinstance(word, str) and "\0" not in word for word in words):
        return tuple(words)
    if isinstance(value, str) and value.strip():
        hint = f"no shell takes it apart: write {list(value.split())}".replace("'", '"')
        complain(f"must be a list of words, not {shown(value)}", hint)
    else:
        what = "has a word that is no text" if words else f"must be a list of words, not {shown(value)}"
        complain(what, 'a program and its arguments, such as ["node", "portal/read.mjs"]')
    return None


def _programs(value: object, complain: Complain) -> tuple[str, ...] | None:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) and name.strip() for name in names):
        return tuple(names)
    complain(f"must list programs, not {shown(value)}", 'such as ["java", "javac"]')
    return None


def _duration(value: object, complain: Complain) -> float | None:
    seconds = _amount(value, SECONDS, "s")
    if seconds is not None and seconds > 0:
        return float(seconds)
    complain(f"must be a duration above zero, not {shown(value)}", 'write "2 s", "500 ms", "1 min" or seconds')
    return None


def _size(value: object, complain: Complain) -> int | None:
    size = _amount(value, BYTES, "B")
    if size is None or size <= 0:
        complain(f"must be a size above zero, not {shown(value)}", 'write "1 GiB", "512 MB" or bytes')
        return None
    if size < LEAST_MEMORY:
        complain(f"{int(size)} bytes are too few to start an interpreter", 'write at least "32 MiB"')
        return None
    return int(size)


def size_of(text: str) -> int | None:
    """Give the bytes that a text names, None where it names none.

    >>> size_of("1 GiB"), size_of("0"), size_of("much")
    (1073741824, None, None)
    """
    size = _amount(text, BYTES, "B")
    return int(size) if size is not None and size >= 1 else None


def _amount(value: object, units: Mapping[str, Decimal | int], plain: str) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    match = _AMOUNT.fullmatch(str(value))
    by_lower = {unit.lower(): factor for unit, factor in units.items()}
    factor = by_lower.get((match[2] or plain).lower()) if match else None
    return Decimal(match[1]) * factor if match and factor is not None else None


def _clock(value: object, complain: Complain) -> str | None:
    instant = value
    if isinstance(value, str):
        try:
            instant = datetime.datetime.fromisoformat(value)
        except ValueError:
            instant = None
    if isinstance(instant, datetime.datetime) and instant.tzinfo is not None:
        return instant.isoformat()
    is_naive = isinstance(instant, datetime.datetime)
    what = f"{shown(value)} has no offset" if is_naive else f"must be an instant, not {shown(value)}"
    complain(what, "write an ISO 8601 date and time with offset, such as 2024-03-08T09:05:07Z")
    return None


def _zone(value: object, complain: Complain) -> str | None:
    zone = _text(value, complain)
    if zone is None or zone == "UTC":
        return zone
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones())
        close = suggest(zone, known)
        hint = close if close.startswith("did you mean") else "write an IANA name such as Europe/London"
        complain(f'there is no time zone "{zone}"', hint)
        return None
    return zone


def _grain(value: object, complain: Complain) -> str | None:
    if isinstance(value, str) and value.strip():
        return " ".join(value.split())
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return exact_text(value)
    complain(f"must be a step, not {shown(value)}", 'such as "day", 0.01 or "1 g"')
    return None


def exact_text(number: float | Decimal) -> str:
    """Write a number as the spec has it, without an exponent and without binary noise."""
    decimal = number if isinstance(number, Decimal) else Decimal(repr(number))
    return format(decimal, "f") if decimal.is_finite() else str(number)


def exact_number(text: str) -> Decimal | None:
    """Read a decimal number; None for anything else, infinities included."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _bounds(value: object, complain: Complain) -> tuple[int, int] | None:
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(bound) is int for bound in value):
        return value[0], value[1]
    complain(f"must be the lowest and the highest value, not {shown(value)}", "such as bounds = [1, 5]")
    return None


def _texts(value: object, complain: Complain) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        complain(f"must be a table of texts, not {shown(value)}", 'such as { TZ = "Europe/London" }')
        return None
    wrong = [name for name, text in value.items() if not isinstance(text, str)]
    for name in wrong:
        complain(f"must be text, not {shown(value[name])}", "put the value in quotes", name)
    return None if wrong else dict(value)


def _reads(value: object, complain: Complain) -> dict[str, str] | None:
    if isinstance(value, list | tuple):
        value = {name: name if isinstance(name, str) else None for name in value if _listed(name, complain)}
    if not isinstance(value, Mapping):
        complain(f"must be a table or a list of fields, not {shown(value)}", 'as in reads.total = "ingest:parse_total"')
        return None
    wrong = [name for name, target in value.items() if not isinstance(target, str) or not target.strip()]
    for name in wrong:
        complain(f"must be text in quotes, not {shown(value[name])}", "", name)
    return {name: target for name, target in value.items() if name not in wrong}


def _listed(name: object, complain: Complain) -> bool:
    if isinstance(name, str) and name:
        return True
    complain(f"must list names of fields, not {shown(name)}")
    return False


def versions_of(keys: Mapping[str, Kind]) -> Kind:
    """Give the kind of a list of tables with some of `keys`."""

    def read(value: object, complain: Complain) -> tuple[dict[str, Any], ...] | None:
        if not isinstance(value, list | tuple) or not value or not all(isinstance(one, Mapping) for one in value):
            complain(f"must be a list of tables, not {shown(value)}", 'such as [{ interpreter = ".old/bin/python" }]')
            return None
        found = []
        for version in value:
            for key in version:
                if key not in keys:
                    complain("there is no such key of a version", suggest(key, keys), key)
            known = {key: keys[key].read(item, _below(complain, key)) for key, item in version.items() if key in keys}
            found.append({key: item for key, item in known.items() if item is not None})
        return tuple(found)

    table = {"type": "object", "additionalProperties": False, "properties": {k: one.schema for k, one in keys.items()}}
    return Kind(read, {"type": "array", "minItems": 1, "items": table})


def _below(complain: Complain, key: str) -> Complain:
    return lambda what, hint="", *keys: complain(what, hint, key, *keys)


def literal(alias: Any) -> Kind:
    """A kind that is one of the names of a `Literal`."""
    names = tuple(str(name) for name in get_args(alias))

    def read(value: object, complain: Complain) -> str | None:
        if isinstance(value, str) and value in names:
            return value
        choice = ", ".join(names)
        is_text = isinstance(value, str)
        what = f"there is no {shown(value)}" if is_text else f"must be one of {choice}, not {shown(value)}"
        complain(what, suggest(str(value), names) if is_text else "")
        return None

    return Kind(read, {"enum": list(names)})


_A_TEXT = {"type": "string", "minLength": 1}

TEXT = Kind(_text, _A_TEXT)
FLAG = Kind(_flag, {"type": "boolean"})
WHOLE = Kind(_whole, {"type": "integer"})
BATCH_SIZE = Kind(_batch_size, {"type": "integer", "minimum": 1})
HASH_SEED = Kind(_hash_seed, {"type": "integer", "minimum": 0, "maximum": 2**32 - 1})
PATHS = Kind(_paths, {"anyOf": [_A_TEXT, {"type": "array", "items": _A_TEXT, "minItems": 1}]})
COMMAND = Kind(
    _command,
    {"type": "array", "items": {"type": "string"}, "minItems": 1, "examples": [["node", "portal/read.mjs"]]},
)
PROGRAMS = Kind(
    _programs, {"anyOf": [_A_TEXT, {"type": "array", "items": _A_TEXT, "minItems": 1}], "examples": [["node"]]}
)
DURATION = Kind(
    _duration,
    {
        "anyOf": [
            {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|min)?\s*$", "examples": ["2 s", "500 ms"]},
            {"type": "number", "exclusiveMinimum": 0},
        ]
    },
)
SIZE = Kind(
    _size,
    {
        "anyOf": [
            {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*([KMGkmg]i?)?[Bb]?\s*$", "examples": ["1 GiB"]},
            {"type": "integer", "minimum": LEAST_MEMORY},
        ]
    },
)
CLOCK = Kind(_clock, {"type": "string", "format": "date-time", "examples": ["2024-03-08T09:05:07Z"]})
ZONE = Kind(_zone, {**_A_TEXT, "examples": ["UTC", "Europe/London"]})
GRAIN = Kind(
    _grain, {"anyOf": [{**_A_TEXT, "examples": ["day", "0.01", "1 g"]}, {"type": "number", "exclusiveMinimum": 0}]}
)
BOUNDS = Kind(_bounds, {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2})
TEXTS = Kind(_texts, {"type": "object", "additionalProperties": {"type": "string"}})
READS = Kind(
    _reads,
    {"anyOf": [{"type": "object", "additionalProperties": _A_TEXT}, {"type": "array", "items": _A_TEXT}]},
)
