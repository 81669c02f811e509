"""The ways from source columns to an output column, each in the consumer's own text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from auditor.decode.sql_hints import PLACE
from auditor.decode.sql_outputs import Made, Origin, Output
from auditor.decode.sql_syntax import Node
from auditor.discover.flags import flags_of
from auditor.discover.found import Flag, Path, Step
from auditor.discover.kinds import TEXT, kind_of, scale_of, shown, type_of
from auditor.discover.parsing import span_of, start_of
from auditor.discover.tracing import Tracer

#: Paths of one column that are followed: a union of unions has more than anyone reads.
MOST_PATHS = 50

#: Characters of an expression that is put together of steps.
LONGEST = 20_000

#: A column's place in a text that is being put together; no file that is read has a NUL in it.
_MARK = re.compile("\0([0-9]+)\0")

_CALL = re.compile(r"\w+\s*\(")

Choice = dict[int, int]  # the branch taken of each set operation, by the identity of its node


@dataclass(frozen=True)
class _Way:
    """What is known of a column under one choice; the text has marks in the place of source columns."""

    text: str | None
    type: Any
    sources: tuple[Origin, ...] = ()
    steps: tuple[Step, ...] = ()
    flags: tuple[Flag, ...] = ()


class Paths:
    """Follows the columns of models down to their sources."""

    def __init__(self, tracer: Tracer, dialect: Dialect) -> None:
        self._tracer, self._dialect = tracer, dialect
        self.dialect = type(dialect).__name__.lower()
        self._origins: list[Origin] = []
        self._numbers: dict[Origin, int] = {}
        self._spelled: dict[Origin, str] = {}
        self._flags: dict[int, list[Flag]] = {}

    def of(self, output: Output) -> tuple[Path, ...]:
        """Give the paths of an output column: one for each branch of the unions on its way."""
        found: list[Path] = []
        for choice in self._choices(output):
            if len(found) == MOST_PATHS:
                found[-1] = _with(found[-1], Flag("not followed", f"unions give more than {MOST_PATHS} paths"))
                break
            found.append(self._path(self._way(output, choice, {})))
        return tuple(found)

    def _choices(self, output: Output) -> Iterator[Choice]:
        waiting: list[Choice] = [{}]
        while waiting:
            choice = waiting.pop()
            union = _undecided(output, choice)
            if union is None:
                yield choice
            else:
                waiting += [choice | {id(union.node): branch} for branch in range(len(union.branches))][::-1]

    def _path(self, way: _Way) -> Path:
        sources = tuple(dict.fromkeys(way.sources))
        flags = list(dict.fromkeys(way.flags))
        if len(sources) > 1:
            names = ", ".join(_dotted(source) for source in sources)
            flags.append(Flag("several columns", f"made of {names}"))
        flags += [
            Flag("already typed", f"{_dotted(source)} is {shown(kind, self._dialect)} already, not a text")
            for source in sources
            if (kind := self._tracer.types.get(source)) is not None and kind_of(kind) != "text"
        ]
        composed = len(way.steps) > 1
        expression = way.steps[-1].text if way.steps and not composed else way.text
        if expression is not None:
            expression = _MARK.sub(lambda mark: self._spelled[self._origins[int(mark[1])]], expression)
        reads = None
        if way.text is not None and len(sources) == 1:
            if PLACE in way.text:
                flags.append(Flag("not followed", f"its text holds {PLACE}, which stands for the column in a spec"))
            else:
                reads = _MARK.sub(PLACE, way.text)
        return Path(
            tuple(_dotted(source) for source in sources),
            self._spelled.get(sources[0], sources[0][1]) if len(sources) == 1 else "",
            expression,
            reads,
            composed,
            way.steps,
            shown(way.type, self._dialect),
            kind_of(way.type),
            scale_of(way.type),
            tuple(flags),
        )

    def _way(self, output: Output, choice: Choice, known: dict[int, _Way]) -> _Way:
        if id(output) not in known:
            known[id(output)] = _Way(None, None, flags=(Flag("not followed", "it is made of itself"),))
            known[id(output)] = self._way_of_new(output, choice, known)
        return known[id(output)]

    def _way_of_new(self, output: Output, choice: Choice, known: dict[int, _Way]) -> _Way:
        made = output.made
        if made is None:
            return self._of_source(output)
        if made.branches:
            way = self._way(made.branches[choice.get(id(made.node), 0)], choice, known)
            if len(made.branches) > 1 and not any(flag.kind == "branch" for flag in way.flags):
                return _Way(way.text, way.type, way.sources, way.steps, (self._branch(made, choice), *way.flags))
            return way
        if made.why:
            return _Way(None, None, tuple(sorted(output.origins)), flags=(Flag("not followed", made.why),))
        return self._of_expression(output, made, choice, known)

    def _of_source(self, output: Output) -> _Way:
        if output.unpacked or len(output.origins) != 1:
            note = "the column is a structure that the value is taken out of"
            flag = Flag("unpacked", note) if output.unpacked else Flag("not followed", "its source is not known")
            return _Way(None, None, tuple(sorted(output.origins)), flags=(flag,))
        [origin] = output.origins
        if origin not in self._spelled:
            self._numbers[origin] = len(self._origins)
            self._origins.append(origin)
            self._spelled[origin] = output.name
        return _Way(f"\0{self._numbers[origin]}\0", self._tracer.types.get(origin, TEXT), (origin,))

    def _of_expression(self, output: Output, made: Made, choice: Choice, known: dict[int, _Way]) -> _Way:
        ways = [(column, self._way(part, choice, known)) for column, part in made.parts]
        node = made.node.unnest()
        if isinstance(node, exp.Column) and len(ways) == 1 and not _is_unpacked_here(ways[0][1]):
            return ways[0][1]
        query = self._tracer.query_of(node)
        kind = type_of(node, [way.type for _, way in ways], self._dialect)
        span = span_of(made.node) or span_of(node)
        flags = [flag for _, way in ways for flag in way.flags]
        if span is None:
            text = str(node.sql(self._dialect))
            flags.append(Flag("not followed", "its place in the file is not known: it is shown as sqlglot writes it"))
        else:
            text = query.file.text[slice(*span)]
        if id(node) not in self._flags:
            self._flags[id(node)] = flags_of(node)
        flags += self._flags[id(node)]
        place = self._tracer.place_of(made.node)
        step = Step(query.name, output.name, place, text, shown(kind, self._dialect), start_of(node) or 0)
        steps = tuple(dict.fromkeys([*(step for _, way in ways for step in way.steps), step]))
        whole = None if span is None else _put_together(query.file.text, span, ways)
        if whole is not None and len(whole) > LONGEST:
            whole = None
            flags.append(Flag("not followed", f"its steps put into each other have more than {LONGEST:,} characters"))
        inside = sorted(output.origins) if any(flag.kind == "subquery" for flag in flags) else ()
        sources = dict.fromkeys([*(origin for _, way in ways for origin in way.sources), *inside])
        return _Way(whole, kind, tuple(sources), steps, tuple(dict.fromkeys(flags)))

    def _branch(self, made: Made, choice: Choice) -> Flag:
        branch: Node = made.node
        while isinstance(branch, exp.SetOperation) and id(branch) in choice:
            branch = (branch.this, branch.expression)[choice[id(branch)]].unnest()
        return Flag("branch", f"one branch of a union, {self._tracer.place_of(branch)}")


def _is_unpacked_here(way: _Way) -> bool:
    """Say whether a column is a part of a structure, whose text says which part."""
    return not way.steps and any(flag.kind == "unpacked" for flag in way.flags)


def _undecided(output: Output, choice: Choice) -> Made | None:
    """Give the first union on the way for which no branch is chosen."""
    seen: set[int] = set()
    waiting = [output]
    while waiting:
        one = waiting.pop()
        made = one.made
        if id(one) in seen or made is None:
            continue
        seen.add(id(one))
        if len(made.branches) > 1 and id(made.node) not in choice:
            return made
        if made.branches:
            waiting.append(made.branches[choice.get(id(made.node), 0)])
        waiting += [part for _, part in made.parts][::-1]
    return None


def _put_together(text: str, span: tuple[int, int], ways: list[tuple[Node, _Way]]) -> str | None:
    """Put what columns stand for in their place; None where one of them is not known or not found in the text."""
    places: dict[tuple[int, int], str] = {}
    for column, way in ways:
        place = span_of(column)
        if place is None or way.text is None or not (span[0] <= place[0] and place[1] <= span[1]):
            return None
        places[place] = _as_operand(way.text)
    parts, at = [], span[0]
    for (start, end), replacement in sorted(places.items()):
        if start < at:
            return None
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at : span[1]]])


def _as_operand(text: str) -> str:
    """Put an expression into brackets, unless it is a column or one call."""
    if _MARK.fullmatch(text) or (_CALL.match(text) and _closes_at_end(text)):
        return text
    return f"({text})"


def _closes_at_end(text: str) -> bool:
    """Say whether the first bracket of a call closes with its last character; a comment leaves that open."""
    depth, quote = 0, ""
    if "--" in text or "/*" in text or "#" in text or "\\" in text:
        return False
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return at == len(text) - 1
    return False


def _dotted(origin: Origin) -> str:
    return ".".join((*origin[0], origin[1]))


def _with(path: Path, flag: Flag) -> Path:
    return replace(path, flags=(*path.flags, flag))
