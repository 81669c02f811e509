"""Raw values as a consumer is sent them: alone, in the payloads that they came in, or as the rows of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from auditor.decode.payload_rows import Role
from auditor.decode.session import Session
from auditor.judge.batches import settle
from auditor.model.decoding import Decodings
from auditor.spec.models import FieldSpec

ROLES: tuple[Role, Role] = ("prediction", "reference")

#: Payloads of a field that are sent before those of the next: an adapter keeps what it made of a few times as many.
STEP = 2048


@dataclass(frozen=True)
class Sent:
    """Raw values that are decoded in one go; an answer belongs to each of `tokens`.

    In `payloads` or in batches the first `predictions` of them are predictions and the others references, which are
    sent apart. `batches` holds the rows of both, repeated ones too: a batch is read whole, whatever is asked of it.
    """

    tokens: Sequence[str]
    payloads: Sequence[str] | None = None
    predictions: int = 0
    batches: tuple[Sequence[str], Sequence[str]] | None = None

    def predictions_first(self, positions: Sequence[int]) -> Sequence[int]:
        """Give positions in their order, those of references last where the roles are sent apart."""
        if self.payloads is None:
            return positions
        return sorted(positions, key=lambda position: position >= self.predictions)

    def only(self, positions: Sequence[int]) -> Sent:
        """Give those at some positions, in their order, predictions first; not for batches."""
        tokens = list(map(self.tokens.__getitem__, positions))
        if self.payloads is None:
            return Sent(tokens)
        given = sum(position < self.predictions for position in positions)
        return Sent(tokens, [self.payloads[position] for position in positions], given)


def joined(parts: Sequence[Sent]) -> Sent:
    """Put what was cut from several chunks together: predictions first, where the roles are sent apart."""
    if len(parts) == 1:
        return parts[0]
    payloads = None if parts[0].payloads is None else [payload for part in parts for payload in part.payloads or ()]
    return Sent([token for part in parts for token in part.tokens], payloads, sum(part.predictions for part in parts))


def decode_sent(
    session: Session,
    field: FieldSpec,
    sent: Sent,
    *,
    order: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Decodings:
    """Decode what is sent; `order` is that of the positions, and means nothing to a batch."""
    if sent.batches is not None:
        return _decode_batches(session, field, sent, sent.batches)
    if sent.payloads is None:
        return session.decode(field.name, sent.tokens, order=order, progress=progress)
    if order is not None:
        positions = sent.predictions_first(order)
        found = Decodings([None] * len(sent.tokens))
        _place(found, positions, decode_sent(session, field, sent.only(positions), progress=progress))
        return found
    found = Decodings([])
    for role, start, end in zip(ROLES, (0, sent.predictions), (sent.predictions, len(sent.tokens)), strict=True):
        decodings = session.decode(
            field.name,
            sent.tokens[start:end],
            payloads=sent.payloads[start:end],
            role=role,
            progress=_from(start, progress),
        )
        append(found, decodings)
    return found


def decode_together(
    session: Session,
    asked: Sequence[tuple[FieldSpec, Sent]],
    *,
    order: Callable[[int], Sequence[int]] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[str, Decodings]]:
    """Decode what is sent for several fields; gives them by name, in turn, as soon as they are done.

    A payload is sent once for each of its fields: those of all fields go in step, so that a consumer that validates or
    loads it has it at hand still. `order` gives the positions of so many strings in the order to decode them in.
    """
    done = 0
    alone = [(field, sent) for field, sent in asked if sent.payloads is None]
    for field, sent in alone:
        positions = order(len(sent.tokens)) if order else None
        yield field.name, decode_sent(session, field, sent, order=positions, progress=_from(done, progress))
        done += len(sent.tokens)
    yield from _in_step(session, [one for one in asked if one[1].payloads is not None], order, _from(done, progress))


def _in_step(
    session: Session,
    asked: Sequence[tuple[FieldSpec, Sent]],
    order: Callable[[int], Sequence[int]] | None,
    progress: Callable[[int], None] | None,
) -> Iterator[tuple[str, Decodings]]:
    found = [Decodings([None] * len(sent.tokens)) for _, sent in asked]
    positions = [list(order(len(sent.tokens)) if order else range(len(sent.tokens))) for _, sent in asked]
    steps = max((-(-len(one) // STEP) for one in positions), default=0)
    done = 0
    for step in range(steps):
        for (field, sent), wanted, answers in zip(asked, positions, found, strict=True):
            part = sent.predictions_first(wanted[len(wanted) * step // steps : len(wanted) * (step + 1) // steps])
            decodings = decode_sent(session, field, sent.only(part), progress=_from(done, progress))
            _place(answers, part, decodings)
            done += len(part)
    yield from ((field.name, answers) for (field, _), answers in zip(asked, found, strict=True))


def _place(found: Decodings, positions: Sequence[int], part: Decodings) -> None:
    """Put the answers of a part where they belong."""
    texts = found.texts
    for position, text in zip(positions, part.texts, strict=True):
        texts[position] = text
    found.faults.update({positions[at]: fault for at, fault in part.faults.items()})
    found.warnings.update({positions[at]: warning for at, warning in part.warnings.items()})
    found.engine_warnings.update({positions[at]: warning for at, warning in part.engine_warnings.items()})
    found.failures.extend(part.failures)


def _from(start: int, progress: Callable[[int], None] | None) -> Callable[[int], None] | None:
    """Count on from what is done already."""

    def count(done: int) -> None:
        if progress is not None:
            progress(start + done)

    return count


def _decode_batches(session: Session, field: FieldSpec, sent: Sent, batches: Sequence[Sequence[str]]) -> Decodings:
    """Decode both batches, and give one answer for each string that is asked about."""
    found = Decodings([])
    for rows, start, end in zip(batches, (0, sent.predictions), (sent.predictions, len(sent.tokens)), strict=True):
        decodings = session.decode(field.name, rows)
        places = settle(field, rows, decodings)
        settled = Decodings([], failures=decodings.failures)
        for position, token in enumerate(sent.tokens[start:end]):
            place = places[token]
            settled.texts.append(decodings.texts[place])
            if place in decodings.faults:
                settled.faults[position] = decodings.faults[place]
            if place in decodings.warnings:
                settled.warnings[position] = decodings.warnings[place]
        append(found, settled)
    return found


def append(found: Decodings, more: Decodings) -> None:
    """Add decodings behind others."""
    start = len(found.texts)
    found.texts.extend(more.texts)
    found.faults.update({start + position: fault for position, fault in more.faults.items()})
    found.warnings.update({start + position: warning for position, warning in more.warnings.items()})
    found.engine_warnings.update({start + position: warning for position, warning in more.engine_warnings.items()})
    found.failures.extend(more.failures)
