"""All strings in other orders, each of them twice: a string that moves in one and not again there moves by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from auditor.model.dependence import Answer, Mover, Place
from auditor.model.environment import Environment
from auditor.probe.changes import Changes, ask_all_again
from auditor.probe.launch import Launcher
from auditor.probe.phases import CODE_OF, Chosen, Record, is_another
from auditor.probe.places import Places, packed
from auditor.probe.questions import Question


@dataclass
class Orders:
    """The launches in other orders, and what came of the same ones again, by name of the environment."""

    launches: list[tuple[Environment, Changes]] = field(default_factory=list)
    again: Mapping[str, Changes] = field(default_factory=dict)

    def readings(self, base: Answer, place: Place) -> tuple[tuple[str, Answer], ...]:
        """Give the base and what a string is in the orders that move it both times; nothing where none does."""
        found = [
            (environment.name, answer)
            for environment, changes in self.launches
            if (answer := changes.answers.get(place)) is not None
            and (second := self._second(environment, place)) is not None
            and answer.is_as(second)
        ]
        return (("base", base), *found) if found else ()

    def _second(self, environment: Environment, place: Place) -> Answer | None:
        again = self.again.get(environment.name)
        return again.answers.get(place) if again else None

    def by_chance(self, base: Answer, place: Place) -> tuple[tuple[str, Answer], ...]:
        """Give two readings in one environment that differ; nothing where the second is the first, or is not known."""
        for environment, changes in self.launches:
            again = self.again.get(environment.name)
            if again is None or place in changes.late or place in again.late:
                continue
            first, second = changes.answers.get(place, base), again.answers.get(place, base)
            if not first.is_as(second):
                return (environment.name, first), (f"{environment.name}, again", second)
        return ()

    @property
    def uneven(self) -> set[str]:
        """Name the fields in which one order moves other strings the second time."""
        found = set()
        for environment, changes in self.launches:
            again = self.again.get(environment.name)
            if again is None:
                continue
            late = changes.late | again.late
            for one, other in ((changes.places, again.places), (again.places, changes.places)):
                found |= {n for n in one.fields if any(p not in late for p in one.beside(n, other))}
        return found

    @property
    def reordered(self) -> Places:
        """Give every place that an order moved both times."""
        found = Places()
        for environment, changes in self.launches:
            again = self.again.get(environment.name)
            if again:
                found.update(
                    packed(p for name in changes.places.fields for p in changes.places.of(name) if p in again.places)
                )
        return found

    def tell(self, record: Record, names: Sequence[str]) -> None:
        """Tell of all that moved in these fields."""
        for environment, changes in self.launches:
            for place, answer in changes.answers.items():
                if place[0] in names:
                    record(environment, place, answer)


def ask_in_orders(launcher: Launcher, company: Mapping[str, Question], environments: Sequence[Environment]) -> Orders:
    """Ask for all strings in other orders, and again in those orders in which anything moved."""
    launches = ask_all_again(launcher, company, environments, capped=False)
    again = ask_all_again(launcher, company, [one for one, changes in launches if changes.places])
    return Orders(launches, {one.name: changes for one, changes in again})


def order_movers(quiet: Chosen, orders: Orders, baseline: Mapping[Place, Answer], moving: Set[Place]) -> list[Mover]:
    """Give what moves with the order, or is another one without the other strings."""
    movers = []
    for place, string in quiet.each():
        base, alone = quiet.bases[place], baseline[place]
        readings = orders.readings(base, place)
        if not readings and place in moving and is_another(base, alone):
            readings = (("base", base), ("base without the other strings", alone))
        if readings:
            movers.append(Mover(place, string, CODE_OF["order"], readings))
    return movers
