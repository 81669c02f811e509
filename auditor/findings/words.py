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


def shape_name(shape: str) -> str:
    """Write a shape in a sentence: one with a blank or a comma in quotes, so that it has an end."""
    if shape in ("JSON true", "JSON false", "JSON null"):
        return f"the JSON value {shape.removeprefix('JSON ')}"
    return f'"{shape}"' if " " in shape or "," in shape else shape
