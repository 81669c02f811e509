"""Phase 1: does anything move? Phase 2, for what moved: is it noise, and if not, which factor alone moves it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.decode.session import Session
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer, Place
from auditor.model.environment import Environment
from auditor.probe.launch import Launcher, decode_all, decode_some
from auditor.probe.questions import Question, answer_at, differences

#: Strings of a field that are isolated one by one; more that moved are only run through the clocks.
MOST_ISOLATED = 20_000

#: Is told of every answer that differs from the base: the environment, the place, the answer.
Record = Callable[[Environment, Place, Answer], None]


@dataclass
class Moved:
    """The places that are not as in the base somewhere, and those that differ between identical launches."""

    places: dict[str, set[tuple[int, int]]] = field(default_factory=lambda: defaultdict(set))
    noisy: set[Place] = field(default_factory=set)
    seen_in: dict[str, dict[Place, Answer]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, environment: Environment, changes: Mapping[Place, Answer], *, is_repeat: bool) -> None:
        """Take up what one launch showed; the answers of only so many places are kept."""
        kept = self.seen_in[environment.name]
        for (name, chunk, position), answer in changes.items():
            self.places[name].add((chunk, position))
            if len(kept) < MOST_ISOLATED:
                kept[name, chunk, position] = answer
            if is_repeat:
                self.noisy.add((name, chunk, position))


def changes_in_all(
    session: Session, environment: Environment, questions: Mapping[str, Question]
) -> dict[Place, Answer]:
    """Decode everything and give what is not as in the base."""
    changed: dict[Place, Answer] = {}
    for question, chunk, decodings in decode_all(session, environment, questions.values()):
        name = question.field.name
        found = differences(question.field, question.base(chunk), decodings)
        changed.update({(name, chunk, position): answer for position, answer in found.items()})
    return changed


def phase_one(
    launcher: Launcher, questions: Mapping[str, Question], again: Environment, everything: Sequence[Environment]
) -> Moved:
    """Launch the base again and everything else, over all strings."""
    moved = Moved()
    for environment, changes in launcher.each(
        (again, *everything), lambda session, one: changes_in_all(session, one, questions)
    ):
        moved.add(environment, changes, is_repeat=environment == again)
    return moved


@dataclass(frozen=True)
class Chosen:
    """Strings that are asked again: by field, places and strings in one order."""

    places: dict[str, list[Place]]
    strings: dict[str, list[str]]
    bases: dict[Place, Answer]

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return any(self.places.values())

    def each(self) -> Iterable[tuple[Place, str]]:
        """Give place and string of each."""
        for name, places in self.places.items():
            yield from zip(places, self.strings[name], strict=True)


def choose(questions: Mapping[str, Question], places: Mapping[str, Iterable[tuple[int, int]]]) -> Chosen:
    """Look up the strings of places, and what the base made of them."""
    chosen = Chosen({}, {}, {})
    for name, wanted in places.items():
        question = questions[name]
        chosen.places[name], chosen.strings[name] = [], []
        by_chunk: dict[int, list[int]] = defaultdict(list)
        for chunk, position in sorted(wanted):
            by_chunk[chunk].append(position)
        for chunk, positions in by_chunk.items():
            strings, base = question.strings(chunk), question.base(chunk)
            for position in positions:
                place = (name, chunk, position)
                chosen.places[name].append(place)
                chosen.strings[name].append(strings[position])
                chosen.bases[place] = answer_at(question.field, base, position)
    return chosen


def sample(places: Mapping[str, set[tuple[int, int]]], most: int = MOST_ISOLATED) -> dict[str, list[tuple[int, int]]]:
    """Take at most so many places of each field, evenly over the data set."""
    taken = {}
    for name, found in places.items():
        ordered = sorted(found)
        step = max(1, -(-len(ordered) // most))
        taken[name] = ordered[::step]
    return taken


def answers_of(
    questions: Mapping[str, Question], chosen: Chosen, decoded: Mapping[str, Decodings]
) -> dict[Place, Answer]:
    """Give the answers of chosen strings by place."""
    return {
        place: answer_at(questions[name].field, decoded[name], position)
        for name, places in chosen.places.items()
        for position, place in enumerate(places)
    }


def ask_again(
    launcher: Launcher, questions: Mapping[str, Question], chosen: Chosen, environments: Iterable[Environment]
) -> dict[str, tuple[Environment, dict[Place, Answer]]]:
    """Ask for the chosen strings in fresh processes; by the environment's name."""
    wanted = {name: questions[name] for name in chosen.places}
    return {
        environment.name: (environment, answers_of(questions, chosen, decoded))
        for environment, decoded in launcher.each(
            environments, lambda session, one: decode_some(session, one, wanted, chosen.strings)
        )
    }


def ask_all_again(
    launcher: Launcher, questions: Mapping[str, Question], environments: Iterable[Environment]
) -> dict[str, tuple[Environment, dict[Place, Answer]]]:
    """Ask for all strings of these fields in fresh processes; gives what is not as in the base."""
    return {
        environment.name: (environment, changes)
        for environment, changes in launcher.each(
            environments, lambda session, one: changes_in_all(session, one, questions)
        )
    }
