"""The probes of one consumer, from the first launch to a cause for every string that moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from auditor.model.dependence import Answer, Mover, Place, Probed
from auditor.probe.blame import CODE_OF, Launch, joint_movers, noisy_places, single_factor_movers, unstable_movers
from auditor.probe.environments import Course
from auditor.probe.launch import PART_OF, Launcher
from auditor.probe.phases import (
    MOST_ISOLATED,
    Chosen,
    Moved,
    Record,
    ask_again,
    ask_all_again,
    choose,
    phase_one,
    sample,
)
from auditor.probe.questions import Question


def probe_consumer(launcher: Launcher, questions: Mapping[str, Question], course: Course, record: Record) -> Probed:
    """Probe one consumer; `record` is told of every answer that differs from the base in a single-factor launch."""
    again = course.base
    moved = phase_one(launcher, questions, again, course.everything)
    movers: list[Mover] = []
    others: list[tuple[Place, str]] = []
    if any(moved.places.values()):
        movers, others = _phase_two(launcher, questions, course, moved, record)
    pinned = {PART_OF[factor]: "the consumer's env sets it" for factor in course.pinned}
    notes = {**pinned, **launcher.not_varied}
    return Probed(
        consumer=launcher.consumer.name,
        launched=tuple(launcher.launched),
        not_varied=tuple(f"{what}: {why}" for what, why in notes.items()),
        movers=tuple(movers),
        others=tuple(others),
    )


def _phase_two(
    launcher: Launcher, questions: Mapping[str, Question], course: Course, moved: Moved, record: Record
) -> tuple[list[Mover], list[tuple[Place, str]]]:
    places = {name: found for name, found in moved.places.items() if found}
    chosen = choose(questions, sample(places))
    repeats = ask_again(launcher, questions, chosen, course.repeats)
    noisy = noisy_places(chosen, moved, repeats.values())
    movers = unstable_movers(chosen, noisy, moved, repeats.values())
    noisy_fields = {place[0] for place in noisy}
    quiet = choose(questions, {name: found for name, found in sample(places).items() if name not in noisy_fields})
    others = [((name, *at), "unstable") for name in noisy_fields for at in places[name]]
    if quiet and repeats:
        baseline = next(iter(repeats.values()))[1]
        found, rest = _isolate(launcher, questions, course, moved, quiet, baseline, record)
        movers += found
        others += rest
    known = {mover.place for mover in movers}
    return movers, [(place, code) for place, code in others if place not in known]


def _isolate(
    launcher: Launcher,
    questions: Mapping[str, Question],
    course: Course,
    moved: Moved,
    quiet: Chosen,
    baseline: Mapping[Place, Answer],
    record: Record,
) -> tuple[list[Mover], list[tuple[Place, str]]]:
    """Vary one factor at a time, then take back one at a time from what moves only together."""
    asked = {name: questions[name] for name in quiet.places}
    singles = ask_again(launcher, asked, quiet, course.singles)
    orders = ask_all_again(launcher, asked, course.orders)
    launches = [*singles.values(), *orders.values()]
    movers: list[Mover] = []
    left: dict[Place, str] = {}
    for place, string in quiet.each():
        found = single_factor_movers(place, string, quiet, baseline, launches, course.base)
        movers += found
        if not found:
            left[place] = string
    movers += joint_movers(launcher, asked, quiet, left, moved, course.everything, course.base)
    _record_singles(quiet, baseline, singles.values(), record)
    for environment, changes in orders.values():
        for place, answer in changes.items():
            record(environment, place, answer)
    return movers, _clock_movers(launcher, asked, course, moved, quiet, record)


def _record_singles(
    chosen: Chosen, baseline: Mapping[Place, Answer], launches: Iterable[Launch], record: Record
) -> None:
    for environment, answers in launches:
        for place, answer in answers.items():
            if answer.letter != "t" and not answer.is_as(baseline[place]):
                record(environment, place, answer)


def _clock_movers(
    launcher: Launcher,
    questions: Mapping[str, Question],
    course: Course,
    moved: Moved,
    isolated: Chosen,
    record: Record,
) -> list[tuple[Place, str]]:
    """Run what was too much to isolate through the clocks, in parts: a rate over the clocks is of all strings."""
    rest = {
        name: sorted(moved.places[name] - {place[1:] for place in isolated.places[name]}) for name in isolated.places
    }
    clocks = [one for one in course.singles if one.differs_in(course.base) == ("clock",)]
    found: list[tuple[Place, str]] = []
    for name, places in rest.items():
        for start in range(0, len(places), MOST_ISOLATED):
            part = choose(questions, {name: places[start : start + MOST_ISOLATED]})
            by_clock = set()
            for environment, answers in ask_again(launcher, questions, part, clocks).values():
                for place, answer in answers.items():
                    if answer.letter != "t" and not answer.is_as(part.bases[place]):
                        record(environment, place, answer)
                        by_clock.add(place)
            found += [(place, CODE_OF["clock"]) for place in sorted(by_clock)]
    return found
