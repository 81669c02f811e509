"""How the replies of a spec are read: what it says in [cases] about payloads and finish reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.load.finish import OUTCOME_OF_FINISH, outcomes_by_reason
from auditor.model.payload_path import PayloadPath, payload_path
from auditor.spec.models import AuditSpec, FieldSpec

#: What a function of the spec's own makes of texts: for each a JSON text, or None and why there is none.
Reader = Callable[[Sequence[str]], Sequence[tuple[str | None, str]]]


@dataclass(frozen=True)
class Contract:
    """How replies are read, as the spec says; `types` maps each field to what its JSON types depend on."""

    payload: str = "strict"
    extra: str = "allow"
    duplicate_keys: str = "malformed"
    constants: str = "malformed"
    json_types: str = "any"
    types: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=lambda: OUTCOME_OF_FINISH)  # of finish reasons
    reader: Reader | None = None
    not_judged: tuple[PayloadPath, ...] = ()  # of what a payload may hold beside the fields


#: The contract of a spec that says nothing.
STRICT = Contract()


def _kind_of(field: FieldSpec) -> str:
    """Name what decides which JSON types a field's values have: its type, and the members of a category."""
    return field.type if field.members in (None, "text") else f"{field.type}: {field.members}"


def contract_of(spec: AuditSpec, reader: Reader | None) -> Contract:
    """Give the contract of a spec; `reader` is what calls its own function, where it names one."""
    cases = spec.cases
    return Contract(
        payload=cases.payload,
        extra=cases.extra,
        duplicate_keys=cases.duplicate_keys,
        constants=cases.constants,
        json_types=cases.json_types,
        types={name: _kind_of(one) for name, one in spec.fields.items()},
        outcomes=outcomes_by_reason(cases.finish_reasons),
        reader=reader,
        not_judged=tuple(map(payload_path, spec.not_judged.values())),
    )
