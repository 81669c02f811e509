"""What of an environment can be varied on this machine: each part is tried for real, in workers with their canary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.audit.labels import label_note
from auditor.decode.clock import CLOCKS, LINKED_ENGINES, PRELOAD, PYTHON_ADAPTERS, TIME_MACHINE, VDSO, can_attribute
from auditor.decode.locales import locale_state
from auditor.decode.session import open_session
from auditor.errors import ConsumerError
from auditor.model.decoding import Readiness
from auditor.model.environment import Environment
from auditor.probe.environments import course_of
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec

#: What to install or allow where a part cannot be varied.
ADVICE = {
    VDSO: "needs Linux on x86-64 and leave to trace a process of one's own (docker run --cap-add SYS_PTRACE)",
    PRELOAD: "install a C compiler (Debian: apt-get install gcc libc6-dev); without it lines are candidates only",
    TIME_MACHINE: "pip install time-machine; needed in interpreters that the other two do not serve",
    "zone": "install the time zones (Debian: apt-get install tzdata)",
    "locale": "install it, or the sources to build it from (Debian: apt-get install locales)",
    "hash seed": "use CPython 3.8 or newer",
    "network": "needs Linux and leave to make namespaces (sysctl kernel.unprivileged_userns_clone=1, or no AppArmor "
    "restriction of them)",
    "elsewhere": "TMPDIR must be a folder that can be written to",
}

#: What the three ways to fix a clock are.
WAYS = {
    VDSO: "the kernel's clock code led to constants at exec",
    PRELOAD: "a preloaded library, which also names the lines that read the clock",
    TIME_MACHINE: "a Python library inside the worker, which compiled readers escape",
}


@dataclass(frozen=True)
class Ability:
    """A part of an environment: whether it can be varied here, and how, or what to do for it; None: it was not tried.

    One that is not `is_needed` is there for machines where another one is missing.
    """

    part: str
    is_there: bool | None
    note: str = ""
    is_needed: bool = True


def abilities(folder: Path) -> Iterator[Ability]:
    """Try every part with our own interpreter; one after the other, since a locale may take seconds to build."""
    subject = ConsumerSpec(name="doctor", adapter="python", reads={"f": "builtins:str"})
    environments = course_of(Environment(), {}, "full").everything
    ways = set()
    for clock in CLOCKS:
        ready = _launch(folder, subject, Environment(clock=environments[0].clock), (clock,))
        if ready.clock_by == clock:
            ways.add(clock)
            yield Ability(f"clock by {clock}", True, WAYS[clock])
        else:
            is_needed = clock == PRELOAD or not ways
            yield Ability(f"clock by {clock}", False, _with_reason(ADVICE[clock], clock, subject), is_needed)
    missing: set[str] = set()
    for environment in environments:
        state = locale_state(environment.locale)
        ready = _launch(folder, subject, environment)
        missing.update(ready.not_fixed)
        yield _of_part(f"zone {environment.zone}", "zone", ready)
        yield _of_part(f"locale {environment.locale}", "locale", ready, "built" if state == "buildable" else state)
    for part, name in (("hash seed", "hash seed"), ("network", "no network"), ("elsewhere", "folder, HOME, umask")):
        yield Ability(name, part not in missing, ADVICE[part] if part in missing else "")


def _with_reason(advice: str, clock: str, subject: ConsumerSpec) -> str:
    reason = can_attribute(subject) if clock == PRELOAD else ""
    return f"{reason}; {advice}" if reason else advice


def _of_part(name: str, part: str, ready: Readiness, note: str = "") -> Ability:
    is_there = part not in ready.not_fixed
    return Ability(name, is_there, note if is_there else ADVICE[part])


def abilities_of(spec: AuditSpec) -> Iterator[Ability]:
    """Try the interpreter of each consumer where everything is changed but what the consumer itself sets.

    What is no Python, or an engine of its own process, is not tried.
    """
    for name, consumer in spec.consumers.items():
        if consumer.adapter == "recorded":
            yield _of_records(spec, consumer)
            continue
        if consumer.emulate:
            yield Ability(f"consumer {name}", None, "not tried: it is emulated, and nothing is varied")
            continue
        if consumer.adapter not in PYTHON_ADAPTERS or consumer.engine not in (None, *LINKED_ENGINES):
            what = f"the engine {consumer.engine}" if consumer.engine else "a program of its own"
            what = "a service, whose environment is its own" if consumer.adapter == "http" else what
            yield Ability(f"consumer {name}", None, f"not tried: {what}, which a run asks")
            continue
        reason = can_attribute(consumer)
        subject = ConsumerSpec(
            name=name, adapter="python", interpreter=consumer.interpreter, env=consumer.env, reads={"f": "builtins:str"}
        )
        try:
            ready = _launch(spec.folder, subject, course_of(Environment(), consumer.env, "full").everything[0])
        except ConsumerError as error:
            yield Ability(f"consumer {name}", False, f"{error.tried}: {error.seen}; {error.hint}".rstrip("; "))
            continue
        said = [f"clock by {ready.clock_by}"] if ready.clock_by else []
        said += [f"not fixed: {part}" for part in ready.not_fixed]
        said += [f"not reached: {text}" for text in ready.not_varied]
        said += [f"lines are candidates: {reason}"] if reason else []
        yield Ability(f"consumer {name}", not ready.not_fixed, "; ".join(said))


def _of_records(spec: AuditSpec, consumer: ConsumerSpec) -> Ability:
    """Read the records of a consumer: nothing in them can be varied, and they may be no records of it any more."""
    name = f"consumer {consumer.name}"
    try:
        with open_session(spec, consumer, spec.environment.environment(), spec.fields) as session:
            note = label_note(consumer, session.readiness)
    except ConsumerError as error:
        return Ability(name, False, f"{error.tried}: {error.seen}; {error.hint}".rstrip("; "))
    return Ability(name, None, f"not tried: records, {note}, in which nothing can be varied")


def _launch(
    folder: Path, consumer: ConsumerSpec, environment: Environment, clocks: tuple[str, ...] = CLOCKS
) -> Readiness:
    """Start a worker in an environment, with a consumer that needs nothing."""
    fields = {"f": FieldSpec(name="f", type="identifier")}
    spec = AuditSpec(
        name="doctor",
        file=folder / "audit.toml",
        folder=folder,
        cases=CasesSpec(predictions=("none",), references=("none",)),
        fields=fields,
        consumers={consumer.name: consumer},
    )
    with open_session(spec, consumer, environment, fields, clocks=clocks) as session:
        return session.readiness
