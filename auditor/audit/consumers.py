"""Starts every consumer and asks each for the distinct raw values, all consumers at the same time."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from auditor.audit.batches import Batches
from auditor.audit.events import Progress
from auditor.audit.requests import Request
from auditor.audit.transfer import Cells
from auditor.audit.units import FieldUnits
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session, open_session
from auditor.decode.stop import Stop, Stopped
from auditor.errors import ConsumerError, ConsumerErrors
from auditor.model.decoding import Decodings, Fault
from auditor.model.figures import plural
from auditor.model.verdicts import STATUS_LETTER
from auditor.probe.sent import decode_together
from auditor.spec.models import AuditSpec, ConsumerSpec

Result = TypeVar("Result")

#: Seconds that the other workers have to say what is wrong with them too, once one could not start.
OTHER_STARTS = 5.0


def wants_payload(consumer: ConsumerSpec) -> bool:
    """Say whether a consumer is to be asked with whole payloads."""
    has_payloads = consumer.adapter == "pydantic" or (consumer.adapter == "sql" and consumer.model is not None)
    return has_payloads and consumer.scope == "payload"


def open_sessions(
    spec: AuditSpec,
    consumers: Sequence[ConsumerSpec],
    stack: ExitStack,
    *,
    carried: frozenset[str] | None,
    keys: PayloadKeys | None,
) -> dict[str, Session]:
    """Start the workers side by side; where one cannot start, or nobody waits any more, all are ended at once.

    `carried` and `keys` are those of `open_session`.
    """
    if not consumers:
        return {}
    environment = spec.environment.environment()
    stop = Stop()
    stack.callback(stop.close)

    def start(consumer: ConsumerSpec) -> Session:
        # Entered by the thread that starts it: an interrupt finds every worker either here or not yet ready.
        session = open_session(spec, consumer, environment, spec.fields, carried=carried, keys=keys, stop=stop)
        return stack.enter_context(session)

    with ThreadPoolExecutor(len(consumers)) as pool, ExitStack() as interrupted:
        interrupted.callback(stop.set)  # before the pool waits for its threads
        futures = [pool.submit(start, consumer) for consumer in consumers]
        if wait(futures, return_when=FIRST_EXCEPTION).not_done:
            wait(futures, OTHER_STARTS)
            stop.set()
        interrupted.pop_all()
    failed = [error for future in futures if isinstance(error := future.exception(), ConsumerError)]
    if len(failed) > 1:
        raise ConsumerErrors(failed)
    return dict(zip((consumer.name for consumer in consumers), _results(futures), strict=True))


def _results(futures: Sequence[Future[Result]]) -> list[Result]:
    """Give the results, or raise the first error that is not the end of what another's error stopped."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, Stopped))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


@dataclass
class Answers:
    """One consumer's decodings of one field, aligned with the field's units."""

    texts: Cells = field(default_factory=lambda: Cells(str))
    letters: Cells = field(default_factory=lambda: Cells(str))
    faults: dict[int, Fault] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)

    def add(self, decodings: Decodings, asked: Sequence[int | None] | None) -> None:
        """Append a chunk; `asked` gives for each row the decoding that answers it (None: one to one)."""
        start = len(self.texts)
        self.warnings.update({start + position: warning for position, warning in decodings.warnings.items()})
        letters: list[str | None] = ["v"] * len(decodings.texts)
        for position, fault in decodings.faults.items():
            letters[position] = STATUS_LETTER[fault.status]
        if asked is None:
            self.texts.extend(decodings.texts)
            self.letters.extend(letters)
            self.faults.update({start + position: fault for position, fault in decodings.faults.items()})
            return
        self.texts.extend(None if position is None else decodings.texts[position] for position in asked)
        self.letters.extend(None if position is None else letters[position] for position in asked)
        for row, answer in enumerate(asked):
            if answer is not None and answer in decodings.faults:
                self.faults[start + row] = decodings.faults[answer]


def ask_all(
    spec: AuditSpec, sessions: Mapping[str, Session], units: Mapping[str, FieldUnits], batches: Batches
) -> Iterator[Progress | dict[tuple[str, str], Answers]]:
    """Decode every field's units with every consumer that reads it; gives progress, and last the answers.

    Where one consumer fails, or nobody waits any more, all sessions are interrupted.
    """
    events: queue.SimpleQueue[Progress | Future[dict[tuple[str, str], Answers]]] = queue.SimpleQueue()
    with ThreadPoolExecutor(max(1, len(sessions))) as pool:
        futures = []
        try:
            for name, session in sessions.items():
                futures.append(pool.submit(_ask, spec, spec.consumers[name], session, units, batches, events.put))
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
    events: queue.SimpleQueue[Progress | Future[dict[tuple[str, str], Answers]]], running: int
) -> Iterator[Progress]:
    """Give progress until all are done, or one has failed."""
    while running:
        event = events.get()
        if isinstance(event, Progress):
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
    report: Callable[[Progress], None],
) -> dict[tuple[str, str], Answers]:
    asked = [Request(consumer, session, units[name], batches) for name in session.readiness.reads if name in units]
    total = sum(len(request.units) for request in asked)
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
    return {(name, consumer.name): collected for name, collected in answers.items()}


def state_notes(answers: Mapping[tuple[str, str], Answers]) -> tuple[str, ...]:
    """Name the parsers that died on strings in company but not alone: what they give depends on what went before."""
    return tuple(
        f"{name}, {consumer}: died on {plural(len(one.warnings), 'string')} among others but not alone, so it keeps "
        f"state; first: {next(iter(one.warnings.values()))}"
        for (name, consumer), one in sorted(answers.items())
        if one.warnings
    )
