"""A session: one consumer in one environment, ready to decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import msgspec

from auditor.decode.clock import CLOCKS, can_attribute
from auditor.decode.exchange import Exchange, Limits, Lost, open_exchange
from auditor.decode.frames import Job, Told, as_text, pack
from auditor.decode.launches import launches, remember
from auditor.decode.meter import Meter
from auditor.decode.payload_rows import PayloadKeys, Role, row_writer
from auditor.decode.plan import Plan, make_plan
from auditor.decode.readiness import Report, death_error, is_as_planned, lost_its_clock, start_error
from auditor.decode.stop import Stop
from auditor.decode.supervise import Supervisor
from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings, Fault, Readiness
from auditor.model.dependence import Site, Watch
from auditor.model.environment import Environment
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec

#: Seconds that a worker may take until it is ready, and that a parser's very first string may take beyond its limit.
START = 30.0
FIRST_STRING = 3.0

#: The same for SQL engines that need longer, on a busy machine.
START_OF_ENGINE = {"spark": 180.0}

#: Starts of a worker that should have a fixed clock, as the first one had, and has none.
STARTS_FOR_CLOCK = 3

ABSENT = Fault("null", "absent")


@dataclass(frozen=True)
class Patience:
    """Seconds that a worker may take to start, and strings that may crash or time out before the session gives up.

    Where nothing rests on the answers but a comparison, a consumer that hangs in an environment must stall nothing.
    `slow` strings may be given much more time, to see whether they only take long the first time.
    """

    start: float | None = None  # None: START
    lost: int | None = None
    slow: int = 2


class Session:
    """A consumer's parsers, ready: a context manager that ends the worker and everything that it started.

    Not for two threads at once, but for `interrupt`; several sessions run side by side.
    """

    def __init__(
        self, plan: Plan, stop: Stop | None = None, launches: Iterable[Plan] = (), patience: Patience = Patience()
    ) -> None:
        """Start `plan`, or, if `launches` has any, each of them until one has a fixed clock and is watched as asked."""
        self.plan, self._patience = plan, patience
        self._stop = stop or Stop()
        self._stop_is_own = stop is None
        self._told = Told()
        self._rows = row_writer(plan.config)
        with ExitStack() as failed:
            failed.callback(self._close_stop)
            exchange, ready = self._start_one_of(launches)
            failed.callback(exchange.close)
            self._report = Report(self.plan, ready)
            failed.pop_all()
        seconds = float(ready.get("patience", plan.timeout))  # longer where the adapter itself limits each string
        limits = Limits(seconds, seconds + FIRST_STRING, bool(ready.get("whole")))
        self._supervisor = Supervisor(plan.consumer, self._restart, limits, patience.lost, patience.slow)
        self._supervisor.adopt(exchange)
        #: What was known before the first string.
        self.readiness: Readiness = self._report.at_start

    def _start_one_of(self, launches: Iterable[Plan]) -> tuple[Exchange, dict[str, Any]]:
        """Start a worker in one way after another; the last one is kept as it is."""
        started: tuple[Exchange, dict[str, Any]] | None = None
        for plan in launches:
            if started is not None:
                started[0].close()
            self.plan, self._told = plan, Told()
            started = self._start()
            if is_as_planned(plan, started[1]):
                break
        return started or self._start()

    def _start(self) -> tuple[Exchange, dict[str, Any]]:
        """Start a worker and wait until it is ready."""
        exchange = open_exchange(self.plan, self._stop, self._told)
        with ExitStack() as failed:
            failed.callback(exchange.close)
            try:
                report = msgspec.json.decode(exchange.greet(pack(self.plan.config, b""), self._start_limit()))
            except Lost as lost:
                raise death_error(self.plan, lost, exchange.process.printed()) from None
            if "error" in report:
                raise start_error(self.plan, report["error"], exchange.process.printed())
            failed.pop_all()
        ready: dict[str, Any] = report["ready"]
        self._told.add_reads(ready.get("watch", {}).get("sites", ()))
        return exchange, ready

    def _start_limit(self) -> float:
        """Give the seconds that a start may take."""
        return max(self._patience.start or START, START_OF_ENGINE.get(self.plan.config["engine"], 0.0))

    def _restart(self) -> Exchange:
        """Start a fresh worker, and see that it is what the first one was."""
        for left in reversed(range(STARTS_FOR_CLOCK)):
            exchange, ready = self._start()
            if left == 0 or not lost_its_clock(self.plan, self._report, ready):
                break
            exchange.close()
        with ExitStack() as failed:
            failed.callback(exchange.close)
            self._report.add(ready)
            failed.pop_all()
        return exchange

    def finish(self) -> Readiness:
        """Give what is known after the last string: some sources are imported, and some clocks lost, on the way.

        The same for the same strings, however often the worker was restarted; a closed session can still say it.
        """
        self._report.imported |= self._told.imported
        return self._report.readiness()

    @property
    def imports_later(self) -> bool:
        """Whether what it is made of may grow with the strings that it reads: it imports modules."""
        return self._report.provenance is not None

    def sites(self) -> tuple[Site, ...]:
        """Give the places that have read the clock so far, by file and line; none where nothing is watched.

        Where `candidates_only` is set they are calls that would read it, and compiled readers are missing.
        """
        return tuple(Site(*line, reads) for line, reads in sorted(self._told.reads.items()))

    @property
    def candidates_only(self) -> bool:
        """Say that no clock read is seen in this process, only calls."""
        return self._report.watched_by != "reads"

    def interrupt(self) -> None:
        """End what is being decoded, from any thread: `decode` raises Stopped there, and ever after."""
        self._stop.set()

    def decode(
        self,
        field: str,
        tokens: Sequence[str],
        *,
        payloads: Sequence[str] | None = None,
        role: Role = "prediction",
        alone: bool = False,
        order: Sequence[int] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Decodings:
        """Decode raw values of a field, each alone or, with `payloads`, in the payload (JSON text) that it came in.

        `order` are their positions in the order in which they are decoded; the answers stay aligned with `tokens`.

        `role` says whether those are the payloads of predictions or of references, which may name a field otherwise.
        A consumer that takes batches reads them all as one, or `batch_size` at a time, in their order; with `alone`
        each is a batch of its own.
        `progress` is told how many values are decoded so far.
        """
        if field not in self.readiness.reads:
            raise ConsumerError(self.plan.consumer, f"decode {field}", "it does not read this field")
        found = Decodings([None] * len(tokens))
        if tokens:
            job, indices = self._job(field, tokens, payloads, role, found)
            if order is not None:
                indices = order if not found.faults else [index for index in order if index not in found.faults]
            if self.plan.config["batch"] and not alone:
                meter, rows = Meter(progress), self.plan.config["batch_size"] or len(indices)
                for start in range(0, len(indices), max(rows, 1)):
                    batch = indices[start : start + rows]
                    self._supervisor.decode_batch(replace(job, mode="batch"), batch, found, meter)
            else:
                self._supervisor.decode(job, indices, found, Meter(progress))
        return found

    def _job(
        self, field: str, tokens: Sequence[str], payloads: Sequence[str] | None, role: Role, found: Decodings
    ) -> tuple[Job, Sequence[int]]:
        """Choose how the values are written; a JSON null is no text and is not sent to a parser of text."""
        everything = range(len(tokens))
        if payloads is not None:
            sent = payloads if self._rows is None else self._rows.rows(field, tokens, payloads, role)
            return Job(field, "payload", sent, quoted=True), everything
        receives = self.plan.config["receives"]
        if receives != "text":
            return Job(field, "value", tokens, quoted=receives == "json", parsed=receives == "python"), everything
        if max(tokens)[0] == '"':  # every other token sorts after the quotation mark
            return Job(field, "value", tokens), everything
        found.faults.update({index: ABSENT for index, token in enumerate(tokens) if token == "null"})
        present = [index for index in everything if index not in found.faults]
        whole = present if found.faults else everything
        return Job(field, "value", [as_text(token) for token in tokens]), whole

    def close(self) -> None:
        """End the worker, its process group and its folder."""
        self._supervisor.close()
        self._close_stop()

    def _close_stop(self) -> None:
        if self._stop_is_own:
            self._stop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_session(
    spec: AuditSpec,
    consumer: ConsumerSpec,
    environment: Environment,
    fields: Mapping[str, FieldSpec],
    *,
    carried: frozenset[str] | None = None,
    keys: PayloadKeys | None = None,
    stop: Stop | None = None,
    watch: Watch | None = None,
    clocks: Sequence[str] = CLOCKS,
    patience: Patience = Patience(),
) -> Session:
    """Start a consumer in an environment, to read `fields`; ConsumerError says why it cannot be started.

    `carried` names the keys that the source of predictions can carry, None where it holds whole payloads; `keys` are
    those that the payloads do carry, None where none will be sent.
    `stop` ends the start and all decoding from another thread; without it the session has one of its own.
    `watch` says what to do about its clock reads; to watch one site is a ConsumerError where `can_attribute` says why.
    `clocks` are the ways to fix the clock that may be used.
    """
    plan = make_plan(spec, consumer, environment, fields, carried, keys)
    session = Session(plan, stop, launches(plan, watch, clocks), patience)
    if watch is None and clocks == CLOCKS and session.readiness.clock_by:
        remember(session.plan)
    if watch is None or watch.site is None or not session.candidates_only:
        return session
    session.close()
    seen = can_attribute(consumer) or "its clock reads cannot be told apart in its process"
    raise ConsumerError(consumer.name, f"change the clock of {watch.site.file}:{watch.site.line} alone", seen)
