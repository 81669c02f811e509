"""What a consumer made of one string, as the judge sees it: a value with its grain key, or why there is none."""

from __future__ import annotations

from auditor.judge.keys import grain_key, unexpected_type
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer
from auditor.model.verdicts import STATUS_LETTER
from auditor.spec.models import FieldSpec


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


def answers(field: FieldSpec, decodings: Decodings) -> list[Answer]:
    """Give all decodings as answers."""
    return [answer_at(field, decodings, position) for position in range(len(decodings.texts))]
