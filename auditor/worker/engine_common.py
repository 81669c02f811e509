"""What engines have in common: a module that may be missing, a column that was read, an expression in its place."""

from __future__ import annotations

import re
from decimal import Decimal

from .trouble import LONGEST, Broken, StartError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

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


def stage_class(module: str, name: str) -> "Any":
    """Give the class of an engine's stage, of which a consumer without a model file has no use."""
    return getattr(__import__(__name__.rpartition(".")[0] + "." + module, fromlist=[name]), name)


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


def no_room(engine: str, message: str) -> "Broken":
    """Say that a disk is full, or what else an engine needs for its tables: that refuses no value."""
    return Broken("read values by " + engine, message, "make room, and run again", "its engine has no room left")


class Refused(Exception):
    """A statement that the engine refused as a whole: one of its values, or more, cannot be read."""


def see_that_each_has_one_row(found: "Sequence[int]", rows: "Sequence[int]") -> None:
    """Raise Refused where an expression gives a value several rows and another none, however many there are in all."""
    if len(found) != len(rows):
        raise Refused("the expression gives %d rows for %d values" % (len(found), len(rows)))
    if set(found) != set(rows):
        raise Refused("the expression gives more than one row for a value, and none for another")


class OutOfTime(Refused):
    """A statement for which the engine ran out of time: of its values, or of one, nothing is known."""


def by_halves(
    rows: "Sequence[int]",
    run: "Callable[[Sequence[int]], None]",
    column: Column,
    moved: "Optional[Callable[[int], None]]" = None,
) -> None:
    """Run a statement over rows; where it is refused, over its halves, down to the rows that are refused alone.

    `moved` is told how many rows are done.
    """
    waiting = [rows] if len(rows) else []
    while waiting:
        part = waiting.pop()
        if moved is not None:
            moved(part[0])
        try:
            run(part)
        except Refused as error:
            if len(part) == 1:
                (column.late if isinstance(error, OutOfTime) else column.errors)[part[0]] = shortened(str(error))
            elif len(part) <= 16:  # where one is refused, its neighbours often are
                waiting += [part[at : at + 1] for at in reversed(range(len(part)))]
            else:
                half = len(part) // 2
                waiting += [part[half:], part[:half]]


class Wording:
    """How an engine words the refusal of a plain cast: learned from its own messages, until some were alike.

    The engine is asked for the message of each value until then, of every value that its wording may not quote whole,
    and of what looks like a number or a date: such a value may be refused for its size.
    """

    ALIKE = 5
    QUOTED = re.compile("(?![-+0-9.,:eE ]*$)[ -&(-~]{1,60}")

    def __init__(self) -> None:
        self.pattern: "Optional[List[str]]" = None
        self.alike = 0

    def learn(self, value: str, message: str) -> None:
        """Take up one message of the engine."""
        parts = message.split("'%s'" % value)
        if len(parts) != 2 or not self.QUOTED.fullmatch(value):
            return
        self.alike = self.alike + 1 if parts == self.pattern else 1
        self.pattern = parts

    def of(self, value: str) -> "Optional[str]":
        """Give the message of a value, None where the engine must be asked."""
        if self.pattern is None or self.alike < self.ALIKE or not self.QUOTED.fullmatch(value):
            return None
        return ("'%s'" % value).join(self.pattern)


class TriedFirst:
    """An expression over a column, where one value that is refused takes its statement with it.

    A plain cast is asked in the form that tries first, which accepts the same; the cast itself then has the last word
    on what that gives NULL for. Any other expression runs over ever fewer values.
    """

    def __init__(self, engine: "Any", query: str, tried: "Optional[str]") -> None:
        """Take an engine with `fill(rows, values)` and `columns(query)`; both queries give row number and text."""
        self.engine, self.query, self.tried = engine, query, tried
        self.wording = Wording()

    def read(self, values: "List[str]") -> Column:
        """Give the value of each text."""
        column = Column([None] * len(values))
        rows: "Sequence[int]" = range(len(values))
        if self.tried is None:
            by_halves(rows, lambda part: self._run(self.query, part, values, column), column, self.engine.moved)
            return column
        if values:
            self._run(self.tried, rows, values, column)
        for row in rows:
            if column.texts[row] is None:
                self._say_why(row, values, column)
        return column

    def _say_why(self, row: int, values: "Sequence[str]", column: Column) -> None:
        """Give a refusal its message."""
        message = self.wording.of(values[row])
        if message is not None:
            column.errors[row] = message
            return
        if self.engine.moved is not None:
            self.engine.moved(row)
        try:
            self._run(self.query, [row], values, column)
        except Refused as error:
            column.errors[row] = str(error)
            self.wording.learn(values[row], str(error))

    def _run(self, query: str, rows: "Sequence[int]", values: "Sequence[str]", column: Column) -> None:
        is_all = len(rows) == len(values)
        self.engine.fill(rows, values if is_all else [values[row] for row in rows])
        found = self.engine.columns(query) or [[], []]
        if is_all and found[0] == list(rows):
            column.texts = found[1]
            return
        see_that_each_has_one_row(found[0], rows)
        for row, text in zip(*found):  # noqa: B905 - no `strict` on Python 3.8
            column.texts[row] = text


INTEGER = re.compile("[+-]?[0-9]{1,40}")
DECIMAL = re.compile(r"[+-]?[0-9]{1,40}\.[0-9]{1,40}")
ISO_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def silent_change(value: str, text: str, tag: str, scale: int = 0) -> str:
    """Say how the engine's text of a value is not what the value itself says, although it warned of nothing.

    Asked where an engine wraps numbers, cuts digits and carries days over; nothing where value and text agree.
    `scale` are the digits behind the point that the engine's type has.
    """
    if tag in ("date", "datetime"):
        differs = ISO_DATE.match(value) is not None and text[:10] != value[:10] and value[10:11] in ("", "T", " ")
        return "gave %s for %s, and no error" % (text, value[:40]) if differs else ""
    if tag not in ("int", "decimal") or not (INTEGER.fullmatch(value) or DECIMAL.fullmatch(value)):
        return ""
    said, given = Decimal(value), Decimal(text)
    if abs(said - given) >= 1:
        return "gave %s for %s, and no error: the number wrapped" % (text, value)
    half = Decimal(5).scaleb(-scale - 1)
    is_cut = abs(said - given) > half or (abs(said - given) == half and abs(given) < abs(said))
    return "cut digits of %s, and did not round" % value if is_cut else ""
