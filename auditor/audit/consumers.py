"""Starts every consumer and asks each for the distinct raw values, all consumers at the same time."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Self, TypeVar

from auditor.audit.answers import Answers
from auditor.audit.batches import Batches
from auditor.audit.events import Progress, Reused
from auditor.audit.kept import Kept
from auditor.audit.requests import Request
from auditor.audit.units import FieldUnits
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session, open_session
from auditor.decode.stop import Stop, Stopped
from auditor.errors import ConsumerError, ConsumerErrors
from auditor.model.decoding import SLOW_AT_FIRST
from auditor.model.figures import plural
from auditor.probe.sent import decode_together
from auditor.spec.models import AuditSpec, ConsumerSpec

Result = TypeVar("Result")

#: Seconds that the other workers have to say what is wrong with them too, once one could not start.
OTHER_STARTS = 5.0


def wants_payload(consumer: ConsumerSpec) -> bool:
    """Say whether a consumer is to be asked with whole payloads."""
    has_payloads = consumer.adapter == "pydantic" or (consumer.adapter == "sql" and consumer.model is not None)
    return has_payloads and consumer.scope == "payload"


class Starting:
    """Workers that start side by side while their parent does something else; a context manager that ends them all.

    Whoever leaves it, by an interrupt or a mistake in the data, leaves no worker behind, ready or not.
    """

    def __init__(self, spec: AuditSpec, consumers: Sequence[ConsumerSpec]) -> None:
        self._spec = spec
        self._carried: Future[tuple[frozenset[str] | None, PayloadKeys | None]] = Future()
        self._stop = Stop()
        self._pool = ThreadPoolExecutor(max(1, len(consumers)))
        self._ends = ExitStack()
        self._ends.callback(self._stop.close)
        self._ends.callback(self._end_starts)
        with ExitStack() as failed:
            failed.callback(self.close)
            self._futures = {consumer.name: self._pool.submit(self._start, consumer) for consumer in consumers}
            failed.pop_all()

    def _start(self, consumer: ConsumerSpec) -> Session:
        environment = self._spec.environment.environment()
        # What the cases carry matters only where payloads are read whole: no other worker waits for it.
        carried, keys = self._told_cases(consumer) if wants_payload(consumer) else (None, None)
        session = open_session(
            self._spec, consumer, environment, self._spec.fields, carried=carried, keys=keys, stop=self._stop
        )
        # Entered by the thread that starts it: an interrupt finds every worker either here or not yet ready.
        return self._ends.enter_context(session)

    def _told_cases(self, consumer: ConsumerSpec) -> tuple[frozenset[str] | None, PayloadKeys | None]:
        """Wait for what the cases carry, and import meanwhile what a model is read with."""
        if consumer.adapter == "sql":
            import auditor.decode.sql_model  # noqa: F401
        return self._carried.result()

    def tell(self, carried: frozenset[str] | None, keys: PayloadKeys | None) -> None:
        """Say what the cases carry, for which some workers wait; see `open_session`."""
        self._carried.set_result((carried, keys))

    def ready(self) -> dict[str, Session]:
        """Wait for all, once `tell` was called; where one cannot start, all are ended at once."""
        futures = list(self._futures.values())
        if wait(futures, return_when=FIRST_EXCEPTION).not_done:
            wait(futures, OTHER_STARTS)
            self._stop.set()
        failed = [error for future in futures if isinstance(error := future.exception(), ConsumerError)]
        if len(failed) > 1:
            raise ConsumerErrors(failed)
        return dict(zip(self._futures, _results(futures), strict=True))

    def _end_starts(self) -> None:
        self._stop.set()
        self._carried.cancel()
        self._pool.shutdown()

    def close(self) -> None:
        """End all workers."""
        self._ends.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _results(futures: Sequence[Future[Result]]) -> list[Result]:
    """Give the results, or raise the first error that is not the end of what another's error stopped."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, Stopped))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


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
            if not all(future.done() for future in futures):
                for session in sessions.values():
                    session.interrupt()
    answers: dict[tuple[str, str], Answers] = {}
    for result in _results(futures):
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
