"""A trend as the paths of a small drawing, 100 wide and 24 high, which is stretched to the room there is."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.service.history import Step, Trend

_TOP, _BOTTOM = 2.0, 22.0


@dataclass(frozen=True)
class Sparkline:
    """Lines join runs that measure the same; a dot is a run, a mark an incident beside the trend."""

    lines: tuple[str, ...]
    dots: str
    marks: str


def sparkline(trend: Trend) -> Sparkline:
    """Draw a trend; what changed between two runs (the cases, the parser) parts the line there."""
    places = [(_x(number, len(trend.steps)), step) for number, step in enumerate(trend.steps)]
    lines: list[list[str]] = []
    is_parted = True
    for x, step in places:
        is_parted = is_parted or bool(step.changed)
        if step.is_point:
            if is_parted:
                lines.append([])
            lines[-1].append(f"{x:g} {_y(step):g}")
            is_parted = False
    drawn = tuple("M" + " L".join(line) for line in lines if len(line) > 1)
    dots = " ".join(f"M{x:g} {_y(step):g}h0" for x, step in places if step.is_point)
    marks = " ".join(f"M{x:g} {_TOP:g}V{_BOTTOM:g}" for x, step in places if step.incident)
    return Sparkline(drawn, dots, marks)


def _x(number: int, of: int) -> float:
    return round(3 + 94 * number / (of - 1), 2) if of > 1 else 50.0


def _y(step: Step) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * (step.share or 0.0), 2)
