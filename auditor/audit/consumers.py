"""Starts every consumer and asks each for the distinct raw values, all consumers at the same time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

from auditor.audit.events import Progress
from auditor.audit.transfer import Cells
from auditor.audit.units import FieldUnits
from auditor.decode.session import Session, open_session
from auditor.model.decoding import Decodings, Fault
from auditor.model.verdicts import STATUS_LETTER
from auditor.spec.models import AuditSpec, ConsumerSpec


def wants_payload(consumer: ConsumerSpec) -> bool:
    """Say whether a consumer is to be asked with whole payloads."""
    return consumer.adapter == "pydantic" and consumer.scope == "payload"


def open_sessions(
    spec: AuditSpec, consumers: Sequence[ConsumerSpec], carried: frozenset[str] | None, stack: ExitStack
) -> dict[str, Session]:
    """Start the workers side by side; the first that cannot start raises ConsumerError and all are closed."""
    if not consumers:
        return {}
    environment = spec.environment.environment()
    with ThreadPoolExecutor(len(consumers)) as pool:
        futures = [
            pool.submit(open_session, spec, consumer, environment, spec.fields, carried=carried)
            for consumer in consumers
        ]
    return {
        consumer.name: stack.enter_context(_started(future)) for consumer, future in _ended(consumers, futures, stack)
    }


def _ended(
    consumers: Sequence[ConsumerSpec], futures: Sequence[Future[Session]], stack: ExitStack
) -> Iterator[tuple[ConsumerSpec, Future[Session]]]:
    """Close what did start when something did not."""
    if any(future.exception() for future in futures):
        for future in futures:
            if future.exception() is None:
                stack.enter_context(future.result())
    yield from zip(consumers, futures, strict=True)


def _started(future: Future[Session]) -> Session:
    return future.result()


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


class _GivenUp(Exception):
    """Nobody listens any more: the threads end at their next progress."""


def ask_all(
    spec: AuditSpec, sessions: Mapping[str, Session], units: Mapping[str, FieldUnits]
) -> Iterator[Progress | dict[tuple[str, str], Answers]]:
    """Decode every field's units with every consumer that reads it; gives progress, and last the answers."""
    progress: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
    answers: dict[tuple[str, str], Answers] = {}
    given_up = threading.Event()

    def report(event: Progress) -> None:
        if given_up.is_set():
            raise _GivenUp
        progress.put(event)

    with ThreadPoolExecutor(max(1, len(sessions))) as pool:
        futures = []
        for name, session in sessions.items():
            future = pool.submit(_ask, spec.consumers[name], session, units, report)
            future.add_done_callback(lambda _: progress.put(None))
            futures.append(future)
        running = len(futures)
        try:
            while running:
                event = progress.get()
                if event is None:
                    running -= 1
                else:
                    yield event
        except BaseException:
            # An interrupt: the pool waits for its threads, and they would decode to the end first.
            given_up.set()
            raise
        for future in futures:
            answers.update(future.result())
    yield answers


def _ask(
    consumer: ConsumerSpec, session: Session, units: Mapping[str, FieldUnits], report: Callable[[Progress], None]
) -> dict[tuple[str, str], Answers]:
    fields = [units[name] for name in session.readiness.reads if name in units]
    total, done = sum(len(one) for one in fields), 0
    answers = {}
    for one in fields:
        collected = Answers()
        by_payload = one.by_payload and session.readiness.scope == "payload"
        for (raw,) in one.chunks("payload" if by_payload else "token"):
            base = done

            def progress(decoded: int, base: int = base) -> None:
                report(Progress(consumer.name, base + decoded, total))

            strings, asked = _to_ask(raw, distinct=not one.by_payload, nulls=by_payload or consumer.receives != "text")
            decodings = session.decode(one.field, strings, payloads=by_payload, progress=progress)
            collected.add(decodings, asked)
            done += len(raw)
            report(Progress(consumer.name, done, total))
        answers[one.field, consumer.name] = collected
    return answers


def state_notes(answers: Mapping[tuple[str, str], Answers]) -> tuple[str, ...]:
    """Name the parsers that died on strings in company but not alone: what they give depends on what went before."""
    return tuple(
        f"{name}, {consumer}: died on {len(one.warnings):,} strings among others but not alone, so it keeps state; "
        f"first: {next(iter(one.warnings.values()))}"
        for (name, consumer), one in sorted(answers.items())
        if one.warnings
    )


def _to_ask(raw: list[str], *, distinct: bool, nulls: bool) -> tuple[list[str], list[int | None] | None]:
    """Give the strings to send, and for each raw value the one that answers it (None: one to one).

    A raw value that stands in many payloads is asked once. Without `nulls` the JSON null is left out: for a consumer
    that receives text nothing was given, so nothing is read.
    """
    if distinct and (nulls or "null" not in raw):
        return raw, None
    numbers: dict[str, int] = {}
    for text in raw:
        if nulls or text != "null":
            numbers.setdefault(text, len(numbers))
    return list(numbers), [numbers.get(text) for text in raw]
