"""What a consumer does not accept, and what it reads that others do not."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.run import Run, ShapeRow
from auditor.report.view import of_arm


@dataclass(frozen=True)
class LostShape:
    """A shape of which a consumer does not accept `lost` of `of` cases, and who accepts any of it."""

    field: str
    shape: ShapeRow
    lost: int
    of: int
    readers: tuple[str, ...]


def lost_shapes(run: Run, consumer: str) -> tuple[LostShape, ...]:
    """Give the shapes that a consumer does not accept whole, the most cases first."""
    found = []
    for summary in run.fields:
        for row in summary.shapes:
            known = row.rows - row.not_recorded.get(consumer, 0)
            if consumer in row.accepted and row.accepted[consumer] < known:
                readers = tuple(name for name, count in row.accepted.items() if count and name != consumer)
                found.append(
                    LostShape(of_arm(summary.field, summary.arm), row, known - row.accepted[consumer], known, readers)
                )
    return tuple(sorted(found, key=lambda one: (-one.lost, one.field, one.shape.shape)))


@dataclass(frozen=True)
class OwnShape:
    """A shape of which a consumer accepts `accepted` of `of` cases, and others fewer; `less` says who, and how many."""

    field: str
    shape: ShapeRow
    accepted: int
    of: int
    less: tuple[tuple[str, int], ...]


def own_shapes(run: Run, consumer: str) -> tuple[OwnShape, ...]:
    """Give the shapes of which a consumer accepts cases that another one does not, the most such cases first.

    Where records lack some cases of the other one, only fewer than it could have are certain.
    """
    found = []
    for summary in run.fields:
        for row in summary.shapes:
            accepted = row.accepted.get(consumer, 0)
            less = tuple(
                (name, count)
                for name, count in row.accepted.items()
                if name != consumer and count + row.not_recorded.get(name, 0) < accepted
            )
            if less:
                known = row.rows - row.not_recorded.get(consumer, 0)
                found.append(OwnShape(of_arm(summary.field, summary.arm), row, accepted, known, less))
    return tuple(
        sorted(found, key=lambda one: (min(count for _, count in one.less) - one.accepted, one.field, one.shape.shape))
    )


@dataclass(frozen=True)
class OtherReader:
    """A consumer beside another one on a field: distinct strings that only either reads, and those that both do."""

    field: str
    other: str
    own: int
    theirs: int
    different: int
    same: int


def other_readers(run: Run, consumer: str) -> tuple[OtherReader, ...]:
    """Compare a consumer with every other one of its fields."""
    found = []
    # Those of one arm are over the strings of all.
    for summary in {one.field: one for one in run.fields}.values():
        for pair in summary.disagreements:
            if pair.left == consumer:
                counts = (pair.right, pair.only_left, pair.only_right)
            elif pair.right == consumer:
                counts = (pair.left, pair.only_right, pair.only_left)
            else:
                continue
            found.append(OtherReader(summary.field, *counts, pair.different, pair.same))
    return tuple(found)
