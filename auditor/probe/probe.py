"""The probes of one consumer, from the first launch to a cause for every string that moved."""

from __future__ import annotations

from collections.abc import Mapping

from auditor.model.dependence import Probed
from auditor.probe.changes import phase_one
from auditor.probe.environments import Course
from auditor.probe.isolate import Isolation
from auditor.probe.launch import PART_OF, Launcher
from auditor.probe.phases import Record
from auditor.probe.questions import Question


def probe_consumer(launcher: Launcher, questions: Mapping[str, Question], course: Course, record: Record) -> Probed:
    """Probe one consumer; `record` is told of every answer that differs from the base where one factor differs."""
    moved = phase_one(launcher, questions, course.base, course.everything)
    movers, others = Isolation(launcher, questions, course, moved, record).run() if moved else ([], [])
    notes = {PART_OF[factor]: "the consumer's env sets it" for factor in course.pinned} | launcher.not_varied
    return Probed(
        consumer=launcher.consumer.name,
        launched=tuple(launcher.launched),
        in_force=tuple(launcher.in_force(environment) for environment in launcher.launched),
        not_varied=tuple(f"{what}: {why}" for what, why in sorted(notes.items())),
        movers=tuple(movers),
        others=tuple(others),
    )
