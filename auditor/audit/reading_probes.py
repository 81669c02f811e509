"""Probes of a few strings: every consumer in fresh processes of other environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.decode.session import Session
from auditor.findings.dependence_cause import cause_of, location_of, site_text
from auditor.findings.neighbour_dependent import company_cause
from auditor.judge.answers import answer_at
from auditor.model.decoding import Decodings, Readiness
from auditor.model.dependence import Mover, Probed
from auditor.model.environment import Environment
from auditor.model.neighbours import NeighbourProbe
from auditor.model.reading import Dependence
from auditor.probe import Level, Question
from auditor.probe.environments import BATCHES, Course
from auditor.probe.launch import InBase
from auditor.probe.neighbours import Batch, probe_neighbours
from auditor.probe.questions import lost_in, slow_in
from auditor.probe.sent import Sent
from auditor.probe.side_by_side import Subject, probe_side_by_side
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec


@dataclass(frozen=True)
class Elsewhere:
    """What the probes of one consumer found, by position of the string."""

    dependences: Mapping[int, tuple[Dependence, ...]]
    environments: int
    not_varied: tuple[str, ...]


def sent_strings(consumer: ConsumerSpec, tokens: Sequence[str]) -> Sent:
    """Give the strings as one consumer is sent them: those that take batches get all of them as one."""
    return Sent(tokens, None, len(tokens), (tokens, ())) if consumer.batch else Sent(tokens)


def probe_strings(
    spec: AuditSpec,
    field: FieldSpec,
    sent: Mapping[str, Sent],
    decoded: Mapping[str, Decodings],
    ready: Mapping[str, Readiness],
    level: Level,
) -> dict[str, Elsewhere]:
    """Probe each consumer that decoded what it was sent in the base; nothing with the level off.

    `ready` is what was known of each consumer there.
    """
    if level == "off" or not decoded:
        return {}
    subjects = {
        name: Subject(
            {field.name: _question(field, sent[name], some)}, _in_base(field, sent[name], some, ready[name]), _forget
        )
        for name, some in decoded.items()
    }
    strings = {field.name: [token for name in decoded for token in sent[name].tokens]}
    results = probe_side_by_side(spec, subjects, strings, level, carried=frozenset(), keys=None)
    return {name: _elsewhere(spec.folder, course, probed) for name, (probed, course) in results.items()}


def probe_company(
    session: Session, consumer: ConsumerSpec, field: FieldSpec, tokens: Sequence[str], decoded: Decodings
) -> NeighbourProbe:
    """Read the strings, one batch in the base, again in other company."""
    scored = {token: answer_at(field, decoded, position) for position, token in enumerate(tokens)}
    batch = Batch("prediction", tokens, dict.fromkeys(scored, ()), scored)
    return probe_neighbours(session, field, consumer.receives, batch)


def with_company(elsewhere: Elsewhere, field: FieldSpec, tokens: Sequence[str], probe: NeighbourProbe) -> Elsewhere:
    """Add what moved with the other rows."""
    by_token: dict[str, list[Dependence]] = {}
    for move in probe.moves:
        decodings = tuple(answer.decoding(company) for company, answer in move.readings[1:])
        by_token.setdefault(move.token, []).append(
            Dependence(move.code, decodings, tried=len(probe.tried), cause=company_cause(field.type, move.code))
        )
    dependences = {
        position: (*elsewhere.dependences.get(position, ()), *by_token.get(token, ()))
        for position, token in enumerate(tokens)
        if position in elsewhere.dependences or token in by_token
    }
    # The neighbours that the order of a batch is left to are tried here, or said not to be.
    notes = tuple(note for note in elsewhere.not_varied if note != f"order: {BATCHES}")
    notes += (f"neighbours: {probe.not_varied}",) if probe.not_varied else ()
    return replace(elsewhere, dependences=dependences, not_varied=notes)


def _in_base(field: FieldSpec, sent: Sent, decoded: Decodings, ready: Readiness) -> InBase:
    late = (position for position, fault in decoded.faults.items() if fault.status == "timed_out")
    return InBase(
        lost=lost_in(decoded.faults),
        late=frozenset((field.name, sent.tokens[position]) for position in late),
        slow=slow_in(decoded.warnings),
        unset=frozenset(ready.not_fixed),
        inapplicable=ready.inapplicable,
    )


def _question(field: FieldSpec, sent: Sent, decoded: Decodings) -> Question:
    return Question(field, chunks=1, sent=lambda _: sent, base=lambda _: decoded)


def _forget(environment: Environment, place: object, answer: object) -> None:
    """Leave an answer to the movers, which hold what they need."""


def _elsewhere(folder: Path, course: Course, probed: Probed) -> Elsewhere:
    found: dict[int, list[Dependence]] = {}
    for mover in probed.movers:
        _, _, position = mover.place
        found.setdefault(position, []).append(_dependence(mover, course, probed, folder))
    asked = [one for one in course.everything if one in probed.launched]
    return Elsewhere({at: tuple(some) for at, some in found.items()}, len(asked), probed.not_varied)


def _dependence(mover: Mover, course: Course, probed: Probed, folder: Path) -> Dependence:
    names = {name for name, _ in mover.readings}
    tried = next((some for some in course.singles.values() if names & {one.name for one in some}), ())
    return Dependence(
        code=mover.code,
        decodings=tuple(answer.decoding(name) for name, answer in mover.readings[1:]),
        tried=sum(one in probed.launched for one in tried),
        cause=cause_of(mover),
        components=mover.components,
        together=mover.together,
        location=location_of((mover,), folder),
        candidates=tuple(site_text(site, folder) for site in mover.candidates),
    )
