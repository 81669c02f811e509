"""The columns that a query gives, and the columns of physical tables that they are made of.

An output column has `origins`, the columns of physical tables that its value is made of. It is `bare` where it is one
of them, at most cast to a text or an integer, so that it can carry a row's number through the model; it is `plain`
where nothing but a text comes of it. `made` leads from a column to those that it is made of, down to physical tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

Name = tuple[str, ...]
Origin = tuple[Name, str]


_UNMATCHED = "a branch of the union has other columns, or a * over a table whose columns are not known"


class LineageError(Exception):
    """A column cannot be located; `hint` is the next step."""

    def __init__(self, seen: str, hint: str = "") -> None:
        super().__init__(seen)
        self.seen, self.hint = seen, hint


@dataclass(frozen=True)
class Made:
    """How a column comes about: by an expression over the columns of a query's sources, or by branches of a union.

    `node` is the expression as it was parsed, or the set operation; `parts` are the columns in it, each with what it
    stands for; `branches` are the columns that a set operation takes its rows from. `why` says why the way ends here.
    """

    node: Any
    parts: tuple[tuple[Any, Output], ...] = ()
    branches: tuple[Output, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Output:
    """One column of a query."""

    name: str
    origins: frozenset[Origin]
    bare: Origin | None = None
    line: int | None = None
    unpacked: bool = False  # taken out of a JSON text or a structure
    plain: bool = False
    made: Made | None = field(default=None, compare=False, repr=False)


@dataclass
class Outputs:
    """The columns of a query; `open` are physical tables of which it gives every column (a star)."""

    named: dict[str, Output] = field(default_factory=dict)
    open: list[Name] = field(default_factory=list)

    def add(self, output: Output, position: int) -> None:
        """Add a column; one without a name, or with that of another, is kept for its place, and carries nothing."""
        key = output.name.lower()
        if key and key not in self.named:
            self.named[key] = output
        else:
            self.named[f"{key}#{position}"] = replace(output, bare=None)

    def get(self, name: str) -> Output | None:
        """Give the output of a name; the only open table has whatever column it is asked for."""
        found = self.named.get(name.lower())
        if found is None and len(self.open) == 1:
            origin = (self.open[0], name.lower())
            return Output(name, frozenset([origin]), origin, plain=True)
        return found


def united(expression: exp.SetOperation, left: Outputs, right: Outputs) -> Outputs:
    """Give the columns of a set operation: by name where it says so, else by position."""
    both = Outputs(open=[*left.open, *(table for table in right.open if table not in left.open)])
    others = list(right.named.values())
    known = len(others) == len(left.named) and not (left.open or right.open)
    for position, (key, output) in enumerate(left.named.items()):
        by_name = right.named.get(key) if expression.args.get("by_name") else None
        other = by_name or (others[position] if position < len(others) else output)
        bare = output.bare if output.bare == other.bare else None
        origins = output.origins | other.origins
        unpacked, plain = output.unpacked or other.unpacked, output.plain and other.plain
        found = known or by_name is not None or (left.open and right.open and other.name.lower() == key)
        beside = other if found else Output(output.name, frozenset(), made=Made(None, why=_UNMATCHED))
        # EXCEPT and INTERSECT give rows of the left.
        made = Made(expression, branches=(output, beside) if isinstance(expression, exp.Union) else (output,))
        both.named[key] = Output(output.name, origins, bare, output.line, unpacked, plain, made)
    return both


def renamed(outputs: Outputs, names: Sequence[str]) -> Outputs:
    """Give the columns under the names that a list of columns has for the first of them: ``with t(a, b) as …``."""
    if not names or outputs.open:
        return outputs
    columns = list(outputs.named.values())
    found = Outputs()
    for position, output in enumerate(columns):
        name = names[position] if position < len(names) else output.name
        found.named.setdefault(name.lower(), replace(output, name=name))
    return found
