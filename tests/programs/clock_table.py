"""Parsers of moments, by name; run as a program, what they make of strings at the clock of this process.

A program reads a JSON list of strings, and writes the instant that it runs at (ms since 1970) and an outcome for each
parser and string: a moment in ISO form, `none`, `refused`, or `other` for what is no moment.
"""

import datetime
import importlib
import json
import sys
import time
import warnings

warnings.simplefilter("ignore")

FORMATS = ("%d/%m/%Y", "%m/%d/%y", "%B %d, %Y", "%B %Y", "%Y-%m", "%H:%M", "%b %d", "%d", "%y")


def dateutil(text):
    return importlib.import_module("dateutil.parser").parse(text)


def dateutil_day_first(text):
    return importlib.import_module("dateutil.parser").parse(text, dayfirst=True)


def dateparser(text):
    return importlib.import_module("dateparser").parse(text, languages=["en"])


def timestamp(text):
    return importlib.import_module("pandas").Timestamp(text)


def to_datetime(text):
    return importlib.import_module("pandas").to_datetime(text)


def pendulum_strict(text):
    return importlib.import_module("pendulum").parse(text)


def pendulum_loose(text):
    return importlib.import_module("pendulum").parse(text, strict=False)


def arrow(text):
    return importlib.import_module("arrow").get(text)


def iso_date(text):
    return datetime.date.fromisoformat(text)


def iso_datetime(text):
    return datetime.datetime.fromisoformat(text)


def formats(text):
    for pattern in FORMATS:
        try:
            return datetime.datetime.strptime(text, pattern)
        except ValueError:
            pass
    raise ValueError(text)


def outcome(parse, text):
    try:
        value = parse(text)
    except Exception:  # noqa: BLE001 - whatever a parser raises, it refuses
        return "refused"
    if value is None or value != value:
        return "none"
    if getattr(value, "tzinfo", None) is not None:
        return value.astimezone(datetime.timezone.utc).isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else "other"


if __name__ == "__main__":
    texts, here = json.load(sys.stdin), globals()
    found = {name: [outcome(here[name], text) for text in texts] for name in sys.argv[1:]}
    print(json.dumps({"now": time.time_ns() // 1_000_000, "found": found}))
