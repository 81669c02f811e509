"""Names and numbers as titles and details write them."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence."""
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def verb(names: Sequence[str], one: str, many: str) -> str:
    """Choose the form of a verb for one name or several."""
    return one if len(names) == 1 else many


def counted(count: int, noun: str) -> str:
    """Write a number with its noun: 1 case, 1,200 cases."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(rate: float | None) -> str:
    """Write a rate as a percentage."""
    return "no share" if rate is None else f"{100 * rate:.1f} %"
