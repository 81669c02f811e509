"""Reads a batch again in other company: each string alone, the same rows in other orders, and with other rows.

The base is the batch that is scored. A string has moved where its outcome, or its value at the grain, is another than
in the base. What fails a whole batch counts only where no row explains it: a parser that is handed one row too bad for
it, and refuses all, is strict and not inconsistent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from auditor.decode.session import Session
from auditor.errors import ConsumerError
from auditor.judge.answers import answer_at
from auditor.judge.batches import settle
from auditor.model.dependence import Answer
from auditor.model.figures import every, plural
from auditor.model.neighbours import Moved, NeighbourMove, NeighbourProbe, Reading
from auditor.model.verdicts import STATUS_LETTER
from auditor.probe.injected import blocks, by_form, neighbours, some_of_each
from auditor.spec.models import FieldSpec

#: Rows of a batch that is read again and again: of a longer one, distinct strings of every form. Never fewer because
#: a machine is slow, so that the next run reads the same.
MOST_ROWS = 2000

#: Seconds that the readings of one batch may take; what takes longer is not varied. Between so many strings that are
#: read alone, the time is looked at.
SECONDS = 300.0
BETWEEN = 50

#: Rows that are put first in turn, and strings for which the smallest batch is sought.
LEADERS = 12
SHOWN = 3

ORDER: Moved = "order-dependent"
NEIGHBOUR: Moved = "neighbour-dependent"


@dataclass(frozen=True)
class Batch:
    """The rows of one field and role as they are scored, with the units and the answers of its distinct strings."""

    role: Literal["prediction", "reference"]
    rows: Sequence[str]
    units: Mapping[str, tuple[int, ...]]
    scored: Mapping[str, Answer]


@dataclass(frozen=True)
class _Read:
    """What one reading of a batch gave: an answer per distinct string; `failed` where it failed as a whole."""

    answers: dict[str, Answer]
    failed: str = ""  # status letter
    refused: frozenset[str] = frozenset()  # by the parser itself, not because the field's type cannot hold the value


@dataclass(frozen=True)
class _Variation:
    """One other company of the base rows."""

    code: Moved
    words: str
    rows: Sequence[str]
    injected: str = ""


class _NotVaried(Exception):
    """Nothing can be said about neighbours, and why."""


@dataclass
class _Reader:
    """Asks a session for batches of one field."""

    session: Session
    field: FieldSpec
    tried: list[str]
    until: float  # monotonic

    def read(self, rows: Sequence[str]) -> _Read:
        """Read rows as one batch."""
        return self._read(rows, alone=False)

    def alone(self, rows: Sequence[str]) -> _Read:
        """Read each row as a batch of its own."""
        parts = [self._read(rows[at : at + BETWEEN], alone=True) for at in range(0, len(rows), BETWEEN)]
        answers = {token: answer for part in parts for token, answer in part.answers.items()}
        return _Read(answers, refused=frozenset().union(*(part.refused for part in parts)))

    def _read(self, rows: Sequence[str], *, alone: bool) -> _Read:
        if time.monotonic() > self.until:
            raise _NotVaried(f"reading its rows again takes more than {SECONDS:g} s")
        decodings = self.session.decode(self.field.name, rows, alone=alone)
        places = settle(self.field, rows, decodings)
        refused = (
            token
            for token, place in places.items()
            if place in decodings.faults and decodings.faults[place].status != "null"
        )
        failed = STATUS_LETTER[decodings.failures[0].status] if decodings.failures else ""
        answers = {token: answer_at(self.field, decodings, place) for token, place in places.items()}
        return _Read(answers, failed, frozenset(refused))


def probe_neighbours(session: Session, field: FieldSpec, receives: str, batch: Batch) -> NeighbourProbe:
    """Read a batch again in other company, and give what moved."""
    probe = NeighbourProbe(field.name, session.readiness.consumer, batch.role, len(batch.rows))
    if not batch.rows:
        return replace(probe, not_varied="it has no rows")
    try:
        return _probed(_Reader(session, field, [], time.monotonic() + SECONDS), receives, batch, probe)
    except _NotVaried as why:
        return replace(probe, not_varied=str(why))
    except ConsumerError as error:
        return replace(probe, not_varied=error.seen)


def _probed(reader: _Reader, receives: str, batch: Batch, probe: NeighbourProbe) -> NeighbourProbe:
    field = reader.field
    rows = _some(field, batch.rows)
    base = _base(reader, rows)
    others = neighbours(field, receives)
    alone = reader.alone(list(dict.fromkeys((*rows, *others))))
    spoilers: tuple[str, ...] = ()
    if base.failed:
        spoilers = tuple(token for token in dict.fromkeys(rows) if token in alone.refused)
        rows = [token for token in rows if token not in alone.refused]
        base = reader.read(rows)
    probe = replace(probe, rows=len(rows), strings=len(set(rows)), spoilers=spoilers)
    if not rows:
        return replace(probe, not_varied="every row is refused alone too")
    moves = _moves(reader, batch, rows, base, alone, others)
    return replace(probe, tried=tuple(reader.tried), moves=moves)


def _some(field: FieldSpec, rows: Sequence[str]) -> Sequence[str]:
    """Choose the rows that are read again and again."""
    return rows if len(rows) <= MOST_ROWS else some_of_each(field, list(dict.fromkeys(rows)), MOST_ROWS)


def _base(reader: _Reader, rows: Sequence[str]) -> _Read:
    """Read the rows in their order, and one of them alone: where that takes too long nothing can be read again."""
    base = reader.read(rows)
    if base.failed in ("c", "t"):
        raise _NotVaried("the batch itself crashes or takes too long")
    if reader.alone(rows[:1]).answers[rows[0]].letter == "t":
        raise _NotVaried("a row alone takes too long")
    return base


def _moves(
    reader: _Reader, batch: Batch, rows: Sequence[str], base: _Read, alone: _Read, others: Sequence[str]
) -> tuple[NeighbourMove, ...]:
    """Give the strings that move, each with the first company that moves it; raise _NotVaried on any noise."""
    words = f"the {plural(len(rows), 'row')} in their order"
    _require_alike(base.answers, reader.read(rows).answers)
    found: dict[tuple[Moved, str], tuple[Reading, Reading]] = {}
    whole = base if len(rows) == len(batch.rows) else reader.read(batch.rows)
    _require_alike(batch.scored, whole.answers)
    # Where the whole batch fails, a row that was left out may be why.
    for token in () if whole.failed else _differing(batch.scored, base.answers):
        all_rows = every(len(batch.rows), "row"), batch.scored[token]
        found[NEIGHBOUR, token] = all_rows, (f"{len(rows):,} of them", base.answers[token])
    reader.tried.append("alone")
    for code, company, answers in (
        (NEIGHBOUR, "alone", _confirmed_alone(reader, base, alone)),
        *_with_others(reader, rows, base, alone, others),
    ):
        for token, answer in answers.items():
            if token in batch.units and _tells_more(answer, found.get((code, token))):
                found[code, token] = (words, base.answers[token]), (company, answer)
    _require_alike(base.answers, reader.read(rows).answers)
    moves = [NeighbourMove(token, batch.units[token], code, both) for (code, token), both in found.items()]
    moves.sort(key=lambda move: (move.code, len(move.token), move.token))
    return tuple(_with_smallest(reader, rows, alone, others, moves))


def _require_alike(base: Mapping[str, Answer], again: Mapping[str, Answer]) -> None:
    if any(token in again and not answer.is_as(again[token]) for token, answer in base.items()):
        raise _NotVaried("equal batches are not read alike: nothing can be blamed on neighbours")


def _differing(base: Mapping[str, Answer], other: Mapping[str, Answer]) -> dict[str, Answer]:
    """Give the strings that came out otherwise; one that took too long says nothing."""
    return {
        token: other[token]
        for token, answer in base.items()
        if token in other and "t" not in (answer.letter, other[token].letter) and not answer.is_as(other[token])
    }


def _tells_more(answer: Answer, known: tuple[Reading, Reading] | None) -> bool:
    """Prefer another value to a refusal, which may have any reason."""
    return known is None or (answer.letter == "v" and known[1][1].letter != "v")


def _confirmed_alone(reader: _Reader, base: _Read, alone: _Read) -> dict[str, Answer]:
    moved = _differing(base.answers, alone.answers)
    if moved:
        _require_alike(moved, reader.alone(list(moved)).answers)
    return moved


def _with_others(
    reader: _Reader, rows: Sequence[str], base: _Read, alone: _Read, others: Sequence[str]
) -> Iterator[tuple[Moved, str, dict[str, Answer]]]:
    """Read the rows in every other company and give what moved there, the same twice."""
    for variation in _variations(reader.field, rows, others):
        other = reader.read(variation.rows)
        if other.failed == "t":
            continue
        reader.tried.append(variation.words)
        if other.failed and variation.injected in alone.refused:
            continue
        moved = _differing(base.answers, other.answers)
        if moved:
            _require_alike(other.answers, reader.read(variation.rows).answers)
            yield variation.code, variation.words, moved


def _variations(field: FieldSpec, rows: Sequence[str], others: Sequence[str]) -> Iterator[_Variation]:
    yield _Variation(ORDER, "the same rows in reverse order", rows[::-1])
    for leader in _leaders(field, rows):
        rest = list(rows)
        rest.remove(leader)
        yield _Variation(ORDER, f"the same rows, {leader} first", [leader, *rest])
    for other in others:
        yield _Variation(NEIGHBOUR, f"{other} before the rows", [other, *rows], other)
        yield _Variation(NEIGHBOUR, f"{other} after the rows", [*rows, other], other)
    for other, size in blocks(field, others, len(rows)):
        yield _Variation(NEIGHBOUR, f"{size:,} rows {other} before the rows", [*[other] * size, *rows], other)


def _leaders(field: FieldSpec, rows: Sequence[str]) -> list[str]:
    """Give a row of each form but that of the first, which leads already."""
    return [group[0] for group in by_form(field, list(dict.fromkeys(rows))) if group[0] != rows[0]][:LEADERS]


def _with_smallest(
    reader: _Reader, rows: Sequence[str], alone: _Read, others: Sequence[str], moves: Sequence[NeighbourMove]
) -> Iterator[NeighbourMove]:
    """Look for batches of one and two rows that show the same, for the shortest strings of each code."""
    seen: dict[str, int] = {}
    partners = [*_leaders(reader.field, rows), rows[0]]
    for move in moves:
        seen[move.code] = seen.get(move.code, 0) + 1
        if seen[move.code] > SHOWN:
            yield move
        elif move.code == ORDER:
            yield replace(move, smallest=_two_orders(reader, move.token, partners, alone))
        else:
            yield replace(move, smallest=_with_one(reader, move.token, (*others, *partners), alone))


def _pair(reader: _Reader, first: str, second: str, alone: _Read) -> _Read | None:
    """Read a batch of two rows; nothing where one of them is why it failed."""
    read = reader.read([first, second])
    explained = read.failed and (first in alone.refused or second in alone.refused)
    return None if explained or read.failed == "t" else read


def _two_orders(reader: _Reader, token: str, partners: Sequence[str], alone: _Read) -> tuple[Reading, ...]:
    found: tuple[Reading, ...] = ()
    for partner in partners:
        if partner == token:
            continue
        before, after = _pair(reader, partner, token, alone), _pair(reader, token, partner, alone)
        if before and after and not before.answers[token].is_as(after.answers[token]):
            both = (f"after {partner}", before.answers[token]), (f"before {partner}", after.answers[token])
            if all(answer.letter == "v" for _, answer in both):
                return both
            found = found or both
    return found


def _with_one(reader: _Reader, token: str, partners: Sequence[str], alone: _Read) -> tuple[Reading, ...]:
    was = alone.answers[token]
    found: tuple[Reading, ...] = ()
    for partner in partners:
        if partner == token:
            continue
        for words, first, second in (("after", partner, token), ("before", token, partner)):
            read = _pair(reader, first, second, alone)
            if read and not read.answers[token].is_as(was):
                both = ("alone", was), (f"{words} {partner}", read.answers[token])
                if read.answers[token].letter == "v":
                    return both
                found = found or both
    return found
