"""What moved beyond the strings that are isolated one by one: it is run through what moved those of its field."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.model.dependence import Answer, Mover, Place
from auditor.model.environment import Environment
from auditor.probe import places as limits
from auditor.probe.environments import Course
from auditor.probe.launch import Launcher
from auditor.probe.phases import CODE_OF, Chosen, Launch, Record, ask_again, choose, differing, is_another
from auditor.probe.places import Places, packed
from auditor.probe.questions import Question


@dataclass
class Remainder:
    """The strings beyond; `resting` are those that move while clock and zone rest, `reordered` those that order moves.

    `left` are those of which the cause is not found, `others` the rest with their codes; `movers` show one string of
    each code that nothing which is isolated has.
    """

    launcher: Launcher
    questions: Mapping[str, Question]
    course: Course
    record: Record
    resting: Container[Place]
    reordered: Container[Place]
    left: Places = field(default_factory=Places)
    others: list[tuple[Place, str]] = field(default_factory=list)
    movers: list[Mover] = field(default_factory=list)

    def run(self, name: str, places: Sequence[Place], factors: Container[str], codes: Container[str]) -> None:
        """Find the codes of a field's strings among those of the factors; a rate over these is then of all strings."""
        for part in self._parts(name, places):
            alone = ask_again(self.launcher, part, [self.course.base])
            if not alone:
                self.left.update(packed(place for place, _ in part.each()))
                continue
            found = list(self._codes(part, alone[0], factors))
            self.others += [(mover.place, mover.code) for mover in found]
            for mover in found:
                if mover.code not in codes and mover.code not in {one.code for one in self.movers}:
                    self.movers.append(mover)
            explained = {mover.place for mover in found}
            self.left.update(packed(place for place, _ in part.each() if place not in explained))

    def tell(self, name: str, places: Sequence[Place], factor: str) -> None:
        """Only tell what is where a factor differs."""
        for part in self._parts(name, places):
            if alone := ask_again(self.launcher, part, [self.course.base]):
                self._ask(part, alone[0][1], factor)
            else:
                self._give_up(self.course.singles[factor])

    def _parts(self, name: str, places: Sequence[Place]) -> Iterator[Chosen]:
        for start in range(0, len(places), limits.MOST_ISOLATED):
            yield choose(self.questions, {name: places[start : start + limits.MOST_ISOLATED]})

    def _codes(self, part: Chosen, alone: Launch, factors: Container[str]) -> Iterator[Mover]:
        environment, baseline = alone
        by_memory = {place for place, _ in part.each() if is_another(part.bases[place], baseline[place])}
        by_clock: set[Place] = set()
        for factor in self.course.singles:
            if factor not in factors or factor == "order":
                continue
            launches = self._ask(part, baseline, factor)
            for place, string in part.each():
                # As for what is isolated: the zone for what the clock does not move, the others where both rest.
                is_asked = place not in by_clock if factor == "zone" else True
                if factor not in ("clock", "zone"):
                    is_asked = place in self.resting or place in by_memory
                readings = differing(baseline[place], place, launches)
                if readings and is_asked:
                    yield Mover(place, string, CODE_OF[factor], readings)
                    if factor == "clock":
                        by_clock.add(place)
        for place, string in part.each() if "order" in factors else ():
            if place in by_memory or place in self.reordered:
                readings = (
                    ("base", part.bases[place]),
                    (f"{environment.name} without the other strings", baseline[place]),
                )
                yield Mover(place, string, CODE_OF["order"], readings)

    def _ask(self, part: Chosen, baseline: Mapping[Place, Answer], factor: str) -> list[Launch]:
        environments = self.course.singles[factor]
        launches = ask_again(self.launcher, part, environments)
        tell(self.record, part, baseline, launches)
        self._give_up(set(environments) - {environment for environment, _ in launches})
        return launches

    def _give_up(self, failed: Iterable[Environment]) -> None:
        """Take an environment for not launched where some strings were not read: its rate would be of the others."""
        gone = set(failed)
        self.launcher.launched = [one for one in self.launcher.launched if one not in gone]


def tell(
    record: Record, chosen: Chosen, baseline: Mapping[Place, Answer], launches: Iterable[Launch]
) -> set[tuple[str, Environment]]:
    """Tell of every answer that is not that of the base; gives the fields with the environments told of.

    What is as in the base launch of the same strings, the `baseline`, was moved by their company and by no factor.
    """
    told = set()
    for environment, answers in launches:
        for place, _ in chosen.each():
            answer = answers[place]
            if is_another(chosen.bases[place], answer) and is_another(baseline[place], answer):
                record(environment, place, answer)
                told.add((place[0], environment))
    return told
