"""What a consumer of batches is given: a field's predictions as one load, its references as another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from auditor.load.layout import Role
from auditor.probe.sent import ROLES
from auditor.spec.models import AuditSpec, ConsumerSpec

#: For each field, the raw values of each role in file order, repeated ones too.
Batches = Mapping[str, Mapping[str, Sequence[str]]]


def batch_fields(spec: AuditSpec) -> tuple[str, ...]:
    """Name the fields that some consumer reads in batches, in the order of the spec."""
    read = {field for consumer in spec.consumers.values() if consumer.batch for field in consumer.reads}
    return tuple(field for field in spec.fields if field in read)


def read_batches(spec: AuditSpec, rows_of: Callable[[str, Role], list[str]]) -> Batches:
    """Read the batches of the fields that need them; `rows_of` gives the raw values of a field and a role."""
    return {field: {role: rows_of(field, role) for role in ROLES} for field in batch_fields(spec)}


def rows_for(consumer: ConsumerSpec, rows: Sequence[str]) -> Sequence[str]:
    """Leave out what is not handed to a consumer: where it receives text, a JSON null is no value."""
    return [token for token in rows if token != "null"] if consumer.receives == "text" else rows
