"""What a parser made of one raw value."""

from __future__ import annotations

from dataclasses import dataclass, field

from auditor.model.payload_path import PayloadPath
from auditor.model.verdicts import DecodingStatus

#: How the error begins of a field whose payload was rejected for another part of it: a pattern whose second group is
#: the name of that part. Adapters that take whole payloads write it (``worker/pydantic_adapter.py``).
PAYLOAD_REJECTED = "^(ValidationError: )?payload rejected: (.*?): "

#: The name that stands there where no field is at fault but a rule over several.
WHOLE_MODEL = "the model"

#: How a warning starts of a value that took too long the first time only: the parser loads what it needs then.
SLOW_AT_FIRST = "slow at first: "


@dataclass(frozen=True, slots=True)
class Fault:
    """A decoding that is no value: `status` is any but `value`; `error` has the type and text of what happened."""

    status: DecodingStatus
    error: str


@dataclass(frozen=True)
class Decodings:
    """Decodings of a batch, aligned with the raw values sent.

    `texts[i]` is the value as tagged text (``date:2024-03-01``, ``decimal:12.50``), or None when `faults[i]` says why
    there is none. `failures` says why a batch failed as a whole, which is then the fault of each of its values.
    `warnings` are about the process: a value that was lost in company and not alone. `engine_warnings` are what an SQL
    engine said or did silently beside a value: a warning, a truncation, a number that wrapped.
    """

    texts: list[str | None]
    faults: dict[int, Fault] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    engine_warnings: dict[int, str] = field(default_factory=dict)
    failures: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class Decoding:
    """One raw value as one consumer reads it in one environment; `value` is tagged text.

    `warning` is what an SQL engine said or did silently beside it.

    >>> Decoding("value", "date:2024-03-01").value, Decoding("rejected", error="ValueError: no date").value
    ('date:2024-03-01', None)
    """

    status: DecodingStatus
    value: str | None = None
    error: str | None = None
    environment: str = "base"
    warning: str | None = None


@dataclass(frozen=True)
class Readiness:
    """What a worker found out about its consumer before the first string.

    `reads` maps each field to the target that reads it; `version` is derived from the parser's sources and what it
    imported; `settings` are recorded as they are; `not_fixed` names the parts of the base environment that could not
    be set; `clock_by` names the way in which the clock was fixed, `not_varied` says what it does not reach in this
    process; `unconfirmed` names the factors of which a program does not tell that they are in force, and
    `inapplicable` those that it has not (a hash seed is Python's); `scope` is ``payload`` or ``field`` for a pydantic
    consumer and an SQL model, else empty, and `scope_note` says why, or what of a payload is missing. `alone` are
    fields that are read without their payload in any scope. `looks_at` says of a Pydantic model where in a payload it
    looks for each field (None: nobody can tell), and `looks_after` names its functions that get the payload before it
    does. `functions` are the engine's words on the stability of
    functions that an SQL consumer calls. `recorded` are the strings by field that records hold, if asked. `parts`
    names, in words, each thing that the version is derived from. `places` are file and line of the consumer's own code
    that reads a field, where it is known.
    """

    consumer: str
    reads: dict[str, str]
    version: str
    settings: dict[str, str] = field(default_factory=dict)
    not_fixed: tuple[str, ...] = ()
    clock_by: str = ""
    not_varied: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    inapplicable: tuple[str, ...] = ()
    scope: str = ""
    scope_note: str = ""
    alone: frozenset[str] = frozenset()
    looks_at: dict[str, PayloadPath | None] = field(default_factory=dict)
    looks_after: tuple[str, ...] = ()
    functions: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)

    def scope_of(self, field: str) -> str:
        """Give the scope in which a field is read."""
        return "field" if self.scope and field in self.alone else self.scope
