"""Rows of a file whose values are JSON source texts: ids, texts, tokens and outcomes taken from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from auditor.errors import LoadError
from auditor.load.arm_names import arm_texts
from auditor.load.files import SourceFile, mistake
from auditor.load.finish import NO_ERROR, NO_ERROR_STATUS, outcome_of
from auditor.load.json_lines import items, members
from auditor.load.layout import Layout
from auditor.load.parts import Part, Value
from auditor.load.spool import Spool
from auditor.load.tokens import ESCAPED, content_of, token_of

#: An HTTP status in the place of an error that is none.
_STATUS = re.compile(NO_ERROR_STATUS)

_RARE_STARTS = ('"', ESCAPED)  # of an empty id, and of one that is rewritten
_TOKENS = ("value", "other", "payload")
RawValues = Sequence[str | None]


class RepeatedKeyError(ValueError):
    """A key that is wanted occurs twice in one object."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a file: JSON source texts by column; `line` is the number of the first one."""

    where: str  # line or row
    line: int
    columns: dict[str, list[str | None]]
    whole: list[list[tuple[str, str]]] | None = None

    def first_of(self, names: Sequence[str]) -> RawValues:
        """Give, per row, the first of `names` that has a value other than null."""
        if len(names) == 1:
            return self.columns[names[0]]
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return [next((value for value in row if value is not None and value != "null"), None) for row in rows]


def part_of(file: SourceFile, layout: Layout, spool: Spool, carried: frozenset[str] | None = None) -> Part:
    """Give a spool with the fixed column names as a part."""
    columns = {name: Value(name, name in _TOKENS or name[1:].isdigit()) for name in spool.names}
    return Part(file, layout, spool.count, spool.scan, columns, carried, spool.release)


def case_columns(file: SourceFile, layout: Layout, rows: Rows) -> list[RawValues]:
    """Give the columns id, locale, jurisdiction, finish of some rows."""
    # The plain string first: a call per row is what this costs otherwise.
    ids = [
        raw[1:-1] if raw is not None and raw[0] == '"' and "\\" not in raw and raw[1] not in _RARE_STARTS else _id(raw)
        for raw in rows.columns[layout.id]
    ]
    if None in ids:
        raise _missing_id(file, layout, rows, ids.index(None))
    texts = [texts_of(rows.first_of(names)) for names in (layout.locale, layout.jurisdiction)]
    return [ids, *texts, texts_of(rows.first_of(layout.finish)) if layout.finish else [None] * len(ids)]


def trait_columns(layout: Layout, rows: Rows) -> list[RawValues]:
    """Give the columns of the traits that the spec names, in their order."""
    return [texts_of(rows.columns[column]) for column in layout.trait_names]


def arms_of(layout: Layout, rows: Rows) -> list[str | None]:
    """Give the name of the arm of each row, None where the spec names no arm or the row none."""
    columns = [texts_of(rows.columns[column]) for name, column in layout.traits if name.startswith("arm")]
    return arm_texts(columns) if columns else [None] * len(rows.columns[layout.id])


def _id(raw: str | None) -> str | None:
    if raw is None or raw == "null":
        return None
    text = content_of(raw)
    return text if text and raw[0] not in "{[tf" else None


def _missing_id(file: SourceFile, layout: Layout, rows: Rows, index: int) -> LoadError:
    raw = rows.columns[layout.id][index]
    if raw is None or raw in ("null", '""'):
        what = f"the id {layout.id!r} is missing or empty"
    else:
        what = f"the id {layout.id!r} is {raw[:40]}, neither a string nor a number"
    number = rows.line + index
    if rows.where == "line":
        number = line_of(file, rows.line, index)
    return mistake(f"{file.name}, {rows.where} {number}", what, "every row needs the id of its case")


def line_of(file: SourceFile, first_line: int, index: int) -> int:
    """Give the number of the line that holds a record, counted from the one at `first_line`; blank lines are none."""
    with file.path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if number >= first_line and line.strip(b" \t\r\n\xef\xbb\xbf"):
                if index == 0:
                    return number
                index -= 1
    return first_line


def texts_of(column: RawValues) -> list[str | None]:
    """Give contents; null and empty strings are none."""
    # Such columns hold few distinct values: each is read once a batch.
    contents = {raw: None if raw is None or raw == "null" else content_of(raw) or None for raw in set(column)}
    return [contents[raw] for raw in column]


def tokens_of(column: RawValues) -> list[str | None]:
    """Give tokens."""
    return [raw if raw is None or "\\" not in raw else token_of(raw) for raw in column]


#: Why a case is refused that holds a refusal.
REFUSED: Final = "a refusal in the reply"


def outcomes_of(layout: Layout, rows: Rows, finishes: RawValues) -> list[str]:
    """Give the outcome of each case as far as its error, a refusal and its finish reason tell."""
    known = layout.contract.outcomes
    if layout.finish:
        outcomes = [outcome_of(finish, layout.assume_finish, known) for finish in finishes]
    else:
        outcomes = ["judged"] * len(finishes)
    for names, outcome in ((layout.refusal, "refused"), (layout.error, "transport")):
        for index, given in enumerate(_failures(rows, names, is_error=outcome == "transport")):
            if given is not None:
                outcomes[index] = outcome
    return outcomes


def _failures(rows: Rows, names: Sequence[str], *, is_error: bool) -> RawValues:
    """Give what stands in the columns of an error or a refusal, None where it says that there is none."""
    given = [None if raw in NO_ERROR else raw for raw in rows.first_of(names)] if names else ()
    return [None if raw is not None and _STATUS.fullmatch(raw) else raw for raw in given] if is_error else given


def errors_of(layout: Layout, rows: Rows, outcomes: Sequence[str]) -> list[str | None]:
    """Give what its finish reason does not say of each case: the transport error, or that the reply is a refusal."""
    nothing: list[str | None] = [None] * len(outcomes)
    failures = texts_of(_failures(rows, layout.error, is_error=True)) or nothing
    refusals = _failures(rows, layout.refusal, is_error=False) or nothing
    said: list[str | None] = []
    for outcome, failure, refusal in zip(outcomes, failures, refusals, strict=True):
        refused = REFUSED if refusal is not None else None
        said.append(failure if outcome == "transport" else refused if outcome == "refused" else None)
    return said


def value_at(source: str, steps: Sequence[str | int]) -> str | None:
    """Give the source text at keys of nested objects and positions in arrays, or None where there is none."""
    for step in steps:
        found = item_at(source, step) if isinstance(step, int) else None
        if isinstance(step, str) and source[:1] == "{":
            found = member(members(source), step)
        if found is None:
            return None
        source = found
    return source


def item_at(source: str, position: int) -> str | None:
    """Give the source text of an item of an array, counted from the end where the position is negative."""
    found = items(source) if source[:1] == "[" else []
    return found[position] if -len(found) <= position < len(found) else None


def member(found: Sequence[tuple[str, str]], key: str) -> str | None:
    """Give the value of a key among the members of an object; RepeatedKeyError where it occurs twice."""
    values = [value for name, value in found if name == key]
    if len(values) > 1:
        raise RepeatedKeyError(f"the key {key!r} occurs {len(values)} times")
    return values[0] if values else None
