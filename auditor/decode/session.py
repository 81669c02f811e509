"""A session: one consumer in one environment, ready to decode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import msgspec

from auditor.decode.exchange import Exchange, Limits, Lost
from auditor.decode.frames import Job, as_text, pack
from auditor.decode.plan import Plan, make_plan
from auditor.decode.process import Process
from auditor.decode.readiness import death_error, readiness_of, start_error
from auditor.decode.supervise import Meter, Supervisor
from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings, Fault, Readiness
from auditor.model.environment import Environment
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec

#: Seconds that a worker may take until it is ready, and that a parser's very first string may take beyond its limit.
START = 30.0
FIRST_STRING = 3.0

ABSENT = Fault("null", "absent")


class Session:
    """A consumer's parsers, ready: a context manager that ends the worker and everything that it started.

    Not for two threads at once; several sessions run side by side.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._whole = False
        exchange, ready = self._start()
        self._whole = bool(ready.get("whole"))
        limits = Limits(plan.timeout, plan.timeout + FIRST_STRING, self._whole)
        self._supervisor = Supervisor(plan.consumer, lambda: self._start()[0], limits)
        self._supervisor.adopt(exchange)
        try:
            self.readiness: Readiness = readiness_of(plan, ready)
        except BaseException:
            self.close()
            raise

    def _start(self) -> tuple[Exchange, dict[str, object]]:
        """Start a worker and wait until it is ready."""
        exchange = Exchange(Process(self.plan))
        try:
            header = exchange.greet(pack(self.plan.config, b""), START)
            report = msgspec.json.decode(header)
            if "error" in report:
                raise start_error(self.plan, report["error"])
            ready: dict[str, object] = report["ready"]
        except Lost as lost:
            printed = exchange.process.printed()
            exchange.close()
            raise death_error(self.plan, lost, printed) from None
        except BaseException:
            exchange.close()
            raise
        return exchange, ready

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
) -> Session:
    """Start a consumer in an environment, to read `fields`; ConsumerError says why it cannot be started.

    `carried` names the keys that the source of predictions can carry, None where it holds whole payloads.
    """
    return Session(make_plan(spec, consumer, environment, fields, carried))
