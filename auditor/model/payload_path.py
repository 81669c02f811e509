"""Where the value of a field stands in a payload: the places that are looked at, the first that is there counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

#: One place: keys of objects, and positions in arrays, a negative one from the end.
Steps: TypeAlias = tuple[str | int, ...]

#: How a spec writes a path: dotted, or a list of places, each dotted or a list of its steps.
WrittenPath: TypeAlias = str | tuple[str | Steps, ...]


@dataclass(frozen=True)
class PayloadPath:
    """The places of a value, in order; each has a key of the payload first. A place that holds null is there."""

    choices: tuple[Steps, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """Keys of the payload, or columns of a table, that the value may be in."""
        return tuple(dict.fromkeys(str(choice[0]) for choice in self.choices))

    @property
    def is_nested(self) -> bool:
        """Say whether a place is within a value of the payload."""
        return any(len(choice) > 1 for choice in self.choices)

    @property
    def text(self) -> str:
        """Write the places as a reader would."""
        return " or ".join(dict.fromkeys(map(steps_text, self.choices)))


def steps_text(steps: Sequence[str | int]) -> str:
    """Write one place: ``outer.inner``, ``list[0].x``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def payload_path(written: WrittenPath) -> PayloadPath:
    """Give the places of a path as a spec writes it; a key that is a whole dotted path counts before a nested one."""
    choices: list[Steps] = []
    for one in (written,) if isinstance(written, str) else written:
        choices += [(one,), tuple(one.split("."))] if isinstance(one, str) else [tuple(one)]
    return PayloadPath(tuple(dict.fromkeys(choices)))
