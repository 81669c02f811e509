"""Probes several consumers at a time; the launches of all of them share as many places as there are cores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.stop import Stop
from auditor.model.dependence import Probed
from auditor.probe.environments import OF_EMULATION, OF_RECORDS, Course, Level, course_of
from auditor.probe.languages import LOCALES, locales_for
from auditor.probe.launch import InBase, Launcher, Report, silent
from auditor.probe.phases import Record
from auditor.probe.probe import probe_consumer, unprobed
from auditor.probe.questions import Question
from auditor.probe.zones import ZONES, zones_for
from auditor.spec.models import AuditSpec, ConsumerSpec


@dataclass(frozen=True)
class Subject:
    """A consumer to probe: what it is asked, what came of it in the base, and who hears of what moves."""

    questions: Mapping[str, Question]
    in_base: InBase
    record: Record
    report: Report = silent


def connected(reads: Iterable[Iterable[str]]) -> list[set[str]]:
    """Put the fields together that some consumer reads with another one: their columns stand side by side.

    A prediction and its reference, read by two consumers, are compared in environments in which both were read.

    >>> [sorted(group) for group in connected([["day", "signed"], ["total"], ["signed", "due"]])]
    [['total'], ['day', 'due', 'signed']]
    """
    groups: list[set[str]] = []
    for names in reads:
        joined = set(names)
        apart = [group for group in groups if group.isdisjoint(joined)]
        groups = [*apart, joined.union(*(group for group in groups if group not in apart))]
    return groups


def fixed_by(consumer: ConsumerSpec) -> str:
    """Say why nothing is varied for a consumer, or nothing where it is."""
    if consumer.adapter == "recorded":
        return OF_RECORDS
    return OF_EMULATION if consumer.emulate else ""


def probe_side_by_side(
    spec: AuditSpec,
    subjects: Mapping[str, Subject],
    strings: Mapping[str, Sequence[str]],
    level: Level,
    *,
    carried: frozenset[str] | None,
    keys: PayloadKeys | None,
) -> dict[str, tuple[Probed, Course]]:
    """Probe consumers by name, and give what was found and the environments that were laid out.

    `strings`, by field, are looked at for what a zone or a language means to them: a consumer is tried in those of its
    own fields, and of the fields of those that it shares one with. `carried` and `keys` are those of `open_session`. An
    interrupt ends all launches.
    """
    base = spec.environment.environment()
    fitting: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for fields in connected(subject.questions for subject in subjects.values()):
        seen = [text for name in strings if name in fields for text in strings[name]]
        fitting |= dict.fromkeys(fields, (zones_for(seen), locales_for(seen)))
    with ExitStack() as stack:
        stop = Stop()
        stack.callback(stop.close)
        launches = stack.enter_context(ThreadPoolExecutor(os.cpu_count() or 1))
        threads = stack.enter_context(ThreadPoolExecutor(max(1, len(subjects))))
        stack.callback(stop.set)

        def probe(name: str) -> tuple[Probed, Course]:
            subject = subjects[name]
            consumer = spec.consumers[name]
            course = course_of(
                base,
                consumer.env,
                level,
                *next((fitting[name] for name in subject.questions), (ZONES, LOCALES)),
                without=subject.in_base.inapplicable,
                batches_of=len(subject.questions) if consumer.batch else 0,
                is_service=consumer.adapter == "http",
                fixed_by=fixed_by(consumer),
            )
            if fixed_by(consumer):
                return unprobed(name, course), course
            launcher = Launcher(
                spec,
                consumer,
                base,
                carried,
                keys,
                launches,
                stop,
                subject.in_base,
                report=subject.report,
            )
            return probe_consumer(launcher, subject.questions, course, subject.record), course

        return dict(zip(subjects, threads.map(probe, subjects), strict=True))
