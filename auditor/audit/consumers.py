"""Starts every consumer and asks each for the distinct raw values, all consumers at the same time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from auditor.audit.events import Decoding
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

    texts: list[pa.Array] = field(default_factory=list)
    letters: list[pa.Array] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)

    def add(self, start: int, count: int, decodings: Decodings, asked: pa.Array | None) -> None:
        """Append a chunk that begins at `start`; `asked` maps its rows to the decodings (None: one to one)."""
        letters = ["v"] * len(decodings.texts)
        for position, fault in decodings.faults.items():
            letters[position] = STATUS_LETTER[fault.status]
        texts, marks = pa.array(decodings.texts, pa.string()), pa.array(letters, pa.string())
        if asked is None:
            self.faults.update({start + position: fault for position, fault in decodings.faults.items()})
        else:
            texts, marks = texts.take(asked), marks.take(asked)
            for row, position in enumerate(asked.to_pylist()):
                if position is not None and position in decodings.faults:
                    self.faults[start + row] = decodings.faults[position]
        if len(texts) != count:
            raise ValueError(f"{len(texts)} decodings for {count} raw values")
        self.texts.append(texts)
        self.letters.append(marks)


class _GivenUp(Exception):
    """Nobody waits for the answers any more."""


def ask_all(
    spec: AuditSpec, sessions: Mapping[str, Session], units: Mapping[str, FieldUnits]
) -> Iterator[Decoding | dict[tuple[str, str], Answers]]:
    """Decode every field's units with every consumer that reads it; gives progress, and last the answers."""
    progress: queue.SimpleQueue[Decoding | None] = queue.SimpleQueue()
    answers: dict[tuple[str, str], Answers] = {}
    given_up = threading.Event()

    def report(event: Decoding) -> None:
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
    consumer: ConsumerSpec, session: Session, units: Mapping[str, FieldUnits], report: Callable[[Decoding], None]
) -> dict[tuple[str, str], Answers]:
    fields = [units[name] for name in session.readiness.reads if name in units]
    total, done = sum(len(one) for one in fields), 0
    answers = {}
    for one in fields:
        collected = Answers()
        for start, count in one.chunks():
            base = done

            def progress(decoded: int, base: int = base) -> None:
                report(Decoding(consumer.name, base + decoded, total))

            _ask_chunk(consumer, session, one, start, count, collected, progress)
            done += count
            report(Decoding(consumer.name, done, total))
        answers[one.field, consumer.name] = collected
    return answers


def _ask_chunk(
    consumer: ConsumerSpec,
    session: Session,
    units: FieldUnits,
    start: int,
    count: int,
    collected: Answers,
    progress: Callable[[int], None],
) -> None:
    by_payload = units.payloads is not None and session.readiness.scope == "payload"
    source = units.payloads if by_payload and units.payloads is not None else units.tokens
    chunk = source.slice(start, count).combine_chunks()
    asked: pa.Array | None = None
    if units.payloads is not None:
        # One raw value may stand in many payloads (and a payload once per field): ask once, answer for all.
        encoded = chunk.dictionary_encode()
        chunk, asked = encoded.dictionary, encoded.indices
    if not by_payload and consumer.receives == "text":
        chunk, asked = _without_nulls(chunk, asked)
    decodings = session.decode(units.field, chunk.to_pylist(), payloads=by_payload, progress=progress)
    collected.add(start, count, decodings, asked)


def _without_nulls(tokens: pa.Array, asked: pa.Array | None) -> tuple[pa.Array, pa.Array | None]:
    """Leave out the JSON null: for a consumer that receives text nothing was given, so nothing is read."""
    position = pc.index(tokens, pa.scalar("null", pa.string())).as_py()
    if position < 0:
        return tokens, asked
    keep = pc.not_equal(tokens, "null")
    numbers = pc.cumulative_sum(pc.cast(keep, pa.int64()))
    moved = pc.if_else(keep, pc.subtract(numbers, 1), pa.scalar(None, pa.int64()))
    return tokens.filter(keep), moved if asked is None else moved.take(asked)
