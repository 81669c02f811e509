"""Batches: a parser that takes a list of raw values and gives a value for each, as a load of whole columns does.

A batch is one call and has one fate: what it raises is the decoding of every row of it. A row of its own can still be
None, NaN or an exception object, which say of that row alone that there is no value or that it is rejected.
"""

from __future__ import annotations

from builtins import (
    BaseException,
    KeyError,
    MemoryError,
    bytearray,
    bytes,
    callable,
    dict,
    enumerate,
    frozenset,
    getattr,
    isinstance,
    len,
    list,
    range,
    set,
    str,
    tuple,
    type,
)

from .canonical import Unexpected, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List

#: What can be gone through but is no column of rows.
NO_COLUMNS = (str, bytes, bytearray, dict, set, frozenset)


def alone(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give a parser of one value: it reads each as a batch of its own."""

    def parse_one(value: Any) -> Any:
        return value_of(rows_of(parse([value]), 1)[0])

    return parse_one


def value_of(row: Any) -> Any:
    """Give a row's value; raise the exception that stands in the place of one."""
    if isinstance(row, BaseException):
        raise row
    return row


def rows_of(result: Any, count: int) -> List[Any]:
    """Give what a parser made of `count` rows as a list; Unexpected where nothing says which value is which row's."""
    shape = getattr(result, "shape", None)
    if isinstance(result, NO_COLUMNS) or result is None or (isinstance(shape, tuple) and len(shape) != 1):
        raise Unexpected("unexpected type: a batch must come back as a sequence of its rows, not as " + name_of(result))
    as_list = getattr(result, "to_pylist", None)  # of Arrow, whose scalars are no Python objects
    rows = as_list() if callable(as_list) else list(result)
    if len(rows) != count:
        lengths = count, len(rows)
        raise Unexpected("unexpected length: %d rows were given and %d came back: no value has a row" % lengths)
    check_order(result, count)
    return rows


def check_order(result: Any, count: int) -> None:
    """Refuse a series whose index says that its rows were moved: production may go by the index or by the place."""
    index = getattr(result, "index", None)
    if index is None or callable(index):
        return
    labels, places = list(index), range(count)
    if labels != list(places) and set(labels) == set(places):
        raise Unexpected("unexpected order: the index says that the rows were moved: sort by it, or reset it")


def tag_rows(rows: List[Any], tags: Any, outcome: Any, status_of: Callable[[BaseException], Any]) -> None:
    """Add the tagged text or the fault of each row to an outcome; raise MemoryError where it ends the process."""
    append, exact, other = outcome.texts.append, tags.exact, tags.other
    for index, row in enumerate(rows):
        try:
            value = value_of(row)
            try:
                text = exact[type(value)](value)
            except KeyError:
                text = other(value)
        except MemoryError:
            raise
        except BaseException as raised:  # noqa: BLE001 - whatever stands in a row is its decoding
            outcome.fault(index, *status_of(raised))
            text = ""
        append(text)
