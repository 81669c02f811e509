"""The probes of one consumer, from the first launch to a cause for every string that moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from auditor.model.dependence import Answer, Place, Probed
from auditor.model.environment import Environment
from auditor.probe.changes import phase_one
from auditor.probe.environments import BATCHES, Course
from auditor.probe.isolate import Isolation
from auditor.probe.launch import PART_OF, Launcher
from auditor.probe.phases import Record
from auditor.probe.questions import Question

#: Why a factor that was changed is not called varied.
UNCONFIRMED = "set, but the program does not tell that it is in force"


def probe_consumer(launcher: Launcher, questions: Mapping[str, Question], course: Course, record: Record) -> Probed:
    """Probe one consumer; `record` is told of every answer that differs from the base where one factor differs."""
    proven: set[str] = set()  # what a value moves with is in force, whatever the program tells

    def note(environment: Environment, place: Place, answer: Answer) -> None:
        proven.update(environment.differs_in(course.base))
        record(environment, place, answer)

    moved = phase_one(launcher, questions, course.base, course.everything)
    movers, others = Isolation(launcher, questions, course, moved, note).run() if moved else ([], [])
    untold = dict.fromkeys(launcher.unconfirmed, UNCONFIRMED)
    doubtful = {
        factor: why
        for factor, why in {**course.doubtful, **untold}.items()
        if factor not in proven and _was_changed(factor, launcher.launched, course.base)
    }
    notes = {PART_OF[factor]: why for factor, why in {**course.pinned, **doubtful}.items() if why} | launcher.not_varied
    return Probed(
        consumer=launcher.consumer.name,
        launched=tuple(launcher.launched),
        in_force=tuple(
            replace(launcher.in_force(one), **{factor: getattr(course.base, factor) for factor in doubtful})
            for one in launcher.launched
        ),
        not_varied=tuple(f"{what}: {why}" for what, why in sorted(notes.items())),
        movers=tuple(movers),
        others=tuple(others),
        fixed=tuple(factor for factor, why in course.pinned.items() if why != BATCHES),
    )


def unprobed(consumer: str, course: Course) -> Probed:
    """Give what the probes come to of a consumer that is not asked again: nothing is varied, for one reason."""
    why = dict.fromkeys(f"environment: {reason}" for reason in course.pinned.values())
    return Probed(consumer, (), (), tuple(why), (), fixed=tuple(course.pinned))


def _was_changed(factor: str, launched: Iterable[Environment], base: Environment) -> bool:
    return any(factor in environment.differs_in(base) for environment in launched)
