"""Where the consumer's own code stands: file and first line of a function, or of a class and its field."""

from __future__ import annotations

import functools
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional


def place_of_function(function: "Any") -> "Optional[List[Any]]":
    """Give the file and line of a function as it was written, whatever is wrapped around it; None of a builtin."""
    seen = 0
    while seen < 100:  # a chain of wrappers may end in itself
        seen += 1
        if isinstance(function, functools.partial):
            function = function.func
        elif getattr(function, "__wrapped__", None) is not None:
            function = function.__wrapped__
        elif getattr(function, "__func__", None) is not None:
            function = function.__func__
        else:
            break
    if not hasattr(function, "__code__"):  # an object of a class that can be called
        function = vars(type(function)).get("__call__")
    code = getattr(function, "__code__", None)
    return None if code is None else [code.co_filename, code.co_firstlineno]


def place_of_field(model: "Any", field: str) -> "Optional[List[Any]]":
    """Give the file and line where a class has a field, or of the class where it has it from another; else None."""
    file = getattr(sys.modules.get(model.__module__), "__file__", None)
    lines = _lines_of(file)
    head = re.compile(r"\s*class\s+%s\b" % re.escape(model.__name__))
    first = next((number for number, line in enumerate(lines) if head.match(line)), None)
    if first is None:
        return None
    indent = len(lines[first]) - len(lines[first].lstrip())
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith(("#", ")")):
            break
        if re.match(r"\s+%s\s*:" % re.escape(field), line):
            return [file, number + 1]
    return [file, first + 1]


@functools.lru_cache(maxsize=None)
def _lines_of(file: "Optional[str]") -> "List[str]":
    """Read a source once for all fields; none where there is no text."""
    try:
        with open(file, encoding="utf-8") as source:  # type: ignore[arg-type]
            return source.read().splitlines()
    except (OSError, TypeError, ValueError):
        return []
