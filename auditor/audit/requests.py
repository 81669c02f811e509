"""What one consumer is asked of a field's units: each distinct raw value once, each distinct payload, or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.audit.batches import Batches, rows_for
from auditor.audit.units import FieldUnits
from auditor.decode.session import Session
from auditor.errors import InternalError
from auditor.probe.sent import ROLES, Sent
from auditor.spec.models import ConsumerSpec

#: For each raw value the place of the decoding that answers it, None where it was not asked; None: one to one.
Asked = list[int | None] | None


@dataclass(frozen=True)
class Request:
    """How a consumer is asked of a field's units.

    A JSON null is left out for a consumer that receives text: nothing was given, so nothing is read.
    """

    consumer: ConsumerSpec
    session: Session
    units: FieldUnits
    batches: Batches

    @property
    def field(self) -> str:
        """The field's name."""
        return self.units.field

    @property
    def in_payloads(self) -> bool:
        """Whether the values are asked in the payloads that they came in."""
        return self.units.by_payload and self.session.readiness.scope_of(self.field) == "payload"

    @property
    def chunks(self) -> int:
        """Count the chunks; batches are never cut."""
        return 1 if self.consumer.batch else self.units.columns["unit"].chunk_count

    def at(self, chunk: int) -> tuple[Sent, Asked]:
        """Give one chunk of what is sent, and the place of the answer of each unit."""
        if self.consumer.batch:
            return self._in_batches()
        tokens, payloads, are_given = (self.units.columns[name].chunk(chunk) for name in _COLUMNS)
        if not self.in_payloads:
            strings, asked = self._distinct(tokens)
            return Sent(strings), asked
        return self._in_payloads(tokens, payloads, are_given)

    @property
    def _nulls(self) -> bool:
        return self.consumer.receives != "text"

    def _distinct(self, raw: list[str]) -> tuple[list[str], Asked]:
        """Send each raw value once: it may stand in many payloads, or be a prediction and a reference."""
        repeats = self.units.by_payload or self.units.by_role
        if not repeats and (self._nulls or "null" not in raw):
            return raw, None
        numbers: dict[str, int] = {}
        for text in raw:
            if self._nulls or text != "null":
                numbers.setdefault(text, len(numbers))
        return list(numbers), [numbers.get(text) for text in raw]

    def _in_payloads(self, tokens: list[str], payloads: list[str], are_given: list[bool]) -> tuple[Sent, Asked]:
        """Send each distinct payload of predictions once, then those of references."""
        asked: list[int | None] = [None] * len(tokens)
        rows: list[int] = []
        counts = []
        for given in (True, False):
            start = len(rows)
            first: dict[str, int] = {}  # the distinct payloads, each with the place of its answer
            for row, one in enumerate(are_given):
                if bool(one) is not given or not (self._nulls or tokens[row] != "null"):
                    continue
                if payloads[row] not in first:
                    first[payloads[row]] = len(rows)
                    rows.append(row)
                asked[row] = first[payloads[row]]
            counts.append(len(rows) - start)
        return Sent([tokens[row] for row in rows], [payloads[row] for row in rows], counts[0]), asked

    def _in_batches(self) -> tuple[Sent, Asked]:
        """Send all predictions as one batch and all references as another, in file order, unrelated ones too."""
        by_role = [rows_for(self.consumer, self.batches[self.field][role]) for role in ROLES]
        in_batch = [set(rows) for rows in by_role]
        wanted: tuple[list[str], list[str]] = ([], [])
        answered: list[tuple[bool, int] | None] = []
        for tokens, are_given in self.units.chunks("token", "role_prediction"):
            for token, given in zip(tokens, are_given, strict=True):
                is_sent = token in in_batch[not given]
                if not is_sent and (self._nulls or token != "null"):
                    raise InternalError(f"{self.field}: {token} is a raw value of the run, but in no row of its batch")
                answered.append((not given, len(wanted[not given])) if is_sent else None)
                if is_sent:
                    wanted[not given].append(token)
        asked = [None if one is None else one[1] + (len(wanted[0]) if one[0] else 0) for one in answered]
        return Sent([*wanted[0], *wanted[1]], None, len(wanted[0]), (by_role[0], by_role[1])), asked


_COLUMNS: Sequence[str] = ("token", "payload", "role_prediction")
