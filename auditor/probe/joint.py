"""Strings that no single factor moves: what is needed together?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from auditor.model.dependence import Mover, Place
from auditor.model.environment import Environment
from auditor.probe.changes import Changes, ask_all_again
from auditor.probe.launch import Launcher
from auditor.probe.phases import CODE_OF, Chosen, Launch
from auditor.probe.questions import Question


def joint_movers(
    launcher: Launcher,
    questions: Mapping[str, Question],
    left: Chosen,
    everything: Sequence[Launch],
    base: Environment,
) -> list[Mover]:
    """Take one factor back at a time from an environment that moved a string; it needs those that it stops without.

    What is something else there a second time is noise. A string that the second launch does not answer has no cause.
    """
    movers: list[Mover] = []
    for environment, changes in everything:
        here = left.only(changes).without({mover.place for mover in movers})
        if not here:
            continue
        again = replace(environment, name=f"{environment.name} again")
        launches = ask_all_again(
            launcher,
            {name: questions[name] for name in here.places},
            [again, *_one_back(environment, base)],
            within={place for place, _ in here.each()},
        )
        by_name = {one.name: found for one, found in launches}
        repeated = by_name.get(again.name)
        for place, string in here.each():
            if repeated is None or place in repeated.late:
                continue
            readings = (("base", here.bases[place]), (environment.name, changes[place]))
            second = repeated.answers.get(place, here.bases[place])
            if not second.is_as(changes[place]):
                movers.append(Mover(place, string, "unstable", (*readings, (again.name, second))))
            else:
                needed = _needed(environment, base, by_name, place)
                movers.append(Mover(place, string, CODE_OF[needed[0]], readings, together=needed))
    return movers


def _one_back(environment: Environment, base: Environment) -> list[Environment]:
    return [
        replace(environment, name=_name_without(environment, factor), **{factor: getattr(base, factor)})
        for factor in environment.differs_in(base)
    ]


def _name_without(environment: Environment, factor: str) -> str:
    return f"{environment.name} without {factor}"


def _needed(
    environment: Environment, base: Environment, by_name: Mapping[str, Changes], place: Place
) -> tuple[str, ...]:
    """Name the factors without which the string is seen not to move; all of them where any one will do."""
    changed = environment.differs_in(base)
    needed = tuple(
        factor
        for factor in changed
        if (found := by_name.get(_name_without(environment, factor))) is not None
        and place not in found.places
        and place not in found.late
    )
    return needed or changed
