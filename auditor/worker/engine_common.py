"""What engines have in common: a module that may be missing, a column that was read, an expression in its place."""

from __future__ import annotations

import re

from .trouble import LONGEST, StartError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

PLACE = "{value}"

NAME = re.compile("[A-Za-z_][A-Za-z0-9_.]*")

NUL = "NUL: no text of the engine can hold it"


class Column:
    """What a reader made of a column: a text or None for each value, and by index why there is none or what is odd.

    `errors` are refusals, `late` are values for which the engine ran out of time, `warnings` what it said or did
    beside giving a value.
    """

    def __init__(self, texts: "List[Optional[str]]") -> None:
        self.texts = texts
        self.errors: "Dict[int, str]" = {}
        self.late: "Dict[int, str]" = {}
        self.warnings: "Dict[int, str]" = {}


def required(name: str, extra: str) -> "Any":
    """Import the module that speaks to an engine; StartError names the extra that installs it."""
    try:
        return __import__(name, fromlist=["_"])
    except BaseException as error:  # an import may raise anything
        hint = "install it with: python -m pip install 'fidelity-auditor[%s]'" % extra
        raise StartError("import " + name, describe(error), hint) from error


def in_place(target: str, column: str, tried: str) -> str:
    """Write an expression with the column in its place, on lines of its own so that its comments end with it."""
    if PLACE not in target:
        raise StartError(tried, "the expression does not mention {value}", "such as cast({value} as date)")
    return "(\n" + target.replace(PLACE, column) + "\n)"


def known_name(name: str) -> str:
    """Give the name of a setting, which no quoting protects in every engine."""
    if NAME.fullmatch(name) is None:
        seen = "the name has other signs than letters, digits, dots and underscores"
        raise StartError("set %s" % name, seen, "correct the consumer's `settings`")
    return name


def setting_error(name: str, value: str, message: str) -> "StartError":
    """Say that the engine does not take a setting."""
    return StartError("set %s to '%s'" % (name, value), message, "correct the consumer's `settings`")


def shortened(message: str) -> str:
    """Cut a message that quotes a long value."""
    message = message.strip()
    return message if len(message) <= LONGEST else message[:LONGEST] + "…"
