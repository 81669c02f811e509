"""Phase 2: is it noise? If not, which factor alone moves a string, or which only together?

In order: identical launches; the clock; the zone, for what the clock does not move; then everything else at once, and
one at a time what moved there. Only strings that moved are asked again, but where their order is what changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

    def run(self) -> tuple[list[Mover], list[tuple[Place, str]]]:
        """Isolate what moved."""
        places = sample(self.moved.places)
        chosen = choose(self.questions, places)
        repeats = ask_again(self.launcher, self.questions, chosen, self.course.repeats)
        noisy = self._noisy_fields(chosen, repeats)
        self._call_unstable(chosen, noisy, repeats)
        quiet = choose(self.questions, {name: found for name, found in places.items() if name not in noisy})
        if quiet and repeats:
            self._vary(quiet, repeats[0][1])
            self._run_others_through_clocks(quiet)
        if self.course.attributes:
            self.movers = attribute(self.launcher, self.questions, self.movers)
        return self.movers, self.others

    def _noisy_fields(self, chosen: Chosen, repeats: Iterable[Launch]) -> set[str]:
        """Name the fields in which identical launches do not agree about some string.

        One of them voids all blame of a single factor there: a string that moved by chance when the clock moved would
        be called clock-dependent.
        """
        noisy = {place[0] for place in self.moved.noisy}
        for place, _ in chosen.each():
            seen = [answers[place] for _, answers in repeats if answers[place].letter != "t"]
            if any(not answer.is_as(seen[0]) for answer in seen[1:]):
                noisy.add(place[0])
        return noisy

    def _call_unstable(self, chosen: Chosen, noisy: set[str], repeats: Iterable[Launch]) -> None:
        everywhere = [*repeats, *self.moved.launches.values()]
        for place, string in chosen.each():
            if place[0] in noisy and (readings := differing(chosen.bases[place], place, everywhere)):
                self.movers.append(Mover(place, string, "unstable", readings[:2]))
        known = {mover.place for mover in self.movers}
        self.others += [
            ((name, *at), "unstable")
            for name in sorted(noisy)
            for at in sorted(self.moved.places[name])
            if (name, *at) not in known
        ]

    def _vary(self, quiet: Chosen, baseline: Mapping[Place, Answer]) -> None:
        asked = {name: self.questions[name] for name in quiet.places}
        self._vary_alone("clock", quiet, baseline)
        by_clock = {mover.place for mover in self.movers if mover.code == CODE_OF["clock"]}
        # The zone decides what day it is, so that whatever reads the clock moves with the zone as well.
        self._vary_alone("zone", quiet.without(by_clock), baseline)
        rest = ask_all_again(self.launcher, asked, self.course.rest)
        in_rest = {place for _, changes in rest for place in changes}
        moving = quiet.only(
            in_rest | {place for place, _ in quiet.each() if self._needs_company(quiet, baseline, place)}
        )
        if moving:
            for factor in _OTHERS:
                self._vary_alone(factor, moving, baseline)
            self._vary_order(moving, baseline)
        left = quiet.without({mover.place for mover in self.movers})
        if left:
            everything = list(self.moved.launches.values())
            self.movers += joint_movers(self.launcher, asked, left, everything, self.course.base)

    @staticmethod
    def _needs_company(chosen: Chosen, baseline: Mapping[Place, Answer], place: Place) -> bool:
        return not baseline[place].is_as(chosen.bases[place])

    def _vary_alone(self, factor: str, chosen: Chosen, baseline: Mapping[Place, Answer]) -> None:
        """Ask for strings where one factor differs; what is not as in the base launch of the same strings moves."""
        environments = self.course.singles.get(factor, ())
        launches = ask_again(self.launcher, self.questions, chosen, environments) if chosen else []
        for place, string in chosen.each():
            readings = differing(baseline[place], place, launches)
            if readings:
                seen = [baseline[place], *(answers[place] for _, answers in launches)]
                components = moving_components(seen) if factor == "clock" else ()
                self.movers.append(Mover(place, string, CODE_OF[factor], readings, components))
        self._record(launches, baseline)

    def _vary_order(self, moving: Chosen, baseline: Mapping[Place, Answer]) -> None:
        """Ask for all strings in another order; a string that is another one without the rest depends on them too."""
        asked = {name: self.questions[name] for name in moving.places}
        launches = ask_all_again(self.launcher, asked, self.course.singles["order"])
        for place, string in moving.each():
            base = moving.bases[place]
            readings = differing(base, place, launches)
            if not readings and self._needs_company(moving, baseline, place):
                readings = (("base", base), ("base without the other strings", baseline[place]))
            if readings:
                self.movers.append(Mover(place, string, CODE_OF["order"], readings))
        for environment, changes in launches:
            for place, answer in changes.items():
                self.record(environment, place, answer)

    def _record(self, launches: Iterable[Launch], baseline: Mapping[Place, Answer]) -> None:
        for environment, answers in launches:
            for place, answer in answers.items():
                if answer.letter != "t" and not answer.is_as(baseline[place]):
                    self.record(environment, place, answer)

    def _run_others_through_clocks(self, isolated: Chosen) -> None:
        """Run what was too much to isolate through the clocks, in parts: a rate over the clocks is of all strings."""
        for name, done in isolated.places.items():
            rest = sorted(self.moved.places[name] - {place[1:] for place in done})
            for start in range(0, len(rest), MOST_ISOLATED):
                part = choose(self.questions, {name: rest[start : start + MOST_ISOLATED]})
                launches = ask_again(self.launcher, self.questions, part, self.course.singles["clock"])
                self._record(launches, part.bases)
                by_clock = {place for place, _ in part.each() if differing(part.bases[place], place, launches)}
                self.others += [(place, CODE_OF["clock"]) for place in sorted(by_clock)]
