"""One answer for each distinct string of a load, in which equal strings stand in several rows, or several batches."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.judge.keys import grain_key
from auditor.model.decoding import Decodings, Fault
from auditor.spec.models import FieldSpec


def settle(field: FieldSpec, tokens: Sequence[str], decodings: Decodings) -> dict[str, int]:
    """Give, for each distinct token of a batch, the position of its decoding.

    A string that came back as one thing in one row and as another in the next has no decoding: it becomes `rejected`
    there, with both in the error, since either of them would be a guess for the other row.
    """
    places: dict[str, int] = {}
    split: dict[int, int] = {}
    for position, token in enumerate(tokens):
        first = places.setdefault(token, position)
        if first != position and first not in split and not _alike(field, decodings, first, position):
            split[first] = position
    for first, other in split.items():
        seen = f"{_shown(decodings, first)} in row {first + 1}, {_shown(decodings, other)} in row {other + 1}"
        decodings.faults[first] = Fault("rejected", f"read in two ways: {seen}")
        decodings.texts[first] = None
    return places


def _alike(field: FieldSpec, decodings: Decodings, left: int, right: int) -> bool:
    a, b = decodings.texts[left], decodings.texts[right]
    if a is None or b is None:
        return a is b and decodings.faults[left].status == decodings.faults[right].status
    return a == b or (grain_key(field, a) is not None and grain_key(field, a) == grain_key(field, b))


def _shown(decodings: Decodings, position: int) -> str:
    text = decodings.texts[position]
    return decodings.faults[position].status if text is None else text
