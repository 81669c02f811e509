"""Phase 2: is it noise? If not, which factor alone moves a string, or which only together?

In order: identical launches; the clock; the zone, for what the clock does not move; then everything else at once, and
one at a time what moved there; at last the launches that prove something are made again. Only strings that moved are
asked again, but where their order is what changes, and always all of them: a parser may remember.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from auditor.model.dependence import Answer, Mover, Place
from auditor.probe.attribution import attribute
from auditor.probe.components import moving_components
from auditor.probe.environments import Course
from auditor.probe.joint import joint_movers
from auditor.probe.launch import Launcher
from auditor.probe.phases import (
    CODE_OF,
    MOST_ISOLATED,
    Chosen,
    Launch,
    Moved,
    Record,
    ask_again,
    ask_all_again,
    choose,
    differing,
    sample,
)
from auditor.probe.questions import Question

#: What is varied once it is known that neither clock nor zone is all of it.
_OTHERS = ("locale", "hash_seed", "network", "elsewhere")

#: Strings of a field that did not move and are asked in the repeats too: where chance is at work they show it.
COMPANY = 200

#: Environments of a factor that are launched again, and how often: what chance gave once it does not give each time.
CONFIRMED, TIMES = 2, 2


@dataclass
class Isolation:
    """Phase 2 of one consumer; `run` gives a mover for each string and cause, and what else moved with its code."""

    launcher: Launcher
    questions: Mapping[str, Question]
    course: Course
    moved: Moved
    record: Record
    movers: list[Mover] = field(default_factory=list)
    others: list[tuple[Place, str]] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)  # of single factors, over the strings that moved

    def run(self) -> tuple[list[Mover], list[tuple[Place, str]]]:
        """Isolate what moved."""
        places = sample(self.moved.places)
        chosen = choose(self.questions, places)
        repeats = ask_again(self.launcher, choose(self.questions, self._in_company(places)), self.course.repeats)
        noisy = {place[0] for place in self.moved.noisy} | _disagreeing(repeats)
        quiet = chosen.of_fields({name for name in places if name not in noisy})
        if quiet:
            noisy |= self._vary(quiet)
        # One noisy string voids all blame of a single factor for its field: a string that moved by chance when the
        # clock moved would be called clock-dependent.
        self.movers = [mover for mover in self.movers if mover.place[0] not in noisy]
        self._call_unstable(chosen, noisy, repeats)
        self._record(quiet.of_fields({name for name in places if name not in noisy}))
        if self.course.attributes:
            self.movers = attribute(self.launcher, self.questions, self.movers)
        return self.movers, self.others

    def _in_company(self, places: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, set[tuple[int, int]]]:
        """Add strings of each field that did not move, evenly over its first chunk."""
        found = {}
        for name, moved in places.items():
            count = len(self.questions[name].sent(0).tokens)
            found[name] = {*moved, *((0, at) for at in range(0, count, max(1, count // COMPANY)))}
        return found

    def _call_unstable(self, chosen: Chosen, noisy: set[str], repeats: Iterable[Launch]) -> None:
        everywhere = [*repeats, *self.moved.launches.values(), *self.launches]
        for place, string in chosen.of_fields(noisy).each():
            if readings := differing(chosen.bases[place], place, everywhere):
                self.movers.append(Mover(place, string, "unstable", readings[:2]))
        known = {mover.place for mover in self.movers}
        self.others += [
            ((name, *at), "unstable")
            for name in sorted(noisy)
            for at in sorted(self.moved.places[name])
            if (name, *at) not in known
        ]

    def _vary(self, quiet: Chosen) -> set[str]:
        """Vary one factor after the other; gives the fields in which what moved does not move again."""
        asked = {name: self.questions[name] for name in quiet.places}
        first = ask_again(self.launcher, quiet, [self.course.base])
        if not first:
            return set(asked)
        baseline = first[0][1]
        everywhere = {place for place, _ in quiet.each()}
        by_clock = self._vary_alone("clock", quiet, everywhere, baseline)
        # The zone decides what day it is, so that whatever reads the clock moves with the zone as well.
        by_zone = self._vary_alone("zone", quiet, everywhere - by_clock, baseline)
        # What neither explains may rest on strings of other fields.
        company = self.questions if everywhere - by_clock - by_zone else asked
        rest = ask_all_again(self.launcher, company, self.course.rest)
        moving = {place for _, changes in rest for place in changes if place in everywhere}
        moving |= {place for place in everywhere if not baseline[place].is_as(quiet.bases[place])}
        for factor in _OTHERS:
            self._vary_alone(factor, quiet, moving, baseline)
        if moving:
            self._vary_order(quiet, company, moving, baseline)
        noisy = self._unconfirmed(quiet, baseline)
        left = quiet.without({mover.place for mover in self.movers} | {p for p in everywhere if p[0] in noisy})
        if left:
            everything = list(self.moved.launches.values())
            self.movers += joint_movers(self.launcher, asked, left, everything, self.course.base)
        return noisy

    def _vary_alone(
        self, factor: str, quiet: Chosen, wanted: Set[Place], baseline: Mapping[Place, Answer]
    ) -> set[Place]:
        """Ask where one factor differs; what is not as in the base launch of the same strings moves."""
        environments = self.course.singles.get(factor, ()) if wanted else ()
        launches = ask_again(self.launcher, quiet, environments)
        self.launches += launches
        moved = set()
        for place, string in quiet.each():
            readings = differing(baseline[place], place, launches)
            if readings and place in wanted:
                moved.add(place)
                seen = [baseline[place], *(answers[place] for _, answers in launches)]
                components = moving_components(seen) if factor == "clock" else ()
                self.movers.append(Mover(place, string, CODE_OF[factor], readings, components))
        return moved

    def _vary_order(
        self, quiet: Chosen, company: Mapping[str, Question], moving: Set[Place], baseline: Mapping[Place, Answer]
    ) -> None:
        """Ask for all strings in another order; a string that is another one without the rest depends on them too."""
        launches = ask_all_again(self.launcher, company, self.course.singles["order"])
        again = ask_all_again(self.launcher, company, self.course.singles["order"][:1])
        for place, string in quiet.each():
            base = quiet.bases[place]
            readings = differing(base, place, launches)
            if readings and launches[0][1].get(place, base).is_as(again[0][1].get(place, base) if again else base):
                self.movers.append(Mover(place, string, CODE_OF["order"], readings))
            elif place in moving and not baseline[place].is_as(base):
                readings = (("base", base), ("base without the other strings", baseline[place]))
                self.movers.append(Mover(place, string, CODE_OF["order"], readings))
        for environment, changes in launches:
            for place, answer in changes.items():
                if place[0] in quiet.places:
                    self.record(environment, place, answer)

    def _unconfirmed(self, quiet: Chosen, baseline: Mapping[Place, Answer]) -> set[str]:
        """Launch the base and what proves most once more; name the fields in which something is not as it was."""
        proofs: list[Launch] = [(self.course.base, baseline)]
        by_factor: dict[str, list[Launch]] = {}
        for launch in self.launches:
            by_factor.setdefault(launch[0].differs_in(self.course.base)[0], []).append(launch)
        for launches in by_factor.values():
            proofs += _most_telling(launches, baseline)
        again = ask_again(self.launcher, quiet, [environment for environment, _ in proofs for _ in range(TIMES)])
        seen = {environment.name: answers for environment, answers in proofs}
        return {
            place[0]
            for environment, answers in again
            for place, answer in answers.items()
            if "t" not in (answer.letter, seen[environment.name][place].letter)
            and not answer.is_as(seen[environment.name][place])
        }

    def _record(self, quiet: Chosen) -> None:
        """Tell of what moved alone, and run through the clocks, in parts, what was too much to isolate.

        A rate over the clocks is of all strings.
        """
        for environment, answers in self.launches:
            for place, _ in quiet.each():
                answer = answers[place]
                if answer.letter != "t" and not answer.is_as(quiet.bases[place]):
                    self.record(environment, place, answer)
        for name, done in quiet.places.items():
            rest = sorted(self.moved.places[name] - {place[1:] for place in done})
            for start in range(0, len(rest), MOST_ISOLATED):
                part = choose(self.questions, {name: rest[start : start + MOST_ISOLATED]})
                launches = ask_again(self.launcher, part, self.course.singles["clock"])
                for place, _ in part.each():
                    if differing(part.bases[place], place, launches):
                        self.others.append((place, CODE_OF["clock"]))
                for environment, answers in launches:
                    for place, answer in answers.items():
                        if answer.letter != "t" and not answer.is_as(part.bases[place]):
                            self.record(environment, place, answer)


def _disagreeing(launches: Sequence[Launch]) -> set[str]:
    """Name the fields in which identical launches do not agree about some string."""
    noisy = set()
    for place in launches[0][1] if launches else ():
        seen = [answers[place] for _, answers in launches if answers[place].letter != "t"]
        if any(not answer.is_as(seen[0]) for answer in seen[1:]):
            noisy.add(place[0])
    return noisy


def _most_telling(launches: Sequence[Launch], baseline: Mapping[Place, Answer]) -> list[Launch]:
    """Choose a few launches that together show as many of the moves as they can."""
    left = {place for place in baseline if differing(baseline[place], place, launches)}
    chosen: list[Launch] = []
    while left and len(chosen) < CONFIRMED:
        shown = [{place for place in left if differing(baseline[place], place, [launch])} for launch in launches]
        best = max(range(len(launches)), key=lambda at: len(shown[at]))
        if not shown[best]:
            break
        chosen.append(launches[best])
        left -= shown[best]
    return chosen
