"""A session: one consumer in one environment, ready to decode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import msgspec

from auditor.decode.exchange import Exchange, Limits, Lost, open_exchange
from auditor.decode.frames import Job, as_text, pack
from auditor.decode.plan import Plan, make_plan
from auditor.decode.readiness import Report, death_error, lost_its_clock, start_error
from auditor.decode.stop import Stop
from auditor.decode.supervise import Meter, Supervisor
from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings, Fault, Readiness
from auditor.model.environment import Environment
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec

#: Seconds that a worker may take until it is ready, and that a parser's very first string may take beyond its limit.
START = 30.0
FIRST_STRING = 3.0

#: Starts of a worker that should have a fixed clock, as the first one had, and has none.
STARTS_FOR_CLOCK = 3

ABSENT = Fault("null", "absent")


class Session:
    """A consumer's parsers, ready: a context manager that ends the worker and everything that it started.

    Not for two threads at once, but for `interrupt`; several sessions run side by side.
    """

    def __init__(self, plan: Plan, stop: Stop | None = None) -> None:
        self.plan = plan
        self._stop = stop or Stop()
        self._stop_is_own = stop is None
        self._imported: set[tuple[str, str]] = set()
        with ExitStack() as failed:
            failed.callback(self._close_stop)
            exchange, ready = self._start()
            failed.callback(exchange.close)
            self._report = Report(plan, ready)
            failed.pop_all()
        limits = Limits(plan.timeout, plan.timeout + FIRST_STRING, bool(ready.get("whole")))
        self._supervisor = Supervisor(plan.consumer, self._restart, limits)
        self._supervisor.adopt(exchange)
        #: What was known before the first string.
        self.readiness: Readiness = self._report.at_start

    def _start(self) -> tuple[Exchange, dict[str, Any]]:
        """Start a worker and wait until it is ready."""
        exchange = open_exchange(self.plan, self._stop, self._imported)
        with ExitStack() as failed:
            failed.callback(exchange.close)
            try:
                report = msgspec.json.decode(exchange.greet(pack(self.plan.config, b""), START))
            except Lost as lost:
                raise death_error(self.plan, lost, exchange.process.printed()) from None
            if "error" in report:
                raise start_error(self.plan, report["error"], exchange.process.printed())
            failed.pop_all()
        ready: dict[str, Any] = report["ready"]
        return exchange, ready

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
        self._report.imported |= self._imported
        return self._report.readiness()

    def interrupt(self) -> None:
        """End what is being decoded, from any thread: `decode` raises Stopped there, and ever after."""
        self._stop.set()

    def decode(
        self,
        field: str,
        tokens: Sequence[str],
        *,
        payloads: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Decodings:
        """Decode raw values of a field, or, with `payloads`, the field's value in whole payloads.

        `progress` is told how many of them are decoded so far.
        """
        if field not in self.readiness.reads:
            raise ConsumerError(self.plan.consumer, f"decode {field}", "it does not read this field")
        found = Decodings([None] * len(tokens))
        if tokens:
            job, indices = self._job(field, tokens, payloads, found)
            self._supervisor.decode(job, indices, found, Meter(progress))
        return found

    def _job(self, field: str, tokens: Sequence[str], payloads: bool, found: Decodings) -> tuple[Job, Sequence[int]]:
        """Choose how the values are written; a JSON null is no text and is not sent to a parser of text."""
        everything = range(len(tokens))
        if payloads:
            return Job(field, "payload", tokens, quoted=True), everything
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
    stop: Stop | None = None,
) -> Session:
    """Start a consumer in an environment, to read `fields`; ConsumerError says why it cannot be started.

    `carried` names the keys that the source of predictions can carry, None where it holds whole payloads.
    `stop` ends the start and all decoding from another thread; without it the session has one of its own.
    """
    return Session(make_plan(spec, consumer, environment, fields, carried), stop)
