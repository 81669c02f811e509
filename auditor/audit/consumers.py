"""Asks every consumer for the distinct raw values, all consumers at the same time."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from auditor.audit.answers import Answers
from auditor.audit.batches import Batches
from auditor.audit.events import Progress, Reused
from auditor.audit.kept import Kept
from auditor.audit.requests import Request
from auditor.audit.starting import results
from auditor.audit.units import FieldUnits
from auditor.decode.session import Session
from auditor.model.decoding import SLOW_AT_FIRST
from auditor.model.figures import plural
from auditor.probe.sent import decode_together
from auditor.spec.models import AuditSpec, ConsumerSpec


def ask_all(
    spec: AuditSpec, sessions: Mapping[str, Session], units: Mapping[str, FieldUnits], batches: Batches, kept: Kept
) -> Iterator[Progress | Reused | dict[tuple[str, str], Answers]]:
    """Decode every field's units with every consumer that reads it; gives progress, and last the answers.

    Where one consumer fails, or nobody waits any more, all sessions are interrupted.
    """
    events: queue.SimpleQueue[Progress | Reused | Future[dict[tuple[str, str], Answers]]] = queue.SimpleQueue()
    with ThreadPoolExecutor(max(1, len(sessions))) as pool:
        futures = []
        try:
            for name, session in sessions.items():
                futures.append(pool.submit(_ask, spec, spec.consumers[name], session, units, batches, kept, events.put))
                futures[-1].add_done_callback(events.put)
            yield from _progress(events, len(futures))
        finally:
            # A signal may come when one was asked and is not among the futures yet.
            if len(futures) < len(sessions) or not all(future.done() for future in futures):
                for session in sessions.values():
                    session.interrupt()
    answers: dict[tuple[str, str], Answers] = {}
    for result in results(futures):
        answers.update(result)
    yield answers


def _progress(
    events: queue.SimpleQueue[Progress | Reused | Future[dict[tuple[str, str], Answers]]], running: int
) -> Iterator[Progress | Reused]:
    """Give progress until all are done, or one has failed."""
    while running:
        event = events.get()
        if isinstance(event, Progress | Reused):
            yield event
        elif event.exception() is not None:
            return
        else:
            running -= 1


def _ask(
    spec: AuditSpec,
    consumer: ConsumerSpec,
    session: Session,
    units: Mapping[str, FieldUnits],
    batches: Batches,
    kept: Kept,
    report: Callable[[Progress | Reused], None],
) -> dict[tuple[str, str], Answers]:
    asked = [Request(consumer, session, units[name], batches) for name in session.readiness.reads if name in units]
    total = sum(len(request.units) for request in asked)
    answers = kept.take(session, asked)
    if answers is not None:
        report(Reused(consumer.name, total))
    else:
        answers = _decode(spec, consumer, session, asked, total, report)
    kept.finish(session, asked, answers)
    report(Progress(consumer.name, total, total))
    return {(name, consumer.name): collected for name, collected in answers.items()}


def _decode(
    spec: AuditSpec,
    consumer: ConsumerSpec,
    session: Session,
    asked: Sequence[Request],
    total: int,
    report: Callable[[Progress | Reused], None],
) -> dict[str, Answers]:
    answers = {request.field: Answers() for request in asked}
    done = 0
    for chunk in range(max((request.chunks for request in asked), default=0)):
        sent = {one.field: one.at(chunk) for one in asked if chunk < one.chunks}

        def progress(decoded: int, base: int = done) -> None:
            report(Progress(consumer.name, base + decoded, total))

        for name, decodings in decode_together(
            session, [(spec.fields[name], one) for name, (one, _) in sent.items()], progress=progress
        ):
            answers[name].add(decodings, sent[name][1])
        done = sum(len(one.texts) for one in answers.values())
        report(Progress(consumer.name, done, total))
    return answers


def state_notes(answers: Mapping[tuple[str, str], Answers]) -> tuple[str, ...]:
    """Name the parsers whose outcome or speed depends on what went before: died in company only, or slow once only."""
    notes = []
    for (name, consumer), one in sorted(answers.items()):
        slow = [warning for warning in one.warnings.values() if warning.startswith(SLOW_AT_FIRST)]
        died = [warning for warning in one.warnings.values() if not warning.startswith(SLOW_AT_FIRST)]
        if died:
            strings = plural(len(died), "string")
            said = f"died on {strings} among others but not alone, so it keeps state"
            notes.append(f"{name}, {consumer}: {said}; first: {died[0]}")
        if slow:
            strings = plural(len(slow), "string")
            notes.append(
                f"{name}, {consumer}: {strings} took longer than `timeout` the first time only, so it loads something"
                f" then, as it will in production; first: {slow[0]}; with a longer `timeout` this costs the audit less"
            )
    return tuple(notes)
