"""Phase 2: is it noise? If not, which factor alone moves a string, or which only together?

In order: identical launches; the clock; the zone, for what the clock does not move; then everything else at once, and
one at a time what moved there; then the launches that prove something are made again, and what is too much to isolate
goes through the factors that were found. Only strings that moved are asked again, but where their order is what
changes, and always all of them: a parser may remember.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from auditor.model.dependence import Answer, Mover, Place
from auditor.probe.attribution import attribute
from auditor.probe.changes import Moved, ask_all_again, phase_one
from auditor.probe.components import moving_components
from auditor.probe.environments import Course
from auditor.probe.joint import joint_movers
from auditor.probe.launch import Launcher
from auditor.probe.order import ask_in_orders, order_movers
from auditor.probe.phases import CODE_OF, Chosen, Launch, Record, ask_again, choose, differing, is_another
from auditor.probe.places import Places, packed, sample
from auditor.probe.questions import Question
from auditor.probe.remainder import Remainder, tell

#: What is varied once it is known that neither clock nor zone is all of it.
_OTHERS = ("locale", "hash_seed", "network", "elsewhere")

#: Strings of a field that did not move and are asked in the repeats too: where chance is at work they show it.
COMPANY = 200

#: Environments of a factor that are launched again, and how often: what chance gave once it does not give each time.
CONFIRMED, TIMES = 2, 2

#: Identical launches without which nothing is blamed.
FEWEST_REPEATS = 2

NOT_AGAIN = "{} that moved when everything was changed at once, {} for one; what moves them could not be found out"


@dataclass
class Isolation:
    """Phase 2 of one consumer; `run` gives a mover for each string and cause, and what else moved with its code.

    `factors` are, by field, those that move a string alone or, told of, together with what moves it: a rate over them
    is of all strings. A string of which no cause is found is noted.
    """

    launcher: Launcher
    questions: Mapping[str, Question]
    course: Course
    moved: Moved
    record: Record
    is_last: bool = False  # whether what is left beyond what is isolated is only noted
    movers: list[Mover] = field(default_factory=list)
    others: list[tuple[Place, str]] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)  # of single factors, over the strings that moved
    factors: dict[str, set[str]] = field(default_factory=dict)
    resting: Places = field(default_factory=Places)
    reordered: Places = field(default_factory=Places)
    chance: list[Mover] = field(default_factory=list)

    def run(self) -> tuple[list[Mover], list[tuple[Place, str]]]:
        """Isolate what moved."""
        self._isolate()
        if self.course.attributes:
            self.movers = attribute(self.launcher, self.questions, self.movers)
        return self.movers, self.others

    def _isolate(self) -> None:
        places = sample(self.moved.places)
        chosen = choose(self.questions, places)
        repeats = ask_again(self.launcher, choose(self.questions, self._in_company(places)), self.course.repeats)
        noisy = self.moved.noisy | _disagreeing(repeats)
        quiet = chosen.of_fields({name for name in places if name not in noisy})
        # Without launches that agree nothing can be blamed: what moved may be chance.
        first = ask_again(self.launcher, quiet, [self.course.base]) if quiet and len(repeats) >= FEWEST_REPEATS else []
        if first:
            noisy |= self._vary(quiet, first[0][1])
        # One noisy string voids all blame of a single factor for its field: a string that moved by chance when the
        # clock moved would be called clock-dependent.
        self.movers = [mover for mover in self.movers if mover.place[0] not in noisy]
        self._call_unstable(chosen, noisy, repeats)
        quiet = quiet.of_fields({name for name in places if name not in noisy})
        for name, environment in tell(self.record, quiet, first[0][1] if first else {}, self.launches):
            self.factors.setdefault(name, set()).update(environment.differs_in(self.course.base))
        left = packed(place for place, _ in quiet.without({mover.place for mover in self.movers}).each())
        for name in quiet.places:
            rest = self.moved.places.beside(name, set(quiet.places[name]))
            left.update(self._go_through_rest(name, quiet, rest) if first and rest else packed(rest))
        self._note(left)

    def _in_company(self, places: Mapping[str, Sequence[Place]]) -> dict[str, set[Place]]:
        """Add strings of each field that did not move, evenly over its first chunk."""
        found = {}
        for name, moved in places.items():
            count = len(self.questions[name].sent(0).tokens)
            found[name] = {*moved, *((name, 0, at) for at in range(0, count, max(1, count // COMPANY)))}
        return found

    def _call_unstable(self, chosen: Chosen, noisy: Set[str], repeats: Iterable[Launch]) -> None:
        everywhere = [*repeats, *self.moved.launches.values(), *self.launches]
        self.movers += [mover for mover in self.chance if mover.place[0] in noisy]
        known = {mover.place for mover in self.movers}
        for place, string in chosen.of_fields(noisy).each():
            if place not in known and (readings := differing(chosen.bases[place], place, everywhere)):
                self.movers.append(Mover(place, string, "unstable", readings[:2]))
        known = {mover.place for mover in self.movers}
        for name in sorted(noisy):
            self.others += [(place, "unstable") for place in self.moved.places.beside(name, known)]

    def _vary(self, quiet: Chosen, baseline: Mapping[Place, Answer]) -> set[str]:
        """Vary one factor after the other; gives the fields in which what moved does not move again."""
        asked = {name: self.questions[name] for name in quiet.places}
        everywhere = {place for place, _ in quiet.each()}
        by_clock = self._vary_alone("clock", quiet, everywhere, baseline)
        # The zone decides what day it is, so that whatever reads the clock moves with the zone as well.
        by_zone = self._vary_alone("zone", quiet, everywhere - by_clock, baseline)
        # What neither explains may rest on strings of other fields.
        company = self.questions if everywhere - by_clock - by_zone else asked
        for _, changes in ask_all_again(self.launcher, company, self.course.rest):
            self.resting.update(changes.places)
        moving = {place for place in everywhere if place in self.resting}
        moving |= {place for place in everywhere if is_another(quiet.bases[place], baseline[place])}
        for factor in _OTHERS:
            self._vary_alone(factor, quiet, moving, baseline)
        noisy = self._vary_order(quiet, company, moving, baseline) if moving else set()
        noisy |= self._unconfirmed(quiet, baseline)
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
    ) -> set[str]:
        """Ask for all strings in another order; gives the fields in which one order does not give the same twice."""
        orders = ask_in_orders(self.launcher, company, self.course.singles.get("order", ()))
        self.chance = [
            Mover(place, string, "unstable", readings)
            for place, string in quiet.each()
            if (readings := orders.by_chance(quiet.bases[place], place))
        ]
        noisy = {mover.place[0] for mover in self.chance} | (orders.uneven & set(quiet.places))
        found = [one for one in order_movers(quiet, orders, baseline, moving) if one.place[0] not in noisy]
        for mover in found:
            self.factors.setdefault(mover.place[0], set()).add("order")
        self.movers += found
        self.reordered = orders.reordered
        orders.tell(self.record, [name for name in quiet.places if name not in noisy])
        return noisy

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
            if is_another(seen[environment.name][place], answer)
        }

    def _go_through_rest(self, name: str, quiet: Chosen, places: Sequence[Place]) -> Places:
        """Give causes to what was too much to isolate: a count or a rate is of all strings. Gives what has none."""
        rest = Remainder(self.launcher, self.questions, self.course, self.record, self.resting, self.reordered)
        factors = self.factors.get(name, set())
        rest.run(name, places, factors, {mover.code for mover in self.movers if mover.place[0] == name})
        self.movers += rest.movers
        self.others += rest.others
        joint = Counter(mover.code for mover in self.movers if mover.place[0] == name and mover.together)
        if joint:
            # They moved with everything, and with nothing that moves a string of their field alone, as those did.
            self.others += [(place, joint.most_common(1)[0][0]) for place in rest.left.of(name)]
            return Places()
        if not rest.left or self.is_last:
            return rest.left
        asked = {name: self.questions[name]}
        again = phase_one(self.launcher, asked, self.course.base, self.course.everything, rest.left)
        second = Isolation(self.launcher, self.questions, self.course, again, self.record, is_last=True)
        if again:
            second._isolate()
        self.movers += second.movers
        self.others += second.others
        for factor in sorted(second.factors.get(name, set()) - factors - {"order"}):
            is_told = any(factor in one.differs_in(self.course.base) for one, _ in self.launches)
            rest.tell(name, places if is_told else [*quiet.places[name], *places], factor)
        done = {mover.place for mover in second.movers} | {place for place, _ in second.others}
        return packed(rest.left.beside(name, done))

    def _note(self, left: Places) -> None:
        """Say which strings have no cause: what moved is never passed over."""
        for name in left.fields:
            place = next(left.of(name))
            string = self.questions[name].sent(place[1]).tokens[place[2]]
            count = left.count(name)
            what = f"{count:,} strings" if count > 1 else "1 string"
            self.launcher.not_varied[name] = NOT_AGAIN.format(what, string[:60])


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
