"""What is said of a parser that depends on something other than the string: what was varied, why, what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The sentences of one code; `depends` ends a title, `here` and `there` name two environments in it."""

    factor: str
    here: str
    there: str
    depends: str
    varied: str
    cause: str
    fixes: tuple[str, ...]
    century: str = ""


#: Parts of a value that may come from the clock, where the name alone does not say it.
COMPONENTS = {"acceptance": "whether it is accepted at all (acceptance)", "time": "time of day"}

WORDS = {
    "clock-dependent": Words(
        factor="clock",
        here="if it runs on {}",
        there="if it runs on {}",
        depends="it depends on the day it runs",
        varied="Fresh processes differed in nothing but their clock; repeats under one clock agree.",
        cause="What the string does not say is filled in from the clock.",
        century="A year of two digits is put into a century by the year of the clock.",
        fixes=(
            "Refuse what is incomplete: a strict format, or a parser that takes whole dates only.",
            "Pass what is to be filled in as an argument (a default date from the document), never from the clock.",
            "For years of two digits pass a fixed pivot, or ask the model for four digits.",
        ),
    ),
    "timezone-dependent": Words(
        factor="zone",
        here="where the zone is {}",
        there="where it is {}",
        depends="it depends on the time zone of the machine",
        varied="Fresh processes differed in nothing but TZ; no clock moves these strings.",
        cause="An instant is turned into a date in the zone of the process, or a local time is taken for that zone's.",
        fixes=(
            "Take the day that the string states, before any conversion; store a date, not an instant.",
            "Name the zone in the code (UTC, or the contract's), never the machine's.",
            "Pin TZ where the system runs, and write it into the consumer's `env`, so that the audit does.",
        ),
    ),
    "locale-dependent": Words(
        factor="locale",
        here="under the locale {}",
        there="under {}",
        depends="it depends on the locale of the machine",
        varied="Fresh processes differed in nothing but LANG and LC_ALL.",
        cause="Names of months, separators of numbers or the order of day and month come from the process's locale.",
        fixes=(
            "Name the locale in the code, from the document's jurisdiction; never take the machine's.",
            "Parse numbers and dates by a fixed format.",
            "Pin LC_ALL where the system runs, and write it into the consumer's `env`.",
        ),
    ),
    "hash-seed-dependent": Words(
        factor="hash_seed",
        here="with hash seed {}",
        there="with hash seed {}",
        depends="it depends on the hash seed of the process",
        varied="Fresh processes differed in nothing but PYTHONHASHSEED, which production draws at random.",
        cause="Formats or rules are tried in the order of a set, and the first that fits wins.",
        fixes=("Try formats in the order of a list, the strictest first.", "Refuse what two formats read differently."),
    ),
    "order-dependent": Words(
        factor="order",
        here="in the order of the data",
        there="{}",
        depends="it depends on what it read before",
        varied="Fresh processes got the same strings in another order, or without the others; nothing else differed.",
        cause="The parser keeps state between values: a format or language that it settles on, a cache, a default.",
        fixes=(
            "Keep no state between values: a parser made anew for each, or one without memory.",
            "Give the format, language or order of day and month explicitly.",
        ),
    ),
    "unstable": Words(
        factor="",
        here="in one run",
        there="{}",
        depends="two identical runs do not agree",
        varied="Identical fresh processes, or ones that differ in the network only, or in folder, HOME and umask, do "
        "not agree.",
        cause="The outcome rests on chance or on something outside: random numbers, addresses of objects, threads, "
        "a network, files of the machine.",
        fixes=(
            "Remove what is random, or seed it; try alternatives in a fixed order.",
            "Keep what the parser needs (tables, rates, configuration) with its code, and pass it in.",
            "Until then, read nothing into the rate of this column.",
        ),
    ),
}
