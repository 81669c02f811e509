"""Parses SQL so that each expression keeps the place where it stands: sqlglot itself keeps it of names alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import sqlglot
from sqlglot.dialects.dialect import Dialect, Dialects
from sqlglot.errors import ParseError, SqlglotError

from auditor.decode.sql_syntax import Node
from auditor.discover.files import DiscoverError
from auditor.spec.mistakes import suggest

#: What sqlglot raises over a text that it does not know: its own errors, and those of Python where it slips.
FAULTS = (SqlglotError, RuntimeError, ValueError, LookupError, TypeError, AttributeError, AssertionError)

#: Under this name a node has the first and the last character of its text, the last one excluded.
_SPAN = "auditor_span"

#: How sqlglot shows a token in a message.
_TOKEN = re.compile(r"<Token token_type: [\w.]+, text: (.*?), line: .*>", re.DOTALL)

#: The methods of sqlglot's parser whose nodes keep their place.
_MARKED = (
    *(
        "_parse_disjunction",
        "_parse_comparison",
        "_parse_select_query",
        "_parse_where",
        "_parse_having",
        "_parse_qualify",
    ),
    *("_parse_join", "_parse_limit", "_parse_table"),
)


def dialect_of(name: str) -> Dialect:
    """Find a dialect of sqlglot; DiscoverError with the nearest right name."""
    names = sorted(dialect.value for dialect in Dialects if dialect.value)
    if name.lower() not in names:
        raise DiscoverError(f"--dialect {name}: there is no such dialect\n  next: {suggest(name, names)}")
    return Dialect.get_or_raise(name.lower())


def parse(tokens: Sequence[Any], text: str, dialect: Dialect) -> Node:
    """Parse one statement of a text; raises one of FAULTS."""
    parsed = [one for one in _parser_class(dialect)(dialect=dialect).parse(list(tokens), text) if one is not None]
    if len(parsed) != 1:
        raise ParseError(f"it reads as {len(parsed)} statements")
    return parsed[0]


def reason_of(error: BaseException) -> tuple[str, int | None]:
    """Say in a line why a text could not be parsed, and on which line of it."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply to be parsed", None
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        near = f" near {first['highlight']!r}" if first.get("highlight") else ""
        said = _TOKEN.sub(r"\1", first.get("description") or "no reason given")
        return f"sqlglot cannot parse it: {said}{near}", first.get("line")
    said = str(error).split("\n")[0] or type(error).__name__
    return f"sqlglot cannot parse it: {said}", None


def span_of(node: Node) -> tuple[int, int] | None:
    """Give where a node's text begins and ends, where that is known."""
    if _SPAN in node.meta:
        start, end = node.meta[_SPAN]
        return start, end
    parts = [part for part in getattr(node, "parts", ()) if "start" in part.meta]
    if parts and len(parts) == len(node.parts):
        return min(part.meta["start"] for part in parts), max(part.meta["end"] for part in parts) + 1
    return None


def start_of(node: Node) -> int | None:
    """Give where a node begins, or the first name in it."""
    span = span_of(node)
    if span is not None:
        return span[0]
    return min((inner.meta["start"] for inner in node.walk() if "start" in inner.meta), default=None)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep sqlglot from warning on stderr: what it does not know is told in what is found."""
    logger = logging.getLogger(sqlglot.__name__)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@cache
def _parser_class(dialect: Dialect) -> Any:
    base = dialect.parser_class
    return type("MarkingParser", (base,), {name: _marking(getattr(base, name)) for name in _MARKED})


def _marking(method: Callable[..., Any]) -> Callable[..., Any]:
    def parse_and_mark(self: Any, *args: Any, **kwargs: Any) -> Any:
        first = self._curr
        node = method(self, *args, **kwargs)
        # Behind the last token stands one that is false, and begins where the text does.
        if node is not None and first and self._prev and self._prev.end >= first.start:
            before = node.meta.get(_SPAN)
            if before is None or before[0] >= first.start:  # the same node, seen from further outside
                node.meta[_SPAN] = (first.start, self._prev.end + 1)
        return node

    return parse_and_mark
