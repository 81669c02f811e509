"""Which factor moves a string: noise first, then each factor alone, and last what moves it only together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from auditor.model.dependence import Answer, Mover, Place
from auditor.model.environment import FACTORS, Environment
from auditor.probe.components import moving_components
from auditor.probe.launch import Launcher
from auditor.probe.phases import Chosen, Moved, ask_all_again
from auditor.probe.questions import Question

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

#: A launch: its environment, and what the strings were there.
Launch = tuple[Environment, Mapping[Place, Answer]]


def noisy_places(chosen: Chosen, moved: Moved, repeats: Iterable[Launch]) -> set[Place]:
    """Give the strings that identical launches do not agree about."""
    noisy = set(moved.noisy)
    launches = [answers for _, answers in repeats]
    for place, _ in chosen.each():
        if any(not answers[place].is_as(launches[0][place]) for answers in launches[1:]):
            noisy.add(place)
    return noisy


def unstable_movers(chosen: Chosen, noisy: set[Place], moved: Moved, repeats: Iterable[Launch]) -> list[Mover]:
    """Give the strings of every field whose parser is noisy: one of them voids all blame of a single factor there.

    A string that moved by chance when the clock moved would be called clock-dependent.
    """
    launches = list(repeats)
    fields = {place[0] for place in noisy}
    movers = []
    for place, string in chosen.each():
        if place[0] not in fields:
            continue
        seen = [(environment.name, answers[place]) for environment, answers in launches]
        seen += [(name, answers[place]) for name, answers in moved.seen_in.items() if place in answers]
        readings = two_readings(("base", chosen.bases[place]), seen)
        if readings:
            movers.append(Mover(place, string, "unstable", readings))
    return movers


def two_readings(base: tuple[str, Answer], others: Iterable[tuple[str, Answer]]) -> tuple[tuple[str, Answer], ...]:
    """Give the base and the first that differs from it; nothing where none does."""
    for name, answer in others:
        if not answer.is_as(base[1]):
            return base, (name, answer)
    return ()


def single_factor_movers(
    place: Place,
    string: str,
    chosen: Chosen,
    baseline: Mapping[Place, Answer],
    launches: Iterable[Launch],
    base: Environment,
) -> list[Mover]:
    """Give a mover for every factor that moves the string alone; the zone only where the clock does not.

    The zone decides what day it is, so that whatever reads the clock moves with the zone as well.
    """
    was = baseline[place]
    by_factor: dict[str, list[tuple[Environment, Answer]]] = {}
    for environment, answers in launches:
        (factor,) = environment.differs_in(base)
        by_factor.setdefault(factor, []).append((environment, answers.get(place, chosen.bases[place])))
    movers: list[Mover] = []
    for factor in FACTORS:
        seen = by_factor.get(factor, [])
        if factor == "order":
            was = chosen.bases[place]
        readings = _all_readings((base.name, was), seen)
        if not readings or (factor == "zone" and any(one.code == CODE_OF["clock"] for one in movers)):
            continue
        components = moving_components([was, *(answer for _, answer in seen)]) if factor == "clock" else ()
        movers.append(Mover(place, string, CODE_OF[factor], readings, components))
    if not movers and not baseline[place].is_as(chosen.bases[place]):
        readings = ((base.name, chosen.bases[place]), ("without the other strings", baseline[place]))
        movers.append(Mover(place, string, CODE_OF["order"], readings))
    return movers


def _all_readings(
    base: tuple[str, Answer], seen: Iterable[tuple[Environment, Answer]]
) -> tuple[tuple[str, Answer], ...]:
    """Give the base and every reading that differs from it; a string that took too long says nothing."""
    if base[1].letter == "t":
        return ()
    moved = tuple((one.name, answer) for one, answer in seen if answer.letter != "t" and not answer.is_as(base[1]))
    return (base, *moved) if moved else ()


def joint_movers(
    launcher: Launcher,
    questions: Mapping[str, Question],
    chosen: Chosen,
    left: Mapping[Place, str],
    moved: Moved,
    everything: Iterable[Environment],
    base: Environment,
) -> list[Mover]:
    """Explain strings that no single factor moves: take one factor back at a time from an environment that did.

    What does not move there a second time is noise.
    """
    movers: list[Mover] = []
    for environment in everything:
        here = {place: string for place, string in left.items() if place in moved.seen_in[environment.name]}
        here = {place: string for place, string in here.items() if place not in {one.place for one in movers}}
        if not here:
            continue
        asked = {name: questions[name] for name in {place[0] for place in here}}
        again = replace(environment, name=f"{environment.name} again")
        without = [
            replace(environment, name=f"{environment.name} without {factor}", **{factor: getattr(base, factor)})
            for factor in environment.differs_in(base)
        ]
        launches = ask_all_again(launcher, asked, [again, *without])
        for place, string in here.items():
            movers.append(_joint(place, string, chosen, moved, environment, launches, base))
    return movers


def _joint(
    place: Place,
    string: str,
    chosen: Chosen,
    moved: Moved,
    environment: Environment,
    launches: Mapping[str, Launch],
    base: Environment,
) -> Mover:
    answer = moved.seen_in[environment.name][place]
    readings = ((base.name, chosen.bases[place]), (environment.name, answer))
    _, again = launches.get(f"{environment.name} again", (environment, {}))
    if place not in again or not again[place].is_as(answer):
        return Mover(place, string, "unstable", readings)
    needed = tuple(
        factor
        for factor in environment.differs_in(base)
        if (found := launches.get(f"{environment.name} without {factor}")) and place not in found[1]
    )
    code = CODE_OF[needed[0]] if needed else "unstable"
    return Mover(place, string, code, readings, together=needed or environment.differs_in(base))
