"""The tables in which a warehouse model runs, on an engine other than DuckDB; each has a stage of its own.

A stage runs the consumer's statements as they are written and gives the engine's own texts of what comes out. Whatever
the engine refuses is `Refused`, `OutOfTime` where it ran out of time; a server that is gone is `Ended`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from .engine_common import Refused
from .engine_texts import NOT_A_NUMBER, TAGGERS
from .trouble import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

    Tag = Union[str, Callable[[str], Optional[str]]]
    #: The engine's name of a column, of its type, and the tag of what is in it.
    Kind = Tuple[str, str, Tag]
    Row = List[Optional[str]]


class Stage(ABC):
    """What engines have in common: quotes, statements that most of them know, and which errors there are."""

    error, fatal = Refused, Ended
    quote = '"'
    text_type = "TEXT"
    storage = ""  # what stands behind the columns of a table

    def __init__(self, engine: "Any", spelled: "Dict[str, str]") -> None:
        self.engine, self.name, self.spelled = engine, engine.name, spelled

    def quoted(self, name: str) -> str:
        """Quote a name as the engine stores it."""
        name = self.spelled.get(name, name)
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def path(self, name: "Sequence[str]") -> str:
        """Quote a name of several parts."""
        return ".".join(self.quoted(self.spelled.get(part.lower(), part)) for part in name)

    def plain(self, text: "Optional[str]") -> str:
        """Give what `results` has of a text as that text."""
        return text or ""

    def open(self, names: "Sequence[Sequence[str]]") -> None:  # noqa: B027 - most engines need nothing
        """Make what has to be there before the schemas of some tables are."""

    def create_schema(self, name: "Sequence[str]") -> None:
        """Create the schema of a table."""
        if len(name) > 1:
            self.run("CREATE SCHEMA IF NOT EXISTS " + self.path(name[:-1]))

    def create_table(self, table: str, columns: "Sequence[str]") -> None:
        """Create a table of texts, where the consumer's own set-up has not."""
        described = ", ".join("%s %s" % (self.quoted(column), self.text_type) for column in columns)
        self.run("CREATE TABLE IF NOT EXISTS %s (%s)%s" % (table, described, self.storage))

    @abstractmethod
    def run(self, sql: str) -> "Any":
        """Run one statement as it is written."""

    @abstractmethod
    def rows(self, sql: str) -> "List[Any]":
        """Give the rows of a query."""

    @abstractmethod
    def kinds_of(self, query: str, kind: str = "") -> "Dict[str, Kind]":
        """Describe the columns of a query by their names in lower case; `kind` is the type of the field, if any."""

    def fill(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Make rows the only ones of a table."""
        self.empty(table, len(rows))
        if rows:
            self.insert(table, columns, rows)

    def empty(self, table: str, coming: int) -> None:
        """Delete the rows of a table, which so many others follow."""
        self.run("DELETE FROM " + table)

    @abstractmethod
    def insert(self, table: str, columns: "Sequence[str]", rows: "Sequence[Row]") -> None:
        """Insert rows: values as data, none of which is read as SQL."""

    @abstractmethod
    def results(self, query: str, columns: "Sequence[Kind]") -> "Tuple[List[Row], str]":
        """Run a query and give the engine's texts of some of its columns, and what it warned of."""


def is_text(kind: "Kind") -> bool:
    """Say whether a column holds any text."""
    return kind[2] == "text"


def is_number(kind: "Kind") -> bool:
    """Say whether a column can hold the number of a row."""
    return kind[2] in ("int", "decimal", "float", "text")


def mark_of(text: "Optional[str]", kind: "Kind") -> str:
    """Give the mark of what a column holds; see `sql_tags`."""
    if text is None:
        return "n"
    tag = kind[2]
    tagged = (TAGGERS[tag] if isinstance(tag, str) else tag)(text)
    if tagged is not None:
        return tagged
    return "n" if tag in ("float", "decimal") and text in NOT_A_NUMBER else "u:" + text
