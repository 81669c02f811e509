"""What a consumer of batches is given: a field's predictions as one load, its references as another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from auditor.audit.units import FieldUnits
from auditor.decode.session import Session
from auditor.errors import InternalError
from auditor.judge.batches import settle
from auditor.load.layout import Role
from auditor.model.decoding import Decodings
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec

ROLES: tuple[Role, Role] = ("prediction", "reference")

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


def ask_batches(
    field: FieldSpec,
    consumer: ConsumerSpec,
    session: Session,
    units: FieldUnits,
    batches: Mapping[str, Sequence[str]],
) -> tuple[Decodings, list[int | None]]:
    """Decode the predictions in one batch and the references in another.

    Gives the decodings of both and, for each unit, which of them answers it.
    """
    found, places = Decodings([]), {}
    for role in ROLES:
        rows = rows_for(consumer, batches[role])
        decodings = session.decode(field.name, rows)
        start = len(found.texts)
        places[role] = {token: start + place for token, place in settle(field, rows, decodings).items()}
        found.texts.extend(decodings.texts)
        found.faults.update({start + place: fault for place, fault in decodings.faults.items()})
        found.warnings.update({start + place: warning for place, warning in decodings.warnings.items()})
    asked: list[int | None] = []
    for tokens, is_prediction in units.chunks("token", "role_prediction"):
        for token, given in zip(tokens, is_prediction, strict=True):
            place = places[ROLES[not given]].get(token)
            if place is None and not (token == "null" and consumer.receives == "text"):
                raise InternalError(f"{field.name}: {token} is a raw value of the run, but in no row of its batch")
            asked.append(place)
    return found, asked
