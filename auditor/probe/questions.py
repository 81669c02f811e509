"""What a consumer is asked of one field, and what it answered in the base environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auditor.judge.keys import grain_key, unexpected_type
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer
from auditor.model.verdicts import STATUS_LETTER
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


def answer_at(field: FieldSpec, decodings: Decodings, position: int) -> Answer:
    """Give one decoding as an answer: with its grain key, and rejected where the field's type cannot hold it."""
    text = decodings.texts[position]
    if text is None:
        fault = decodings.faults[position]
        return Answer(STATUS_LETTER[fault.status], None, None, fault.error)
    key = grain_key(field, text)
    if key is None:
        return Answer("r", None, None, unexpected_type(field, text))
    return Answer("v", text, key)


def differences(field: FieldSpec, base: Decodings, other: Decodings) -> dict[int, Answer]:
    """Give the answers of `other` that are not those of the base, by position.

    A string that took too long says nothing: on a busy machine that is no property of its environment.
    """
    if base.texts == other.texts and _statuses(base) == _statuses(other):
        return {}
    found: dict[int, Answer] = {}
    for position, (before, after) in enumerate(zip(base.texts, other.texts, strict=True)):
        if before == after and before is not None:
            continue
        was, now = answer_at(field, base, position), answer_at(field, other, position)
        if not was.is_as(now) and "t" not in (was.letter, now.letter):
            found[position] = now
    return found


def _statuses(decodings: Decodings) -> dict[int, str]:
    return {position: fault.status for position, fault in decodings.faults.items()}
