"""The name of an arm: the text of its column, or the texts of several in words. No two arms have one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from auditor.load.tokens import string_token, text_token_sql

_JOINT: Final = ", "
_NOTHING: Final = "none"  # stands for an empty column of several


def traits_of(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Give the names under which the columns of an arm stand in a part, each with its column."""
    return tuple((f"arm{number}", column) for number, column in enumerate(columns))


def arm_texts(columns: Sequence[Sequence[str | None]]) -> list[str | None]:
    """Give the name of the arm of each row from the contents of its columns: one text for one arm, and for no other."""
    if len(columns) == 1:
        return list(columns[0])
    return [_JOINT.join(map(_worded, values)) if any(values) else None for values in zip(*columns, strict=True)]


def _worded(text: str | None) -> str:
    if not text:
        return _NOTHING
    return string_token(text) if text == _NOTHING or _JOINT in text or text.startswith('"') else text


def arm_sql(columns: Sequence[str]) -> str:
    """Give the SQL for what `arm_texts` says."""
    if len(columns) == 1:
        return f"nullif({columns[0]}, '')"
    words = (
        f"CASE WHEN coalesce({one}, '') = '' THEN '{_NOTHING}' "
        f"WHEN {one} = '{_NOTHING}' OR contains({one}, '{_JOINT}') "
        f"OR starts_with({one}, '\"') THEN {text_token_sql(one)} ELSE {one} END"
        for one in columns
    )
    empty = " AND ".join(f"coalesce({one}, '') = ''" for one in columns)
    joined = f" || '{_JOINT}' || ".join(words)
    return f"CASE WHEN {empty} THEN NULL ELSE {joined} END"
