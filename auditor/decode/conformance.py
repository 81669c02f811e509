"""Whether a program keeps to the protocol of `consumers/protocol/PROTOCOL.md`, case by case."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import msgspec

from auditor.decode.exchange import Lost, open_exchange
from auditor.decode.frames import Told, pack
from auditor.decode.launches import launches
from auditor.decode.plan import make_plan
from auditor.decode.readiness import death_error, start_error
from auditor.decode.stop import Stop
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, ConsumerSpec

#: Seconds that all cases together may take.
ALL_CASES = 400.0


@dataclass(frozen=True)
class Check:
    """One case: `seen` is what went wrong, empty where nothing did; `note` is then what was found, else what to do.

    >>> Check("start line", "", "version 1").ok
    True
    """

    case: str
    seen: str
    note: str

    @property
    def ok(self) -> bool:
        """The program does what the protocol says."""
        return not self.seen


@dataclass(frozen=True)
class Conformance:
    """All cases that were looked at, and the end of what the program printed on stderr meanwhile."""

    checks: tuple[Check, ...]
    printed: str

    @property
    def ok(self) -> bool:
        """Every case is as it should be."""
        return all(check.ok for check in self.checks)


def check_program(spec: AuditSpec, consumer: ConsumerSpec) -> Conformance:
    """Go through the cases with a consumer's program; ConsumerError where it cannot be run at all."""
    if consumer.adapter != "process":
        hint = "name a consumer with a `command`, or give a program with --command"
        raise ConsumerError(
            consumer.name, "check its protocol", f"it is a {consumer.adapter} consumer", hint, what="is no program"
        )
    fields = {name: field for name, field in spec.fields.items() if name in consumer.reads}
    plan = make_plan(spec, consumer, spec.environment.environment(), fields, None)
    plan = next(iter(launches(replace(plan, config=plan.config | {"adapter": "conformance"}))))
    with closing(Stop()) as stop, closing(open_exchange(plan, stop, Told())) as exchange:
        try:
            report = msgspec.json.decode(exchange.greet(pack(plan.config, b""), ALL_CASES))
        except Lost as lost:
            raise death_error(plan, lost, exchange.process.printed()) from None
        printed = exchange.process.printed()
    if "error" in report:
        raise start_error(plan, report["error"], printed)
    return Conformance(tuple(Check(*check) for check in report["ready"]["checks"]), printed)
