"""Launches over all strings: where are they not as the base, and what is it there?"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.decode.session import Session
from auditor.model.dependence import Answer, Place
from auditor.model.environment import Environment
from auditor.probe import places as limits
from auditor.probe.launch import Launcher, decode_all
from auditor.probe.places import Places, rank
from auditor.probe.questions import Question, each_difference


@dataclass
class Changes:
    """What one launch showed: all places that are not as in the base, answers of them, and those that took too long.

    Where it is `capped`, only the answers of those that would be isolated are kept.
    """

    capped: bool
    places: Places = field(default_factory=Places)
    answers: dict[Place, Answer] = field(default_factory=dict)
    late: set[Place] = field(default_factory=set)

    def add(self, name: str, chunk: int, found: Iterable[tuple[int, Answer]]) -> None:
        """Take up the differences of one chunk, in order."""
        kept: dict[Place, Answer] = {place: one for place, one in self.answers.items() if place[0] == name}
        limit: int | None = None
        positions = []
        for position, answer in found:
            positions.append(position)
            place = (name, chunk, position)
            if limit is None or rank(place) < limit:
                kept[place] = answer
                if self.capped and len(kept) > 2 * limits.MOST_ISOLATED:
                    kept, limit = _lowest(kept)
        if self.capped and len(kept) > limits.MOST_ISOLATED:
            kept, _ = _lowest(kept)
        self.places.add(name, chunk, positions)
        self.answers = {place: one for place, one in self.answers.items() if place[0] != name} | kept


def _lowest(answers: Mapping[Place, Answer]) -> tuple[dict[Place, Answer], int]:
    """Keep those of the lowest rank; gives the highest of theirs too."""
    kept = sorted(answers, key=rank)[: limits.MOST_ISOLATED]
    return {place: answers[place] for place in kept}, rank(kept[-1])


@dataclass
class Moved:
    """Where something is not as in the base: all places, the fields of which identical launches do not agree, and the
    launches with the answers of what is isolated.
    """

    places: Places = field(default_factory=Places)
    noisy: set[str] = field(default_factory=set)
    launches: dict[str, tuple[Environment, Mapping[Place, Answer]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Say whether anything moved."""
        return bool(self.places)

    def add(self, environment: Environment, changes: Changes, *, is_repeat: bool) -> None:
        """Take up what one launch showed."""
        self.places.update(changes.places)
        if is_repeat:
            self.noisy |= set(changes.places.fields)
        self.launches[f"{environment.name}{', again' if is_repeat else ''}"] = environment, changes.answers


def changes_in_all(
    launcher: Launcher,
    session: Session,
    environment: Environment,
    questions: Mapping[str, Question],
    *,
    within: Container[Place] | None = None,
    capped: bool = True,
) -> Changes:
    """Decode everything and give what is not as in the base; `within`: of these places alone."""
    changes = Changes(capped)
    for question, chunk, decodings in decode_all(launcher, session, environment, questions):
        name = question.field.name
        late = {(name, chunk, at) for at, fault in decodings.faults.items() if fault.status == "timed_out"}
        changes.late |= late if within is None else {place for place in late if place in within}
        found = each_difference(question.field, question.base(chunk), decodings)
        changes.add(name, chunk, (one for one in found if within is None or (name, chunk, one[0]) in within))
    return changes


def phase_one(
    launcher: Launcher,
    questions: Mapping[str, Question],
    again: Environment,
    everything: Sequence[Environment],
    within: Container[Place] | None = None,
) -> Moved:
    """Launch the base again and everything else, over all strings."""
    moved = Moved()
    for environment, changes in ask_all_again(launcher, questions, (again, *everything), within=within):
        moved.add(environment, changes, is_repeat=environment == again)
    return moved


def ask_all_again(
    launcher: Launcher,
    questions: Mapping[str, Question],
    environments: Iterable[Environment],
    *,
    within: Container[Place] | None = None,
    capped: bool = True,
) -> list[tuple[Environment, Changes]]:
    """Ask for all strings of these fields in fresh processes; gives what is not as in the base."""
    return list(
        launcher.each(
            environments,
            lambda session, one: changes_in_all(launcher, session, one, questions, within=within, capped=capped),
        )
    )
