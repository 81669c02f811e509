"""Chosen strings, asked again in fresh processes, and how their answers compare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auditor.judge.answers import answer_at
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer, Place
from auditor.model.environment import Environment
from auditor.probe.launch import Launcher, decode_some
from auditor.probe.questions import Question
from auditor.probe.sent import Sent, joined

CODE_OF = {
    "clock": "clock-dependent",
    "zone": "timezone-dependent",
    "locale": "locale-dependent",
    "hash_seed": "hash-seed-dependent",
    "order": "order-dependent",
    # What a network, a folder or a HOME holds is no property of the string, and no run can promise it to the next.
    "network": "unstable",
    "elsewhere": "unstable",
}

#: A launch: its environment, and answers by place.
Launch = tuple[Environment, Mapping[Place, Answer]]

#: Is told of every answer that differs from the base: the environment, the place, the answer.
Record = Callable[[Environment, Place, Answer], None]


@dataclass(frozen=True)
class Chosen:
    """Strings that are asked again: by field their places, in order, with what is sent; and what the base made of them.

    A batch is sent whole, and only the answers of the places count.
    """

    questions: Mapping[str, Question]
    places: dict[str, list[Place]]
    sent: dict[str, Sent]
    bases: dict[Place, Answer]

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return any(self.places.values())

    def only(self, wanted: Container[Place]) -> Chosen:
        """Give those of some places."""
        places, sent = {}, {}
        for name, all_places in self.places.items():
            kept = [at for at, place in enumerate(all_places) if place in wanted]
            if kept:
                places[name] = [all_places[at] for at in kept]
                sent[name] = self.sent[name] if self.sent[name].batches else self.sent[name].only(kept)
        return Chosen(self.questions, places, sent, self.bases)

    def of_fields(self, names: Container[str]) -> Chosen:
        """Give those of some fields."""
        return self.only({place for place, _ in self.each() if place[0] in names})

    def without(self, unwanted: Container[Place]) -> Chosen:
        """Give all but those of some places."""
        return self.only({place for place, _ in self.each() if place not in unwanted})

    def each(self) -> Iterator[tuple[Place, str]]:
        """Give place and raw value of each."""
        for name, places in self.places.items():
            for place, position in zip(places, self.positions(name), strict=True):
                yield place, self.sent[name].tokens[position]

    def positions(self, name: str) -> Sequence[int]:
        """Give where the answers of a field's places are."""
        places = self.places[name]
        return [place[2] for place in places] if self.sent[name].batches else range(len(places))

    def answers(self, decoded: Mapping[str, Decodings]) -> dict[Place, Answer]:
        """Give the answers by place."""
        return {
            place: answer_at(self.questions[name].field, decoded[name], position)
            for name, places in self.places.items()
            for place, position in zip(places, self.positions(name), strict=True)
        }


def choose(questions: Mapping[str, Question], places: Mapping[str, Iterable[Place]]) -> Chosen:
    """Look up what is sent for places, and what the base made of them."""
    chosen = Chosen(questions, {}, {}, {})
    for name, wanted in places.items():
        by_chunk: dict[int, list[int]] = defaultdict(list)
        for _, chunk, position in sorted(wanted):
            by_chunk[chunk].append(position)
        parts = [_chosen_of_chunk(chosen, name, chunk, positions) for chunk, positions in by_chunk.items()]
        if parts:
            chosen.places[name] = [place for places, _ in parts for place in places]
            chosen.sent[name] = joined([sent for _, sent in parts])
    return chosen


def _chosen_of_chunk(chosen: Chosen, name: str, chunk: int, positions: list[int]) -> tuple[list[Place], Sent]:
    question = chosen.questions[name]
    sent, base = question.sent(chunk), question.base(chunk)
    places = [(name, chunk, position) for position in positions]
    for place in places:
        chosen.bases[place] = answer_at(question.field, base, place[2])
    return places, sent if sent.batches else sent.only(positions)


def ask_again(launcher: Launcher, chosen: Chosen, environments: Iterable[Environment]) -> list[Launch]:
    """Ask for the chosen strings in fresh processes; gives all answers."""
    return [
        (environment, chosen.answers(decoded))
        for environment, decoded in launcher.each(
            environments, lambda session, one: decode_some(launcher, session, one, chosen.questions, chosen.sent)
        )
    ]


def differing(base: Answer, place: Place, launches: Iterable[Launch]) -> tuple[tuple[str, Answer], ...]:
    """Give the base and every reading of a place that differs from it; nothing where none does.

    A string that took too long says nothing.
    """
    seen = ((environment.name, answers.get(place, base)) for environment, answers in launches)
    moved = tuple((name, answer) for name, answer in seen if is_another(base, answer))
    return (("base", base), *moved) if moved else ()


def is_another(answer: Answer, other: Answer) -> bool:
    """Say whether two answers of one string differ; one that took too long says nothing."""
    return "t" not in (answer.letter, other.letter) and not answer.is_as(other)
