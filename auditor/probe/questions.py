"""What a consumer is asked of one field, and what it answered in the base environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from auditor.judge.answers import answer_at
from auditor.model.decoding import SLOW_AT_FIRST, Decodings, Fault
from auditor.model.dependence import Answer
from auditor.probe.sent import Sent
from auditor.spec.models import FieldSpec


@dataclass(frozen=True)
class Question:
    """The distinct raw values of a field for one consumer, chunk by chunk.

    `sent(i)` gives a chunk as it is sent, `base(i)` what came of it in the base.
    """

    field: FieldSpec
    chunks: int
    sent: Callable[[int], Sent]
    base: Callable[[int], Decodings]


def differences(field: FieldSpec, base: Decodings, other: Decodings) -> dict[int, Answer]:
    """Give the answers of `other` that are not those of the base, by position."""
    return dict(each_difference(field, base, other))


def each_difference(field: FieldSpec, base: Decodings, other: Decodings) -> Iterator[tuple[int, Answer]]:
    """Give position and answer of what is not as in the base, in order.

    A string that took too long says nothing: on a busy machine that is no property of its environment.
    """
    if base.texts == other.texts and _statuses(base) == _statuses(other):
        return
    for position, (before, after) in enumerate(zip(base.texts, other.texts, strict=True)):
        if before == after and before is not None:
            continue
        was, now = answer_at(field, base, position), answer_at(field, other, position)
        if not was.is_as(now) and "t" not in (was.letter, now.letter):
            yield position, now


def _statuses(decodings: Decodings) -> dict[int, str]:
    return {position: fault.status for position, fault in decodings.faults.items()}


def slow_in(warnings: Mapping[int, str]) -> int:
    """Count the strings that took too long the first time only."""
    return sum(warning.startswith(SLOW_AT_FIRST) for warning in warnings.values())


def lost_in(faults: Mapping[int, Fault]) -> int:
    """Count the strings on which a consumer crashed or hung."""
    return sum(fault.status in ("crashed", "timed_out") for fault in faults.values())
