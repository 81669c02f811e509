"""What is found in SQL files: models with their columns, the paths of each, filters, and what was not followed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: Kinds of a flag, in the order in which they are shown.
FlagKind = Literal[
    "branch",
    "token map",
    "conditional",
    "default",
    "volatile",
    "several columns",
    "already typed",
    "unpacked",
    "aggregate",
    "window",
    "subquery",
    "unknown function",
    "not followed",
]

#: With one of these a path is no expression over one text, and only the whole model says what comes out.
NO_EXPRESSION: tuple[FlagKind, ...] = (
    *("several columns", "already typed", "unpacked", "aggregate", "window", "subquery", "unknown function"),
    "not followed",
)


@dataclass(frozen=True)
class Place:
    """A line of a file; line 0 is the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        """Give it as an editor takes it."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Problem:
    """What could not be read (`unread`), or was passed over although it is no mistake."""

    place: Place
    what: str
    hint: str = ""
    unread: bool = True


@dataclass(frozen=True)
class Flag:
    """Something that a reader of a path must know."""

    kind: FlagKind
    note: str


@dataclass(frozen=True)
class Step:
    """One expression on a path, as it is written in the file."""

    model: str
    column: str
    place: Place
    text: str
    type: str
    offset: int = 0  # where it begins in the file, in characters: two steps may be alike


@dataclass(frozen=True)
class Path:
    """One way from source columns to an output column.

    `expression` names the source columns, `reads` has {value} in their place; both are None where they are not known
    whole. `composed` says that several steps were put into each other, so that it stands nowhere in this form.
    """

    sources: tuple[str, ...]
    column: str  # the one source column as it is written, else empty
    expression: str | None
    reads: str | None
    composed: bool
    steps: tuple[Step, ...]
    type: str
    kind: str | None
    scale: int | None  # digits behind the point, of a type that says so
    flags: tuple[Flag, ...]

    @property
    def coerces(self) -> bool:
        """Say whether something is done to the source column."""
        return bool(self.steps and self.sources)

    def has(self, *kinds: FlagKind) -> bool:
        """Say whether there is a flag of one of these kinds."""
        return any(flag.kind in kinds for flag in self.flags)


@dataclass(frozen=True)
class Column:
    """One column that a model gives; one that has no name of its own is `called` nothing, and has its number here."""

    name: str
    place: Place
    paths: tuple[Path, ...]
    called: bool = True


@dataclass(frozen=True)
class Filter:
    """A clause that drops rows; `columns` are the source columns in it, `coerced` the outputs that it coerces, too."""

    clause: str
    text: str
    place: Place
    columns: tuple[str, ...]
    coerced: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()  # what it depends on besides the row

    def __str__(self) -> str:
        """Give clause and text on one line, a keyword once."""
        text = " ".join(self.text.split())
        return text if text.lower().startswith(self.clause.lower()) else f"{self.clause} {text}".rstrip()

    @property
    def notes(self) -> str:
        """What is to be known of it besides its text, empty where that is nothing."""
        coerces = [f"coerces {', '.join(self.coerced)}, too"] if self.coerced else []
        return "; ".join([*coerces, *self.volatile])


@dataclass(frozen=True)
class Model:
    """A query of a file: a select, or that of a view, a table or an insert."""

    name: str
    kind: str
    place: Place
    columns: tuple[Column, ...]
    filters: tuple[Filter, ...]
    models: tuple[str, ...] = ()  # other models that it reads
    tables: tuple[str, ...] = ()
    alone: bool = True  # the only model of its file, and after it nothing comes


@dataclass(frozen=True)
class Discovery:
    """All that was found, in the order of the files."""

    dialect: str
    files: tuple[str, ...]
    models: tuple[Model, ...]
    schemas: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    read: int = field(default=0)  # statements

    @property
    def unread(self) -> tuple[Problem, ...]:
        """The problems that cost a file or a statement."""
        return tuple(problem for problem in self.problems if problem.unread)
